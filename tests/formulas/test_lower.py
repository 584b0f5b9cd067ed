"""Formulas are straight lines: as many definitions as the program has steps, never a tree."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.errors import BudgetError


def logistic(steps: int, data: float = 0.3):
    x = sg.tensor(data, requires_grad=True, name="x")
    l = x
    for _ in range(steps):
        l = 4 * l * (1 - l)
    return l, x


def test_three_steps_of_the_logistic_map_are_its_polynomial() -> None:
    l, x = logistic(3)
    formula = sg.formula(l, wrt=x)
    X = sympy.Symbol("x", real=True)
    wanted = 64 * (1 - 42 * X + 504 * X**2 - 2640 * X**3 + 7040 * X**4 - 9984 * X**5 + 7168 * X**6 - 2048 * X**7)
    assert x.expr == X
    assert sympy.expand(formula.expr - wanted) == 0


def test_the_line_is_as_long_as_the_program() -> None:
    lengths = {}
    for steps in (250, 500, 1000):
        l, x = logistic(steps)
        formula = sg.formula(l, wrt=x)
        lengths[steps] = (len(formula.definitions), len(str(formula)))
    assert lengths[1000][0] <= 2 * 1000
    assert abs(lengths[1000][0] - 2 * lengths[500][0]) <= 4
    assert lengths[1000][1] <= 2.2 * lengths[500][1] <= 5 * lengths[250][1]


def test_a_thousand_steps_evaluate_to_the_derivative() -> None:
    l, x = logistic(12, 0.25)
    by_hand, y = 1.0, 0.25
    for _ in range(12):
        by_hand, y = by_hand * 4 * (1 - 2 * y), 4 * y * (1 - y)
    assert abs(float(sg.formula(l, wrt=x).evaluate(20)) - by_hand) <= 1e-9 * abs(by_hand)


def test_writing_it_out_is_refused_past_a_budget() -> None:
    l, x = logistic(40)
    formula = sg.formula(l, wrt=x)
    with pytest.raises(BudgetError, match="definitions"):
        _ = formula.expr


def test_definitions_use_only_earlier_ones_and_make_up_the_whole() -> None:
    a = sg.tensor(0.5, requires_grad=True, name="a")
    s = sg.exp(a) + 1
    t = s * s + sg.sin(s)
    formula = sg.formula(t, wrt=a)
    known = {"a"}
    expression = formula.result
    for d in formula.definitions:
        assert {str(x) for x in d.expr.free_symbols} <= known
        known.add(d.name)
    for d in reversed(formula.definitions):
        expression = expression.subs(sympy.Symbol(d.name, real=True), d.expr)
    assert sympy.simplify(expression - sympy.diff(t.expr, a.expr)) == 0


def test_what_nothing_needs_is_not_defined() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    unused = x * 3
    y = (x * x).sum()
    assert "unused" not in str(sg.formula(y, wrt=x))
    assert unused.requires_grad


def test_indices_of_definitions_are_not_captured_when_inlined() -> None:
    """A definition that sums over j, used inside of another sum over j."""
    x = sg.tensor([1.0, 2.0, 0.5], requires_grad=True, name="x")
    w = sg.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [2.0, 1.0, 0.0]], requires_grad=True, name="w")
    r = w @ x
    loss = ((w.t() @ r) * r).sum() + (r * r).sum()
    for wrt in (x, w):
        formula = sg.formula(loss, wrt=wrt)
        gradient = sg.autograd.grad(loss, wrt, retain_graph=True)[0]
        for found in (formula.evaluate(20), formula.entries()):
            for place, g in zip(np.ndindex(*wrt.shape), gradient._data.ravel(), strict=True):
                values = {
                    e: float({"x": x, "w": w}[str(e.base.label)]._data[tuple(map(int, e.indices))])
                    for e in getattr(found[place], "atoms", lambda _: ())(sympy.Indexed)
                }
                here = float(found[place].subs(values)) if values else float(found[place])
                assert abs(here - g) <= 1e-12 * abs(g)


def test_a_definition_that_a_bracket_made_zero_stays_strong() -> None:
    x = sg.tensor([[0.0, 0.0], [0.0, 1.0]], requires_grad=True)
    v = -sg.where(x == 0, x, x * sg.log(sg.abs(x)))
    found = sg.formula(v, wrt=x).evaluate().reshape(4, 4)
    assert [[float(n) for n in row] for row in found] == [[-float(i == k) for k in range(4)] for i in range(4)]


def through_a_pole(x: sg.Tensor) -> sg.Tensor:
    """What is not selected is infinite where x is 0, and so are its slopes."""
    u = 1 / x
    return sg.where(x > 0, u * sg.sin(u), x)


def test_a_sum_of_strong_zeros_is_one() -> None:
    x = sg.tensor([0.0, 2.0, -3.0], requires_grad=True)
    y = through_a_pole(x)
    z = (y * y).sum()
    y.sum().backward(retain_graph=True)
    assert x.grad is not None and x.grad.tolist()[::2] == [1.0, 1.0]
    slopes = sg.formula(y.sum(), wrt=x)
    assert [float(v) for v in slopes.evaluate()] == pytest.approx(x.grad.tolist(), rel=1e-14)
    curvature = sg.formula(z, wrt=(x, x))
    assert [float(v) for v in curvature.evaluate().diagonal()][::2] == [2.0, 2.0]

    def at_the_point(entry: sympy.Expr) -> sympy.Expr:
        return entry.subs({e: int(x[int(e.indices[0])].item()) for e in entry.atoms(sympy.Indexed)})

    assert [at_the_point(e) for e in slopes.entries()][::2] == [1, 1]
    assert [at_the_point(e) for e in curvature.entries().diagonal()][::2] == [2, 2]
    (i,) = slopes.indices
    assert [at_the_point(slopes.expr.subs(i, k)) for k in (0, 2)] == [1, 1]


def test_one_over_a_value_that_a_bracket_made_zero_has_no_value() -> None:
    x = sg.tensor([0.0, 2.0], requires_grad=True)
    t = sg.where(x > 0, x * x, 0.0)
    for y in (1 / t, x / t, sg.sin(t) + 1 / t):
        found = sg.formula(y).evaluate()
        assert found[0] != found[0] and float(found[1]) == pytest.approx(y[1].item(), rel=1e-14)
