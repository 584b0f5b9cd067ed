"""The explainer: its steps are the records that backward() runs, with their values."""

import numpy as np
import pytest

import symgrad as sg


def equations(derivation, kind):
    return [s.equation for s in derivation.steps if s.kind == kind]


def test_steps_of_a_scalar_program():
    x = sg.tensor(2.0, requires_grad=True)
    y = sg.tensor(3.0, requires_grad=True)
    z = x**2 * y + sg.sin(x)
    d = sg.explain(z)
    assert equations(d, "forward") == ["t₁ = x²", "t₂ = y·t₁", "t₃ = sin(x)", "z = t₂ + t₃"]
    assert equations(d, "seed") == ["z̄ = 1"]
    assert equations(d, "fan-out") == ["x̄ = 2·x·t̄₁ + t̄₃·cos(x)"]
    assert [str(f) for f in d.formulas] == ["∂z/∂x = 2·x·y + cos(x)", "∂z/∂y = x²"]


def test_values_of_the_steps_are_those_of_backward():
    sg.manual_seed(0)
    X = sg.randn(5, 3)
    w = sg.randn(3, requires_grad=True)
    h = sg.tanh(X @ w)
    h.retain_grad()
    loss = (h**2).mean()
    d = sg.explain(loss)
    loss.backward()
    steps = {s.output: s for s in d.steps}
    assert np.array_equal(steps["h̄ᵢ"].value, h.grad.numpy())
    assert np.array_equal(steps["w̄ᵢ"].value, w.grad.numpy())
    assert steps["hᵢ"].line == "h = sg.tanh(X @ w)"


def test_steps_after_backward_freed_the_values_are_the_same():
    x = sg.tensor([0.5, 1.5], requires_grad=True)
    y = (sg.exp(x) * x).sum()
    before = str(sg.explain(y))
    y.backward()
    assert str(sg.explain(y)) == before


def test_adjoints_carry_the_number_of_their_value():
    x = sg.tensor(1.2, requires_grad=True)
    y = x
    for _ in range(3):
        y = sg.sin(y)
    assert equations(sg.explain(y), "adjoint") == ["ȳ₂ = ȳ·cos(y₂)", "ȳ₁ = ȳ₂·cos(y₁)", "x̄ = ȳ₁·cos(x)"]


def test_local_derivatives_and_rules():
    X = sg.ones(2, 3, requires_grad=True)
    b = sg.ones(3, requires_grad=True)
    y = (X + b).sum()
    steps = [s for s in sg.explain(y).steps if s.kind == "adjoint" and s.op == "add"]
    assert [s.rule for s in steps] == ["sum rule", "sum rule, broadcasting sums"]
    assert steps[1].equation == "b̄ᵢ = Σⱼ t̄₁[j,i]"


def test_a_result_that_is_no_scalar_has_a_symbolic_cotangent():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = x**2
    d = sg.explain(y)
    assert "ȳ is a variable, and its values are ones" in d.notes[-1]
    assert str(d.formulas[0]) == "x̄ᵢ = 2·xᵢ·ȳᵢ"
    assert np.array_equal(d.proofs[0].numeric, [2.0, 4.0])


def test_wrt_an_intermediate():
    x = sg.tensor(0.5, requires_grad=True)
    u = sg.exp(x)
    y = u * sg.sin(u)
    d = sg.explain(y, wrt=u)
    assert str(d.formulas[0]).startswith("∂y/∂u = u·cos(u) + sin(u)")
    assert [s.output for s in d.steps if s.kind == "fan-out"] == ["ū"]


def test_a_custom_function_is_a_step_of_its_own():
    class Cube(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    x = sg.tensor(2.0, requires_grad=True)
    y = Cube.apply(x) + sg.sin(x)
    d = sg.explain(y)
    assert "t₁ = Cube(x)" in equations(d, "forward")
    assert d.proofs[0].reason.startswith("Cube is a custom Function")


def test_refusals():
    a = sg.tensor(1.0, requires_grad=True)
    c = sg.exp(a)
    with sg.no_grad():
        a += 1
    with pytest.raises(sg.errors.FormulaError, match="a was changed after it was used"):
        sg.explain(c)
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        sg.explain(sg.tensor(1.0))
    with pytest.raises(TypeError, match="expected a Tensor"):
        sg.explain(1.0)


def test_text_has_all_its_parts():
    x = sg.tensor(2.0, requires_grad=True)
    text = str(sg.explain(x**2, title="a square", notes=["x is 2"]))
    assert text.startswith("a square\n\nAssumed\n  x is 2\n\nForward\n")
    assert "\nBackward\n" in text
    assert "\nGradient\n  ∂y/∂x = 2·x\n      = 4\n" in text
    assert "numeric and exact agree to 0.0 ulp (50 digits)" in text
