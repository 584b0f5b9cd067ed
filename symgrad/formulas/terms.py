"""Terms: index notation as a small algebra of our own.

A term is an immutable tree with a cached hash. It is kept small: whatever is used twice, or
grows, becomes a definition, and a definition is one leaf (`REF`, `ELEM`) of the terms that
use it. So nothing here ever walks an expanded formula.

Normal form, by construction:

* ``ADD`` is a constant and pairs (monomial, coefficient), ``MUL`` a coefficient and pairs
  (base, exponent); both compare without regard to order and print in the order written.
* ``SUM`` binds an index by its height above the sums inside it, so equal sums are equal terms.
* A number carries how it was typed and what it is: 0.1 prints as 1/10 and counts as its double.

=========  ======================================================
head       arguments
=========  ======================================================
NUM        shown, exact (fractions; or a float that is not finite)
REF        a 0-d value: its `Ref`
ELEM       a `Ref` and one index term a dimension
IDX        a free index: number, extent
BOUND      an index bound by the `SUM` of that height
SIZE       the name of a size, its value
ADD, MUL   see above
FN         name of a scalar function, arguments
REL        relation, left, right
IVERSON    a condition: 1 where it holds; 0 otherwise, and strongly so
DELTA      two index terms: 1 where equal, else 0, strongly
ITE        condition, value, other value
SUM        bound index, extent, body
=========  ======================================================
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

_uids = itertools.count()
Pairs = tuple[tuple["Term", "Term"], ...]


class Ref:
    """Something that a formula names: a leaf, a constant, or a definition.

    Attributes
    ----------
    record : Record
        What it stands for.
    shape : tuple of int
        Its shape; named sizes are `Dim`.
    seeds : tuple of Term
        Free indices of the derivative that it depends on besides its own; they follow its own.
    mentions : tuple of Ref
        References that its name contains: the arguments of a call.
    """

    __slots__ = ("mentions", "record", "seeds", "shape")

    def __init__(self, record: Any, shape: tuple[int, ...], seeds: tuple[Term, ...] = ()):
        self.record, self.seeds = record, seeds
        self.mentions: tuple[Ref, ...] = ()
        self.shape = shape + tuple(s.args[1] for s in seeds)


class Term:
    """One node of index notation. Build terms with the functions of this module, not directly."""

    __slots__ = ("_hash", "args", "head", "height", "idx", "size")

    head: str
    args: tuple[Any, ...]
    idx: frozenset[Term]
    """The free indices."""
    size: int
    """The number of nodes, indices apart."""
    height: int
    """The height of the tallest sum inside."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Term) or self._hash != other._hash or self.head != other.head:
            return False
        if self.head in ("ADD", "MUL"):
            return self.args[0] == other.args[0] and frozenset(self.args[1]) == frozenset(other.args[1])
        if self.head == "DELTA":
            return frozenset(self.args) == frozenset(other.args)
        return self.args == other.args

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{self.head}{self.args}"

    def __add__(self, other: Any) -> Term:
        return add(self, term(other))

    def __radd__(self, other: Any) -> Term:
        return add(term(other), self)

    def __sub__(self, other: Any) -> Term:
        return add(self, mul(MINUS_ONE, term(other)))

    def __rsub__(self, other: Any) -> Term:
        return add(term(other), mul(MINUS_ONE, self))

    def __mul__(self, other: Any) -> Term:
        return mul(self, term(other))

    def __rmul__(self, other: Any) -> Term:
        return mul(term(other), self)

    def __truediv__(self, other: Any) -> Term:
        return mul(self, power(term(other), MINUS_ONE))

    def __rtruediv__(self, other: Any) -> Term:
        return mul(term(other), power(self, MINUS_ONE))

    def __neg__(self) -> Term:
        return mul(MINUS_ONE, self)

    def __pow__(self, other: Any) -> Term:
        return power(self, term(other))

    def __rpow__(self, other: Any) -> Term:
        return power(term(other), self)


ELEM_HEADS = ("REF", "ELEM")
_EMPTY: frozenset[Term] = frozenset()


def _new(head: str, args: tuple[Any, ...], key: Any, idx: frozenset[Term], size: int, height: int) -> Term:
    t: Term = object.__new__(Term)
    t.head, t.args, t._hash, t.idx, t.size, t.height = head, args, hash((head, key)), idx, size, height
    return t


def compound(head: str, args: tuple[Any, ...], parts: Iterable[Term], key: Any = None, size: int = 1) -> Term:
    idx = _EMPTY
    height = 0
    for p in parts:
        if p.idx and p.idx is not idx:
            idx = idx | p.idx if idx else p.idx
        size += p.size
        if p.height > height:
            height = p.height
    return _new(head, args, args if key is None else key, idx, size, height)


# ------------------------------------------------------------------ numbers
def _number(shown: Any, exact: Any) -> Term:
    return _new("NUM", (shown, exact), exact, _EMPTY, 1, 0)


_small: dict[int, Term] = {}


def num(value: Any) -> Term:
    """A number as a term; a float remembers how it is written and what it is."""
    if type(value) is int:
        found = _small.get(value)
        if found is None:
            f = Fraction(value)
            found = _number(f, f)
            if -64 <= value <= 64:
                _small[value] = found
        return found
    if isinstance(value, Fraction):
        return _number(value, value)
    if isinstance(value, int):  # bool and Dim
        return num(int(value))
    value = float(value)
    if not math.isfinite(value):
        return _number(value, value)
    return _number(Fraction(repr(value)), Fraction(value))


ZERO, ONE, MINUS_ONE = num(0), num(1), num(-1)


def is_num(t: Term) -> bool:
    """Whether the term is a number."""
    return t.head == "NUM"


def is_zero(t: Term) -> bool:
    """Whether the term is the number 0."""
    return t.head == "NUM" and t.args[1] == 0


def is_positive(exponent: Term) -> bool:
    """Whether a power with this exponent is 0 where its base is; 1/0 has no value."""
    return exponent.head == "NUM" and exponent.args[1] > 0


def _is_one(t: Term) -> bool:
    return t is ONE or (t.head == "NUM" and t.args[1] == 1)


def _num_op(a: Term, b: Term, f: Callable[[Any, Any], Any]) -> Term:
    return _number(f(a.args[0], b.args[0]), f(a.args[1], b.args[1]))


def _num_add(a: Term, b: Term) -> Term:
    return b if is_zero(a) else a if is_zero(b) else _num_op(a, b, lambda x, y: x + y)


def _num_mul(a: Term, b: Term) -> Term:
    return b if a is ONE else a if b is ONE else _num_op(a, b, lambda x, y: x * y)


def term(value: Any) -> Term:
    """The value as a term: terms stay, numbers become `NUM`, named sizes `SIZE`."""
    if isinstance(value, Term):
        return value
    return getattr(value, "term", None) or num(value)


# ------------------------------------------------------------------ atoms
def ref(r: Ref) -> Term:
    """A 0-d value."""
    return _new("REF", (r,), id(r), _EMPTY, 1, 0)


def elem(r: Ref, index: tuple[Term, ...]) -> Term:
    """One entry of an array."""
    return compound("ELEM", (r, *index), index, (id(r), *index)) if index else ref(r)


def index(extent: int) -> Term:
    """A fresh free index that runs from 0 to below the extent."""
    t: Term = object.__new__(Term)
    uid = next(_uids)
    t.head, t.args, t._hash, t.size, t.height = "IDX", (uid, extent), hash(("IDX", uid)), 0, 0
    t.idx = frozenset((t,))
    return t


def bound(height: int, extent: int) -> Term:
    """The index of the sum of that height."""
    return _new("BOUND", (height, extent), height, _EMPTY, 0, 0)


def size_symbol(name: str, value: int) -> Term:
    """The name of a size, which remembers the value it was recorded with."""
    return _new("SIZE", (name, value), name, _EMPTY, 1, 0)


# ------------------------------------------------------------------ sums of terms
def split(t: Term) -> tuple[Term, Term]:
    """(monomial, coefficient)."""
    if t.head == "MUL" and t.args[0] is not ONE:
        coefficient, factors = t.args
        return from_factors(ONE, factors), coefficient
    return t, ONE


def add(*terms: Term) -> Term:
    """The sum; like terms are combined."""
    constant = ZERO
    found: dict[Term, Term] = {}
    for t in terms:
        if t.head == "NUM":
            constant = _num_add(constant, t)
            continue
        if t.head == "ADD":
            constant = _num_add(constant, t.args[0])
            pairs: Iterable[tuple[Term, Term]] = t.args[1]
        else:
            pairs = (split(t),)
        for monomial, coefficient in pairs:
            before = found.get(monomial)
            found[monomial] = coefficient if before is None else _num_add(before, coefficient)
    return _sum(constant, tuple((m, c) for m, c in found.items() if not is_zero(c)))


def _sum(constant: Term, pairs: Pairs) -> Term:
    if not pairs:
        return constant
    if len(pairs) == 1 and is_zero(constant):
        monomial, coefficient = pairs[0]
        return mul(coefficient, monomial)
    return compound(
        "ADD",
        (constant, pairs),
        (m for m, _ in pairs),
        (constant, frozenset(pairs)),
        (0 if is_zero(constant) else 1) + len(pairs),
    )


# ------------------------------------------------------------------ products of terms
def mul(*terms: Term) -> Term:
    """The product; equal bases with numeric exponents are combined."""
    coefficient = ONE
    found: dict[tuple[Term, Term | None], Term] = {}
    for t in terms:
        head = t.head
        if head == "NUM":
            if t.args[1] == 0:  # a bracket that does not hold, among others: what it multiplies may have no value
                return ZERO
            coefficient = _num_mul(coefficient, t)
            continue
        if head == "MUL":
            coefficient = _num_mul(coefficient, t.args[0])
            factors: Iterable[tuple[Term, Term]] = t.args[1]
        else:
            factors = ((t, ONE),)
        for base, exponent in factors:
            key = (base, None if exponent.head == "NUM" else exponent)
            before = found.get(key)
            if before is None:
                found[key] = exponent
            elif base.head not in _IDEMPOTENT:
                found[key] = _num_add(before, exponent) if key[1] is None else add(before, exponent)
    if coefficient.head == "NUM" and coefficient.args[1] == 0:
        return ZERO
    kept = tuple((base, e) for (base, _), e in found.items() if not is_zero(e))
    if len(kept) > 1 and any(b.head == "ADD" and e is ONE for b, e in kept):
        factors = []
        for b, e in kept:
            if b.head == "ADD" and e is ONE:
                c, b = common_factor(b)
                coefficient = _num_mul(coefficient, c)
            factors.append((b, e))
        kept = tuple(factors)
    if coefficient is not ONE and len(kept) == 1 and kept[0][1] is ONE and kept[0][0].head == "ADD":
        inner = kept[0][0]
        if coefficient == MINUS_ONE:
            return _sum(
                _num_mul(coefficient, inner.args[0]), tuple((m, _num_mul(coefficient, c)) for m, c in inner.args[1])
            )
    return from_factors(coefficient, kept)


_IDEMPOTENT = {"IVERSON", "DELTA"}


def common_factor(t: Term) -> tuple[Term, Term]:
    """(c, rest) with t = c·rest: the coefficient that all addends of a sum share up to sign, else 1."""
    constant, pairs = t.args
    coefficients = [c for _, c in pairs] + ([] if is_zero(constant) else [constant])
    first = coefficients[0]
    if not isinstance(first.args[1], Fraction) or abs(first.args[1]) == 1 or not first.args[0]:
        return ONE, t  # 0.1 + 0.2 − 0.3 is 0 as typed, and is not
    if any(not isinstance(c.args[1], Fraction) or abs(c.args[1]) != abs(first.args[1]) for c in coefficients):
        return ONE, t
    size = _number(abs(first.args[0]), abs(first.args[1]))
    inverse = _number(1 / size.args[0], 1 / size.args[1])
    return size, add(_num_mul(inverse, constant), *(mul(_num_mul(inverse, c), m) for m, c in pairs))


def from_factors(coefficient: Term, factors: Pairs) -> Term:
    if not factors:
        return coefficient
    if len(factors) == 1 and _is_one(coefficient) and _is_one(factors[0][1]):
        return factors[0][0]
    parts = [p for base, e in factors for p in ((base,) if e.head == "NUM" else (base, e))]
    extra = sum(1 for _, e in factors if e is not ONE and not _is_one(e))
    return compound(
        "MUL",
        (coefficient, factors),
        parts,
        (coefficient, frozenset(factors)),
        len(factors) - 1 + extra + (0 if _is_one(coefficient) else 1),
    )


def power(base: Term, exponent: Term) -> Term:
    """base**exponent; integer powers are taken into products, numeric ones computed."""
    if is_zero(exponent):
        return ONE
    if _is_one(exponent):
        return base
    integer = exponent.head == "NUM" and isinstance(exponent.args[1], Fraction) and exponent.args[1].denominator == 1
    if base.head == "NUM" and integer:
        n = int(exponent.args[1])
        shown, exact = base.args
        if (
            isinstance(exact, Fraction)
            and (exact != 0 or n > 0)
            and abs(n) * max(exact.numerator.bit_length(), exact.denominator.bit_length()) < 4096
        ):
            return _number(shown**n, exact**n)
    if _is_one(base):
        return ONE
    if base.head in _IDEMPOTENT and exponent.head == "NUM" and exponent.args[1] > 0:
        return base
    if base.head == "MUL" and integer:
        coefficient, factors = base.args
        if not all(e.head == "NUM" for _, e in factors):
            return from_factors(ONE, ((base, exponent),))
        n = exponent
        return mul(power(coefficient, n), from_factors(ONE, tuple((b, _num_mul(e, n)) for b, e in factors)))
    if base.head == "FN" and base.args[0] == "exp" and integer:
        return fn("exp", mul(exponent, base.args[1]))
    return from_factors(ONE, ((base, exponent),))


# ------------------------------------------------------------------ functions
def fn(name: str, *args: Term) -> Term:
    """A scalar function applied."""
    if name == "exp" and is_zero(args[0]):
        return ONE
    if name == "log" and _is_one(args[0]):
        return ZERO
    return compound("FN", (name, *args), args)
