"""Conditions in SymPy's hands: there a condition does not compute as a number, and is never equal to one."""

from typing import Any

import numpy as np
import pytest
import sympy

import symgrad as sg


def programs() -> dict[str, Any]:
    def negated(b: Any) -> Any:
        m = b * b > b + 1  # used often enough to become a definition
        return sg.where(m, b**2, -b) * sg.where(m, b, 3.0) + sg.where(m, 0.0, sg.sin(b))

    return {
        "a factor": lambda b: b * (b > 1),
        "a power": lambda b: ((b > 1) * b + (b > 3) * b) ** 2,
        "an addend": lambda b: (b > 1) + b**2,
        "an argument": lambda b: sg.exp((b > 1) * 1.0 + b),
        "a negated definition": negated,
    }


@pytest.mark.parametrize("at", [0.5, 2.5, -2.0])
@pytest.mark.parametrize("name", programs())
def test_expressions_entries_and_numbers_agree(name: str, at: float) -> None:
    b = sg.tensor(at, requires_grad=True, name="b")
    out = programs()[name](b)
    for formula in (sg.formula(out), sg.formula(out, wrt=b), sg.formula(out, wrt=(b, b))):
        exact = float(formula.evaluate(20))
        assert float(sympy.sympify(formula.expr).subs(b.expr, at)) == pytest.approx(exact, rel=1e-12), formula
        assert float(sympy.sympify(formula.entries()[()]).subs(b.expr, at)) == pytest.approx(exact, rel=1e-12), formula


def test_counting_conditions() -> None:
    x = sg.tensor([0.5, 2.0, 3.0], requires_grad=True, name="x")
    formula = sg.formula((x * (x > 1)).sum() * (x > 1).sum(), wrt=x)
    values = {
        sympy.IndexedBase(sympy.Symbol("x", real=True), shape=(3,))[k]: float(v) for k, v in enumerate(x.tolist())
    }
    entries = [float(sympy.sympify(e).subs(values)) for e in formula.entries()]
    np.testing.assert_array_equal(entries, [0, 2, 2])


def test_a_definition_that_is_a_power_of_several_equal_entries() -> None:
    """x₀ᵃ·x₀ᵃ·x₀ᵃ, which only comes together when the definition is written out, has three factors."""
    x = sg.tensor([2.0, 3.0], requires_grad=True, name="x")
    a = sg.tensor([1.5, 2.5], requires_grad=True, name="a")
    p = x**a
    q = p[:, None, None] * p[None, :, None] * p[None, None, :]
    s = q[0, 0, 0]
    expr = sg.formula(s).expr
    assert str(expr) == "x[0]**(3*a[0])"


def test_coefficients_that_cancel_as_typed_do_not_cancel_as_they_are() -> None:
    x, y = (sg.tensor(v, requires_grad=True, name=n) for v, n in ((2.0, "x"), (3.0, "y")))
    f = ((0.1 * x + 0.2 * x - 0.3 * x) + (0.1 * y + 0.2 * y - 0.3 * y)) * x
    formula = sg.formula(f, wrt=y)
    exact = 2 * (sympy.Rational(0.1) + sympy.Rational(0.2) - sympy.Rational(0.3))
    assert float(formula.evaluate(20)) == float(exact) != 0
    assert str(formula).startswith("∂f/∂y = ")
