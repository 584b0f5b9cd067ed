"""Ops that move entries and compute nothing: their rules move the cotangent back."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..array import cast as cast_value
from ..array import normal_axes, normal_axis, numpy_dtype
from ..errors import ArgumentError, ArgumentTypeError, ShapeError
from .declare import op


def _flat(values: Any) -> tuple[Any, ...]:
    """One tuple of integers, however it was spelled: f(2, 3) or f((2, 3))."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        values = values[0]
    return tuple(values)


def _sizes(values: Any, op_name: str) -> tuple[int, ...]:
    flat = _flat(values)
    for n in flat:
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
            raise ArgumentTypeError(f"{op_name}: sizes must be integers, not {type(n).__name__}")
    return flat


# ------------------------------------------------------------------ permute
def _permutation(x: Any, dims: Any) -> tuple[tuple[int, ...]]:
    dims = _flat(dims)
    if len(dims) != x.ndim:
        raise ShapeError(
            f"permute: the tensor has {x.ndim} dimensions, but {len(dims)} were given: {list(dims)}; name each once"
        )
    found = tuple(normal_axis(d, x.ndim, "permute") for d in dims)
    if len(set(found)) < len(found):
        raise ShapeError(f"permute: duplicate dims are not allowed: {list(dims)}; name each dimension once")
    return (found,)


def inverse(dims: tuple[int, ...]) -> tuple[int, ...]:
    """The inverse permutation."""
    return tuple(dims.index(k) for k in range(len(dims)))


@op(
    params=("dims",),
    star="dims",
    prepare=_permutation,
    structural=True,
    linear=("x",),
    shape=lambda x, dims: tuple(x[d] for d in dims),
    index=lambda m, i, x, dims: x(tuple(i[k] for k in inverse(dims))),
    vjp=dict(x=lambda xp, g, dims: xp.permute(g, inverse(dims))),
    rule_name="transposition",
)
def permute(x, dims):
    """Dimensions in another order: ``out[i_d₀, i_d₁, …] = x[i₀, i₁, …]``."""
    return np.transpose(x, dims)


# ------------------------------------------------------------------ reshape
def _new_shape(x: Any, shape: Any) -> tuple[tuple[int, ...]]:
    shape = _sizes(shape, "reshape")
    unknown = [k for k, n in enumerate(shape) if n == -1]
    if len(unknown) > 1:
        raise ShapeError(f"reshape: only one dimension can be inferred, but {list(shape)} has {len(unknown)} times -1")
    known = prod(n for n in shape if n != -1)
    if unknown:
        if known == 0 or x.size % known:
            raise ShapeError(
                f"reshape: shape '{list(shape)}' is invalid for input of size {x.size}; sizes must multiply to it"
            )
        shape = tuple(x.size // known if n == -1 else n for n in shape)
    elif known != x.size or any(n < 0 for n in shape):
        raise ShapeError(
            f"reshape: shape '{list(shape)}' is invalid for input of size {x.size}; sizes must multiply to it"
        )
    return (shape,)


def _reshape_index(m: Any, i: tuple[Any, ...], x: Any, shape: tuple[int, ...]) -> Any:
    """Dimensions are matched in groups of equal size; within a group, the flat index is taken apart again."""
    if 0 in x.shape:
        return m.size(0)  # nothing is ever looked up
    source, out, a, b = [], tuple(shape), 0, 0
    while a < len(x.shape):
        stop_a, stop_b, size_a, size_b = a + 1, b, x.shape[a], 1
        while stop_b < len(out) and (size_b != size_a):
            if size_b < size_a or size_a == 0:
                size_b = size_b * out[stop_b]
                stop_b += 1
            else:
                size_a = size_a * x.shape[stop_a]
                stop_a += 1
        while size_b != size_a:
            size_a = size_a * x.shape[stop_a]
            stop_a += 1
        flat: Any = 0
        live = [k for k in range(b, stop_b) if out[k] != 1]
        for k in live:
            flat = flat * out[k] + i[k]
        axes = list(range(a, stop_a))
        big = [k for k in axes if x.shape[k] != 1]
        parts: dict[int, Any] = {}
        for position, k in enumerate(reversed(big)):
            last = position == len(big) - 1
            parts[k] = flat if last else m.mod(flat, x.shape[k])
            flat = flat if last else m.floordiv(flat, x.shape[k])
        source += [parts.get(k, 0) for k in axes]
        a, b = stop_a, stop_b
    return x(tuple(source))


@op(
    params=("shape",),
    star="shape",
    prepare=_new_shape,
    structural=True,
    linear=("x",),
    shape=lambda x, shape: shape,
    index=_reshape_index,
    vjp=dict(x=lambda xp, g, x: xp.reshape(g, tuple(x.shape))),
    torch_name="ViewBackward0",
    rule_name="reshaping",
)
def reshape(x, shape):
    """The same entries, row by row, in another shape; one size may be −1."""
    return np.reshape(x, shape)


# ------------------------------------------------------------------ squeeze, unsqueeze
def _squeezed(x: Any, dim: Any) -> tuple[tuple[int, ...]]:
    axes = normal_axes(dim, x.ndim, "squeeze") if dim is None or np.ndim(dim) == 0 or len(dim) else ()
    return (tuple(a for a in axes if x.shape[a] == 1),)


def _kept(i: tuple[Any, ...], dim: tuple[int, ...], ndim: int) -> tuple[Any, ...]:
    rest = iter(i)
    return tuple(0 if k in dim else next(rest) for k in range(ndim))


@op(
    params=("dim",),
    prepare=_squeezed,
    structural=True,
    linear=("x",),
    shape=lambda x, dim: tuple(n for k, n in enumerate(x) if k not in dim),
    index=lambda m, i, x, dim: x(_kept(i, dim, len(x.shape))),
    vjp=dict(x=lambda xp, g, dim: xp.unsqueeze(g, dim)),
    rule_name="reshaping",
)
def squeeze(x, dim=None):
    """Without the dimensions of size 1: all, or those named that have size 1."""
    return np.squeeze(x, dim) if dim else x


def _unsqueezed(x: Any, dim: Any) -> tuple[tuple[int, ...]]:
    given = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    return (tuple(sorted(normal_axis(d, x.ndim + len(given), "unsqueeze") for d in given)),)


@op(
    params=("dim",),
    prepare=_unsqueezed,
    structural=True,
    linear=("x",),
    shape=lambda x, dim: _kept_sizes(x, dim),
    index=lambda m, i, x, dim: x(tuple(j for k, j in enumerate(i) if k not in dim)),
    vjp=dict(x=lambda xp, g, dim: xp.squeeze(g, dim)),
    rule_name="reshaping",
)
def unsqueeze(x, dim):
    """With new dimensions of size 1 at the given places."""
    return np.expand_dims(x, dim) if dim else x


def _kept_sizes(shape: tuple[int, ...], dim: tuple[int, ...]) -> tuple[int, ...]:
    rest = iter(shape)
    return tuple(1 if k in dim else next(rest) for k in range(len(shape) + len(dim)))


# ------------------------------------------------------------------ expand
def _expanded(x: Any, shape: Any) -> tuple[tuple[int, ...]]:
    sizes = _sizes(shape, "expand")
    lead = len(sizes) - x.ndim
    if lead < 0:
        raise ShapeError(
            f"expand: {len(sizes)} sizes were given, but the tensor has {x.ndim} dimensions: {list(x.shape)}"
        )
    out = []
    for k, n in enumerate(sizes):
        own = x.shape[k - lead] if k >= lead else None
        if n == -1 and own is not None:
            n = own
        elif own is not None and own not in (1, n):
            raise ShapeError(
                f"expand: The expanded size of the tensor ({n}) must match the existing size ({own}) at non-singleton "
                f"dimension {k}; the shape is {list(x.shape)}, and {list(sizes)} was asked for"
            )
        if n < 0:
            raise ShapeError(f"expand: size {n} at dimension {k} is not possible in {list(sizes)}")
        out.append(n)
    return (tuple(out),)


@op(
    params=("shape",),
    star="shape",
    prepare=_expanded,
    structural=True,
    fits=True,
    linear=("x",),
    shape=lambda x, shape: shape,
    index=lambda m, i, x, shape: x(
        tuple(0 if n == 1 else j for n, j in zip(x.shape, i[len(i) - len(x.shape) :], strict=True))
    ),
    vjp=dict(x=lambda g: g),
    rule_name="broadcasting sums",
)
def expand(x, shape):
    """Broadcast to a larger shape without copying; −1 keeps a size."""
    return np.broadcast_to(x, shape)


# ------------------------------------------------------------------ clone, cast
@op(
    broadcasts=True,
    linear=("x",),
    expr=lambda m, x: x,
    vjp=dict(x=lambda g: g),
    rule_name="copy",
)
def clone(x):
    """A copy with its own memory."""
    return x.copy()


@op(
    broadcasts=True,
    linear=("x",),
    params=("dtype",),
    prepare=lambda x, dtype: (numpy_dtype(dtype),),
    expr=lambda m, x, dtype: x,
    vjp=dict(x=lambda xp, g, x: xp.cast(g, x.dtype)),
    torch_name="ToCopyBackward0",
    rule_name="copy",
)
def cast(x, dtype):
    """The same values in another dtype."""
    return cast_value(x, dtype)


# ------------------------------------------------------------------ flip of meaning: transpose by two names
def swapped(x: Any, dim0: int, dim1: int) -> tuple[int, ...]:
    """The permutation that exchanges two dimensions."""
    a, b = normal_axis(dim0, x.ndim, "transpose"), normal_axis(dim1, x.ndim, "transpose")
    dims = list(range(x.ndim))
    if x.ndim:
        dims[a], dims[b] = dims[b], dims[a]
    return tuple(dims)


@op(
    params=("dim0", "dim1"),
    prepare=lambda x, dim0, dim1: (normal_axis(dim0, x.ndim, "transpose"), normal_axis(dim1, x.ndim, "transpose")),
    structural=True,
    linear=("x",),
    shape=lambda x, dim0, dim1: _swap(x, dim0, dim1),
    index=lambda m, i, x, dim0, dim1: x(_swap(i, dim0, dim1)),
    vjp=dict(x=lambda xp, g, dim0, dim1: xp.transpose(g, dim0, dim1)),
    rule_name="transposition",
)
def transpose(x, dim0, dim1):
    """Two dimensions exchanged."""
    return np.swapaxes(x, dim0, dim1) if x.ndim else x


def _swap(items: tuple[Any, ...], a: int, b: int) -> tuple[Any, ...]:
    out = list(items)
    if out:
        out[a], out[b] = out[b], out[a]
    return tuple(out)


@op(
    structural=True,
    linear=("x",),
    shape=lambda x: tuple(reversed(x)),
    index=lambda m, i, x: x(tuple(reversed(i))),
    vjp=dict(x=lambda xp, g: xp.t(g)),
    torch_name="TBackward0",
    rule_name="transposition",
)
def t(x):
    """Transpose of a matrix; vectors and numbers stay as they are."""
    if x.ndim > 2:
        raise ArgumentError(f"t: expects at most 2 dimensions, but the shape is {list(x.shape)}; use mT or permute")
    return x.T
