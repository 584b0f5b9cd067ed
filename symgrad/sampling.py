"""Tensors of random numbers, from one generator that `manual_seed` starts anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from .creation import _dtype, _finish, _like, _shape
from .errors import ArgumentTypeError
from .tensor import Tensor

__symgrad_internal__ = True

_current: dict[str, np.random.Generator] = {}


def _generator() -> np.random.Generator:
    """The generator, made at its first use: most programs draw nothing, and `numpy.random` takes long to import."""
    found = _current.get("generator")
    # Of threads that come here at once, all get what the first of them has put in.
    return _current.setdefault("generator", np.random.default_rng(0)) if found is None else found


def manual_seed(seed: int) -> None:
    """Starts the random generator of `rand` and `randn` anew."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise ArgumentTypeError(f"manual_seed: the seed must be an integer, not {type(seed).__name__}")
    _current["generator"] = np.random.default_rng(seed)


def _uniform(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.asarray(_generator().random(shape)).astype(dtype)


def _normal(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.asarray(_generator().standard_normal(shape)).astype(dtype)


def rand(
    *size: Any, dtype: Any = None, requires_grad: bool = False, name: str | None = None, dims: Any = None
) -> Tensor:
    """Uniform random numbers in [0, 1)."""
    return _finish(_uniform(_shape(size, "rand"), _random_dtype(dtype, "rand")), requires_grad, name, dims)


def randn(
    *size: Any, dtype: Any = None, requires_grad: bool = False, name: str | None = None, dims: Any = None
) -> Tensor:
    """Standard normal random numbers."""
    return _finish(_normal(_shape(size, "randn"), _random_dtype(dtype, "randn")), requires_grad, name, dims)


def _random_dtype(dtype: Any, name: str) -> np.dtype:
    found = _dtype(dtype)
    if found.kind != "f":
        raise NotImplementedError(f"{name} is not implemented for {found}; draw floats and convert them")
    return found


def rand_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform random numbers in [0, 1), in the shape and dtype of `t`."""
    shape, kind = _like(t, dtype, "rand_like")
    return _finish(_uniform(shape, _random_dtype(kind, "rand_like")), requires_grad, None, None)


def randn_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Standard normal random numbers, in the shape and dtype of `t`."""
    shape, kind = _like(t, dtype, "randn_like")
    return _finish(_normal(shape, _random_dtype(kind, "randn_like")), requires_grad, None, None)
