"""Conditions as terms: relations, brackets, deltas, choices; decided where the ranges of indices settle them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .terms import MINUS_ONE, ONE, ZERO, Term, add, compound, is_zero, mul, num

_NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def rel(relation: str, a: Term, b: Term) -> Term:
    """A relation; decided where both sides are numbers."""
    if a.head == b.head == "NUM" and relation in TESTS:
        return num(int(TESTS[relation](a.args[1], b.args[1])))
    if a.head in ("IDX", "BOUND") and b.head == "NUM" and not hasattr(a.args[1], "term"):
        ends = [TESTS[relation](k, b.args[1]) for k in (0, a.args[1] - 1)] if relation in ("<", "<=", ">", ">=") else []
        if len(set(ends)) == 1:  # so do all the values between
            return num(int(ends[0]))
    return compound("REL", (relation, a, b), (a, b))


def negate(condition: Term) -> Term:
    """The opposite condition."""
    if condition.head == "NUM":
        return num(int(condition.args[1] == 0))
    if condition.head == "REL" and condition.args[0] in _NEGATED:
        return rel(_NEGATED[condition.args[0]], *condition.args[1:])
    return rel("==", condition, ZERO)


def iverson(condition: Term) -> Term:
    """1 where the condition holds, else 0."""
    if condition.head == "NUM":
        return ONE if condition.args[1] != 0 else ZERO
    return compound("IVERSON", (condition,), (condition,))


def delta(a: Term, b: Term) -> Term:
    """1 where two indices are equal, else 0."""
    difference = add(a, mul(MINUS_ONE, b))
    if difference.head == "NUM":
        return ONE if is_zero(difference) else ZERO
    if a.head in ("IDX", "BOUND") and b.head in ("IDX", "BOUND") and a.args[1] == b.args[1] == 1:
        return ONE
    return compound("DELTA", (a, b), (a, b), frozenset((a, b)))


def where(condition: Term, a: Term, b: Term) -> Term:
    """a where the condition holds, else b."""
    if condition.head == "NUM":
        return a if condition.args[1] != 0 else b
    if a == b:
        return a
    if is_zero(b):
        return mul(iverson(condition), a)
    if is_zero(a):
        return mul(iverson(negate(condition)), b)
    return compound("ITE", (condition, a, b), (condition, a, b))
