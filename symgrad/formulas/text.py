"""One line of Unicode: ``∂loss/∂wᵢ = (1/10)·Σⱼ Xⱼᵢ·rⱼ``."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from .naming import Name
from .scalars import SCALARS

_SUBSCRIPT = dict(zip("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_ROOTED = re.compile(r"[\w₀₁₂₃₄₅₆₇₈₉\u0300-\u036f]+(?<![⁰¹²³⁴⁵⁶⁷⁸⁹])")
"""What a root, or what stands above a base, needs no brackets for: a name with what is below it, or an integer."""
RELATIONS = {"==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "<": "<", ">": ">"}


_SHORT = Context(prec=20)


def decimal_or_ratio(value: Any) -> tuple[str, str] | str:
    """A fraction as (numerator, denominator) if a reader would write it so, else its decimal digits.

    All of its digits, unless it is no short decimal and no ratio of short integers either.
    """
    if not isinstance(value, Fraction):
        return {"inf": "∞", "-inf": "−∞"}.get(str(value), str(value))
    if value.denominator == 1 and abs(value.numerator) < 10**15:
        return str(value.numerator)
    rounded = _SHORT.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(_SHORT)
    if abs(value.numerator) == 1 and value.denominator <= 10**6:
        return str(value.numerator), str(value.denominator)
    if value.denominator <= 1000 and abs(value.numerator) <= 1000 and not (value.denominator != 2 and abs(value) > 10):
        return str(value.numerator), str(value.denominator)
    if abs(rounded.adjusted()) < 400 and Fraction(rounded) != value:
        if value.denominator == 1 and abs(value.numerator) < 10**30:
            return str(value.numerator)
        if max(abs(value.numerator), value.denominator) < 10**15:
            return str(value.numerator), str(value.denominator)
    plain = -5 < rounded.adjusted() < (16 if len(rounded.as_tuple().digits) < 15 else 20)
    return f"{rounded:f}" if plain else f"{rounded:e}"


class TextStyle:
    """Unicode in one line."""

    minus, plus = " − ", " + "

    def number(self, value: Any) -> str:
        found = decimal_or_ratio(value)
        text = "/".join(found) if isinstance(found, tuple) else found
        return text.replace("-", "−")

    def name(self, name: Name) -> str:
        return name.text

    def element(self, name: Name, index: list[str]) -> str:
        plain = all(len(i) == 1 and i.isalpha() and i in _SUBSCRIPT for i in index)  # x₂ would be a name
        if plain and not name.numbered:
            return name.text + "".join(_SUBSCRIPT[i] for i in index)
        return self.entry(name, index)

    def entry(self, name: Name, index: list[str]) -> str:
        """An element that cannot be taken for a name with a number."""
        return f"{name.text}[{','.join(i.replace(' ', '') for i in index)}]"

    def size(self, name: str) -> str:
        return Name(name).text

    def product(self, factors: list[str]) -> str:
        return "·".join(factors)

    def quotient(self, above: str, below: str, *, loose: bool) -> str:
        return f"{above}/{f'({below})' if loose else below}"

    def power(self, base: str, exponent: str, *, integer: bool) -> str:
        if integer and exponent.isdigit():
            return base + exponent.translate(_SUPERSCRIPT)
        return f"{base}^{exponent}" if _ROOTED.fullmatch(exponent) else f"{base}^({exponent})"

    def root(self, inside: str) -> str:
        return f"√{inside}" if _ROOTED.fullmatch(inside) else f"√({inside})"

    def call(self, name: str, args: list[str]) -> str:
        if name == "abs":
            return f"|{args[0]}|"
        return f"{SCALARS[name].text}({', '.join(args)})"

    def relation(self, relation: str, a: str, b: str) -> str:
        return f"{a} {RELATIONS[relation]} {b}"

    def opposite(self, condition: str) -> str:
        return f"not {condition}"

    def bracket(self, condition: str) -> str:
        return f"[{condition}]"

    def choice(self, condition: str, a: str, b: str) -> str:
        return f"({a} if {condition} else {b})"

    def sum(self, letters: list[str], body: str) -> str:
        if all(c in _SUBSCRIPT for c in letters):
            return f"Σ{''.join(_SUBSCRIPT[c] for c in letters)} {body}"
        return f"Σ[{','.join(letters)}] {body}"

    def parens(self, inside: str) -> str:
        return f"({inside})"

    def partial(self, order: int, top: str, bottoms: list[str]) -> str:
        """The head of a derivative."""
        power = "" if order == 1 else str(order).translate(_SUPERSCRIPT)
        return f"∂{power}{top}/" + "".join(f"∂{b}" for b in bottoms)
