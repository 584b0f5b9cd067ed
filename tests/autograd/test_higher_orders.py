"""Gradients of gradients: `create_graph`, against derivatives that are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg

pytestmark = pytest.mark.filterwarnings("ignore:backward.create_graph")


def leaf(values: Any, **named: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True, **named)


def test_create_graph_makes_the_gradient_a_function() -> None:
    x = leaf(2.0)
    (g,) = sg.autograd.grad(x**3, x, create_graph=True)
    assert g.requires_grad
    (h,) = sg.autograd.grad(g, x, create_graph=True)
    (third,) = sg.autograd.grad(h, x)
    assert [t.item() for t in (g, h, third)] == [12.0, 12.0, 6.0]
    assert not third.requires_grad


DERIVATIVES = {
    "pow": (lambda x: x**5, lambda x: 60 * x**2),
    "div": (lambda x: 1 / x, lambda x: -6 / x**4),
    "exp": (lambda x: (2 * x).exp(), lambda x: 8 * math.exp(2 * x)),
    "log": (lambda x: x.log(), lambda x: 2 / x**3),
    "sqrt": (lambda x: x.sqrt(), lambda x: 3 / 8 * x**-2.5),
    "sin": (lambda x: x.sin(), lambda x: -math.cos(x)),
    "cos": (lambda x: x.cos(), lambda x: math.sin(x)),
    "tanh": (lambda x: x.tanh(), lambda x: (4 * math.tanh(x) ** 2 - 2 / math.cosh(x) ** 2) / math.cosh(x) ** 2),
    "sigmoid": (
        lambda x: x.sigmoid(),
        lambda x: (s := 1 / (1 + math.exp(-x))) * (1 - s) * (1 - 6 * s + 6 * s * s),
    ),
    "softplus": (
        lambda x: sg.softplus(x),
        lambda x: (s := 1 / (1 + math.exp(-x))) * (1 - s) * (1 - 2 * s),
    ),
    "exponent": (lambda x: 2.0**x, lambda x: math.log(2) ** 3 * 2**x),
    "logsumexp": (
        lambda x: sg.logsumexp(sg.where(sg.tensor([True, False]), x, 0.0), 0),
        lambda x: (s := 1 / (1 + math.exp(-x))) * (1 - s) * (1 - 2 * s),
    ),
    "product": (lambda x: x * x.sin() * x, lambda x: 6 * math.cos(x) - 6 * x * math.sin(x) - x * x * math.cos(x)),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_third_derivatives_are_the_known_ones(name: str) -> None:
    function, third = DERIVATIVES[name]
    x = leaf(0.7)
    y = function(x)
    for _ in range(3):
        (y,) = sg.autograd.grad(y, x, create_graph=True)
    assert y.item() == pytest.approx(third(0.7), rel=1e-12)


def test_a_hessian_by_rows() -> None:
    x = leaf([1.0, 2.0, 3.0])
    (g,) = sg.autograd.grad((x[0] ** 2 * x[1] + x[2].exp() * x[0]).sum(), x, create_graph=True)
    rows = [sg.autograd.grad(g[k], x, retain_graph=True)[0].tolist() for k in range(3)]
    e = math.exp(3.0)
    np.testing.assert_allclose(rows, [[4.0, 2.0, e], [2.0, 0.0, 0.0], [e, 0.0, e]], rtol=1e-15)


def test_mixed_second_derivatives_do_not_depend_on_the_order() -> None:
    x, y = leaf(1.3), leaf(0.4)
    z = x**y * (x * y).sin()
    (zx,) = sg.autograd.grad(z, x, create_graph=True)
    (zy,) = sg.autograd.grad(z, y, create_graph=True)
    (zxy,) = sg.autograd.grad(zx, y, retain_graph=True)
    (zyx,) = sg.autograd.grad(zy, x)
    assert zxy.item() == pytest.approx(zyx.item(), rel=1e-14)


def test_backward_with_create_graph_makes_grad_a_result() -> None:
    x = leaf(2.0)
    (x**3).backward(create_graph=True)
    assert x.grad.requires_grad
    (h,) = sg.autograd.grad(x.grad, x)
    assert h.item() == 12.0
    x.grad = None


def test_a_gradient_penalty_trains_through_the_gradient() -> None:
    w, x = leaf(3.0), leaf(2.0)
    (g,) = sg.autograd.grad(w * x**2, x, create_graph=True)
    ((g - 1) ** 2).backward()
    assert w.grad.item() == 2 * (2 * 3.0 * 2.0 - 1) * 2 * 2.0


def test_mixed_dtypes_have_second_derivatives_in_their_own_dtypes() -> None:
    h, k = leaf([1.5, 2.0], dtype=sg.float32), leaf(0.3)
    (g,) = sg.autograd.grad((h * h * k * k).sum(), h, create_graph=True)
    gh, gk = sg.autograd.grad(g.sum(), [h, k])
    assert (g.dtype, gh.dtype, gk.dtype) == (sg.float32, sg.float32, sg.float64)
    np.testing.assert_allclose(gh.numpy(), [0.18, 0.18], rtol=1e-6)
    assert gk.item() == pytest.approx(4 * 0.3 * 3.5, rel=1e-6)
