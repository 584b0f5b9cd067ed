"""What was not selected contributes exactly nothing, whatever it meets; a real 0·∞ stays visible."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def leaf(values: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True)


# name: (function of a vector, its values, the slopes of its sum)
SELECTIONS: dict[str, tuple[Any, list[float], list[float]]] = {
    "where at the edge of a logarithm": (
        lambda x: sg.where(x < 0, 1 / (1 - x), (x + 1).log()),
        [-1.0, 0.0, 1.0],
        [0.25, 1.0, 0.5],
    ),
    "sinc": (lambda x: sg.where(x == 0, 1.0, x.sin() / x), [0.0, 1.0], [0.0, math.cos(1.0) - math.sin(1.0)]),
    "a root past its domain": (lambda x: sg.where(x > 0, x.sqrt(), 0.0), [4.0, 0.0, -1.0], [0.25, 0.0, 0.0]),
    "a logarithm in both branches": (
        lambda x: sg.where(x > 0, x.log(), (-x).log()),
        [2.0, -2.0],
        [0.5, -0.5],
    ),
    "two selections, one in the other": (
        lambda x: sg.where(x > 1, sg.where(x > 2, x.log(), x), (1 - x).sqrt() * 0 + x),
        [0.5, 1.5, 4.0],
        [1.0, 1.0, 0.25],
    ),
    "a quotient behind the mask": (lambda x: sg.where(x != 0, x / x, 1.0) * x, [0.0, 2.0], [1.0, 1.0]),
    "relu before a root": (lambda x: (x.relu() * 1).sqrt()[1:], [-1.0, 4.0], [0.0, 0.25]),
    "an index": (lambda x: (1 / x)[1], [0.0, 2.0], [0.0, -0.25]),
    "a slice": (lambda x: x.log()[1:], [0.0, 2.0, 4.0], [0.0, 0.5, 0.25]),
    "a slice with a step": (lambda x: x.log()[::2], [1.0, 0.0, 4.0], [1.0, 0.0, 0.25]),
    "an index after a reshape": (lambda x: x.sqrt().reshape(2, 2)[1], [0.0, 0.0, 4.0, 1.0], [0.0, 0.0, 0.25, 0.5]),
    "the larger of two": (lambda x: sg.maximum(x.log(), x), [0.0, 2.0], [1.0, 1.0]),
    "the smaller of two": (lambda x: sg.minimum(-x.log(), x), [0.0, 0.5], [1.0, 1.0]),
    "an unused power": (lambda x: sg.where(x > 0, x**0.5, x**2), [0.0, 4.0], [0.0, 0.25]),
    "an exponential that overflows": (lambda x: sg.where(x > 10, x, x.exp()), [1000.0, 0.0], [1.0, 1.0]),
    "a mask over a broadcast": (
        lambda x: sg.where(x.reshape(2, 1) > 0, x.reshape(2, 1).log() * sg.ones(1, 3), 0.0),
        [0.0, 2.0],
        [0.0, 1.5],
    ),
    "a mask before a matrix": (
        lambda x: sg.where(x > 0, x.log(), 0.0) @ sg.tensor([[1.0, 2.0], [3.0, 4.0]]),
        [0.0, 2.0],
        [0.0, 3.5],
    ),
    "a selection after a transpose": (
        lambda x: (1 / x).reshape(2, 2).t()[0],
        [1.0, 0.0, 2.0, 0.0],
        [-1.0, 0.0, -0.25, 0.0],
    ),
    "an inner product": (
        lambda x: sg.where(x > 0, x.sqrt(), 0.0) @ sg.where(x > 0, x.sqrt(), 0.0),
        [0.0, 4.0],
        [0.0, 1.0],
    ),
    "a vector times a matrix of roots": (
        lambda x: sg.tensor([1.0, 2.0]) @ sg.where(x > 0, x.sqrt(), 0.0).reshape(2, 2),
        [0.0, 4.0, 1.0, 0.0],
        [0.0, 0.25, 1.0, 0.0],
    ),
    "a softmax of what was selected": (
        lambda x: sg.softmax(sg.where(x > 0, x.log(), 0.0), 0)[1],
        [0.0, 1.0],
        [0.0, 0.25],
    ),
    "a logarithm of a softmax": (
        lambda x: sg.log_softmax(sg.where(x > 0, x.log(), 0.0), 0)[1],
        [0.0, 1.0],
        [0.0, 0.5],
    ),
    "a logsumexp of what was selected": (
        lambda x: sg.logsumexp(sg.where(x > 0, x.log(), 0.0), 0),
        [0.0, 1.0],
        [0.0, 0.5],
    ),
    "an expanded selection": (lambda x: (1 / x).unsqueeze(1).expand(2, 3)[1, :2], [0.0, 2.0], [0.0, -0.5]),
}


@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_what_was_not_selected_has_no_part(name: str, create_graph: bool) -> None:
    function, values, slopes = SELECTIONS[name]
    x = leaf(values)
    (g,) = sg.autograd.grad(function(x).sum(), x, create_graph=create_graph)
    np.testing.assert_allclose(g.detach().numpy(), slopes, rtol=1e-14, atol=0)


@pytest.mark.parametrize("name", SELECTIONS)
def test_backward_writes_the_same(name: str) -> None:
    function, values, slopes = SELECTIONS[name]
    x = leaf(values)
    function(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=1e-14, atol=0)


def test_the_second_derivative_is_free_of_the_other_branch_too() -> None:
    x = leaf(-1.0)
    (g,) = sg.autograd.grad(sg.where(x < 0, 1 / (1 - x), (x + 1).log()), x, create_graph=True)
    (h,) = sg.autograd.grad(g, x)
    assert h.item() == pytest.approx(2 / 8, rel=1e-15)


def test_all_gradients_come_out_not_only_the_troubled_one() -> None:
    x, w = leaf([0.0, 4.0]), leaf(3.0)
    (sg.where(x > 1, x.sqrt(), 0.0) * w).sum().backward()
    assert x.grad.tolist() == [0.0, 0.75]
    assert w.grad.item() == 2.0


def test_gradients_of_inner_results_are_free_of_it_too() -> None:
    x = leaf([0.0, 4.0])
    y = x * 1
    root = y.sqrt()
    y.retain_grad()
    z = sg.where(x > 1, root, 0.0).sum()
    (g,) = sg.autograd.grad(z, y, retain_graph=True)
    assert g.tolist() == [0.0, 0.25]
    z.backward()
    assert y.grad.tolist() == [0.0, 0.25]


def test_saved_values_are_still_freed() -> None:
    x = leaf([0.0, 4.0])
    z = sg.where(x > 1, x.sqrt(), 0.0).sum()
    z.backward()
    with pytest.raises(RuntimeError, match="second time"):
        z.backward()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 0 * x.log(),
        lambda x: (x * 0).sqrt() * 1,
        lambda x: x.sqrt() ** 2,
        lambda x: sg.where(x >= 0, 0 * x.sqrt(), x),
        lambda x: (0 * x.log())[0:1],
    ],
)
def test_a_numeric_zero_times_infinity_stays_visible(function: Any) -> None:
    x = leaf([0.0])
    function(x).sum().backward()
    assert math.isnan(x.grad.item())


def test_an_infinite_slope_that_was_selected_stays_infinite() -> None:
    x = leaf([0.0, 4.0])
    sg.where(x >= 0, x.sqrt(), 0.0).sum().backward()
    assert x.grad.tolist() == [math.inf, 0.25]


@pytest.mark.parametrize("function", [sg.maximum, sg.minimum])
@pytest.mark.parametrize(("a", "b", "slopes"), [(1.0, 1.0, (0.5, 0.5)), (1.0, 2.0, None), (2.0, 1.0, None)])
def test_ties_share_the_slope_evenly(function: Any, a: float, b: float, slopes: tuple[float, float] | None) -> None:
    x, y = leaf(a), leaf(b)
    function(x, y).backward()
    if slopes is None:
        first = (a > b) == (function is sg.maximum)
        slopes = (float(first), float(not first))
    assert (x.grad.item(), y.grad.item()) == slopes


@pytest.mark.parametrize(("function", "slope"), [(sg.relu, 0.0), (sg.abs, 0.0), (sg.sign, 0.0)])
def test_kinks_take_pytorchs_choice(function: Any, slope: float) -> None:
    x = leaf(0.0)
    function(x).backward()
    assert x.grad.item() == slope
