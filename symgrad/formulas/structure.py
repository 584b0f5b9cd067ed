"""The structure column: records without data, and the rules run on them.

A record is a node of the tape read again: op, operands, parameters, shape, dtype. Rules run
on records as they do on arrays, and what they return are records, so a gradient is a graph
like any other, and can be differentiated again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FormulaError
from ..graph import Node
from ..graph.node import FIT
from ..ops.declare import Op, catalogue

_seq = itertools.count(1).__next__


class Symbolic:
    """What rules may do with a record: arithmetic and relations, which make records."""

    __slots__ = ()

    if TYPE_CHECKING:
        shape: tuple[int, ...]
        dtype: Any
        track: bool

    def __array_ufunc__(self, ufunc: Any, *_: Any, **__: Any) -> Any:
        raise FormulaError(
            f"a gradient rule calls np.{ufunc.__name__} on what may be a formula; let it call "
            f"xp.{ufunc.__name__}, which runs in every column"
        )

    def __add__(self, other: Any) -> Record:
        return apply("add", self, other, params=(1,))

    def __sub__(self, other: Any) -> Record:
        return apply("sub", self, other, params=(1,))

    def __rsub__(self, other: Any) -> Record:
        return apply("sub", other, self, params=(1,))

    def __mul__(self, other: Any) -> Record:
        return apply("mul", self, other)

    def __rmul__(self, other: Any) -> Record:
        return apply("mul", other, self)

    def __truediv__(self, other: Any) -> Record:
        return apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Record:
        return apply("div", other, self)

    def __neg__(self) -> Record:
        return apply("neg", self)

    def __pow__(self, other: Any) -> Record:
        return apply("pow", self, other)

    def __lt__(self, other: Any) -> Record:
        return apply("lt", self, other)

    def __le__(self, other: Any) -> Record:
        return apply("le", self, other)

    def __gt__(self, other: Any) -> Record:
        return apply("gt", self, other)

    def __ge__(self, other: Any) -> Record:
        return apply("ge", self, other)

    def __eq__(self, other: Any) -> Any:
        return self is other

    def equals(self, other: Any) -> Record:
        """The relation ``self = other``; ``==`` is identity, as records are keys."""
        return apply("eq", self, other)

    __hash__ = object.__hash__


class Atom(Symbolic):
    """A record that is no op: a leaf, a number, the seed of a derivative.

    Attributes
    ----------
    kind : str
        ``"leaf"``, ``"number"``, ``"seed"`` or ``"opaque"``.
    value : Tensor, number or tuple
        What it stands for: the tensor, the number, the indices at which the seed is 1, or the call
        and the number of the operand whose unknown derivative it is.
    first_use : int
        The time on the tape at which a leaf was first used.
    """

    __slots__ = ("dtype", "first_use", "kind", "needs", "seq", "shape", "track", "value")

    def __init__(self, kind: str, value: Any, shape: tuple[int, ...], dtype: Any, track: bool = False):
        self.kind, self.value, self.shape, self.dtype, self.track = kind, value, tuple(shape), dtype, track
        self.seq, self.needs, self.first_use = _seq(), 0, 0

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


class Record(Symbolic, Node):
    """A node without data. Its saved values are its operands; its saved result is itself.

    Attributes
    ----------
    source : Node or None
        The node of the tape that it is a reading of; None for what a rule made.
    track : bool
        Whether a derivative can flow into it.
    """

    __slots__ = ("source", "track")

    source: Node | None
    track: bool

    @property
    def v0(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The operand stands for its value."""
        return self.a0

    @property
    def v1(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The operand stands for its value."""
        return self.a1

    @property
    def v2(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The operand stands for its value."""
        return self.a2

    @property
    def out(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The record stands for its value."""
        return self


FLOAT = np.dtype("float64")


def number(value: Any, shape: tuple[int, ...] = (), dtype: Any = FLOAT) -> Atom:
    """A constant, the same in every entry."""
    return Atom("number", value, shape, dtype)


def seed(shape: tuple[int, ...], dtype: Any, index: tuple[Any, ...]) -> Atom:
    """The cotangent that picks one entry: 1 at the index, 0 elsewhere."""
    return Atom("seed", index, shape, dtype)


def blank(op: Op, shape: tuple[int, ...], dtype: Any) -> Record:
    """A record without operands yet."""
    r: Record = object.__new__(Record)
    r.op, r.shape, r.dtype, r.params, r.needs = op, shape, dtype, None, 0
    r.source, r.extra, r.track, r.seq = None, None, False, _seq()
    return r


def apply(name: str | Op, *operands: Any, params: tuple[Any, ...] | None = None, source: Any = None) -> Record:
    """The record of an op on records and numbers."""
    op = catalogue[name] if isinstance(name, str) else name
    read = [o if isinstance(o, Symbolic) else number(o) for o in operands]
    shape = op.result_shape(tuple(o.shape for o in read), params)
    r = blank(op, shape, _dtype(op, read))
    r.params, r.source = params, source
    for slot, o in zip(("a0", "a1", "a2"), read, strict=False):
        setattr(r, slot, o)
    needs = 0
    if op.rules:
        for k, (a, o) in enumerate(zip(op.args, read, strict=True)):
            if o.track and a in op.rules:
                needs |= 1 << k
    if needs:
        r.track = True
        if op.fits or (op.broadcasts and any(o.shape != shape for o in read)):
            needs |= FIT
    r.needs = needs
    return r


def _dtype(op: Op, operands: list[Any]) -> Any:
    if not op.differentiable:
        return np.dtype(bool)
    for o in operands:
        if o.dtype.kind == "f" and not (isinstance(o, Atom) and o.kind == "number"):
            return o.dtype
    return FLOAT


class _StructureNamespace:
    """The functions that rules call, on records."""

    def __getattr__(self, name: str) -> Callable[..., Record]:
        op = catalogue[name]
        arity = op.arity

        def call(*args: Any) -> Record:
            operands, params = args[:arity], args[arity:]
            if op.params and len(params) < len(op.params):
                params += tuple(op.defaults[p] for p in op.params[len(params) :])
            return apply(op, *operands, params=tuple(params) if op.params else None)

        setattr(self, name, call)
        return call

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Atom:
        """Nothing."""
        return number(0, tuple(shape), dtype)

    def cast(self, x: Any, dtype: Any) -> Any:
        """The same formula: dtypes round numbers, not formulas."""
        return x


class StructureColumn:
    """Records stand for values; nothing is saved, nothing freed."""

    in_place = False
    view: Callable[[Any], Any] | None = None

    def __init__(self) -> None:
        self.xp = _StructureNamespace()

    def fit(self, cotangent: Any, operand: Any) -> Any:
        """See `Column.fit`; sizes are compared as numbers, names and all."""
        from ..array import unbroadcast

        return cotangent if cotangent.shape == operand.shape else unbroadcast(self.xp, cotangent, operand.shape)
