"""LaTeX for mathematics mode."""

from __future__ import annotations

from typing import Any

from .naming import Name
from .scalars import SCALARS
from .text import decimal_or_ratio

_RELATIONS = {"==": "=", "!=": r"\neq", "<=": r"\leq", ">=": r"\geq", "<": "<", ">": ">"}


class LatexStyle:
    """LaTeX as a mathematician would type it; needs nothing but amsmath."""

    minus, plus = " - ", " + "

    def number(self, value: Any) -> str:
        found = decimal_or_ratio(value)
        if isinstance(found, tuple):
            sign, numerator = ("-", found[0][1:]) if found[0].startswith("-") else ("", found[0])
            return rf"{sign}\frac{{{numerator}}}{{{found[1]}}}"
        digits, e, exponent = found.replace("∞", r"\infty").replace("−", "-").partition("e")
        if not e:
            return digits
        power = f"10^{{{int(exponent)}}}"
        return {"1": power, "-1": f"-{power}"}.get(digits, rf"{digits} \cdot {power}")

    def name(self, name: Name) -> str:
        return f"{name.latex}_{{{name.below}}}" if name.below else name.latex

    def element(self, name: Name, index: list[str]) -> str:
        below = ",".join(
            filter(None, [name.below, ",".join(index) if any(len(i) > 1 for i in index) else "".join(index)])
        )
        return f"{name.latex}_{{{below}}}"

    def entry(self, name: Name, index: list[str]) -> str:
        """An element that cannot be taken for a name with something below it."""
        return f"{self.name(name)}[{','.join(index)}]"

    def size(self, name: str) -> str:
        return self.name(Name(name))

    def product(self, factors: list[str]) -> str:
        return r" \cdot ".join(factors) if any(f[:1].isdigit() for f in factors[1:]) else r" \, ".join(factors)

    def quotient(self, above: str, below: str, *, loose: bool) -> str:
        return rf"\frac{{{above}}}{{{below}}}"

    def power(self, base: str, exponent: str, *, integer: bool) -> str:
        return f"{base}^{{{exponent}}}"

    def root(self, inside: str) -> str:
        return rf"\sqrt{{{inside}}}"

    def call(self, name: str, args: list[str]) -> str:
        if name == "abs":
            return rf"\left|{args[0]}\right|"
        return rf"{SCALARS[name].latex}\left({', '.join(args)}\right)"

    def relation(self, relation: str, a: str, b: str) -> str:
        return f"{a} {_RELATIONS[relation]} {b}"

    def opposite(self, condition: str) -> str:
        return rf"\lnot {condition}"

    def bracket(self, condition: str) -> str:
        return rf"\left[{condition}\right]"

    def choice(self, condition: str, a: str, b: str) -> str:
        return rf"\begin{{cases}} {a} & \text{{if }} {condition} \\ {b} & \text{{otherwise}} \end{{cases}}"

    def sum(self, letters: list[str], body: str) -> str:
        return rf"\sum_{{{','.join(letters)}}} {body}"

    def parens(self, inside: str) -> str:
        return rf"\left({inside}\right)"

    def partial(self, order: int, top: str, bottoms: list[str]) -> str:
        """The head of a derivative."""
        power = "" if order == 1 else f"^{{{order}}}"
        below = " ".join(rf"\partial {b}" for b in bottoms)
        return rf"\frac{{\partial{power} {top}}}{{{below}}}"
