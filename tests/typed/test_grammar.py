"""What can be written, and what it means."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symgrad as sg
from symgrad import typed
from symgrad.ops import public_ops
from symgrad.typed.functions import FUNCTIONS

AT = {"x": 1.5, "y": -0.5, "X": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "w": [0.5, -1.0], "v": [1.0, 2.0, 3.0]}


def value(text: str, **at: object) -> np.ndarray:
    """The value of a formula at AT."""
    used = typed.parse(text).names
    given = {k: v for k, v in {**AT, **at}.items() if k in used}
    return typed.evaluate(text, at=given, seed=0).result.detach().numpy()


X, w, v, x, y = np.array(AT["X"]), np.array(AT["w"]), np.array(AT["v"]), 1.5, -0.5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + y*2 - 3/x", x + y * 2 - 3 / x),
        ("-x**2", -(x**2)),
        ("x**-2", x**-2),
        ("2**3**2", 512),
        ("(x + y)*(x − y)", (x + y) * (x - y)),
        ("x·y × 2", x * y * 2),
        ("+x", x),
        ("X@w", X @ w),
        ("v@X@w", v @ X @ w),
        ("X.T@X", X.T @ X),
        ("X.t()", X.T),
        ("X.mT", X.T),
        ("mean(log(1+exp(-v*(X@w))))", np.mean(np.log(1 + np.exp(-v * (X @ w))))),
        ("sum(X, 0)", X.sum(0)),
        ("sum(X, dim=1)", X.sum(1)),
        ("sum(X, axis=-1, keepdims=True)", X.sum(1, keepdims=True)),
        ("sum(X, dim=(0, 1))", X.sum()),
        ("mean(x)", x),
        ("logsumexp(v, 0)", np.log(np.exp(v).sum())),
        ("softmax(v, dim=0)", np.exp(v) / np.exp(v).sum()),
        ("where(v > 1.5, v, -v)", np.where(v > 1.5, v, -v)),
        ("where(v >= 2, 1, 0)", np.where(v >= 2, 1, 0)),
        ("maximum(v, 2)", np.maximum(v, 2)),
        ("X[1]", X[1]),
        ("X[-1, 0]", X[-1, 0]),
        ("X[:, 1]", X[:, 1]),
        ("X[..., 0]", X[..., 0]),
        ("X[1:, None]", X[1:, None]),
        ("X[::2]", X[::2]),
        ("reshape(X, 2, 3)", X.reshape(2, 3)),
        ("reshape(X, (2, -1))", X.reshape(2, 3)),
        ("view(X, 6)", X.reshape(6)),
        ("permute(X, 1, 0)", X.T),
        ("transpose(X, 0, 1)", X.T),
        ("expand(v, 2, 3)", np.broadcast_to(v, (2, 3))),
        ("unsqueeze(v, 1)", v[:, None]),
        ("mv(X, w)", X @ w),
        ("softplus(x, beta=2)", np.log(1 + np.exp(2 * x)) / 2),
        ("ln(x) + σ(x)", np.log(x) + 1 / (1 + np.exp(-x))),
        ("abs(y) + sign(y)", 0.5 - 1),
        ("pi*x**2 + π + e", math.pi * x**2 + math.pi + math.e),
        ("z = X@w; sum(z**2)", np.sum((X @ w) ** 2)),
        ("z = X@w\nr = z - v\nr@r", np.sum((X @ w - v) ** 2)),
        ("x +\n y", x + y),
        ("(x\n + y)", x + y),
        (";;x;", x),
        ("z = x*2", x * 2),
        ("1/4", 0.25),
        ("7", 7),
        ("exp(0)", 1),
        ("1e-3*x + .5 + 2.", 1e-3 * x + 2.5),
        ("1/3*x", x / 3),
        ("x/(2/3)", x * 3 / 2),
        ("x + 1/3", x + 1 / 3),
        ("1 < 2", True),
        ("9900000000000000000", 9.9e18),
        ("x*10**25", 1.5e25),
        ("sqrt(10**40)", 1e20),
        ("+".join(["x"] * 1000), 1500),
    ],
)
def test_values(text, expected):
    np.testing.assert_allclose(value(text), expected, rtol=1e-14)


@pytest.mark.parametrize(
    "name",
    [
        "lambda",
        "S",
        "E",
        "I",
        "beta",
        "gamma",
        "if",
        "is",
        "class",
        "β",
        "α₁",
        "x'",
        "x''",
        "exp",
        "sum",
        "N",
        "Q",
        "价",
        "x_1",
    ],
)
def test_names_are_the_users_own(name):
    t = typed.evaluate(f"{name}**2 + 3*{name}", at={name: 2.0})
    assert list(t.variables) == [name]
    assert t.result.item() == 10
    (leaf,) = t.variables.values()
    t.result.backward()
    assert leaf.requires_grad
    assert leaf.grad is not None
    assert leaf.grad.item() == 7


def test_a_prime_may_be_the_typographic_one():
    assert list(typed.parse("x′ + x'").names) == ["x'"]


def test_constants_give_way_to_the_user():
    assert list(typed.evaluate("e*x", at={"e": 2.0}, seed=1).variables) == ["e", "x"]
    assert list(typed.evaluate("sum(pi*x)", shapes={"pi": (3,)}, seed=1).variables) == ["pi", "x"]
    assert list(typed.evaluate("e = x + 1; e**2", seed=1).variables) == ["x"]
    assert list(typed.evaluate("e@e", seed=1).variables) == ["e"]
    t = typed.evaluate("pi*x", seed=1)
    assert list(t.variables) == ["x"]
    assert t.assumptions[-1] == "pi is the constant 3.14159; give --at pi=... to make it a variable"


def test_whole_numbers_stay_exact_and_quotients_stay_quotients():
    program = typed.parse("3*x + 0.1")
    assert [n.value for n in program.nodes if hasattr(n, "value")] == [3, 0.1]
    assert str(sg.formula(typed.evaluate("1/3*x", seed=1).result)).endswith("= (1/3)·x")
    t = typed.evaluate("sqrt(2)*x + log(2*pi)", seed=1)
    assert "√2" in str(sg.formula(t.result))
    assert "log(2·π)" in str(sg.formula(t.result))


def test_assigned_names_stay_in_formulas():
    t = typed.evaluate("z = X@w; sum(log(1+exp(-y*z)))", seed=1)
    found = str(sg.formula(t.result, wrt=t.variables["y"]))
    assert "where zᵢ = Σⱼ Xᵢⱼ·wⱼ" in found


def test_names_of_this_library_do_not_leak_into_formulas():
    t = typed.evaluate("exp(-(x - mu)**2/2)", seed=1)
    result = t.result
    assert str(sg.formula(result)) == "result = exp(−(1/2)·(x − μ)²)"


NOT_CALLED = {"cast", "getitem"}


def test_every_differentiable_op_of_the_catalogue_can_be_called():
    missing = {o.name for o in public_ops() if o.differentiable and any(o.rules.values())} - set(FUNCTIONS) - NOT_CALLED
    assert not missing


def test_each_node_uses_only_earlier_ones():
    program = typed.parse("z = X@w; mean(log(1+exp(-y*z))) + z[0]")
    for k, node in enumerate(program.nodes):
        assert all(a < k for a in getattr(node, "args", ()))
    assert program.source(program.assigned["z"]) == "X@w"
