"""The numeric and the recorded column: who supplies values and functions to the rules."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..array import cast, unbroadcast
from ..errors import GradientError
from . import versions
from .node import Node


def _namespace(name: str) -> ModuleType:
    """A namespace for the functions that rules call, by the names of the ops; the catalogue fills it.

    It is a module, as the interpreter finds the functions of a module faster than attributes of anything else.
    """

    def missing(op: str) -> Any:
        raise AttributeError(f"the {name} column has no op {op!r}")

    made = ModuleType(f"symgrad.{name}")
    vars(made)["__getattr__"] = missing
    return made


numeric_namespace = _namespace("numeric")
recorded_namespace = _namespace("recorded")
vars(numeric_namespace)["zeros"] = lambda shape, dtype: np.zeros(shape, dtype)


def check_versions(node: Node) -> None:
    """Raises if an array that the node saved has been written in place since."""
    for name, value in (*zip(node.op.operand_names(node), node.saved, strict=True), ("result", node.out)):
        for array in value if isinstance(value, tuple) else (value,):
            stale = versions.writes_after(array, node.seq)
            if stale:
                then, now, op = stale
                raise GradientError(
                    f"{node.op.grad_name(node)}: its saved {name!r}, of shape {list(array.shape)}, has been modified "
                    f"by an inplace operation ({op}): it is at version {now}, but version {then} was saved; "
                    "write out of place, or to a clone()"
                )


def check_all_versions(order: list[Node]) -> None:
    """`check_versions` for every node, which one comparison settles where no write is newer than the oldest."""
    if order and versions.last_write > order[0].seq:
        for node in order:
            check_versions(node)


class NumericColumn:
    """Saved arrays as they are."""

    in_place = True
    view = None

    def __init__(self) -> None:
        self.xp = numeric_namespace

    def fit(self, cotangent: Any, operand: Any) -> Any:
        """See `Column.fit`."""
        target = operand if isinstance(operand, Node) else operand._data
        if cotangent.shape != target.shape:
            cotangent = unbroadcast(self.xp, cotangent, target.shape)
        return cotangent if cotangent.dtype is target.dtype else cast(cotangent, target.dtype)


class _View:
    """A node whose saved values are tensors that lead back into the graph."""

    __slots__ = ("a0", "a1", "a2", "out", "params", "v0", "v1", "v2")


class RecordedColumn:
    """Saved values as tensors, so that the backward pass is itself recorded."""

    in_place = False

    def __init__(self, tensor_of: Callable[[Any, Any], Any]):
        self.xp = recorded_namespace
        self._tensor_of = tensor_of

    def view(self, node: Node) -> _View:
        """A stand-in for the node with tensors in the places of saved arrays."""
        view = _View()
        view.params = node.params
        tensor_of, operands, saved = self._tensor_of, node.operands, node.saved
        if node.op.variadic:
            view.a0 = operands
            view.v0 = tuple(None if v is None else tensor_of(v, a) for v, a in zip(saved, operands, strict=True))
        else:
            for k, (a, v) in enumerate(zip(operands, saved, strict=True)):
                setattr(view, f"a{k}", a)
                setattr(view, f"v{k}", None if v is None else tensor_of(v, a))
        view.out = None if node.out is None else tensor_of(node.out, node)
        return view

    def fit(self, cotangent: Any, operand: Any) -> Any:
        """See `Column.fit`."""
        target = operand if isinstance(operand, Node) else operand._data
        if cotangent._data.shape != target.shape:
            cotangent = unbroadcast(self.xp, cotangent, target.shape)
        return cotangent if cotangent._data.dtype == target.dtype else self.xp.cast(cotangent, target.dtype)
