"""Writes into a tensor that exists already.

Untracked memory is written, and the write is noted, so that a graph that saved the old
values refuses to use the new ones. A tracked tensor gets new memory and the record of the
op, so that what was saved before stays what it was. Where memory is shared with a view the
write would have to reach both; that is refused.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np

from . import ops
from .errors import ArgumentTypeError, GradientError, ShapeError
from .graph import Node, is_grad_enabled, versions
from .graph.node import next_seq
from .ops.generate import runtime

__symgrad_internal__ = True


def _refuse_leaf(t: Any, op: str) -> None:
    if t._requires_grad and t._node is None and is_grad_enabled():
        raise GradientError(
            f"{op}: a leaf tensor that requires grad is being used in an in-place operation; "
            "write it under no_grad(), or compute a new tensor"
        )


def _tracked(*values: Any) -> bool:
    tensor = runtime["Tensor"]
    return is_grad_enabled() and any(isinstance(v, tensor) and v._requires_grad for v in values)


def _shares_memory(data: Any) -> bool:
    """Whether another tensor or array looks at the same memory; saved values of nodes do not count.

    Tensors and nodes are seen by the garbage collector, arrays are not: references that it does
    not find are those of views.
    """
    if not isinstance(data, np.ndarray):
        return False
    if data.base is not None:
        return True
    here = 2  # the argument of this function, and the one of getrefcount
    referrers = gc.get_referrers(data)
    tensors = sum(isinstance(r, runtime["Tensor"]) for r in referrers)
    saved = sum(slot is data for r in referrers if isinstance(r, Node) for slot in _slots(r))
    return tensors > 1 or sys.getrefcount(data) - here > tensors + saved


def _slots(node: Node) -> list[Any]:
    flat: list[Any] = []
    for slot in ("v0", "v1", "v2", "out"):
        value = getattr(node, slot, None)
        flat.extend(value if isinstance(value, tuple) else [value])
    return flat


def _writable(t: Any, op: str) -> np.ndarray:
    data = t._shared()
    if not data.flags.writeable or (
        0 in data.strides
        and data.size > 1
        and any(s == 0 and n > 1 for s, n in zip(data.strides, data.shape, strict=True))
    ):
        raise ShapeError(
            f"{op}: more than one element of the written-to tensor refers to a single memory location; clone() "
            "it before writing"
        )
    return data


def write(t: Any, value: Any, op: str, index: Any = ...) -> Any:
    """Writes plain values into the tensor's memory, and notes the write."""
    data = _writable(t, op)
    try:
        data[index] = value
    except ValueError:
        raise ShapeError(
            f"{op}: output with shape {list(data[index].shape)} doesn't match the broadcast shape "
            f"{list(np.shape(value))}"
        ) from None
    versions.note_write(data, op)
    t._get_extra().changed = next_seq()
    return t


def _in_place(name: str) -> Any:
    def update(self: Any, other: Any, **named: Any) -> Any:
        record = ops.catalogue[name].record
        _refuse_leaf(self, name + "_")
        result = record(self, other, **named)
        if result._data.shape != self._data.shape:
            raise ShapeError(
                f"{name}_: output with shape {list(self._data.shape)} doesn't match the broadcast shape "
                f"{list(result._data.shape)}; "
                f"compute a new tensor instead"
            )
        kinds = "biuf"
        if kinds.index(result._data.dtype.kind) > kinds.index(self._data.dtype.kind):
            raise GradientError(
                f"{name}_: result type {result._data.dtype} can't be cast to the desired output type "
                f"{self._data.dtype}; "
                "compute a new tensor, or convert the first one"
            )
        if not result._requires_grad:
            return write(self, result._data, name + "_")
        if _shares_memory(self._data):
            raise GradientError(
                f"{name}_: the memory of this tensor is shared with a view, and a tracked write that reaches "
                "both is not built yet; "
                f"write out of place: x = x {'+' if name == 'add' else '…'} y, or clone() first"
            )
        if result._data.dtype != self._data.dtype:
            result = ops.shaping.cast(result, self._data.dtype)
        self._data, self._node, self._requires_grad = result._data, result._node, True
        return self

    update.__name__ = update.__qualname__ = name + "_"
    update.__doc__ = f"As ``{name}``, written into this tensor."
    return update


iadd, isub, imul, idiv, ipow = map(_in_place, ("add", "sub", "mul", "div", "pow"))


def _plain_write(self: Any, value: Any, op: str, index: Any = ...) -> Any:
    _refuse_leaf(self, op)
    if _tracked(self, value):
        raise GradientError(
            f"{op}: overwriting entries of a tensor that is part of a graph is not built yet; build the new "
            "values with sg.where, "
            "or write under no_grad()"
        )
    tensor = runtime["Tensor"]
    plain = value._data if isinstance(value, tensor) else value
    return write(self, plain, op, index)


def zero_(self: Any) -> Any:
    """Fills this tensor with zeros."""
    return _plain_write(self, 0, "zero_")


def fill_(self: Any, value: Any) -> Any:
    """Fills this tensor with a number."""
    return _plain_write(self, value, "fill_")


def copy_(self: Any, source: Any) -> Any:
    """Copies the values of `source` into this tensor."""
    if not isinstance(source, runtime["Tensor"]):
        raise ArgumentTypeError(f"copy_: the source must be a Tensor, not {type(source).__name__}")
    return _plain_write(self, source, "copy_")


def setitem(self: Any, index: Any, value: Any) -> None:
    """Writes the entries that the index selects."""
    _plain_write(self, value, "setitem", ops.indexing.numpy_index(ops.indexing.normal_index(self._data.shape, index)))
