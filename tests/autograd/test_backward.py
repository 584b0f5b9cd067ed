"""`backward` and `grad`: gradients, seeds, accumulation, unused inputs, freeing."""

from __future__ import annotations

import math
from typing import Any

import pytest

import symgrad as sg

pytestmark = pytest.mark.filterwarnings("ignore:backward.create_graph")


def leaf(values: Any, **named: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True, **named)


# ------------------------------------------------------------------ the gradients of the tutorials
def test_the_mean_of_three_squares_has_slope_four_and_a_half() -> None:
    x = sg.ones(2, 2, requires_grad=True)
    y = x + 2
    out = (y * y * 3).mean()
    assert out.item() == 27.0
    assert x.grad is None
    assert out.backward() is None
    assert x.grad.tolist() == [[4.5, 4.5], [4.5, 4.5]]
    assert (x.grad.requires_grad, x.grad.grad_fn, x.grad.is_leaf) == (False, None, True)


def test_a_chain_of_products_gives_twelve_eight_and_six() -> None:
    a, b, d = leaf(2.0), leaf(3.0), leaf(4.0)
    c = a * b
    (c * d).backward()
    assert (a.grad.item(), b.grad.item(), d.grad.item()) == (12.0, 8.0, 6.0)


def test_only_what_requires_grad_gets_a_gradient() -> None:
    a, b = leaf(2.0), sg.tensor(3.0)
    (a * b).backward()
    assert a.grad.item() == 3.0
    assert b.grad is None


def test_a_linear_model_gives_the_outer_product_and_the_seed() -> None:
    w, b = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([0.5, 0.5])
    y = w @ sg.tensor([1.0, -1.0]) + b
    assert y.tolist() == [-0.5, -0.5]
    y.backward(sg.tensor([1.0, 10.0]))
    assert w.grad.tolist() == [[1.0, -1.0], [10.0, -10.0]]
    assert b.grad.tolist() == [1.0, 10.0]


def test_squares_and_cubes_have_slopes_2x_and_3y2() -> None:
    x, y = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([[0.5, 1.0], [1.5, 2.0]])
    (x**2 + y**3).backward(sg.ones_like(x))
    assert sg.equal(x.grad, 2 * x)
    assert sg.allclose(y.grad, 3 * y**2)


@pytest.mark.parametrize(("start", "steps", "slope"), [(0.3, 9, 62.0), (2.0, 3, 6.0), (7.0, 1, 2.0)])
def test_a_loop_is_differentiated_as_it_ran(start: float, steps: int, slope: float) -> None:
    x = leaf(start)
    y, taken = x, 0
    while y < 10:
        y = y * 2 if taken % 2 == 0 else y + x
        taken += 1
    y.backward()
    assert (taken, x.grad.item()) == (steps, slope)


# ------------------------------------------------------------------ seeds
@pytest.mark.parametrize("seed", [[1, 10, 100], [1.0, 10.0, 100.0]])
def test_a_seed_weights_the_entries_whatever_its_kind_of_number(seed: list[float]) -> None:
    x = leaf([1.0, 2.0, 3.0])
    (4 * (x + 2) ** 2).backward(sg.tensor(seed))
    assert x.grad.tolist() == [24.0, 320.0, 4000.0]
    assert x.grad.dtype == sg.float64


def test_a_seed_is_the_gradient_of_the_weighted_sum() -> None:
    x, z, seed = leaf([1.0, 2.0, 3.0]), leaf([1.0, 2.0, 3.0]), sg.tensor([0.5, -2.0, 3.0])
    (x * x.exp()).backward(gradient=seed)
    (z * z.exp() * seed).sum().backward()
    assert sg.allclose(x.grad, z.grad)


@pytest.mark.parametrize("seed", [None, 1.0, 2.0, 3])
def test_a_scalar_is_seeded_with_one_unless_told(seed: float | None) -> None:
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    z = (x * x + y).sum()
    z.backward() if seed is None else z.backward(sg.tensor(seed))
    factor = 1 if seed is None else seed
    assert x.grad.tolist() == [2.0 * factor, 4.0 * factor]
    assert y.grad.tolist() == [factor, factor]


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_entry_is_a_scalar_in_any_rank(shape: tuple[int, ...]) -> None:
    x = sg.full(shape, 3.0, requires_grad=True)
    (x * x).backward()
    assert x.grad.shape == shape
    assert x.grad.item() == 6.0


def test_the_seed_is_not_written_and_not_kept() -> None:
    x, seed = leaf([1.0, 2.0]), sg.ones(2)
    (x + 0).backward(seed)
    (x * 1).backward(sg.ones(2))
    assert seed.tolist() == [1.0, 1.0]
    x.grad.zero_()
    assert seed.tolist() == [1.0, 1.0]


def test_two_leaves_do_not_share_one_gradient_array() -> None:
    x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    (x + y).sum().backward()
    x.grad.zero_()
    assert y.grad.tolist() == [1.0, 1.0]


def test_a_gradient_that_was_broadcast_can_be_written() -> None:
    x = leaf([1.0, 2.0, 3.0])
    x.sum().backward()
    x.grad[0] = 5.0
    assert x.grad.tolist() == [5.0, 1.0, 1.0]


# ------------------------------------------------------------------ accumulation
def test_gradients_accumulate_in_the_same_tensor() -> None:
    x = sg.ones(2, requires_grad=True)
    (3 * x).sum().backward()
    kept = x.grad
    (2 * x).sum().backward()
    assert x.grad is kept
    assert kept.tolist() == [5.0, 5.0]
    x.grad.zero_()
    x.sum().backward()
    assert kept.tolist() == [1.0, 1.0]
    x.grad = None
    (5 * x).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    assert kept.tolist() == [1.0, 1.0]


def test_a_tensor_used_several_times_gets_the_sum() -> None:
    w = leaf(3.0)
    (w * w + 2 * w + w).backward()
    assert w.grad.item() == 9.0


def test_a_diamond_is_walked_once_for_each_way() -> None:
    x = leaf(0.5)
    u = x * x
    (u.sin() * u.exp() + u).backward()
    v = 0.25
    slope = math.cos(v) * math.exp(v) + math.sin(v) * math.exp(v) + 1
    assert x.grad.item() == pytest.approx(2 * 0.5 * slope, rel=1e-15)


def test_several_roots_add_up_and_a_root_may_feed_another() -> None:
    x = leaf(2.0)
    y = x * x
    sg.autograd.backward([y, y * y], [sg.tensor(1.0), sg.tensor(0.5)])
    assert x.grad.item() == 4.0 + 0.5 * 2 * 4.0 * 4.0
    x.grad = None
    y = x * x
    sg.autograd.backward([y, y])
    assert x.grad.item() == 8.0


def test_backward_of_a_leaf_is_its_seed() -> None:
    x = leaf(2.0)
    x.backward()
    x.backward(sg.tensor(3.0))
    assert x.grad.item() == 4.0


def test_float32_and_float64_meet_and_each_gets_its_own_dtype_back() -> None:
    h, k = leaf([1.0, 2.0], dtype=sg.float32), leaf([3.0, 4.0])
    p = h * k
    assert p.dtype == sg.float64
    p.sum().backward()
    assert (h.grad.dtype, k.grad.dtype) == (sg.float32, sg.float64)
    assert h.grad.tolist() == [3.0, 4.0]


# ------------------------------------------------------------------ inputs, unused ones
def test_inputs_may_be_intermediate_results() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    (y * y).sum().backward(inputs=[y, x])
    assert y.grad is not None and x.grad is not None
    assert y.grad.tolist() == [2.0, 8.0]
    assert x.grad.tolist() == [4.0, 32.0]


def test_inputs_limit_who_is_filled() -> None:
    x, y = leaf(2.0), leaf(3.0)
    (x * y).backward(inputs=[x])
    assert x.grad.item() == 3.0
    assert y.grad is None


def test_backward_may_fill_an_intermediate_result_that_is_asked_for() -> None:
    x = leaf(2.0)
    y = x * x
    (gradient,) = sg.autograd.grad(y**3, y)
    assert gradient.item() == 3 * 4.0**2
    assert x.grad is None


def test_grad_touches_no_gradient() -> None:
    x, y = leaf(2.0), leaf(3.0)
    found = sg.autograd.grad(x * y, [x, y])
    assert [g.item() for g in found] == [3.0, 2.0]
    assert (x.grad, y.grad) == (None, None)


def test_grad_of_an_inner_node_and_of_a_leaf_below_it() -> None:
    x = leaf(2.0)
    y = x * 3
    z = y * y
    inner, outer = sg.autograd.grad(z, [y, x])
    assert (inner.item(), outer.item()) == (12.0, 36.0)


def test_grad_by_the_output_itself_is_its_seed() -> None:
    x = leaf([1.0, 2.0])
    y = x * 2
    seed = sg.tensor([3.0, 4.0])
    (g,) = sg.autograd.grad(y, y, seed)
    assert g.tolist() == [3.0, 4.0]


def test_an_unused_input_is_none_or_zeros_as_asked() -> None:
    x, z = leaf([1.0, 2.0]), leaf([[5.0]])
    assert sg.autograd.grad(x.sum(), [x, z], allow_unused=True)[1] is None
    zeros = sg.autograd.grad(x.sum(), [x, z], materialize_grads=True)[1]
    assert zeros.tolist() == [[0.0]]


def test_grad_outputs_of_several_outputs() -> None:
    x = leaf([1.0, 2.0])
    (g,) = sg.autograd.grad([x * 2, x.sum()], x, grad_outputs=[sg.tensor([1.0, 10.0]), None])
    assert g.tolist() == [3.0, 21.0]


def test_retain_grad_keeps_an_inner_gradient() -> None:
    a, b, d = leaf(2.0), leaf(3.0), leaf(4.0)
    c = a * b
    c.retain_grad()
    assert (c.retains_grad, a.retains_grad) == (True, False)
    (c * d).backward()
    assert [t.grad.item() for t in (c, a, b, d)] == [4.0, 12.0, 8.0, 6.0]


def test_a_leaf_may_be_asked_to_retain_what_it_retains_anyway() -> None:
    x = leaf(2.0)
    x.retain_grad()
    (x * x).backward()
    assert x.grad.item() == 4.0
    assert not x.retains_grad


# ------------------------------------------------------------------ freeing
def test_saved_values_are_freed_unless_retained() -> None:
    x = leaf([1.0, 2.0, 3.0])
    s = (x * x).sum()
    s.backward(retain_graph=True)
    s.backward()
    assert x.grad.tolist() == [4.0, 8.0, 12.0]
    with pytest.raises(RuntimeError, match="second time"):
        s.backward()
    assert x.grad.tolist() == [4.0, 8.0, 12.0]


def test_what_saved_nothing_runs_as_often_as_one_likes() -> None:
    x = leaf([1.0, 2.0, 3.0])
    t = (x + 2).sum()
    t.backward()
    t.backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_freeing_one_part_leaves_another_alone() -> None:
    x = leaf(2.0)
    y, z = x * x, x * x * x
    y.backward()
    z.backward()
    assert x.grad.item() == 4.0 + 12.0


def test_grad_frees_only_the_ways_it_went() -> None:
    x, w = leaf(2.0), leaf(3.0)
    u, v = x * x, w * w
    s = u + v
    sg.autograd.grad(s, x)
    v.backward()
    assert w.grad.item() == 6.0
