"""Results that are no floats: positions and verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import normal_axes, normal_axis, reduced_shape
from ..errors import ShapeError
from .declare import op


def _arg_params(x: Any, dim: Any, keepdim: Any) -> tuple[Any, ...]:
    if x.size == 0:
        raise ShapeError(f"argmax: the tensor of shape {list(x.shape)} has no entries")
    return (normal_axis(dim, x.ndim, "argmax") if dim is not None else None), bool(keepdim)


def _constant_entry(m: Any, i: tuple[Any, ...], *operands: Any) -> Any:
    return m.constant_of_this_run(i)


def _arg_shape(x: tuple[int, ...], dim: int | None, keepdim: bool) -> tuple[int, ...]:
    return reduced_shape(x, tuple(range(len(x))) if dim is None else (dim,), keepdim)


@op(
    vjp={},
    params=("dim", "keepdim"),
    prepare=_arg_params,
    shape=_arg_shape,
    index=_constant_entry,
)
def argmax(x, dim=None, keepdim=False):
    """Position of the largest entry, the first of equal ones; in the flattened tensor without `dim`."""
    return np.argmax(x, axis=dim, keepdims=keepdim)


def _reduction(name: str) -> Any:
    return lambda x, dim, keepdim: (normal_axes(dim, x.ndim, name), bool(keepdim))


@op(vjp={}, params=("dim", "keepdim"), prepare=_reduction("all"), shape=reduced_shape, index=_constant_entry)
def all_(x, dim=None, keepdim=False):
    """Whether all entries are true."""
    return np.all(x, axis=dim, keepdims=keepdim)


@op(vjp={}, params=("dim", "keepdim"), prepare=_reduction("any"), shape=reduced_shape, index=_constant_entry)
def any_(x, dim=None, keepdim=False):
    """Whether any entry is true."""
    return np.any(x, axis=dim, keepdims=keepdim)
