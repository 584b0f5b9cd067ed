"""Custom Functions in formulas: a call is ``Name(a, b)``, its derivative what its `backward` does.

The user's backward is run in the recorded column, on the saved tensors, and what it recorded
is read like any other part of the tape. Where it looks at values instead of computing with
tensors, or its saved values are gone, its derivative stays an opaque ``∂Name(a)/∂a``: it is
never taken for a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np

from ..array import unbroadcast
from ..autograd.function import FUNCTION, special_op
from ..autograd.modes import enable_grad
from ..errors import FormulaError
from ..graph import Node
from ..graph.node import withheld
from ..ops.declare import Op
from ..tensor import Tensor
from .structure import Atom, Record, Symbolic, apply, blank


class _NeedsValues(Exception):
    """The user's backward asked for a value."""


def _refuse(*_: Any, **__: Any) -> Any:
    raise _NeedsValues


class _Valueless(Tensor):
    """A tensor that computes, and does not tell its values."""

    __slots__ = ()
    item = tolist = numpy = detach = __bool__ = __float__ = __int__ = __array__ = _refuse
    data = property(_refuse)  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


def _valueless(value: Any, node: Any) -> _Valueless:
    t = object.__new__(_Valueless)
    t._data, t._grad, t._extra = value, None, None
    t._node, t._requires_grad = (node, True) if isinstance(node, Node) else (None, True)
    return t


class _Context:
    """The ctx of a call, whose saved tensors do not tell their values.

    An attribute that forward set is taken as it is only if it is a fact about the call: an argument
    that is no tensor, a shape, a flag, a name. Any other may have been computed from values.
    """

    def __init__(self, ctx: Any, facts: list[Any]):
        self._ctx, self._facts = ctx, facts
        self.stand_ins: dict[Any, Any] = {}
        self.originals: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._ctx, name)
        if name in vars(self._ctx) and name != "needs_input_grad" and not self._is_fact(value):
            raise _NeedsValues
        return value

    def _is_fact(self, value: Any) -> bool:
        if value is None or isinstance(value, (bool, str, np.dtype)) or callable(value):
            return True
        if isinstance(value, (tuple, list)):
            return all(self._is_fact(v) for v in value)
        return any(value is f or (type(value) is type(f) and value == f) for f in self._facts)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors."""
        out: list[Any] = []
        for t in self._ctx.saved_tensors:
            if t is not None:
                self.originals.append(t)
            if t is None or not t.is_floating_point():
                out.append(t)
                continue
            stand_in = _valueless(t._data, t._node)
            if t._node is None:
                self.stand_ins[stand_in] = t
            out.append(stand_in)
        return tuple(out)


def read_call(node: Node, reader: Any) -> Record:
    """The record of a call: named after the class, applied to its tensor arguments."""
    cls, _, many, _, _ = node.given
    if many:
        raise FormulaError(f"{cls.__name__} has several outputs; formulas through such a Function are not built yet")
    r = blank(CALL, node.shape, node.dtype)
    r.a0 = tuple(
        reader.found[o] if isinstance(o, Node) else reader.tensor(o, node.seq) if isinstance(o, Tensor) else None
        for o in node.a0
    )
    r.params, r.source = (node, reader), node
    r.needs = sum(1 << k for k, o in enumerate(r.a0) if isinstance(o, Symbolic) and o.track and node.needs >> k & 1)  # pyright: ignore[reportAttributeAccessIssue]
    r.track = bool(r.needs)
    return r


def _gradients(node: Node) -> tuple[Any, dict[Any, Any], tuple[Any, ...]] | None:
    """(the stand-in for the cotangent, stand-ins for saved leaves, gradients), or None where values were needed."""
    cls, ctx, *_ = node.given
    given = [a for a in node.a0 if not isinstance(a, (Node, Tensor))]
    sizes = [n for o in (*node.a0, node) if isinstance(o, (Node, Tensor)) for n in (*o.shape, len(o.shape))]
    context = _Context(ctx, given + sizes)
    g = _valueless(np.ones(node.shape, node.dtype) if node.shape else node.dtype.type(1), None)
    here = get_ident()
    outermost = here not in withheld
    withheld.add(here)  # what is computed from the saved tensors does not tell its values either
    try:
        with enable_grad():
            given = cls.backward(context, g)
    except Exception:
        return None
    finally:
        if outermost:
            withheld.discard(here)
    given = given if isinstance(given, tuple) else (given,)
    operands = node.a0
    known = {id(o) for o in (*operands, node)}
    if any(id(t if t._node is None else t._node) not in known for t in context.originals):
        # A value that forward computed on the way, under no_grad: how it depends on the operands was not recorded.
        return None
    return g, context.stand_ins, (*given, *(None,) * (len(operands) - len(given)))


def _pull_call(xp: Any, g: Any, record: Record, needs: int) -> list[tuple[Any, Any]]:
    node, reader = record.given
    found = _gradients(node)
    pairs: list[tuple[Any, Any]] = []
    for k, operand in enumerate(record.a0):
        if not needs >> k & 1:
            continue
        if found is None:
            pairs.append((operand, _opaque(record, k, g)))
            continue
        stand_in, leaves, gradients = found
        c = gradients[k]
        if c is None:
            continue
        known = {stand_in: g} | {s: reader.found.get(t) or reader.tensor(t, node.seq) for s, t in leaves.items()}
        read = reader.read_more(c, known)
        if read is None or not _reaches(read, g):
            pairs.append((operand, _opaque(record, k, g)))
        elif read.shape == operand.shape:
            pairs.append((operand, read))
        else:
            pairs.append((operand, unbroadcast(xp, read, operand.shape)))
    return pairs


def _reaches(record: Any, g: Any) -> bool:
    """Whether the record depends on the cotangent, as every gradient must."""
    from .lower import ancestors

    if record is g or (isinstance(record, Atom) and record.kind == "number"):
        return True
    return any(g is o for r in ancestors([record]) for o in r.operands) or record in ancestors([g])


def _opaque(record: Record, k: int, g: Any) -> Record:
    """Σ g·∂Name/∂operand, with the derivative as an unknown."""
    operand = record.a0[k]
    d = Atom("opaque", (record, k), record.shape + operand.shape, record.dtype, track=record.track)
    return apply(OPAQUE, g, d)


def _again(back: Callable[[], Op]) -> Callable[..., Any]:
    """The pull of a product with an unknown derivative; the unknown itself cannot be differentiated."""

    def pull(xp: Any, g: Any, record: Record, needs: int) -> list[tuple[Any, Any]]:
        if needs & 2:
            call, _ = record.a1.value
            raise FormulaError(
                f"{call.given[0].given[0].__name__}: its backward looks at values, so it has no second derivative as a "
                "formula; compute with tensors in backward"
            )
        return [(record.a0, apply(back(), g, record.a1))]

    return pull


def _opaque_entry(m: Any, j: tuple[Any, ...], g: Any, d: Any) -> Any:
    def close(i: tuple[Any, ...]) -> Any:
        if len(i) == len(g.shape):
            return g(i) * d((*i, *j))
        return m.sum(g.shape[len(i)], lambda k: close((*i, k)))

    return close(())


def _jvp_entry(m: Any, i: tuple[Any, ...], v: Any, d: Any) -> Any:
    def close(j: tuple[Any, ...]) -> Any:
        if len(j) == len(v.shape):
            return d((*i, *j)) * v(j)
        return m.sum(v.shape[len(j)], lambda k: close((*j, k)))

    return close(())


CALL: Op = special_op("call", lambda n: FUNCTION.grad_name(n), _pull_call, variadic=True)
OPAQUE: Op = special_op(
    "opaque_vjp",
    lambda n: "OpaqueBackward",
    _again(lambda: OPAQUE_BACK),
    args=("g", "d"),
    linear=("g",),
    rules={"g": None, "d": None},
    index=_opaque_entry,
    shape=lambda g, d: d[len(g) :],
)
OPAQUE_BACK: Op = special_op(
    "opaque_jvp",
    lambda n: "OpaqueBackward",
    _again(lambda: OPAQUE),
    args=("v", "d"),
    linear=("v",),
    rules={"v": None, "d": None},
    index=_jvp_entry,
    shape=lambda v, d: d[: len(d) - len(v)],
)


def is_call(record: Any) -> bool:
    """Whether the record is a call of a custom Function."""
    return isinstance(record, Record) and record.op is CALL


def unknown(record: Any) -> bool:
    """Whether no exact value can be had for the record."""
    return is_call(record) or (isinstance(record, Atom) and record.kind == "opaque")
