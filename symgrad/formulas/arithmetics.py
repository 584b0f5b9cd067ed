"""What terms are evaluated in: numbers of any precision, or SymPy scalars.

What has no value (1/0, the log of a negative number) is nan, never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import sympy

from .conditions import TESTS
from .scalars import SCALARS, as_number, snapped, sympy_relation
from .settling import Span
from .terms import Term


def magnitude(x: Any) -> int | None:
    """The exponent of a number as a power of 2, rounded up; None for 0, and for what is no finite number."""
    _, mantissa, exponent, bits = getattr(x, "_mpf_", (0, 0, 0, 0))
    return exponent + bits if mantissa else None


def _beside(steps: int, decay: int = 0) -> Callable[[Any], int]:
    """The bits from a function's value down to what it still owes to its argument.

    Near 0 that is a power of the argument: ``exp(t) = 1 + t + …``, ``sin(t) = t − t³/6 + …``. Where the function
    levels off it is ``exp(−decay·|x|)``.
    """

    def bits(x: Any) -> int:
        size = magnitude(x)
        return 0 if size is None else -steps * size if size <= 0 else int(decay * abs(x) * _LOG2_E) + 1

    return bits


_HUGE = 4000
"""As a power of 2: larger than the square of any double."""
_LOG2_E = 1.4426950408889634
_BESIDE = {"exp": _beside(1), "sin": _beside(2), "cos": _beside(2), "tanh": _beside(2, 2), "sigmoid": _beside(1, 1)}


class Numbers:
    """mpmath numbers in the precision in force.

    Parameters
    ----------
    span : Span, optional
        Is told what is added, and what cancels.
    """

    nan = mpmath.mpf("nan")
    strong_zero = mpmath.mpf(0)
    """Known by its identity: a definition that a bracket made 0 stays strong where it is used."""

    def __init__(self, span: Span | None = None):
        self.span = span or Span()

    @staticmethod
    def number(t: Term) -> Any:
        """The exact value, rounded to the precision in force."""
        exact = t.args[1]
        return mpmath.mpf(exact.numerator) / exact.denominator if isinstance(exact, Fraction) else mpmath.mpf(exact)

    @staticmethod
    def integer(n: int) -> Any:
        """An index as a number."""
        return mpmath.mpf(n)

    def total(self, summands: Iterable[Any]) -> Any:
        """The sum, its span noted."""
        out, least, most = mpmath.mpf(0), math.inf, -math.inf
        for x in summands:
            out = out + x
            size = magnitude(x)
            if size is not None:
                least, most = min(least, size), max(most, size)
        if most >= least:
            self.span.covers(int(most - least))
            size = magnitude(out)
            if size is None or most - size > mpmath.mp.prec // 2:
                self.span.cancelled = True
        return out

    def times(self, a: Any, b: Any) -> Any:
        """The product; noted if it might be the product of something tiny with something huge."""
        out = a * b
        if out == 0 and self.span.cancelled and max(magnitude(a) or 0, magnitude(b) or 0) > _HUGE:
            self.span.enlarged |= self.span.cancelled
        return out

    def call(self, name: str, args: list[Any]) -> Any:
        """A scalar function; nan outside of its domain."""
        if any(a != a for a in args):
            return self.nan
        x = args[0]
        if name == "log":
            if x <= 0:
                self.span.enlarged |= x == 0 and self.span.cancelled
                return self.nan if x < 0 else mpmath.mpf("-inf")
        elif name in _BESIDE:
            self.span.covers(_BESIDE[name](x))
        out = SCALARS[name].mpmath(*args)
        if out == 0 and x != 0:
            self.span.cancelled = True
        return out

    def power(self, base: Any, exponent: Any, t: Term) -> Any:
        """A power; nan where it has no real value."""
        exact = t.args[1] if t.head == "NUM" else None
        try:
            if isinstance(exact, Fraction):
                if exact.denominator == 1:
                    return base ** int(exact)
                if base < 0:
                    return self.nan
                return mpmath.sqrt(base) ** int(exact.numerator) if exact.denominator == 2 else base**exponent
            if base < 0 and exponent != mpmath.floor(exponent):
                return self.nan
            if base == 0 and exponent <= 0:
                self.span.enlarged |= self.span.cancelled
                return mpmath.mpf(1) if exponent == 0 else self.nan
            self.span.covers(-(magnitude(exponent) or 0))
            return base**exponent
        except ZeroDivisionError:
            self.span.enlarged |= self.span.cancelled
            return self.nan

    @staticmethod
    def choose(condition: Any, a: Any, b: Any) -> Any:
        """One of two thunks."""
        return a() if condition else b()

    def relation(self, relation: str, a: Any, b: Any, given: bool) -> Any:
        """Whether it holds, but for rounding; for numbers that are given rather than computed there is none."""
        a, b = snapped(a), snapped(b)
        if not given and a == b:
            self.span.cancelled = self.span.enlarged = True
        return TESTS[relation](a, b)

    @staticmethod
    def plain(value: Any) -> Any:
        """A condition as the number 1 or 0."""
        return mpmath.mpf(value) if isinstance(value, bool) else value

    @staticmethod
    def finished(value: Any) -> Any:
        """The number itself."""
        return value


@dataclass(frozen=True, slots=True)
class Supported:
    """What a bracket multiplies: a SymPy scalar, and the condition without which it is a strong zero."""

    value: Any
    support: Any

    @property
    def whole(self) -> Any:
        """The scalar and the zero in one."""
        return sympy.Piecewise((self.value, self.support), (0, True))


def _parts(x: Any) -> tuple[Any, Any]:
    return (x.value, x.support) if isinstance(x, Supported) else (x, sympy.true)


def _supported(value: Any, support: Any) -> Any:
    return value if support is sympy.true else Supported(value, support)


class Symbols:
    """SymPy scalars; what a bracket multiplies stays apart from its condition until it is `finished`."""

    nan = sympy.nan
    strong_zero = sympy.S.Zero

    @staticmethod
    def number(t: Term) -> Any:
        """The number as typed."""
        shown = t.args[0]
        return sympy.Rational(shown.numerator, shown.denominator) if isinstance(shown, Fraction) else sympy.Float(shown)

    integer = staticmethod(sympy.Integer)

    @staticmethod
    def times(a: Any, b: Any) -> Any:
        """The product; where either factor is a strong zero, so is it."""
        (x, on), (y, too) = _parts(a), _parts(b)
        return _supported(x * y, sympy.And(on, too))

    def total(self, summands: Iterable[Any]) -> Any:
        """The sum; where every summand is a strong zero, so is it."""
        parts = [(x, on) for x, on in map(_parts, summands) if x != 0]
        support = sympy.Or(*(on for _, on in parts)) if parts else sympy.true
        wholes = (x if on == support else Supported(x, on).whole for x, on in parts)
        return _supported(sum(wholes, sympy.S.Zero), support)

    def call(self, name: str, args: list[Any]) -> Any:
        """A SymPy function; at 0 the logarithm is the real one's limit."""
        args = list(map(self.finished, args))
        return -sympy.oo if name == "log" and args[0] == 0 else SCALARS[name].sympy(*args)

    def power(self, base: Any, exponent: Any, t: Term) -> Any:
        """A SymPy power; nan where it has no value."""
        if isinstance(base, Supported) and t.head == "NUM" and t.args[1] > 0:
            return Supported(base.value**exponent, base.support)
        found = self.finished(base) ** self.finished(exponent)
        return self.nan if found is sympy.zoo else found

    def choose(self, condition: Any, a: Callable[[], Any], b: Callable[[], Any]) -> Any:
        """A Piecewise, or the side that is certain."""
        condition = self.finished(condition)
        if condition in (True, sympy.true, 1):
            return a()
        if condition in (False, sympy.false, 0):
            return b()
        if not isinstance(condition, sympy.logic.boolalg.Boolean):
            condition = sympy.Ne(condition, 0)
        other = b()
        if other is self.strong_zero:
            return self.times(Supported(sympy.S.One, condition), as_number(a()))
        return sympy.Piecewise((self.finished(a()), condition), (self.finished(other), True))

    def relation(self, relation: str, a: Any, b: Any, given: bool) -> Any:
        """A SymPy relation."""
        return sympy_relation(relation, self.finished(a), self.finished(b))

    plain = staticmethod(as_number)

    @staticmethod
    def finished(value: Any) -> Any:
        """The SymPy scalar, with the conditions of its brackets written into it."""
        return value.whole if isinstance(value, Supported) else value
