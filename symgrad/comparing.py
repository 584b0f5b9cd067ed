"""Verdicts on whole tensors, as Python bools."""

from __future__ import annotations

import numpy as np

from .array import broadcast_error
from .errors import ArgumentTypeError
from .tensor import Tensor


def _pair(a: Tensor, b: Tensor, name: str) -> None:
    for t in (a, b):
        if not isinstance(t, Tensor):
            raise ArgumentTypeError(f"{name}: both arguments must be Tensors, not {type(t).__name__}")


def equal(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have the same shape and the same values."""
    _pair(a, b, "equal")
    return a._data.shape == b._data.shape and bool(np.array_equal(a._data, b._data))


def allclose(a: Tensor, b: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether ``|a − b| ≤ atol + rtol·|b|`` in every entry."""
    _pair(a, b, "allclose")
    try:
        return bool(np.allclose(a._data, b._data, rtol=rtol, atol=atol, equal_nan=equal_nan))
    except ValueError:
        raise broadcast_error("allclose", a._data.shape, b._data.shape) from None


def is_tensor(value: object) -> bool:
    """Whether the value is a Tensor."""
    return isinstance(value, Tensor)


def numel(t: Tensor) -> int:
    """The number of entries."""
    return t.numel()
