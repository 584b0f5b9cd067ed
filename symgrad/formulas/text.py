"""One line of Unicode: ``∂loss/∂wᵢ = (1/10)·Σⱼ Xⱼᵢ·rⱼ``."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .naming import Name
from .scalars import SCALARS

_SUBSCRIPT = dict(zip("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
RELATIONS = {"==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "<": "<", ">": ">"}


def decimal_or_ratio(value: Any) -> tuple[str, str] | str:
    """A fraction as (numerator, denominator) if a reader would write it so, else its decimal digits."""
    if not isinstance(value, Fraction):
        return {"inf": "∞", "-inf": "−∞"}.get(str(value), str(value))
    if value.denominator == 1 and abs(value.numerator) < 10**15:
        return str(value.numerator)
    if value.denominator <= 1000 and abs(value.numerator) <= 1000 and not (value.denominator != 2 and abs(value) > 10):
        return str(value.numerator), str(value.denominator)
    return repr(float(value))


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
        plain = all(len(i) == 1 and i in _SUBSCRIPT for i in index)
        if plain and not name.numbered:
            return name.text + "".join(_SUBSCRIPT[i] for i in index)
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
        return f"{base}^{exponent}" if exponent.isalnum() else f"{base}^({exponent})"

    def root(self, inside: str) -> str:
        return f"√({inside})" if any(c in inside for c in " ·/^√(") else f"√{inside}"

    def call(self, name: str, args: list[str]) -> str:
        if name == "abs":
            return f"|{args[0]}|"
        return f"{SCALARS[name].text}({', '.join(args)})"

    def relation(self, relation: str, a: str, b: str) -> str:
        return f"{a} {RELATIONS[relation]} {b}"

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
