"""Hooks on tensors: they see the gradient, may replace it, and can be removed."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg


def leaf(values: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True)


@pytest.mark.parametrize("inner", [True, False])
def test_a_hook_sees_the_whole_gradient_once(inner: bool) -> None:
    x = leaf([1.0, 2.0])
    seen: list[Any] = []
    hooked = x * 3 if inner else x
    hooked.register_hook(lambda g: seen.append(g.tolist()))
    (hooked * hooked + hooked).sum().backward()
    assert seen == [[7.0, 13.0]] if inner else [[3.0, 5.0]]
    assert x.grad.tolist() == ([21.0, 39.0] if inner else [3.0, 5.0])


@pytest.mark.parametrize("inner", [True, False])
def test_what_a_hook_returns_replaces_the_gradient(inner: bool) -> None:
    x = leaf(2.0)
    y = x * 3
    (y if inner else x).register_hook(lambda g: g * 10)
    (y * y).backward()
    assert x.grad.item() == 10 * 2 * 6.0 * 3.0


def test_hooks_run_in_their_order_and_hand_on() -> None:
    x = leaf(2.0)
    y = x * 1
    y.register_hook(lambda g: g + 1)
    y.register_hook(lambda g: g * 2)
    y.backward()
    assert x.grad.item() == 4.0


def test_a_removed_hook_is_silent() -> None:
    x = leaf(2.0)
    handle = x.register_hook(lambda g: g * 10)
    x.backward()
    handle.remove()
    handle.remove()
    x.backward()
    assert x.grad.item() == 11.0


def test_a_handle_may_be_a_block() -> None:
    x = leaf(2.0)
    with x.register_hook(lambda g: g * 10):
        x.backward()
    x.backward()
    assert x.grad.item() == 11.0


def test_a_hook_runs_before_the_gradient_is_retained_and_captured() -> None:
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    y.retain_grad()
    (y * 1).backward()
    assert y.grad.item() == 10.0
    y = x * 3
    y.register_hook(lambda g: g * 10)
    (g,) = sg.autograd.grad(y * 1, y)
    assert g.item() == 10.0


def test_a_hook_takes_part_in_higher_orders() -> None:
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * 10)
    (g,) = sg.autograd.grad(y**2, x, create_graph=True)
    assert g.item() == 10 * 2 * 4.0 * 4.0  # 10·2y·2x
    (h,) = sg.autograd.grad(g, x)
    assert h.item() == 10 * (40 * 2.0) * 4.0 + 20 * 4.0 * 2  # the way through y is hooked again, that through x is not


def test_a_hook_runs_once_even_beside_infinities() -> None:
    x = leaf([0.0, 4.0])
    calls: list[int] = []
    y = x * 1
    y.register_hook(lambda g: calls.append(1))
    sg.where(x > 1, y.sqrt(), 0.0).sum().backward()
    assert len(calls) == 1


def test_an_error_names_the_hook() -> None:
    def shrink(g: sg.Tensor) -> sg.Tensor:
        return sg.ones(1)

    x = leaf([1.0, 2.0])
    x.register_hook(shrink)
    with pytest.raises(RuntimeError, match="'shrink' has changed the size"):
        x.sum().backward()
    assert x.grad is None
