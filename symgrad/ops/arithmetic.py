"""Sums, products, quotients, powers, and choices between two values. All broadcast."""

from __future__ import annotations

from math import comb, isfinite, prod
from typing import Any

import numpy as np

from ..array import cast, result_dtype, unwrapped
from ..errors import ArgumentError, DTypeError
from .declare import op


def _is_bool(value: Any) -> bool:
    """Whether it is an array or a scalar of bools; Python's numbers are not."""
    return hasattr(value, "dtype") and value.dtype.kind == "b"


HALF = 65504
"""The largest number in half precision."""


@op(
    broadcasts=True,
    linear=("x", "y"),
    expr=lambda m, x, y, alpha: x + alpha * y,
    params=("alpha",),
    vjp=dict(x=lambda g: g, y=lambda g, alpha: g if alpha == 1 else g * alpha),
    rule_name="sum rule",
)
def add(x, y, alpha=1):
    """Sum ``x + alpha·y``; shapes broadcast."""
    return x + y if alpha == 1 else x + alpha * y


@op(
    broadcasts=True,
    linear=("x", "y"),
    expr=lambda m, x, y, alpha: x - alpha * y,
    params=("alpha",),
    vjp=dict(x=lambda g: g, y=lambda g, alpha: -g if alpha == 1 else g * -alpha),
    torch_name=lambda n: "SubBackward0" if hasattr(n.a0, "shape") else "RsubBackward1",
    rule_name="sum rule",
)
def sub(x, y, alpha=1):
    """Difference ``x − alpha·y``; shapes broadcast."""
    if alpha != 1:
        return x - alpha * y
    if _is_bool(x) and _is_bool(y):
        raise DTypeError(
            "sub: subtraction of two bool tensors is not supported; use (a != b) or convert with .to(sg.int64)"
        )
    return x - y


@op(
    broadcasts=True,
    linear=("x", "y"),
    expr=lambda m, x, y: x * y,
    vjp=dict(x=lambda g, y: g * y, y=lambda g, x: g * x),
    rule_name="product rule",
)
def mul(x, y):
    """Product ``x·y``; shapes broadcast."""
    return x * y


@op(
    broadcasts=True,
    floats=True,
    linear=("x",),
    expr=lambda m, x, y: x / y,
    vjp=dict(
        x=lambda xp, g, y: xp.div(g, y) if type(y) in (int, float) else g / y, y=lambda g, x, y: -(g * (x / y)) / y
    ),
    rule_name="quotient rule",
)
def div(x, y):
    """Quotient ``x / y``; shapes broadcast, integers become floats."""
    if type(y) not in (int, float):
        return x / y
    if abs(y) > HALF and getattr(x, "dtype", None) == np.float16:
        return (x.astype(np.float32) / y).astype(np.float16)  # in half precision the divisor would be infinite
    return x / y if y else np.true_divide(x, y)


@op(
    broadcasts=True,
    linear=("x",),
    expr=lambda m, x: -x,
    vjp=dict(x=lambda g: -g),
    rule_name="sum rule",
)
def neg(x):
    """Negative ``−x``."""
    try:
        return -x
    except TypeError:  # NumPy has no negative of bools
        raise DTypeError(
            "neg: a bool tensor has no negative; use ~x for its opposite, or convert with .to(sg.int64)"
        ) from None


def _pow_name(n: Any) -> str:
    """PyTorch has one node for a number as exponent, one for two tensors, one for a number as base."""
    if not hasattr(n.a0, "shape"):
        return "PowBackward2"
    return "PowBackward1" if hasattr(n.a1, "shape") else "PowBackward0"


@op(
    broadcasts=True,
    expr=lambda m, x, exponent: x**exponent,
    vjp=dict(
        x=lambda xp, g, x, exponent: g * xp.dpow(x, exponent, 1, 0),
        exponent=lambda xp, g, x, exponent: g * xp.dpow(x, exponent, 0, 1),
    ),
    torch_name=_pow_name,
    saved_names={"exponent": "exponent"},
    rule_name="power rule",
)
def pow_(x, exponent):
    """Power ``x**exponent``; shapes broadcast."""
    if type(exponent) is int and exponent < 0 and x.dtype.kind in "iub":
        raise ArgumentError("pow: Integers to negative integer powers are not allowed; use a float base or exponent")
    if _is_bool(x) and _is_bool(exponent):
        raise NotImplementedError("pow: two bool tensors have no power; convert one with .to(sg.int64)")
    return x**exponent


def _power_terms(exponent: Any, n: int, k: int) -> list[tuple[Any, int]]:
    """∂ⁿ⁺ᵏ(xʸ)/∂xⁿ∂yᵏ as xʸ⁻ⁿ·Σ coefficient(y)·log(x)ᵐ: the pairs (coefficient, m)."""
    falling = np.poly1d(np.poly(range(n))) if n else np.poly1d([1.0])
    terms: list[tuple[Any, int]] = [(prod(exponent - step for step in range(n)), k)]
    for j in range(1, min(k, n) + 1):
        value: Any = 0
        for coefficient in np.polyder(falling, j).coeffs:
            value = value * exponent + round(float(coefficient))
        terms.append((comb(k, j) * value, k - j))
    return terms


def _lowered(x: Any, exponent: Any, order: int) -> Any:
    """xʸ⁻ⁿ with the digits that y − n loses when it is rounded: at x = 1e-300 they are hundreds of ulps."""
    rest = exponent - order
    power = x**rest
    if exponent.dtype.kind != "f" if hasattr(exponent, "dtype") else type(exponent) is not float:
        return power
    taken = rest - exponent
    lost = (exponent - (rest - taken)) - (order + taken)
    if not (lost.any() if hasattr(lost, "any") else lost):
        return power
    with np.errstate(all="ignore"):
        share = lost * np.log(x)
        return unwrapped((power * np.where(np.isfinite(share), np.exp(share), 1)).astype(power.dtype))


def _dpow_expr(m: Any, x: Any, exponent: Any, order: int, logs: int) -> Any:
    total: Any = 0
    for c, power in _power_terms(exponent, order, logs):
        if m.is_zero(c):
            continue
        term = c * x ** (exponent - order)
        total = total + (term * m.log(x) ** power if power else term)
    return total


@op(
    broadcasts=True,
    params=("order", "logs"),
    expr=_dpow_expr,
    vjp=dict(
        x=lambda xp, g, x, exponent, order, logs: g * xp.dpow(x, exponent, order + 1, logs),
        exponent=lambda xp, g, x, exponent, order, logs: g * xp.dpow(x, exponent, order, logs + 1),
    ),
    saved_names={"exponent": "exponent"},
    public=False,
    rule_name="power rule",
)
def dpow(x, exponent, order=1, logs=0):
    """Derivative of a power, ``∂ⁿ⁺ᵏ xʸ / ∂xⁿ∂yᵏ`` with n = `order` and k = `logs`: closed under differentiation.

    A term whose coefficient is 0 is absent, whatever it multiplies, so x⁴ has a fifth derivative
    at 0; mixed second derivatives agree in either order by construction.
    """
    total: Any = 0
    for c, log_power in _power_terms(exponent, order, logs):
        if log_power:
            with np.errstate(invalid="ignore", divide="ignore"):
                log = np.log(x) if hasattr(x, "dtype") else float(np.log(x))  # a number stays one: it widens nothing
                part = c * log**log_power
            c = np.where(c == 0, 0, part) if hasattr(c, "dtype") else part if c else 0
        total = total + c
    same = type(exponent) in (int, float) and exponent == order
    power = unwrapped(np.ones_like(x)) if same else _lowered(x, exponent, order)
    if type(total) in (int, float) and isfinite(total):
        return total * power if total else unwrapped(np.zeros_like(power))
    # The power apart from its coefficient: 0 wins over infinite logarithms, and sums of infinities do not arise.
    return unwrapped(np.where((power == 0) | (total == 0), 0, total * power))


@op(
    broadcasts=True,
    selects=True,
    expr=lambda m, x, y: m.max(x, y),
    vjp=dict(
        x=lambda xp, g, x, y: xp.where(x < y, 0, xp.where(xp.eq(x, y), g / 2, g)),
        y=lambda xp, g, x, y: xp.where(y < x, 0, xp.where(xp.eq(x, y), g / 2, g)),
    ),
    kink=lambda m, x, y: x == y,
    rule_name="selection",
)
def maximum(x, y):
    """The larger of ``x`` and ``y``; equal values share the gradient evenly."""
    return np.maximum(x, y)


@op(
    broadcasts=True,
    selects=True,
    expr=lambda m, x, y: m.min(x, y),
    vjp=dict(
        x=lambda xp, g, x, y: xp.where(x > y, 0, xp.where(xp.eq(x, y), g / 2, g)),
        y=lambda xp, g, x, y: xp.where(y > x, 0, xp.where(xp.eq(x, y), g / 2, g)),
    ),
    kink=lambda m, x, y: x == y,
    rule_name="selection",
)
def minimum(x, y):
    """The smaller of ``x`` and ``y``; equal values share the gradient evenly."""
    return np.minimum(x, y)


@op(
    broadcasts=True,
    selects=True,
    constants=("condition",),
    linear=("x", "y"),
    expr=lambda m, condition, x, y: m.where(condition, x, y),
    vjp=dict(
        x=lambda xp, g, condition: xp.where(condition, g, 0),
        y=lambda xp, g, condition: xp.where(condition, 0, g),
    ),
    saved_names={"condition": "condition", "x": "self", "y": "other"},
    rule_name="selection",
)
def where(condition, x, y):
    """``x`` where the condition holds, else ``y``; what is not selected has no influence, not even 0·∞."""
    if hasattr(condition, "dtype") and not _is_bool(condition):
        raise DTypeError(f"where: the condition must be bool, not {condition.dtype}; write for example x != 0")
    if not hasattr(x, "dtype") and not hasattr(y, "dtype"):
        x = cast(x, result_dtype(x, y))  # two numbers: the default dtype, as for any other Python float
    return unwrapped(np.where(condition, x, y))
