"""Terms as SymPy expressions: real symbols, `Indexed` entries, `Sum`, `KroneckerDelta`, `Piecewise`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from ..graph import Node
from .calls import is_call
from .naming import Name
from .scalars import SCALARS, as_number, sympy_relation
from .structure import Atom
from .symbols import leaf_symbol
from .terms import Ref, Term, is_positive, is_zero


class ToSymPy:
    """Converts terms with the names of one formula.

    Parameters
    ----------
    names : mapping of Ref to Name
        The frozen names.
    letters : sequence of str
        Letters for indices, in order.
    written_out : mapping of Ref to Term, optional
        0-d definitions that calls of custom Functions are to show written out.
    """

    def __init__(self, names: dict[Ref, Name], letters: list[str], written_out: dict[Ref, Term] | None = None):
        self.names, self._letters, self._written_out = names, letters, written_out or {}
        self._index: dict[Term, sympy.Symbol] = {}
        self._taken = 0

    def begin(self, free: tuple[Term, ...]) -> tuple[sympy.Symbol, ...]:
        """Starts an expression whose free indices get the first letters."""
        self._index, self._taken = {}, 0
        return tuple(self._letter(i) for i in free if i.head != "NUM")

    def _letter(self, i: Term) -> sympy.Symbol:
        if i not in self._index:
            self._index[i] = sympy.Symbol(self._letters[self._taken], integer=True)
            self._taken += 1
        return self._index[i]

    def symbol(self, r: Ref) -> Any:
        """The symbol of a 0-d value, the base of an array's entries."""
        name = self.names[r].symbol
        if is_call(r.record) and not r.shape and not any(m.shape for m in r.mentions):
            arguments = [self(self._written_out[m]) if m in self._written_out else self.symbol(m) for m in r.mentions]
            return sympy.Function(r.record.params[0].params[0].__name__, real=True)(*arguments)
        symbol = sympy.Symbol(name, real=True)
        if isinstance(r.record, Atom) and r.record.kind == "leaf":
            source = r.record.value
            symbol = symbol if isinstance(source, Node) else leaf_symbol(source, name)
        return symbol if not r.shape else sympy.IndexedBase(symbol, shape=tuple(map(self.size, r.shape)))

    @staticmethod
    def size(n: int) -> Any:
        """A size: its symbol if it has a name."""
        t = getattr(n, "term", None)
        return sympy.Integer(int(n)) if t is None else ToSymPy({}, [])(t)

    def __call__(self, t: Term) -> Any:
        head, args = t.head, t.args
        if head == "NUM":
            shown = args[0]
            return (
                sympy.Rational(shown.numerator, shown.denominator)
                if isinstance(shown, Fraction)
                else sympy.Float(shown)
            )
        if head == "REF":
            return self.symbol(args[0])
        if head == "ELEM":
            return self.symbol(args[0])[tuple(map(self, args[1:]))]
        if head in ("IDX", "BOUND"):
            return self._letter(t)
        if head == "SIZE":
            return sympy.Symbol(args[0], integer=True, positive=True)
        if head == "ADD":
            return sympy.Add(self(args[0]), *(self(c) * as_number(self(m)) for m, c in args[1]))
        if head == "MUL":
            return self._product(args)
        if head == "FN":
            return SCALARS[args[0]].sympy(*(as_number(self(a)) for a in args[1:]))
        if head == "REL":
            return sympy_relation(args[0], self(args[1]), self(args[2]))
        if head == "IVERSON":
            return sympy.Piecewise((1, self._condition(args[0])), (0, True))
        if head == "DELTA":
            return sympy.KroneckerDelta(self(args[0]), self(args[1]))
        if head == "ITE":
            return sympy.Piecewise((self(args[1]), self._condition(args[0])), (self(args[2]), True))
        if head == "SUM":
            b, extent, body = args
            before = self._index.pop(b, None)
            letter = self._letter(b)
            inner = as_number(self(body))
            del self._index[b]
            if before is not None:
                self._index[b] = before
            return sympy.Sum(inner, (letter, 0, self.size(extent) - 1))
        raise AssertionError(head)

    def _condition(self, t: Term) -> Any:
        found = self(t)
        return found if isinstance(found, sympy.logic.boolalg.Boolean) else sympy.Ne(found, 0)

    def _product(self, args: Any) -> Any:
        """Brackets become the condition of a Piecewise, so that their zero stays strong."""
        coefficient, factors = args
        rest = [as_number(self(b)) ** as_number(self(e)) for b, e in factors if b.head != "IVERSON"]
        product = sympy.Mul(self(coefficient), *rest)
        support = sympy.And(*(self._support(b) for b, e in factors if is_positive(e)))
        return product if support is sympy.true else sympy.Piecewise((product, support), (0, True))

    def _support(self, t: Term) -> Any:
        """The condition without which a term is a strong zero."""
        if t.head == "IVERSON":
            return self._condition(t.args[0])
        if t.head == "MUL":
            return sympy.And(*(self._support(b) for b, e in t.args[1] if is_positive(e)))
        if t.head == "ADD" and is_zero(t.args[0]):
            return sympy.Or(*(self._support(m) for m, _ in t.args[1]))
        return sympy.true
