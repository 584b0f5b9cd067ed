"""`Function`: ops that a user writes, with everything that a context may carry."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import symgrad as sg


def leaf(values: Any, **named: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True, **named)


class Mul(sg.autograd.Function):
    """A product that notes what its backward saw."""

    seen: list[tuple[Any, ...]] = []

    @staticmethod
    def forward(ctx: Any, a: sg.Tensor, b: sg.Tensor) -> sg.Tensor:
        assert not sg.is_grad_enabled()
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, g: sg.Tensor) -> tuple[sg.Tensor, sg.Tensor]:
        a, b = ctx.saved_tensors
        Mul.seen.append((g.item(), a.item(), b.item(), ctx.needs_input_grad, sg.is_grad_enabled()))
        return g * b, g * a


def test_a_function_takes_part_in_the_graph() -> None:
    Mul.seen.clear()
    a, b, d = leaf(2.0), leaf(3.0), leaf(4.0)
    c = Mul.apply(a, b)
    e = Mul.apply(c, d)
    assert (c.item(), e.item()) == (6.0, 24.0)
    assert e.grad_fn.name() == type(e.grad_fn).__name__ == "MulBackward"
    assert e.grad_fn.next_functions[0] == (c.grad_fn, 0)
    assert e.grad_fn.next_functions[1][0].variable is d
    assert [t.item() for t in e.grad_fn.saved_tensors] == [6.0, 4.0]
    assert "grad_fn=<MulBackward>" in repr(e)
    e.backward()
    assert [t.grad.item() for t in (a, b, d)] == [12.0, 8.0, 6.0]
    assert Mul.seen == [(1.0, 6.0, 4.0, (True, True), False), (4.0, 2.0, 3.0, (True, True), False)]
    with pytest.raises(RuntimeError, match="second time"):
        e.backward()


def test_an_argument_that_needs_no_gradient_has_none() -> None:
    Mul.seen.clear()
    a, b = leaf(2.0), sg.tensor(3.0)
    c = Mul.apply(a, b)
    assert c.grad_fn.next_functions[1] == (None, 0)
    c.backward()
    assert (a.grad.item(), b.grad) == (3.0, None)
    assert Mul.seen[0][3] == (True, False)


def test_nothing_is_recorded_where_nothing_is_tracked() -> None:
    assert not Mul.apply(sg.tensor(2.0), sg.tensor(3.0)).requires_grad
    with sg.no_grad():
        assert not Mul.apply(leaf(2.0), leaf(3.0)).requires_grad


def test_saved_leaves_are_the_leaves_themselves() -> None:
    a, b = leaf(2.0), leaf(3.0)
    c = Mul.apply(a, b)
    assert c.grad_fn.saved_tensors[0] is a


class SinCos(sg.autograd.Function):
    """Two outputs, a number as argument, an attribute on the context."""

    @staticmethod
    def forward(ctx: Any, x: sg.Tensor, frequency: float) -> tuple[sg.Tensor, sg.Tensor]:
        ctx.frequency = frequency
        s, c = (x * frequency).sin(), (x * frequency).cos()
        ctx.save_for_backward(s, c)
        return s, c

    @staticmethod
    def backward(ctx: Any, gs: sg.Tensor, gc: sg.Tensor) -> tuple[sg.Tensor, None]:
        s, c = ctx.saved_tensors
        return ctx.frequency * (gs * c - gc * s), None


def test_two_outputs_share_one_node_and_one_backward() -> None:
    x = leaf([0.3, 0.7])
    s, c = SinCos.apply(x, 2.0)
    assert s.grad_fn is c.grad_fn
    z = s * 3 + c
    assert z.grad_fn.next_functions[1] == (c.grad_fn, 1)
    z.sum().backward()
    assert sg.allclose(x.grad, 2 * (3 * (2 * x.detach()).cos() - (2 * x.detach()).sin()))


@pytest.mark.parametrize("k", [0, 1])
def test_an_output_that_nothing_uses_comes_as_zeros(k: int) -> None:
    x = leaf([0.3, 0.7])
    SinCos.apply(x, 2.0)[k].sum().backward()
    v = 2 * x.detach()
    assert sg.allclose(x.grad, 2 * (v.cos() if k == 0 else -v.sin()))


def test_outputs_saved_for_backward_are_differentiated_again() -> None:
    x = leaf(0.3)
    s, _ = SinCos.apply(x, 1.0)
    for expected in (x.detach().cos(), -x.detach().sin(), -x.detach().cos()):
        (s,) = sg.autograd.grad(s, x, create_graph=True)
        assert s.item() == pytest.approx(expected.item(), rel=1e-15)


def test_double_backward_runs_through_the_users_rule() -> None:
    x, y = leaf(2.0), leaf(5.0)
    (g,) = sg.autograd.grad(Mul.apply(x, y) * x, x, create_graph=True)
    assert g.item() == 20.0
    gx, gy = sg.autograd.grad(g, [x, y])
    assert (gx.item(), gy.item()) == (10.0, 4.0)


def test_materialise_off_gives_none_for_an_unused_output() -> None:
    class Pair(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor) -> tuple[sg.Tensor, sg.Tensor]:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, first: sg.Tensor | None, second: sg.Tensor | None) -> sg.Tensor:
            assert second is None
            return first * 2

    x = leaf(1.0)
    Pair.apply(x)[0].backward()
    assert x.grad.item() == 2.0


def test_an_output_may_be_marked_as_no_function_of_the_inputs() -> None:
    class Sorted(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor) -> tuple[sg.Tensor, sg.Tensor]:
            top = x.argmax()
            ctx.mark_non_differentiable(top)
            ctx.top = top.item()
            return x[ctx.top], top

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor, unused: sg.Tensor) -> sg.Tensor:
            return g * sg.tensor([float(k == ctx.top) for k in range(3)])

    x = leaf([1.0, 3.0, 2.0])
    value, top = Sorted.apply(x)
    assert (value.requires_grad, top.requires_grad, top.grad_fn) == (True, False, None)
    value.backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


def test_none_means_no_gradient() -> None:
    class Straight(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor, y: sg.Tensor) -> sg.Tensor:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> tuple[sg.Tensor, None]:
            return g, None

    x, y = leaf(1.0), leaf(2.0)
    Straight.apply(x, y).backward()
    assert (x.grad.item(), y.grad) == (1.0, None)


def test_trailing_nones_are_allowed() -> None:
    class Extra(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor) -> sg.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> tuple[Any, ...]:
            return g * 2, None, None

    x = leaf(1.0)
    Extra.apply(x).backward()
    assert x.grad.item() == 2.0


def test_arguments_of_any_kind_pass_through() -> None:
    class Odd(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, name: str, x: sg.Tensor, options: dict[str, int], nothing: None) -> sg.Tensor:
            assert (name, options, nothing) == ("power", {"n": 3}, None)
            assert ctx.needs_input_grad == (False, True, False, False)
            ctx.save_for_backward(x, None)
            ctx.n = options["n"]
            return x**3

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> tuple[Any, ...]:
            x, nothing = ctx.saved_tensors
            assert nothing is None
            return None, g * ctx.n * x**2, None, None

    x = leaf(2.0)
    y = Odd.apply("power", x, {"n": 3}, None)
    assert [f is None for f, _ in y.grad_fn.next_functions] == [True, False, True, True]
    y.backward()
    assert x.grad.item() == 12.0


def test_a_gradient_is_summed_to_its_arguments_shape_and_cast_to_its_dtype() -> None:
    class Scale(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor, factor: sg.Tensor) -> sg.Tensor:
            ctx.save_for_backward(x, factor)
            return x * factor

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> tuple[sg.Tensor, sg.Tensor]:
            x, factor = ctx.saved_tensors
            return g * factor, g * x  # the second one still has the shape of x

    x, factor = leaf([1.0, 2.0, 3.0]), leaf([2.0], dtype=sg.float32)
    Scale.apply(x, factor).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert factor.grad.tolist() == [6.0]
    assert factor.grad.dtype == sg.float32


def test_ops_inside_backward_are_recorded_only_when_asked() -> None:
    modes = []

    class Probe(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor) -> sg.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> sg.Tensor:
            (x,) = ctx.saved_tensors
            modes.append((sg.is_grad_enabled(), (x * 2).requires_grad))
            return g * 2 * x

    x = leaf(3.0)
    sg.autograd.grad(Probe.apply(x), x)
    sg.autograd.grad(Probe.apply(x), x, create_graph=True)
    assert modes == [(False, False), (True, True)]


def test_once_differentiable_gives_first_derivatives() -> None:
    class Square(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor) -> sg.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @sg.autograd.function.once_differentiable
        def backward(ctx: Any, g: sg.Tensor) -> sg.Tensor:
            return g * 2 * ctx.saved_tensors[0]

    x = leaf(3.0)
    Square.apply(x).backward()
    assert x.grad.item() == 6.0


def test_a_function_runs_once_even_beside_infinities() -> None:
    runs = []

    class Counted(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor) -> sg.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> sg.Tensor:
            runs.append(g.tolist())
            return g

    x = leaf([0.0, 4.0])
    y = Counted.apply(x)
    sg.where(x > 1, y.sqrt(), 0.0).sum().backward()
    assert len(runs) == 1


def test_the_context_lets_go_with_the_graph() -> None:
    gc.collect()
    gc.disable()
    try:
        a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        product = a * 1
        y = ManyTimes.apply(product, b)
        gone = weakref.ref(y.grad_fn)
        y.sum().backward()
        del y
        assert gone() is None
    finally:
        gc.enable()


class ManyTimes(sg.autograd.Function):
    """A product of vectors that saves an input and its own result."""

    @staticmethod
    def forward(ctx: Any, a: sg.Tensor, b: sg.Tensor) -> sg.Tensor:
        out = a * b
        ctx.save_for_backward(a, b, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: sg.Tensor) -> tuple[sg.Tensor, sg.Tensor]:
        a, b, _ = ctx.saved_tensors
        return g * b, g * a


def test_setup_context_splits_forward_and_context() -> None:
    class Cube(sg.autograd.Function):
        @staticmethod
        def forward(x: sg.Tensor) -> sg.Tensor:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: sg.Tensor) -> None:
            (x,) = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> sg.Tensor:
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = leaf(2.0)
    Cube.apply(x).backward()
    assert x.grad.item() == 12.0


def test_forward_may_return_its_input() -> None:
    class Same(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor) -> sg.Tensor:
            return x

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> sg.Tensor:
            return g * 10

    x = leaf(2.0)
    y = Same.apply(x)
    assert y is not x
    assert (x.is_leaf, y.is_leaf) == (True, False)
    y.backward()
    assert x.grad.item() == 10.0
