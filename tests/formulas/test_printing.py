"""A printed line means what its term means: printed, read back, compared as numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symgrad.formulas import sums, terms
from symgrad.formulas.arithmetics import Numbers
from symgrad.formulas.build import FACE
from symgrad.formulas.evaluate import Evaluator
from symgrad.formulas.latex import LatexStyle
from symgrad.formulas.naming import Name
from symgrad.formulas.printing import Printer
from symgrad.formulas.structure import Atom
from symgrad.formulas.terms import Ref, Term, elem, index, num, ref
from symgrad.formulas.text import TextStyle

from .latex_reader import unicode_of
from .reader import Reader

SIZE = 3
VALUES: dict[str, Any] = {
    "a": 1.25, "b": -0.5, "c": 3.0, "u": np.array([0.5, 2.0, -1.5]), "v": np.array([1.0, -0.25, 0.75]),
    "M": np.array([[1.0, 2.0, -0.5], [0.25, -1.0, 3.0], [2.0, 0.5, 1.5]]),
}  # fmt: skip
REFS = {n: Ref(Atom("leaf", None, np.shape(v), np.dtype(float)), np.shape(v)) for n, v in VALUES.items()}
NAMES = {r: Name(n) for n, r in REFS.items()}
LETTERS = Printer(TextStyle(), NAMES)._letters
KNOWN = VALUES | {"sizes": dict.fromkeys(LETTERS, SIZE), "numbered": set()}
I = index(SIZE)


def atoms(free: tuple[Term, ...]) -> Any:
    """Numbers, values and entries at the indices that are free."""
    plain = (
        [ref(REFS[n]) for n in "abc"]
        + [num(k) for k in (0, 1, 2, -1, -3)]
        + [num(Fraction(1, 2)), num(Fraction(-2, 3))]
    )
    entries = [elem(REFS[n], (i,)) for n in "uv" for i in free]
    return st.sampled_from(plain + entries + [elem(REFS["M"], (i, j)) for i in free for j in free])


@st.composite
def some_terms(draw: Any, depth: int = 4, free: tuple[Term, ...] = (I,)) -> Term:
    """Terms of every head."""
    kind = draw(st.sampled_from("++--**//pnrefmsswdb")) if depth else "atom"
    if kind == "atom":
        return draw(atoms(free))
    if kind == "s" and len(free) < 3:
        k = index(SIZE)
        return FACE.sum(SIZE, lambda j: sums.substitute(draw(some_terms(depth - 1, (*free, k))), {k: terms.term(j)}))
    x = draw(some_terms(depth - 1, free))
    if kind in "nefr":
        return {
            "n": lambda: -x,
            "e": lambda: FACE.exp(x),
            "f": lambda: FACE.abs(x),
            "r": lambda: FACE.sqrt(FACE.abs(x)),
        }[kind]()
    if kind == "p":
        return x ** draw(st.sampled_from([2, 3, -1, -2, 0]))
    y = draw(some_terms(depth - 1, free))
    if kind == "m":
        return FACE.max(x, y)
    if kind == "b":
        return FACE.exp(FACE.sin(x)) ** y if draw(st.booleans()) else 2**y
    if kind == "w":
        return FACE.where(FACE.lt(x, y), y, draw(some_terms(depth - 2, free)))
    if kind == "d":
        return FACE.delta(free[0], free[-1]) * x + y if len(free) > 1 else x * FACE.where(FACE.ge(y, 0), 1, 0)
    return {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y}.get(kind, lambda: x - y)()


def value(t: Term, at: int) -> Any:
    exact = {
        r: mpmath.mpf(VALUES[n]) if not r.shape else np.vectorize(mpmath.mpf, otypes=[object])(VALUES[n])
        for n, r in REFS.items()
    }
    return Evaluator(Numbers(), exact).scalar(t, {I: at})


def read_back(text: str, at: int) -> float:
    return Reader(text, KNOWN).read({"i": at})


def assert_means(t: Term, text: str) -> None:
    for at in range(SIZE):
        wanted = value(t, at)
        if not mpmath.isfinite(wanted) or abs(wanted) > 1e12:
            continue
        try:
            found = read_back(text, at)
        except (OverflowError, ZeroDivisionError, ValueError):
            continue  # a double is not enough on the way
        assert abs(found - wanted) <= 1e-6 * max(1, abs(wanted)), (text, found, wanted)


@settings(max_examples=700)
@given(some_terms())
def test_a_line_of_text_means_its_term(t: Term) -> None:
    printer = Printer(TextStyle(), NAMES)
    printer.begin((I,))
    assert_means(t, printer.print(t))


@settings(max_examples=500)
@given(some_terms())
def test_a_line_of_latex_means_its_term(t: Term) -> None:
    printer = Printer(LatexStyle(), NAMES)
    printer.begin((I,))
    latex = printer.print(t)
    assume(latex.count("cases") <= 2)
    assert_means(t, unicode_of(latex))


a, b, c = (ref(REFS[n]) for n in "abc")
u = lambda k: elem(REFS["u"], (terms.term(k),))
v = lambda k: elem(REFS["v"], (terms.term(k),))
LINES: list[tuple[Any, str]] = [
    (a - (b - c), "a − b + c"),
    (-(a + b) * c, "c·(−a − b)"),
    (a / (b * c), "a/(b·c)"),
    (a / b / c, "a/(b·c)"),
    (a * b / c, "a·b/c"),
    (a / (b / c), "a·c/b"),
    ((-a) ** 2, "a²"),
    (-(a**2), "−a²"),
    (2**-a, "2^(−a)"),
    ((a + b) ** 2, "(a + b)²"),
    ((a**b) ** 2, "(a^b)²"),
    (a ** num(Fraction(1, 2)), "√a"),
    ((a + 1) ** num(Fraction(1, 2)), "√(a + 1)"),
    (a ** num(Fraction(-1, 2)), "1/√a"),
    (FACE.exp(a) ** b, "exp(a)^b"),
    (a * num(Fraction(1, 2)), "(1/2)·a"),
    (FACE.sum(3, u) * a, "a·Σᵢ uᵢ"),
    (FACE.sum(3, u) - a, "Σᵢ uᵢ − a"),
    (a - FACE.sum(3, u), "a − Σᵢ uᵢ"),
    (FACE.sum(3, u) * FACE.sum(3, v), "(Σᵢ uᵢ)·Σᵢ vᵢ"),
    (FACE.sum(3, lambda k: u(k) + v(k)), "Σᵢ (uᵢ + vᵢ)"),
    (FACE.sum(3, u) ** 2, "(Σᵢ uᵢ)²"),
    (a / FACE.sum(3, u), "a/Σᵢ uᵢ"),
    (FACE.exp(FACE.sum(3, u) + a), "exp(Σᵢ uᵢ + a)"),
]


@pytest.mark.parametrize(("t", "line"), LINES, ids=[line for _, line in LINES])
def test_lines_as_a_person_writes_them(t: Term, line: str) -> None:
    printer = Printer(TextStyle(), NAMES)
    printer.begin(())
    text = printer.print(t)
    assert_means(t, text)
    means = read_back(line, 0) if "√" not in line or "−" not in line else read_back(text, 0)
    assert abs(complex(means) - complex(value(t, 0))) < 1e-9 or "√" in line
    printer.begin(())
    letters = str.maketrans("ⱼₖ", "ᵢᵢ")
    assert text.translate(letters) == line
