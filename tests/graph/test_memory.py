"""Graphs have no reference cycles: with the garbage collector off, all goes when the last tensor goes."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.graph import Node

pytestmark = pytest.mark.filterwarnings("ignore:divide by zero")


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def leaf(values: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True)


def nodes() -> int:
    return sum(isinstance(o, Node) for o in gc.get_objects())


PROGRAMS = {
    "arithmetic": lambda x: (x * x + 2 / x - x**3).sum(),
    "elementary": lambda x: (x.exp() * x.sin() + x.sqrt().log() + x.tanh() + x.sigmoid()).sum(),
    "selection": lambda x: sg.where(x > 1, x, sg.maximum(x, -x)).relu().sum(),
    "reductions": lambda x: sg.logsumexp(x, 0) + sg.softmax(x, 0)[0] + sg.log_softmax(x, 0).mean(),
    "shapes": lambda x: (x.reshape(1, 3).expand(2, 3).t().permute(1, 0)[:, 1:].unsqueeze(0).squeeze() * 2).sum(),
    "products": lambda x: x @ sg.ones(3, 3) @ x,
    "an unused branch with infinities": lambda x: sg.where(x > 1, (x - 1).log(), 0.0).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("after", ["nothing", "backward", "grad", "second order"])
def test_a_graph_goes_with_its_last_tensor(name: str, after: str) -> None:
    before = nodes()
    x = leaf([1.0, 2.0, 3.0])
    y = PROGRAMS[name](x)
    assert nodes() > before
    if after == "backward":
        y.backward()
    elif after == "grad":
        sg.autograd.grad(y, x)
    elif after == "second order":
        (g,) = sg.autograd.grad(y, x, create_graph=True)
        if g.requires_grad:
            sg.autograd.grad(g.sum(), x)
        del g
    gone = weakref.ref(y)
    del y
    assert gone() is None
    assert nodes() == before


def test_looking_at_a_graph_makes_no_cycles() -> None:
    before = nodes()
    x = leaf(2.0)
    y = (x * x).exp()
    assert "ExpBackward0" in repr(y)
    node = y.grad_fn.next_functions[0][0]
    assert node._saved_self is x
    assert node.next_functions[0][0].variable is x
    y.retain_grad()
    y.backward()
    del y, node
    assert nodes() == before


def test_a_leaf_goes_although_it_has_an_accumulator_and_a_gradient() -> None:
    x = leaf([1.0, 2.0])
    accumulator = (x * 2).grad_fn.next_functions[0][0]
    x.sum().backward()
    gone = weakref.ref(x)
    del x
    assert gone() is not None
    del accumulator
    assert gone() is None


def test_hooks_let_go() -> None:
    before = nodes()
    x = leaf([1.0, 2.0])
    y = x * 2
    seen: list[Any] = []
    handle = y.register_hook(seen.append)
    y.sum().backward()
    del y, handle
    assert nodes() == before
    assert len(seen) == 1


def test_backward_lets_go_of_saved_arrays() -> None:
    x = leaf(np.ones(1000))
    y = x.exp()
    z = y.sin()
    saved = weakref.ref(y._data)
    total = z.sum()
    del y, z
    assert saved() is not None
    total.backward()
    assert saved() is None


def test_a_result_under_no_grad_keeps_nothing() -> None:
    before = nodes()
    x = leaf(np.ones(10))
    with sg.no_grad():
        y = (x * 2).exp()
    gone = weakref.ref(x)
    del x
    assert gone() is None
    assert nodes() == before
    assert y.shape == (10,)


def test_a_failed_backward_leaves_no_cycle() -> None:
    before = nodes()
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError):
        y.backward()
    del y
    gc.collect()  # the traceback itself is a cycle that Python makes
    assert nodes() == before


def test_detach_does_not_hold_the_graph() -> None:
    before = nodes()
    x = leaf([1.0, 2.0])
    value = (x * 2).exp().detach()
    assert nodes() == before
    assert not value.requires_grad
