"""Shapes that nobody gave."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad import typed
from symgrad.errors import TypedFormulaError


def shapes(text: str, **options: object) -> dict[str, tuple[int, ...]]:
    """The shapes of the variables."""
    t = typed.evaluate(text, seed=1, **options)  # pyright: ignore[reportArgumentType]
    return {name: tuple(v.shape) for name, v in t.variables.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean(log(1+exp(-y*(X@w))))", {"y": "n", "X": "nd", "w": "d"}),
        ("z = X@w; sum(log(1+exp(-y*z)))", {"X": "nd", "w": "d", "y": "n"}),
        ("x@A@x/2", {"x": "n", "A": "nn"}),
        ("(x-mu)@A@(x-mu)", {"x": "n", "mu": "n", "A": "nn"}),
        ("sum((A@x-y)**2)", {"A": "nd", "x": "d", "y": "n"}),
        ("A@exp(x)", {"A": "nd", "x": "d"}),
        ("A@B@C", {"A": "nd", "B": "dk", "C": "km"}),
        ("A@X.T@B", {"A": "nd", "X": "kd", "B": "km"}),
        ("X.T@(X@w - y)", {"X": "nd", "w": "d", "y": "n"}),
        ("W2@tanh(W1@x + b1) + b2", {"W2": "nd", "W1": "dk", "x": "k", "b1": "d", "b2": "n"}),
        ("(X@w - y)@(X@w - y) + lam*(w@w)", {"X": "nd", "w": "d", "y": "n", "lam": ""}),
        ("-sum(y*log_softmax(X@w, 0))", {"y": "n", "X": "nd", "w": "d"}),
        ("where(X@w > 0, a, b)", {"X": "nd", "w": "d", "a": "n", "b": "n"}),
        ("a*b*(X@w)", {"a": "n", "b": "n", "X": "nd", "w": "d"}),
        ("a*X@w", {"a": "nd", "X": "nd", "w": "d"}),
        ("u@v", {"u": "n", "v": "n"}),
        ("-w@X", {"w": "n", "X": "nd"}),
        ("S*E*I", {"S": "", "E": "", "I": ""}),
        ("x + y", {"x": "", "y": ""}),
        ("2*sum(X@w)*k", {"X": "nd", "w": "d", "k": ""}),
        ("X[0, 1]*X[1, 0]", {"X": "nd"}),
        ("x[2] - x[0]", {"x": "n"}),
        ("x[:, None]*y[None, :]", {"x": "n", "y": "d"}),
        ("softmax(z, 0)", {"z": "n"}),
        ("sum(X, dim=0)", {"X": "nd"}),
        ("X.T*2", {"X": "nd"}),
        ("permute(x, 2, 0, 1)", {"x": "ndk"}),
        ("n*(X@w)@(X@w)", {"n": "d", "X": "dk", "w": "k"}),
    ],
)
def test_structure(text, expected):
    """Equal letters are equal sizes, different letters different ones."""
    found = shapes(text)
    assert list(found) == list(expected)
    assert {n: len(s) for n, s in found.items()} == {n: len(s) for n, s in expected.items()}
    sizes: dict[str, int] = {}
    for name, letters in expected.items():
        for letter, size in zip(letters, found[name], strict=True):
            assert sizes.setdefault(letter, size) == size
    assert len(set(sizes.values())) == len(sizes)


def test_what_nothing_fixes_is_symbolic():
    t = typed.evaluate("mean(log(1+exp(-y*(X@w))))", seed=7)
    assert t.variables["X"].names == ("n", "d")
    assert t.variables["w"].names == ("d",)
    assert t.seed == 7
    assert t.assumptions == (
        "y is a vector of n (it takes the shape of X@w beside it), drawn at random",
        "n = 5 is not fixed by anything: a symbolic size with a small value",
        "X is an n×d matrix (upper case beside @), drawn at random",
        "d = 3 is not fixed by anything: a symbolic size with a small value",
        "w is a vector of d (lower case beside @), drawn at random",
    )


def test_given_sizes_propagate():
    assert shapes("y*(X@w)", shapes={"X": (20, 3)}) == {"y": (20,), "X": (20, 3), "w": (3,)}
    assert shapes("y*(X@w)", at={"y": "[1, 2]", "w": [1, 2, 3, 4]}) == {"y": (2,), "X": (2, 4), "w": (4,)}
    t = typed.evaluate("z = X@w; z@z", shapes={"X": (20, 3)}, seed=1)
    assert t.variables["X"].names is None
    assert t.assumptions == (
        "X is a 20×3 matrix (as given), drawn at random",
        "w is a vector of 3 (lower case beside @), drawn at random",
    )


def test_a_tensor_with_one_fixed_size_has_numbers_only():
    t = typed.evaluate("X@w", at={"w": [1, 2, 3]}, seed=1)
    assert t.variables["X"].shape == (5, 3)
    assert t.variables["X"].names is None
    assert t.assumptions[-1] == "n = 5 is not fixed by anything: a small size was chosen"


def test_what_is_given_is_not_assumed():
    assert typed.evaluate("x*y", at={"x": 1, "y": "2"}).assumptions == ()


def test_names_of_sizes_avoid_those_of_the_formula():
    t = typed.evaluate("n*d + sum(X@w)", seed=1)
    assert t.variables["X"].names == ("k", "m")


def test_slices_tie_sizes():
    found = shapes("sum((x[1:] - y)**2)")
    assert found["y"] == (found["x"][0] - 1,)
    assert shapes("x[1:]*y", at={"y": [1, 2, 3]}) == {"x": (4,), "y": (3,)}
    assert shapes("x[1:]*y", shapes={"x": (6,)}) == {"x": (6,), "y": (5,)}


def test_an_index_needs_room():
    assert shapes("x[9]*x[-12]")["x"][0] >= 12


def test_size_one_broadcasts():
    assert shapes("A + b*(X@w)[:, None]", shapes={"A": (4, 1), "X": (4, 2)})["b"] == (4, 1)


@pytest.mark.parametrize(
    ("text", "given", "first", "second"),
    [
        ("X@w", {"X": (20, 3), "w": (4,)}, "3 (size 2 of X)", "4 (the size of w)"),
        ("z = X@w\nz - y", {"X": (20, 3), "y": (4,)}, "20 (size 1 of X)", "4 (the size of y)"),
        ("x@A@x", {"A": (2, 3)}, "2 (size 1 of A)", "3 (size 2 of A)"),
        ("A@x + B@x", {"A": (2, 3), "B": (2, 4)}, "3 (size 2 of A)", "4 (size 2 of B)"),
    ],
)
def test_conflicts_name_both_places(text, given, first, second):
    with pytest.raises(TypedFormulaError) as caught:
        typed.evaluate(text, shapes=given)
    assert first in caught.value.reason
    assert second in caught.value.reason
    assert "^" in str(caught.value)


# ------------------------------------------------------------------ values
def test_values_depend_on_seed_and_name_only():
    first = typed.evaluate("X@w", seed=3).variables["w"].detach().numpy()
    again = typed.evaluate("1 + sum(y*(X@w))", seed=3).variables["w"].detach().numpy()
    other = typed.evaluate("X@w", seed=4).variables["w"].detach().numpy()
    assert (first == again).all()
    assert (first != other).any()
    assert (first == first.round(3)).all()


def test_a_seed_is_drawn_and_can_be_used_again():
    t = typed.evaluate("x*y")
    assert typed.evaluate("x*y", seed=t.seed).result.item() == t.result.item()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "text",
    [
        "log(x)",
        "sqrt(x*y + z)",
        "y*log(p) + (1-y)*log(1-p)",
        "sum(log(A@x))",
        "log(x**3)",
        "x**0.5",
        "x**y",
        "sum(log(x[1:]))",
        "where(x > 0, log(x), 0)",
        "log(x/y)",
    ],
)
def test_formulas_are_defined_where_they_are_computed(text, seed):
    t = typed.evaluate(text, seed=seed)
    assert np.isfinite(t.result.detach().numpy()).all()


def test_positive_values_say_so():
    assert typed.evaluate("log(x)", seed=1).assumptions == (
        "x is a number (nothing asks for more), drawn at random, positive as it stands under log",
    )
