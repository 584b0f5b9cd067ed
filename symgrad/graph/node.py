"""The record of one op: facts only, from which numbers and formulas are derived.

A node keeps its operands (nodes, leaf tensors or plain numbers), its parameters, the arrays
its gradient rules read, the shape and dtype of its result, and where it was recorded. It
knows nothing of tensors that were computed from it, so a graph has no reference cycles.
"""

from __future__ import annotations

import itertools
import sys
import types
import weakref
from _thread import get_ident  # `threading` would take longer to import than all of the tape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..ops.declare import Op

next_seq = itertools.count(1).__next__
"""The clock of the tape: nodes and in-place writes take their time from it."""


FIT = 8
"""The bit of `Node.needs` that says a cotangent may have to be summed or cast back to its operand."""


class Freed:
    """Marks a node whose saved arrays have been let go."""

    def __repr__(self) -> str:
        return "<freed>"


FREED = Freed()


class Extra:
    """What few nodes and tensors have: hooks, a name, guards, a retained gradient."""

    __slots__ = (
        "accumulator",
        "changed",
        "dims",
        "guards",
        "hooks",
        "name",
        "node_hooks",
        "origin",
        "place",
        "retained",
        "symbol",
    )

    def __init__(self) -> None:
        self.name: str | None = None
        self.dims: tuple[str, ...] | None = None
        self.hooks: dict[int, Any] | None = None
        self.node_hooks: dict[int, Any] | None = None
        self.guards: tuple[Guard, ...] = ()
        self.retained: weakref.ref[Any] | None = None
        self.accumulator: weakref.ref[Any] | None = None
        self.place: tuple[types.CodeType, int] | None = None
        self.origin: Any = None
        self.symbol: str | int | None = None
        self.changed = 0


class Node:
    """One recorded op. Slots, no closure: 1,000,000 of them are one computation.

    Slots that an op has no use for (the second operand of a one-operand op) are never set.

    Attributes
    ----------
    op : Op
        The declaration.
    a0, a1, a2 : Node, Tensor or number
        The operands; for an op of many operands, `a0` is the tuple of them.
    v0, v1, v2, out : ndarray or None
        The values of operands and result, those that the needed rules read.
    params : tuple or None
        The parameters in normal form.
    shape, dtype
        Of the result.
    needs : int
        Bit k says that operand k takes a cotangent.
    seq : int
        When it was recorded.
    code, lasti
        The caller's code object and bytecode offset.
    """

    __slots__ = (
        "__weakref__",
        "a0",
        "a1",
        "a2",
        "code",
        "dtype",
        "extra",
        "lasti",
        "needs",
        "op",
        "out",
        "params",
        "seq",
        "shape",
        "v0",
        "v1",
        "v2",
    )

    op: Op
    a0: Any
    a1: Any
    a2: Any
    v0: Any
    v1: Any
    v2: Any
    out: Any
    params: tuple[Any, ...] | None
    shape: tuple[int, ...]
    dtype: np.dtype
    needs: int
    seq: int
    code: types.CodeType | None
    lasti: int
    extra: Extra | None

    @property
    def ndim(self) -> int:
        """The number of dimensions of the result."""
        return len(self.shape)

    @property
    def given(self) -> tuple[Any, ...]:
        """The parameters; none for an op that has none."""
        return self.params or ()

    @property
    def operands(self) -> tuple[Any, ...]:
        """All operands, in the order of the op's arguments."""
        op = self.op
        if op.variadic:
            return self.a0
        return tuple(getattr(self, slot) for slot in ("a0", "a1", "a2")[: op.arity])

    @property
    def saved(self) -> tuple[Any, ...]:
        """The saved value of each operand, None where none was kept."""
        if self.op.variadic:
            return self.v0 if self.v0 is not None else (None,) * len(self.a0)
        return tuple(getattr(self, slot, None) for slot in ("v0", "v1", "v2")[: self.op.arity])

    @property
    def is_freed(self) -> bool:
        """Whether saved values were here and have been let go."""
        return self.out is FREED

    def free(self) -> None:
        """Lets go of the saved arrays; marks the node only if its op keeps any."""
        if self.op.saves:
            self.v0 = self.v1 = self.v2 = None
            self.out = FREED

    def get_extra(self) -> Extra:
        """The rare attributes, made at the first use."""
        if self.extra is None:
            self.extra = Extra()
        return self.extra


class Guard(NamedTuple):
    """A Python branch on a tensor: the relation that was tested and what came out.

    Operands are held weakly: a guard must not keep a graph alive.
    """

    op: Op
    operands: tuple[Any, ...]
    params: tuple[Any, ...] | None
    outcome: int
    code: types.CodeType
    lasti: int
    thread: int

    def alive(self) -> tuple[Any, ...] | None:
        """The operands of the relation, or None if one of them is gone."""
        found = tuple(o() if isinstance(o, weakref.ref) else o for o in self.operands)
        return None if any(f is None for f in found) else found


withheld: set[int] = set()
"""Threads in which no tensor tells its values: a user's backward is being read as a formula."""

pending_guards: list[Guard] = []
"""Guards that wait for the next recorded node of their thread."""


def attach_guards(node: Node) -> None:
    """Moves this thread's pending guards onto the node."""
    if node.op.name in ("eq", "ne", "lt", "le", "gt", "ge"):
        return  # a comparison may be the next test: what comes of both carries both
    thread = get_ident()
    mine = [g for g in pending_guards if g.thread == thread]
    if not mine:
        return
    pending_guards[:] = [g for g in pending_guards if g.thread != thread]
    running: set[int] = set()
    frame = sys._getframe(1)
    while frame is not None:
        running.add(id(frame.f_code))
        frame = frame.f_back
    # A test in a function that has returned, of values that are gone, cannot have led here.
    kept = tuple(g for g in mine if id(g.code) in running or g.alive() is not None)
    if kept:
        node.get_extra().guards = kept
