"""A reader of printed formulas: the line as a person reads it, as numbers. It shares no code with the printers.

The grammar of one-line Unicode: sums of products of powers; ``·`` binds like multiplication,
``/`` takes the one factor behind it; ``Σⱼ`` takes the product behind it; ``[…]`` is 1 or 0.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789aehijklmnoprstuvx", strict=True))
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": math.exp, "log": math.log, "sin": math.sin, "cos": math.cos, "tanh": math.tanh,
    "sign": lambda x: float(np.sign(x)),
    "σ": lambda x: 1 / (1 + math.exp(-x)), "relu": lambda x: max(x, 0.0), "max": max, "min": min,
    "div": lambda a, b: a // b, "mod": lambda a, b: a % b,
}  # fmt: skip
RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b, "≠": lambda a, b: a != b, "<": lambda a, b: a < b,
    "≤": lambda a, b: a <= b, ">": lambda a, b: a > b, "≥": lambda a, b: a >= b,
}  # fmt: skip


class Reader:
    """Reads one right-hand side.

    Parameters
    ----------
    text : str
        What was printed.
    values : dict
        Arrays and numbers by name as printed; functions of an index for definitions.
    """

    def __init__(self, text: str, values: dict[str, Any]):
        self.text, self.values, self.at = unicodedata.normalize("NFD", text), values, 0

    def read(self, index: dict[str, int] | None = None) -> float:
        """The value of the line at an index."""
        self.at, self.index = 0, dict(index or {})
        found = self.sum()
        assert self.at == len(self.text), f"not read: {self.text[self.at :]!r} of {self.text!r}"
        return found

    # ------------------------------------------------------------------ pieces of text
    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1

    def next(self) -> str:
        self.skip()
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self, wanted: str) -> bool:
        self.skip()
        if self.text.startswith(wanted, self.at):
            self.at += len(wanted)
            return True
        return False

    def expect(self, wanted: str) -> None:
        assert self.take(wanted), f"{wanted!r} expected at {self.text[self.at :]!r} of {self.text!r}"

    def run(self, allowed: Any) -> str:
        start = self.at
        while self.at < len(self.text) and allowed(self.text[self.at]):
            self.at += 1
        return self.text[start : self.at]

    # ------------------------------------------------------------------ grammar
    def sum(self) -> float:
        total = -self.product() if self.take("−") else self.product()
        while True:
            if self.take("+"):
                total += self.product()
            elif self.take("−"):
                total -= self.product()
            else:
                return total

    def product(self) -> float:
        total = self.factor()
        while True:
            if self.take("·"):
                total *= self.factor()
            elif self.take("/"):
                total /= self.factor()
            else:
                return total

    def factor(self) -> float:
        if self.take("−"):
            return -self.factor()
        if self.take("Σ"):
            return self.summation()
        base = self.atom()
        if self.next() in SUPERSCRIPTS and self.next():
            return base ** int("".join(SUPERSCRIPTS[c] for c in self.run(lambda c: c in SUPERSCRIPTS)))
        if self.take("^"):
            return base ** self.atom()
        return base

    def summation(self) -> float:
        if self.take("["):
            letters = self.run(lambda c: c != "]").split(",")
            self.expect("]")
        else:
            letters = [SUBSCRIPTS[c] for c in self.run(lambda c: c in SUBSCRIPTS)]
        start, outer, total = self.at, dict(self.index), 0.0
        sizes = [self.values["sizes"][c] for c in letters]
        stop = start
        for place in np.ndindex(*sizes):
            self.at, self.index = start, outer | dict(zip(letters, place, strict=True))
            total += self.product()
            stop = self.at
        assert 0 not in sizes, "a sum over nothing was printed"
        self.at, self.index = stop, outer
        return total

    def atom(self) -> float:
        here = self.next()
        if here == "(":
            self.expect("(")
            found = self.sum()
            if self.take("if"):
                holds = self.condition()
                self.expect("else")
                other = self.sum()
                found = found if holds else other
            self.expect(")")
            return found
        if here == "[":
            self.expect("[")
            holds = self.condition()
            self.expect("]")
            return float(holds)
        if here == "|":
            self.expect("|")
            found = abs(self.sum())
            self.expect("|")
            return found
        if here == "√":
            self.expect("√")
            return math.sqrt(self.atom())
        if here.isdigit():
            number = self.run(lambda c: c.isdecimal() or c in ".e") or self.text[self.at]
            return float(number)
        return self.name()

    def condition(self) -> bool:
        a = self.sum()
        relation = self.next()
        self.at += 1
        return RELATIONS[relation](a, self.sum())

    def name(self) -> float:
        self.skip()
        name = self.run(lambda c: (c.isalpha() and c not in SUBSCRIPTS) or c == "_" or unicodedata.combining(c))
        assert name, f"a name expected at {self.text[self.at :]!r} of {self.text!r}"
        name += self.run(lambda c: c in "₀₁₂₃₄₅₆₇₈₉" and name + c in self.values["numbered"])
        if name in FUNCTIONS and self.take("("):
            args = [self.sum()]
            while self.take(","):
                args.append(self.sum())
            self.expect(")")
            return FUNCTIONS[name](*args)
        place: tuple[int, ...] = ()
        if name in self.values and self.take("["):
            while not self.take("]"):
                place += (int(self.sum()),)
                self.take(",")
        else:
            below = self.run(lambda c: c in SUBSCRIPTS)
            place = tuple(int(SUBSCRIPTS[c]) if SUBSCRIPTS[c].isdigit() else self.index[SUBSCRIPTS[c]] for c in below)
        if name in self.values:
            value = self.values[name]
            return float(value(place) if callable(value) else np.asarray(value)[place])
        return float(self.index[name])
