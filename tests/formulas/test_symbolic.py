"""The SymPy face: real symbols, entries, sums, conditions; SymPy's own derivative agrees."""

from __future__ import annotations

import sympy

import symgrad as sg

X, Y = sympy.Symbol("x", real=True), sympy.Symbol("y", real=True)


def leaves():
    return sg.tensor(2.0, requires_grad=True, name="x"), sg.tensor(3.0, requires_grad=True, name="y")


def test_plain_expressions_of_0d_programs() -> None:
    x, y = leaves()
    z = x**2 * y + sg.sin(x)
    assert z.expr == X**2 * Y + sympy.sin(X)
    assert x.expr == X
    assert sympy.diff(z.expr, x.expr) == sg.formula(z, wrt=x).expr


def test_one_op_and_its_partials() -> None:
    x, y = leaves()
    z = x**2 + y**3
    assert set((z.grad_fn.local_derivatives).values()) == {sympy.Integer(1)}
    square = z.grad_fn.next_functions[0][0]
    assert square.local_derivatives == {X: 2 * X}


def test_literals_stay_what_was_typed() -> None:
    x, _ = leaves()
    assert (x * 0.1).expr == X / 10
    assert (x**0.5).expr == sympy.sqrt(X)
    assert (x / 3).expr == X / 3
    assert (2**x).expr == 2**X


def test_array_programs_in_free_indices() -> None:
    w = sg.tensor([1.0, 2.0, 3.0], requires_grad=True, name="w")
    (i,) = sg.formula(w * w).indices
    base = sympy.IndexedBase("w", shape=(3,), real=True)
    assert (w * w).expr == base[i] ** 2
    total = (w * w).sum().expr
    assert isinstance(total, sympy.Sum)
    assert sympy.expand(total.doit() - sum(base[k] ** 2 for k in range(3))) == 0


def test_nested_sums_bind_letters_of_their_own() -> None:
    A = sg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True, name="A")
    s = (A.sum(0) * A.sum(1)).sum().expr
    base = sympy.IndexedBase("A", shape=(2, 2), real=True)
    wanted = sum((base[0, i] + base[1, i]) * (base[i, 0] + base[i, 1]) for i in range(2))
    assert sympy.expand(s.doit() - wanted) == 0


def test_conditions_are_piecewise() -> None:
    x, y = leaves()
    z = sg.where(x > y, x * y, x)
    assert z.expr == sympy.Piecewise((X * Y, X > Y), (X, True))
    assert sg.relu(x).expr.subs(X, -3) == 0
    assert sg.maximum(x, y).expr.subs({X: 2, Y: 5}) == 5


def test_a_bracket_keeps_its_strong_zero_in_sympy() -> None:
    x, _ = leaves()
    z = sg.where(x > 0, sg.log(x), 0)
    derivative = sg.formula(z, wrt=x).expr
    assert derivative.subs(X, 0) == 0
    assert derivative.subs(X, 4) == sympy.Rational(1, 4)


def test_deltas_of_jacobians() -> None:
    w = sg.tensor([1.0, 2.0, 3.0], requires_grad=True, name="w")
    formula = sg.formula(sg.exp(w), wrt=w)
    i, j = formula.indices
    assert formula.expr.has(sympy.KroneckerDelta(i, j))
    assert formula.expr.subs({i: 0, j: 1}) == 0
