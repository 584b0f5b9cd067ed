"""What a formula may be of: values, Jacobians, intermediates, second orders; named sizes, guards, freed graphs."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaError


@pytest.fixture
def x():
    return sg.tensor([1.0, 2.0, 0.5], requires_grad=True, name="x")


def floats(formula) -> np.ndarray:
    return np.asarray(formula.evaluate(20), float)


def test_a_list_gives_one_formula_each(x) -> None:
    b = sg.tensor(2.0, requires_grad=True, name="b")
    y = (x * b).sum()
    formulas = sg.formula(y, wrt=[x, b])
    assert str(formulas) == "∂y/∂xᵢ = b\n∂y/∂b = Σᵢ xᵢ"
    assert len(formulas) == 2


def test_a_tuple_differentiates_again(x) -> None:
    y = (x**3).sum()
    assert str(sg.formula(y, wrt=(x, x))) in ("∂²y/∂xᵢ∂xⱼ = 6·xᵢ·[i = j]", "∂²y/∂xᵢ∂xⱼ = 6·xⱼ·[i = j]")
    np.testing.assert_array_equal(floats(sg.formula(y, wrt=(x, x))), np.diag(6 * x._data))
    assert not floats(sg.formula(y, wrt=(x, x, x, x))).any()


def test_mixed_second_derivatives_agree_in_either_order(x) -> None:
    w = sg.tensor([0.5, -1.0, 2.0], requires_grad=True, name="w")
    y = sg.exp((x * w).sum())
    one, other = floats(sg.formula(y, wrt=(x, w))), floats(sg.formula(y, wrt=(w, x)))
    np.testing.assert_allclose(one, other.T, rtol=1e-15)
    value = np.exp(x._data @ w._data)
    np.testing.assert_allclose(one, value * (np.outer(w._data, x._data) + np.eye(3)), rtol=1e-14)


def test_the_jacobian_of_a_vector(x) -> None:
    y = x * x.sum()
    formula = sg.formula(y, wrt=x)
    wanted = np.eye(3) * x._data.sum() + x._data[:, None]
    np.testing.assert_allclose(floats(formula), wanted, rtol=1e-15)
    assert formula.entries().shape == (3, 3)
    assert str(formula).startswith("∂yᵢ/∂xⱼ = ")


def test_by_an_intermediate(x) -> None:
    r = x * x - 1
    loss = (r * r).sum()
    assert str(sg.formula(loss, wrt=r)) == "∂loss/∂rᵢ = 2·rᵢ      where rᵢ = xᵢ² − 1"
    np.testing.assert_allclose(floats(sg.formula(loss, wrt=r)), 2 * r._data)


def test_by_itself_and_by_what_it_does_not_depend_on(x) -> None:
    y = sg.exp(x)
    other = sg.tensor(1.0, requires_grad=True)
    with pytest.raises(FormulaError, match="not computed from other"):
        sg.formula(y, wrt=other)
    assert str(sg.formula(x, wrt=x)) == "∂xᵢ/∂xⱼ = [i = j]"
    np.testing.assert_array_equal(floats(sg.formula(y, wrt=y)), np.eye(3))


def test_named_sizes_stand_in_formulas() -> None:
    X = sg.tensor(np.arange(6.0).reshape(2, 3) / 4, requires_grad=True, dims=("n", "d"), name="X")
    w = sg.tensor([1.0, -1.0, 0.5], requires_grad=True, dims=("d",), name="w")
    loss = ((X @ w) ** 2).mean()
    formula = sg.formula(loss, wrt=w)
    assert "/n" in str(formula)
    found = np.asarray(formula.evaluate(20), float)
    np.testing.assert_allclose(found, 2 / 2 * X._data.T @ (X._data @ w._data), rtol=1e-15)
    total = sg.formula(X.mean())
    assert "n" in str(total)
    assert "d" in str(total)
    assert float(total.evaluate(20)) == X._data.mean()


def test_named_sizes_of_one_are_not_left_out() -> None:
    """A size that happens to be 1 stays a size: the formula is for every n."""
    a = sg.tensor([[2.0, 3.0]], requires_grad=True, dims=("n", "d"), name="a")
    assert str(sg.formula(a.sum(), wrt=a)).endswith("= 1")
    assert "Σ" in str(sg.formula(sg.exp(a).sum()))
    np.testing.assert_allclose(float(sg.formula(a.mean()).evaluate(15)), 2.5)
    soft = sg.softmax(a, 0)
    np.testing.assert_allclose(np.asarray(sg.formula(soft).evaluate(15), float), [[1, 1]])


def test_after_backward_freed_the_arrays(x) -> None:
    y = (sg.exp(x) * x).sum()
    y.backward()
    np.testing.assert_allclose(floats(sg.formula(y, wrt=x)), x.grad._data, rtol=1e-15)
    assert str(sg.formula(y)) == "y = Σᵢ xᵢ·exp(xᵢ)"


def test_evaluation_is_refused_after_a_leaf_was_changed(x) -> None:
    y = (x * x).sum()
    formula = sg.formula(y, wrt=x)
    with sg.no_grad():
        x.add_(1.0) if hasattr(x, "add_") else x.data.__iadd__(1.0)
    with pytest.raises(FormulaError, match="x was changed"):
        formula.evaluate(20)
    assert str(formula) == "∂y/∂xᵢ = 2·xᵢ"


def test_branches_are_named_as_guards() -> None:
    a = sg.tensor(2.0, requires_grad=True, name="a")
    y = a * 3 if a > 0 else -a
    z = y * y
    formula = sg.formula(z)
    assert str(formula).endswith("valid while a > 0")
    assert list(map(str, formula.guards)) == ["a > 0"]
    with sg.no_grad():
        taken = bool(a < 5)
    assert taken
    assert "5" not in str(sg.formula(a * 2))


def test_a_guard_of_another_computation_does_not_show() -> None:
    a = sg.tensor(2.0, requires_grad=True, name="a")
    b = sg.tensor(1.0, requires_grad=True, name="b")
    other = b * 2 if b > 0 else b
    y = a * a
    assert "valid" not in str(sg.formula(y))
    assert "b > 0" in str(sg.formula(other))
