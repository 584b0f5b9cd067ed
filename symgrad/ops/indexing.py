"""Indexing by integers, slices, None and ``...``, and its adjoint, which puts entries back in place."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentValueError, DimensionError
from .declare import op


class Span(NamedTuple):
    """A slice in normal form: `length` entries from `start`, `step` apart."""

    start: int
    step: int
    length: int


def normal_index(shape: tuple[int, ...], index: Any) -> tuple[Any, ...]:
    """The index in normal form: an int, a `Span` or None for each place.

    Parameters
    ----------
    shape : tuple of int
        The shape of what is indexed.
    index : int, slice, None, Ellipsis, or a tuple of them
        As written between the brackets.

    Raises
    ------
    DimensionError
        If an integer is out of bounds, there are too many, or one is no index at all.
    ArgumentValueError
        If a slice has a step that is not positive.
    """
    items = index if isinstance(index, tuple) else (index,)
    used = sum(1 for i in items if i is not None and i is not Ellipsis)
    if used > len(shape):
        raise DimensionError(
            f"getitem: too many indices for tensor of dimension {len(shape)}: {used} were given for the shape "
            f"{list(shape)}"
        )
    if sum(1 for i in items if i is Ellipsis) > 1:
        raise DimensionError("getitem: an index can have only one '...'")
    if not any(i is Ellipsis for i in items):
        items = (*items, Ellipsis)
    out: list[Any] = []
    dim = 0
    for item in items:
        if item is Ellipsis:
            for _ in range(len(shape) - used):
                out.append(Span(0, 1, shape[dim]))
                dim += 1
        elif item is None:
            out.append(None)
        else:
            out.append(_one(item, shape[dim], dim))
            dim += 1
    return tuple(out)


def _one(item: Any, size: int, dim: int) -> int | Span:
    if isinstance(item, Span):
        return item
    if isinstance(item, slice):
        if item.step is not None and operator.index(item.step) <= 0:
            raise ArgumentValueError(
                f"getitem: a slice's step must be greater than zero, not {item.step}; reverse with flip"
            )
        start, stop, step = item.indices(size)
        return Span(start, step, max(0, -(-(stop - start) // step)))
    if isinstance(item, (bool, np.bool_)) or not hasattr(item, "__index__"):
        raise DimensionError(
            "getitem: only integers, slices (`:`), ellipsis (`...`) and None are valid indices here, "
            f"not {type(item).__name__}; masks and lists of indices are not built yet"
        )
    try:
        k = operator.index(item)
    except TypeError as error:
        raise DimensionError(f"getitem: not an index: {error}") from None
    if not -size <= k < size:
        raise DimensionError(f"getitem: index {k} is out of bounds for dimension {dim} with size {size}")
    return k % size


def numpy_index(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index as NumPy takes it."""
    return tuple(slice(i.start, i.start + i.step * i.length, i.step) if isinstance(i, Span) else i for i in index)


def _taken_shape(index: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(1 if i is None else i.length for i in index if i is None or isinstance(i, Span))


def _getitem_shape(x: tuple[int, ...], index: tuple[Any, ...]) -> tuple[int, ...]:
    """Whole dimensions keep the size they have, named or not."""
    out, dim = [], 0
    for i in index:
        if i is None:
            out.append(1)
            continue
        if isinstance(i, Span):
            out.append(x[dim] if i.step == 1 and i.length == x[dim] else i.length)
        dim += 1
    return tuple(out)


def _getitem_entry(m: Any, i: tuple[Any, ...], x: Any, index: tuple[Any, ...]) -> Any:
    place = iter(i)
    source: list[Any] = []
    for item in index:
        if item is None:
            next(place)
        elif isinstance(item, Span):
            source.append(m.affine(next(place), item.step, item.start))
        else:
            source.append(item)
    return x(tuple(source))


def _node_name(n: Any) -> str:
    """PyTorch takes the items one after the other, without those that change nothing, and shows the last step."""
    name, dim = "Alias", 0
    for item in n.params[0]:
        if item is None:
            name = "Unsqueeze"
            continue
        if not isinstance(item, Span):
            name = "Select"
        elif item != (0, 1, n.a0.shape[dim]):
            name = "Slice"
        dim += 1
    return name


@op(
    params=("index",),
    prepare=lambda x, index: (normal_index(x.shape, index),),
    selects=True,
    structural=True,
    linear=("x",),
    shape=_getitem_shape,
    index=_getitem_entry,
    vjp=dict(x=lambda xp, g, x, index: xp.place(g, index, tuple(x.shape))),
    torch_name=_node_name,
    rule_name="indexing",
)
def getitem(x, index):
    """The entries that the index selects."""
    return x[numpy_index(index)]


def _place_entry(m: Any, i: tuple[Any, ...], x: Any, index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """x at the index that leads here, times the bracket that says whether one does."""
    source: list[Any] = []
    bracket: Any = 1
    dim = 0
    for item in index:
        if item is None:
            source.append(0)
            continue
        if isinstance(item, Span):
            inner, inside = m.preimage(i[dim], item.start, item.step, item.length, shape[dim])
            source.append(inner)
            bracket = bracket * inside
        else:
            bracket = bracket * m.delta(i[dim], item)
        dim += 1
    return bracket * x(tuple(source))


@op(
    params=("index", "shape"),
    selects=True,
    structural=True,
    linear=("x",),
    shape=lambda x, index, shape: shape,
    index=_place_entry,
    vjp=dict(x=lambda xp, g, index: xp.getitem(g, index)),
    public=False,
    rule_name="indexing",
)
def place(x, index, shape):
    """Zeros of that shape with x at the index: the adjoint of indexing."""
    out = np.zeros(shape, x.dtype)
    out[numpy_index(index)] = x
    return out
