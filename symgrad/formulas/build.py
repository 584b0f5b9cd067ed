"""The namespace that `expr` and `index` faces of ops call when they are lowered to terms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..errors import FormulaError
from . import conditions, terms
from .conditions import rel
from .division import floordiv, mod
from .sums import sum_over
from .terms import ONE, ZERO, Term, fn, num, term


class TermFace:
    """Scalar functions, conditions, indices and sums, as terms."""

    @staticmethod
    def is_zero(x: Any) -> bool:
        """Whether a coefficient is certainly 0."""
        return terms.is_zero(term(x))

    @staticmethod
    def sqrt(x: Any) -> Term:
        """√x."""
        return terms.power(term(x), num(Fraction(1, 2)))

    @staticmethod
    def where(condition: Any, a: Any, b: Any) -> Term:
        """A choice."""
        return conditions.where(term(condition), term(a), term(b))

    eq = staticmethod(lambda a, b: rel("==", term(a), term(b)))
    ne = staticmethod(lambda a, b: rel("!=", term(a), term(b)))
    lt = staticmethod(lambda a, b: rel("<", term(a), term(b)))
    le = staticmethod(lambda a, b: rel("<=", term(a), term(b)))
    gt = staticmethod(lambda a, b: rel(">", term(a), term(b)))
    ge = staticmethod(lambda a, b: rel(">=", term(a), term(b)))

    @staticmethod
    def negate(x: Any) -> Term:
        """The opposite condition."""
        return conditions.negate(term(x))

    @staticmethod
    def sum(extent: int, body: Callable[[Term], Any]) -> Term:
        """Σ body(k) for k below the extent."""
        return sum_over(extent, lambda k: term(body(k)))

    @staticmethod
    def size(n: int) -> Term:
        """A size, by its name if it has one."""
        return term(n)

    @staticmethod
    def delta(a: Any, b: Any) -> Term:
        """1 where two indices are equal."""
        return conditions.delta(term(a), term(b))

    @staticmethod
    def affine(i: Any, step: int, start: int) -> Term:
        """start + step·i."""
        return terms.add(term(start), terms.mul(term(step), term(i)))

    @staticmethod
    def preimage(i: Any, start: int, step: int, count: int, size: int) -> tuple[Term, Term]:
        """The k with start + step·k = i, and the bracket that says whether there is one below count."""
        i = term(i)
        if start == 0 and step == 1 and count == size:
            return i, ONE
        if count == 0:
            return ZERO, ZERO
        if i.head == "NUM":
            k, rest = divmod(int(i.args[1]) - start, step)
            return (num(k), ONE) if rest == 0 and 0 <= k < count else (ZERO, ZERO)
        offset = terms.add(i, num(-start))
        inside = ONE
        if start > 0:
            inside = inside * conditions.iverson(rel(">=", i, num(start)))
        if start + step * (count - 1) + 1 < size:
            inside = inside * conditions.iverson(rel("<", i, num(start + step * (count - 1) + 1)))
        if step == 1:
            return offset, inside
        inside = inside * conditions.iverson(rel("==", mod(offset, num(step)), ZERO))
        return floordiv(offset, num(step)), inside

    @staticmethod
    def mod(a: Any, b: Any) -> Term:
        """a mod b."""
        return mod(term(a), term(b))

    @staticmethod
    def floordiv(a: Any, b: Any) -> Term:
        """a div b, rounded down."""
        return floordiv(term(a), term(b))

    @staticmethod
    def constant_of_this_run(i: Any) -> Term:
        """A value that has no formula of its own here."""
        raise FormulaError(
            "this value was found by searching, so it has no formula; detach() it to use it as a constant"
        )

    def __getattr__(self, name: str) -> Callable[..., Term]:
        return lambda *args: fn(name, *map(term, args))


FACE = TermFace()
