"""Terms on paper: the walk that all line notations share.

A printer decides signs, fractions, brackets and the letters of indices here once; how the
pieces look is the business of a `Style` (`text`, `latex`).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Protocol

from .naming import Name
from .structure import Atom
from .sums import children
from .terms import ONE, Ref, Term, common_factor, is_num, num

SUM, PRODUCT, POWER, ATOM = range(4)
"""How tightly a printed piece holds together."""


class Style(Protocol):
    """How the pieces of a formula look in one notation."""

    def number(self, value: Any) -> str: ...
    def name(self, name: Name) -> str: ...
    def element(self, name: Name, index: list[str]) -> str: ...
    def entry(self, name: Name, index: list[str]) -> str: ...
    def size(self, name: str) -> str: ...
    def product(self, factors: list[str]) -> str: ...
    def quotient(self, above: str, below: str, *, loose: bool) -> str: ...
    def power(self, base: str, exponent: str, *, integer: bool) -> str: ...
    def root(self, inside: str) -> str: ...
    def call(self, name: str, args: list[str]) -> str: ...
    def relation(self, relation: str, a: str, b: str) -> str: ...
    def opposite(self, condition: str) -> str: ...
    def bracket(self, condition: str) -> str: ...
    def choice(self, condition: str, a: str, b: str) -> str: ...
    def sum(self, letters: list[str], body: str) -> str: ...
    def parens(self, inside: str) -> str: ...

    minus: str
    plus: str


LETTERS = "ijklmnpqrstuvabcdefgh"


class Printer:
    """Prints terms in a style, with the names of a formula.

    Parameters
    ----------
    style : Style
        The notation.
    names : mapping of Ref to Name
        The frozen names.
    reserved : iterable of Name
        Other names that no index and no element may look like: those on the left, those of sizes.
    """

    def __init__(self, style: Style, names: dict[Ref, Name], reserved: Iterable[Name] = ()):
        self.style, self.names = style, names
        known = [*names.values(), *reserved]
        taken = {n.text for n in known}
        self._plain = {style.name(n) for n in known}
        self._letters = [c for c in LETTERS if c not in taken] + [f"{c}{k}" for k in range(1, 10) for c in "ijk"]
        self._index: dict[Term, str] = {}
        self._next = 0

    def begin(self, free: Iterable[Term]) -> list[str]:
        """Starts a line: the free indices get the first letters."""
        self._index, self._next = {}, 0
        return [self._letter(i) for i in free]

    def element(self, name: Name, index: list[str]) -> str:
        """An entry of an array; x₀ with brackets where there also is something of the name x0."""
        text = self.style.element(name, index)
        return self.style.entry(name, index) if text in self._plain else text

    def _letter(self, i: Term) -> str:
        if i.head == "NUM":
            return str(i.args[1])
        if i not in self._index:
            self._index[i] = self._letters[self._next]
            self._next += 1
        return self._index[i]

    def print(self, t: Term, tightness: int = SUM) -> str:
        """The term, in parentheses if it holds together less tightly than asked."""
        text, own = self._term(t)
        return self.style.parens(text) if own < tightness else text

    # ------------------------------------------------------------------ by head
    def _term(self, t: Term) -> tuple[str, int]:
        method = getattr(self, "_" + t.head.lower())
        return method(t)

    def _num(self, t: Term) -> tuple[str, int]:
        value = t.args[0]
        text = self.style.number(value)
        if value < 0:
            return text, SUM
        return text, ATOM if not isinstance(value, Fraction) or text.replace(".", "").isdigit() else PRODUCT

    def _ref(self, t: Term) -> tuple[str, int]:
        return self.style.name(self.names[t.args[0]]), ATOM

    def _elem(self, t: Term) -> tuple[str, int]:
        return self.element(self.names[t.args[0]], [self.print(i) for i in t.args[1:]]), ATOM

    def _idx(self, t: Term) -> tuple[str, int]:
        return self._letter(t), ATOM

    _bound = _idx

    def _size(self, t: Term) -> tuple[str, int]:
        return self.style.size(t.args[0]), ATOM

    def _add(self, t: Term) -> tuple[str, int]:
        c, rest = common_factor(t)
        if c is not ONE:
            return self._factors(c, ((rest, ONE),))
        constant, pairs = t.args
        parts = [(m, c) for m, c in pairs]
        if not (is_num(constant) and constant.args[1] == 0):
            first = constant.args[0] > 0 and all(c.args[0] < 0 for _, c in pairs)
            parts = [(ONE, constant), *parts] if first or _leads(constant, pairs) else [*parts, (ONE, constant)]
        if parts[0][1].args[0] < 0:
            positive = next((k for k, (_, c) in enumerate(parts) if c.args[0] > 0), None)
            if positive is not None:
                parts.insert(0, parts.pop(positive))
        out = ""
        for k, (monomial, coefficient) in enumerate(parts):
            negative = coefficient.args[0] < 0
            size = num(-coefficient.args[0]) if negative and isinstance(coefficient.args[0], Fraction) else coefficient
            text = self._scaled(size, monomial)
            if k == 0:
                out = (self.style.minus.strip() if negative else "") + text
            else:
                out += (self.style.minus if negative else self.style.plus) + text
        return out, SUM

    def _scaled(self, coefficient: Term, monomial: Term) -> str:
        if monomial is ONE:
            return self.print(coefficient, PRODUCT)
        if coefficient == ONE:
            return self.print(monomial, PRODUCT)
        factors = monomial.args[1] if monomial.head == "MUL" else ((monomial, ONE),)
        return self._factors(coefficient, factors)[0]

    def _mul(self, t: Term) -> tuple[str, int]:
        coefficient, factors = t.args
        if coefficient.args[0] < 0:
            text, own = self._factors(num(-coefficient.args[0]), factors)
            return self.style.minus.strip() + (text if own >= PRODUCT else self.style.parens(text)), SUM
        return self._factors(coefficient, factors)

    def _factors(self, coefficient: Term, factors: Any) -> tuple[str, int]:
        above = [(b, e) for b, e in factors if not (is_num(e) and e.args[0] < 0)]
        below = [(b, num(-e.args[0])) for b, e in factors if is_num(e) and e.args[0] < 0]
        above.sort(key=self._rank)
        if below and above and above[-1][0].head == "SUM" and all(b.head == "SIZE" for b, _ in below):
            sizes = [self._powered(b, e, False) for b, e in below]
            value, count = coefficient.args[0], self.style.number(coefficient.args[0])
            if "/" in count or "frac" in count:
                count = self.style.number(Fraction(value.numerator))
                sizes.insert(0, self.style.number(Fraction(value.denominator)))
            share = self.style.quotient(count, self.style.product(sizes), loose=len(sizes) > 1)
            rest, _ = self._factors(ONE, above)
            return self.style.product([share if "frac" in share else self.style.parens(share), rest]), PRODUCT
        value = coefficient.args[0]
        top: list[str] = []
        single = len(above) + (value != 1) == 1
        if value != 1 or not above:
            loose = isinstance(value, Fraction) and value.denominator != 1 and "/" in self.style.number(value)
            text = self.style.number(value)
            top.append(self.style.parens(text) if loose and (above or below) and text.find("frac") < 0 else text)
        for k, (b, e) in enumerate(above):
            alone = single and not below
            last = k == len(above) - 1 and not below
            if b.head == "SUM" and e == ONE:
                text, _ = self._term(b)
                top.append(text if alone or last else self.style.parens(text))
            else:
                top.append(self._powered(b, e, alone))
        if not below:
            if len(top) == 1 and len(above) == 1:
                b, e = above[0]
                return top[0], POWER if e != ONE else self._term(b)[1] if b.head != "SUM" else PRODUCT
            return self.style.product(top), PRODUCT
        bottom = [self._powered(b, e, False) for b, e in below]
        loose = len(bottom) > 1
        return self.style.quotient(self.style.product(top), self.style.product(bottom), loose=loose), PRODUCT

    def _rank(self, factor: tuple[Term, Term]) -> tuple[int, str]:
        """Scalar leaves first and in alphabetical order, then entries, definitions, functions, brackets, sums."""
        base = factor[0]
        if base.head in ("REF", "ELEM"):
            name = self.names[base.args[0]]
            if not isinstance(base.args[0].record, Atom) or name.is_barred:
                return (2, "")
            return (0, name.text) if base.head == "REF" else (1, "")
        return {"SIZE": 0, "NUM": 0, "FN": 3, "ADD": 4, "IVERSON": 5, "DELTA": 5, "SUM": 6}.get(base.head, 3), ""

    def _powered(self, base: Term, exponent: Term, alone: bool) -> str:
        if exponent == ONE:
            return self.print(base, SUM if alone else POWER if base.head in ("ADD", "NUM") else PRODUCT)
        if is_num(exponent) and exponent.args[0] == Fraction(1, 2):
            return self.style.root(self.print(base))
        integer = is_num(exponent) and isinstance(exponent.args[0], Fraction) and exponent.args[0].denominator == 1
        return self.style.power(self.print(base, ATOM), self.print(exponent), integer=integer)

    def _fn(self, t: Term) -> tuple[str, int]:
        return self.style.call(t.args[0], [self.print(a) for a in t.args[1:]]), ATOM

    def _rel(self, t: Term) -> tuple[str, int]:
        relation, a, b = t.args
        if relation == "==" and is_num(b) and b.args[1] == 0 and a.head in ("REF", "ELEM") and _is_condition(a.args[0]):
            return self.style.opposite(self.print(a)), SUM
        return self.style.relation(relation, *(self.print(s, PRODUCT if s.head == "REL" else SUM) for s in (a, b))), SUM

    def _iverson(self, t: Term) -> tuple[str, int]:
        return self.style.bracket(self.print(t.args[0])), ATOM

    def _delta(self, t: Term) -> tuple[str, int]:
        sides = sorted((self.print(a) for a in t.args), key=lambda s: (not (len(s) == 1 and s.isalpha()), s))
        return self.style.bracket(self.style.relation("==", *sides)), ATOM

    def _ite(self, t: Term) -> tuple[str, int]:
        condition, a, b = t.args
        text = self.style.choice(self.print(condition), self.print(a), self.print(b))
        return text, ATOM if text.startswith("(") else SUM

    def _sum(self, t: Term) -> tuple[str, int]:
        letters: list[str] = []
        shadowed: list[tuple[Term, str | None]] = []
        while t.head == "SUM":
            b = t.args[0]
            shadowed.append((b, self._index.pop(b, None)))
            letters.append(self._letter(b))
            t = t.args[2]
        body = self.print(t, PRODUCT)
        for b, before in shadowed:
            del self._index[b]
            if before is not None:
                self._index[b] = before
        return self.style.sum(letters, body), PRODUCT


def _is_condition(r: Ref) -> bool:
    return str(getattr(r.record, "dtype", "")) == "bool"


def _leads(constant: Term, pairs: Any) -> bool:
    """Whether a reader expects the number first, as in 1 + exp(x) or 1 − x²."""
    simple = [m for m, _ in pairs if m.head in ("REF", "ELEM", "IDX", "BOUND")]
    return (
        constant.args[0] > 0
        and not simple
        and len(pairs) == 1
        and not any(is_num(c) and c.head == "SUM" for m, _ in pairs for c in children(m))
    )
