"""Functions of one real variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import unwrapped
from ..errors import ArgumentValueError, DTypeError
from .declare import op


@op(broadcasts=True, expr=lambda m, x: m.abs(x), vjp=dict(x=lambda xp, g, x: g * xp.sign(x)), kink=lambda m, x: x == 0)
def abs_(x):
    """Absolute value ``|x|``; its gradient at 0 is 0."""
    return np.abs(x)


@op(broadcasts=True, expr=lambda m, x: m.sign(x), vjp=dict(x=None), kink=lambda m, x: x == 0)
def sign(x):
    """Sign of ``x``: −1, 0 or 1; its derivative is 0."""
    return np.sign(x) if x.dtype != bool else x.copy()


@op(broadcasts=True, floats=True, expr=lambda m, x: m.exp(x), vjp=dict(x=lambda g, out: g * out))
def exp(x):
    """Exponential ``eˣ``."""
    return np.exp(x)


@op(broadcasts=True, floats=True, expr=lambda m, x: m.log(x), vjp=dict(x=lambda g, x: g / x))
def log(x):
    """Natural logarithm ``log(x)``, for x > 0."""
    return np.log(x)


@op(broadcasts=True, floats=True, expr=lambda m, x: m.sqrt(x), vjp=dict(x=lambda g, out: g / (2 * out)))
def sqrt(x):
    """Square root ``√x``, for x ≥ 0; its slope at 0 is +∞."""
    return np.sqrt(x)


@op(broadcasts=True, floats=True, expr=lambda m, x: m.sin(x), vjp=dict(x=lambda xp, g, x: g * xp.cos(x)))
def sin(x):
    """Sine ``sin(x)``, x in radians."""
    return np.sin(x)


@op(broadcasts=True, floats=True, expr=lambda m, x: m.cos(x), vjp=dict(x=lambda xp, g, x: -g * xp.sin(x)))
def cos(x):
    """Cosine ``cos(x)``, x in radians."""
    return np.cos(x)


@op(broadcasts=True, floats=True, expr=lambda m, x: m.tanh(x), vjp=dict(x=lambda xp, g, x, out: g * xp.dtanh(x, out)))
def tanh(x):
    """Hyperbolic tangent ``tanh(x)``."""
    return np.tanh(x)


@op(
    broadcasts=True,
    expr=lambda m, x, y: 1 - y**2,
    constants=("x",),
    vjp=dict(y=lambda g, y: -2 * (g * y)),
    public=False,
)
def dtanh(x, y):
    """Slope of the hyperbolic tangent, ``1 − y²`` with ``y = tanh(x)``, computed as ``1/cosh(x)²``."""
    with np.errstate(over="ignore"):
        sech = 1 / np.cosh(x)
    return sech * sech


def _sigmoid(x: Any) -> Any:
    tail = np.exp(-np.abs(x))
    return unwrapped(np.where(x >= 0, 1 / (1 + tail), tail / (1 + tail)))


@op(
    broadcasts=True,
    floats=True,
    expr=lambda m, x: m.sigmoid(x),
    vjp=dict(x=lambda xp, g, x, out: g * xp.dsigmoid(x, out)),
)
def sigmoid(x):
    """Logistic function ``σ(x) = 1/(1 + e⁻ˣ)``."""
    return _sigmoid(x)


@op(
    broadcasts=True,
    expr=lambda m, x, y: y * (1 - y),
    constants=("x",),
    vjp=dict(y=lambda xp, g, x, y: g * xp.ddsigmoid(x, y)),
    public=False,
)
def dsigmoid(x, y):
    """Slope of the logistic function, ``y·(1 − y)`` with ``y = σ(x)``, without subtracting from 1."""
    tail = np.exp(-np.abs(x))
    return tail / (1 + tail) ** 2


@op(broadcasts=True, expr=lambda m, x, y: 1 - 2 * y, constants=("x",), vjp=dict(y=lambda g: -2 * g), public=False)
def ddsigmoid(x, y):
    """``1 − 2y`` with ``y = σ(x)``, computed as ``−tanh(x/2)``."""
    return -np.tanh(x / 2)


@op(
    broadcasts=True,
    selects=True,
    expr=lambda m, x: m.relu(x),
    vjp=dict(x=lambda xp, g, x: xp.where(x > 0, g, 0)),
    kink=lambda m, x: x == 0,
)
def relu(x):
    """Rectifier ``max(x, 0)``; its gradient at 0 is 0."""
    if x.dtype == bool:
        raise DTypeError("relu: bools have no rectifier; convert with .to(sg.int64)")
    return np.maximum(x, 0)


def _softplus_params(x: Any, beta: Any, threshold: Any) -> tuple[float, None]:
    if not isinstance(beta, (int, float)) or not beta > 0:
        raise ArgumentValueError(f"softplus: beta must be a positive number, not {beta!r}")
    return beta, None


@op(
    broadcasts=True,
    floats=True,
    params=("beta", "threshold"),
    prepare=_softplus_params,
    expr=lambda m, x, beta, threshold: m.log(1 + m.exp(beta * x)) / beta,
    vjp=dict(x=lambda xp, g, x, beta: g * xp.sigmoid(x if beta == 1 else x * beta)),
)
def softplus(x, beta=1, threshold=20):
    """Smooth rectifier ``log(1 + exp(βx))/β``.

    Exact on the whole line: `threshold` is taken for compatibility, no linear piece is put in.
    """
    z = x if beta == 1 else x * beta
    return (np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))) / beta
