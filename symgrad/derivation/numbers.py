"""The values of records: each op's own forward, run on the values of its operands.

Rules run on records call the same ops as rules run on arrays, so these are the numbers that
``backward()`` computes, also after it has let go of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import promote, promote_floats
from ..autograd.modes import no_grad
from ..formulas.calls import is_call
from ..formulas.lower import ancestors
from ..formulas.structure import Atom, Record
from ..tensor import Tensor


class Numbers:
    """Values of records, computed on demand and kept."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def __call__(self, record: Any) -> Any:
        """The value of the record, as backward() has it."""
        if isinstance(record, Atom):
            return _atom(record)
        for r in ancestors([record]):
            if r not in self._known:
                self._known[r] = self._run(r)
        return self._known[record]

    def _value(self, record: Any) -> Any:
        return _atom(record) if isinstance(record, Atom) else self._known[record]

    def _run(self, record: Record) -> Any:
        op = record.op
        if is_call(record):
            return self._call(record)
        values = [self._value(o) for o in record.operands]
        if op.promotes and any(not isinstance(v, (int, float)) for v in values):
            places = [k for k, a in enumerate(op.args) if a not in op.constants]
            together = (promote_floats if op.floats else promote)(*(values[k] for k in places))
            for k, v in zip(places, together, strict=True):
                values[k] = v
        with np.errstate(all="ignore"):
            return op.forward(*values, *record.given)

    def _call(self, record: Record) -> Any:
        """The user's forward, run again."""
        node, _ = record.given
        cls = node.params[0]
        args = [
            Tensor.constant(self._value(r)) if r is not None else given
            for r, given in zip(record.a0, node.a0, strict=True)
        ]
        with no_grad():
            return cls.apply(*args)._data


def _atom(atom: Atom) -> Any:
    if atom.kind == "leaf":
        return atom.value._data
    if atom.kind == "number":
        return np.full([int(n) for n in atom.shape], atom.value, atom.dtype) if atom.shape else atom.value
    raise AssertionError("a one-hot seed has no array of values")
