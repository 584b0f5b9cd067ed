"""A failed backward leaves every gradient as it was; threads and deep graphs do not make it fail."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import pytest

import symgrad as sg

pytestmark = pytest.mark.filterwarnings("ignore:backward.create_graph")


def leaf(values: Any, **named: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True, **named)


def test_a_failed_backward_leaves_every_gradient_as_it_was() -> None:
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (x * 2).sum().backward()
    freed = (y * y).sum()
    freed.backward()
    before = x.grad.tolist(), y.grad.tolist()
    with pytest.raises(RuntimeError, match="second time"):
        ((x * x).sum() + freed).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == before


def test_a_failing_hook_leaves_every_gradient_as_it_was() -> None:
    x, y = leaf(2.0), leaf(3.0)

    def broken(gradient: sg.Tensor) -> None:
        raise ArithmeticError("no")

    z = x * 2
    z.register_hook(broken)
    with pytest.raises(ArithmeticError):
        (z * y).backward()
    assert (x.grad, y.grad) == (None, None)


def test_a_failing_function_leaves_every_gradient_as_it_was() -> None:
    class Broken(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor) -> sg.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> sg.Tensor:
            raise ArithmeticError("no")

    x, y = leaf(2.0), leaf(3.0)
    retained = y * y
    retained.retain_grad()
    with pytest.raises(ArithmeticError):
        (Broken.apply(x) + retained).backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (x.grad, y.grad, retained.grad) == (None, None, None)


def test_a_refused_seed_frees_nothing() -> None:
    x = leaf([1.0, 2.0, 3.0])
    z = 4 * (x + 2) ** 2
    for seed in (None, sg.ones(2), sg.ones(1, 3), sg.tensor(1)):
        with pytest.raises(RuntimeError):
            z.backward(seed)
    z.backward(sg.tensor([1, 1, 1]))
    assert x.grad.tolist() == [24.0, 32.0, 40.0]


def test_threads_run_backward_on_graphs_of_their_own() -> None:
    results: dict[int, list[float]] = {}

    def work(k: int) -> None:
        x = leaf([float(k), 1.0])
        for _ in range(50):
            x.grad = None
            y = x
            for _ in range(20):
                y = (y * 1.01).sin() + x
            y.sum().backward()
        results[k] = x.grad.tolist()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(results) == set(range(6))
    alone = dict(results)
    for k in range(6):
        work(k)
    assert results == alone


def test_threads_share_a_leaf_and_no_gradient_is_lost_when_they_take_turns() -> None:
    x = leaf(1.0)
    lock = threading.Lock()

    def work() -> None:
        for _ in range(50):
            y = (x * 2) * x
            with lock:
                y.backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.item() == 4.0 * 200


def test_a_chain_of_two_hundred_thousand_ops_needs_no_recursion() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(200_000):
        y = y + 1e-6
    y.backward()
    assert x.grad.item() == 1.0
    y = x
    for _ in range(200_000):
        y = y * 1.0
    (g,) = sg.autograd.grad(y, x, create_graph=True)
    assert g.item() == 1.0
    del y, g  # freeing must not recurse either


def test_a_wide_graph_sums_all_its_ways() -> None:
    x = leaf(2.0)
    total = sum(x * k for k in range(1, 2001))
    total.backward()
    assert x.grad.item() == 2000 * 2001 / 2
