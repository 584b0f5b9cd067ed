"""Custom Functions in formulas: by name, with the derivative that their backward records; never constants."""

import pytest
import sympy

import symgrad as sg


class Cube(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class Exp(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = sg.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Power(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


class LooksAtValues(Cube):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (3 * x.item() ** 2)


class LooksAtWhatItComputed(Cube):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (3 * (x**2).item())


class Branches(Cube):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2 if x > 0 else g


class KeepsANumber(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = 3 * x.item() ** 2
        return x**3

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope


@pytest.fixture
def x():
    return sg.tensor(2.0, requires_grad=True)


def test_value_and_derivatives(x):
    y = Cube.apply(sg.sin(x)) * x
    assert str(sg.formula(y)) == "y = x·Cube(t₁)      where t₁ = sin(x)"
    assert str(sg.formula(y, wrt=x)) == "∂y/∂x = 3·x·t₁²·cos(x) + Cube(t₁)      where t₁ = sin(x)"
    assert y.expr == x.expr * sympy.Function("Cube", real=True)(sympy.sin(x.expr))


def test_a_saved_result_is_the_call_itself(x):
    z = Exp.apply(x)
    assert str(sg.formula(z, wrt=(x, x))) == "∂²z/∂x² = Exp(x)"


def test_arguments_that_are_no_tensors_show(x):
    z = Power.apply(x, 4)
    assert str(sg.formula(z)) == "z = Power(x, 4)"
    assert str(sg.formula(z, wrt=(x, x))) == "∂²z/∂x² = 12·x²"


@pytest.mark.parametrize("function", [LooksAtValues, LooksAtWhatItComputed, Branches, KeepsANumber])
def test_a_derivative_that_needs_values_stays_opaque(x, function):
    z = function.apply(x) * x
    name = f"{function.__name__}(x)"
    assert str(sg.formula(z, wrt=x)) == f"∂z/∂x = x·∂{name}/∂x + {name}"
    with pytest.raises(sg.errors.FormulaError, match="no second derivative as a formula"):
        sg.formula(z, wrt=(x, x))
    with pytest.raises(sg.errors.FormulaError, match="no expression to evaluate exactly"):
        sg.formula(z, wrt=x).evaluate()


def test_what_forward_computed_on_the_way_and_saved_is_no_constant(x):
    class Shifted(Exp):
        @staticmethod
        def forward(ctx, x):
            r = sg.exp(x)
            ctx.save_for_backward(r)
            return r + 1

    class Positive(Exp):
        @staticmethod
        def forward(ctx, x):
            m = x > 0
            ctx.save_for_backward(m)
            return x * m

    for function in (Shifted, Positive):
        z = function.apply(x)
        assert str(sg.formula(z, wrt=x)) == f"∂z/∂x = ∂{function.__name__}(x)/∂x"


def test_after_backward_freed_what_was_saved(x):
    z = Cube.apply(x)
    z.backward()
    assert str(sg.formula(z, wrt=x)) == "∂z/∂x = ∂Cube(x)/∂x"


def test_a_call_of_the_cotangent_alone_is_refused_for_what_it_is(x):
    class Double(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return Double.apply(g)

    with pytest.raises(sg.errors.FormulaError, match="no expression to evaluate exactly"):
        sg.formula(Double.apply(x), wrt=x).evaluate()


def test_entries_of_arrays():
    X = sg.tensor([1.0, 2.0], requires_grad=True)
    u = Cube.apply(X)
    assert str(sg.formula(u, wrt=X)) == "∂uᵢ/∂Xⱼ = 3·Xⱼ²·[i = j]"


def test_several_outputs_are_refused(x):
    class Two(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, g, h):
            return g + 2 * h

    first, second = Two.apply(x)
    with pytest.raises(sg.errors.FormulaError, match="several outputs"):
        sg.formula(first * second)
