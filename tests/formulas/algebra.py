"""Terms for tests of the algebra: three numbers, two vectors, a matrix, and values for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.formulas import sums, terms
from symgrad.formulas.arithmetics import Numbers
from symgrad.formulas.evaluate import Evaluator
from symgrad.formulas.structure import Atom
from symgrad.formulas.terms import Ref, Term, elem, ref
from symgrad.verify.oracle import exact_array

N = 3
VALUES: dict[str, Any] = {
    "a": 1.25, "b": -0.5, "c": 3.0, "u": np.array([0.5, 2.0, -1.5]), "v": np.array([1.0, -0.25, 0.75]),
    "M": np.array([[1.0, 2.0, -0.5], [0.25, -1.0, 3.0], [2.0, 0.5, 1.5]]),
}  # fmt: skip
REFS = {n: Ref(Atom("leaf", None, np.shape(v), np.dtype(float)), np.shape(v)) for n, v in VALUES.items()}
a, b, c = (ref(REFS[n]) for n in "abc")


def u(i: Any) -> Term:
    return elem(REFS["u"], (terms.term(i),))


def v(i: Any) -> Term:
    return elem(REFS["v"], (terms.term(i),))


def M(i: Any, j: Any) -> Term:
    return elem(REFS["M"], (terms.term(i), terms.term(j)))


def value(t: Term, env: dict[Term, int] | None = None) -> float:
    """The term as a number, at these indices."""
    return float(Evaluator(Numbers(), {r: exact_array(VALUES[n]) for n, r in REFS.items()}).scalar(t, dict(env or {})))


def heads(t: Term) -> list[str]:
    """The heads of all terms inside."""
    return [t.head, *(h for child in sums.children(t) for h in heads(child))]
