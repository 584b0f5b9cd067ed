"""Sizes that have names: integers that remember the expression they are a value of."""

from __future__ import annotations

from typing import Any

from .terms import Term, add, mul, size_symbol
from .terms import term as as_term


class Dim(int):
    """A size with a name; products and sums of sizes keep theirs.

    Examples
    --------
    >>> n = Dim.named(20, "n")
    >>> n, n * 3
    (20, 60)
    """

    term: Term

    def __new__(cls, value: int, term: Term) -> Dim:
        made = super().__new__(cls, value)
        made.term = term
        return made

    @classmethod
    def named(cls, value: int, name: str) -> Dim:
        """The size of that name."""
        return cls(value, size_symbol(name, value))

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        return Dim(int(self) * int(other), mul(self.term, as_term(other)))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        return Dim(int(self) + int(other), add(self.term, as_term(other)))

    __radd__ = __add__
    __hash__ = int.__hash__
