"""The matrix product in every combination of ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..array import broadcast_shapes
from ..errors import DTypeError, ShapeError
from .declare import op
from .place import at_caller

__symgrad_internal__ = True


def _checked(x: Any, y: Any) -> tuple[()]:
    if x.ndim == 0 or y.ndim == 0:
        raise ShapeError(
            f"matmul: both arguments need at least one dimension, but the shapes are {list(x.shape)} and "
            f"{list(y.shape)}; use * for numbers"
        )
    if x.dtype != y.dtype:
        raise DTypeError(
            f"matmul: both arguments must have the same dtype, not {x.dtype} and {y.dtype}; convert one with .to(...)"
        )
    inner, other = x.shape[-1], y.shape[-2 if y.ndim > 1 else 0]
    if inner != other:
        shown = f"{'x'.join(map(str, x.shape[-2:]))} and {'x'.join(map(str, y.shape[-2:]))}"
        raise ShapeError(
            f"matmul: shapes {list(x.shape)} and {list(y.shape)} cannot be multiplied ({shown}): "
            f"the last size of the first, {inner}, must be the {'second to last' if y.ndim > 1 else 'only'} "
            f"size of the second, {other}"
        )
    for k in range(3, min(x.ndim, y.ndim) + 1):
        a, b = x.shape[-k], y.shape[-k]
        if a != b and 1 not in (a, b):
            raise ShapeError(
                f"matmul: The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension "
                f"{max(x.ndim, y.ndim) - k}; the shapes are {list(x.shape)} and {list(y.shape)}"
            )
    return ()


def _shape(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    rows = x[-2:-1] if len(x) > 1 else ()
    columns = y[-1:] if len(y) > 1 else ()
    return (*broadcast_shapes(x[:-2], y[:-2]), *rows, *columns)


def _entry(m: Any, i: tuple[Any, ...], x: Any, y: Any) -> Any:
    rows, columns = len(x.shape) > 1, len(y.shape) > 1
    end = len(i) - rows - columns
    batch = i[:end]
    row = i[end : end + rows]
    column = i[end + rows :]

    def lead(shape: tuple[int, ...]) -> tuple[Any, ...]:
        sizes = shape[:-2]
        return tuple(0 if n == 1 else j for n, j in zip(sizes, batch[len(batch) - len(sizes) :], strict=True))

    return m.sum(x.shape[-1], lambda k: x((*lead(x.shape), *row, k)) * y((*lead(y.shape), k, *column)))


def _node_name(n: Any) -> str:
    ranks = n.a0.ndim, n.a1.ndim
    return {(1, 1): "Dot", (2, 2): "Mm", (2, 1): "Mv", (1, 2): "Squeeze"}.get(ranks, "Bmm" if max(ranks) > 2 else "Mm")


def _transposed(xp: Any, x: Any) -> Any:
    return xp.transpose(x, len(x.shape) - 2, len(x.shape) - 1)


def _left(xp: Any, g: Any, shape: tuple[int, ...], y: Any) -> Any:
    """ḡ·yᵀ, with vectors taken as rows and columns."""
    if len(shape) == 1 and len(y.shape) == 1:
        return g * y
    if len(y.shape) == 1:
        return xp.unsqueeze(g, (len(g.shape),)) * y
    if len(shape) == 1:
        product = xp.matmul(y, xp.unsqueeze(g, (len(g.shape),)))
        return xp.squeeze(product, (len(product.shape) - 1,))
    return xp.matmul(g, _transposed(xp, y))


def _right(xp: Any, g: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """xᵀ·ḡ, with vectors taken as rows and columns."""
    if len(x.shape) == 1 and len(shape) == 1:
        return g * x
    if len(x.shape) == 1:
        return xp.unsqueeze(g, (len(g.shape) - 1,)) * xp.unsqueeze(x, (1,))
    if len(shape) == 1:
        if len(x.shape) == 2:
            return xp.matmul(_transposed(xp, x), g)
        product = xp.matmul(_transposed(xp, x), xp.unsqueeze(g, (len(g.shape),)))
        return xp.squeeze(product, (len(product.shape) - 1,))
    return xp.matmul(_transposed(xp, x), g)


@op(
    fits=True,
    linear=("x", "y"),
    prepare=_checked,
    shape=_shape,
    index=_entry,
    vjp=dict(x=lambda xp, g, x, y: _left(xp, g, x.shape, y), y=lambda xp, g, x, y: _right(xp, g, x, y.shape)),
    saved_names={"x": "self", "y": "mat2"},
    torch_name=_node_name,
    rule_name="product rule",
)
def matmul(x, y):
    """Matrix product ``Σₖ xᵢₖ·yₖⱼ``; vectors are rows or columns, leading dimensions broadcast."""
    return np.matmul(x, y)


# ------------------------------------------------------------------ PyTorch's names for fixed ranks
def _ranked(name: str, ranks: tuple[int, int], what: str, doc: str) -> Callable[[Any, Any], Any]:
    def product(x: Any, y: Any) -> Any:
        given = np.ndim(getattr(x, "_data", x)), np.ndim(getattr(y, "_data", y))
        if given != ranks:
            raise ShapeError(
                f"{name}: {what} expected, but got {given[0]}D and {given[1]}D tensors of shapes "
                f"{list(np.shape(getattr(x, '_data', x)))} and {list(np.shape(getattr(y, '_data', y)))}; "
                "use matmul for other ranks"
            )
        return at_caller(matmul(x, y))

    product.__name__ = product.__qualname__ = name
    product.__doc__ = doc
    return product


mm = _ranked("mm", (2, 2), "two matrices", "Product of two matrices.")
mv = _ranked("mv", (2, 1), "a matrix and a vector", "Product of a matrix and a vector.")
dot = _ranked("dot", (1, 1), "1D tensors", "Inner product of two vectors.")
bmm = _ranked("bmm", (3, 3), "two batches of matrices", "Products of two batches of matrices, one by one.")
