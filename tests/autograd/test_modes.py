"""`no_grad`, `enable_grad`, `set_grad_enabled`: nested, under errors, as decorators, in generators and threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import symgrad as sg


def records() -> bool:
    """Whether an op on a tracked tensor is recorded here and now."""
    x = sg.tensor(2.0, requires_grad=True)
    recorded = (x * x).requires_grad
    assert recorded == sg.is_grad_enabled()
    return recorded


def test_recording_is_on_to_begin_with() -> None:
    assert records()


def test_no_grad_stops_recording_and_only_inside() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    with sg.no_grad():
        y = x**2
        assert not records()
        assert x.requires_grad
        assert (y.requires_grad, y.grad_fn, y.is_leaf) == (False, None, True)
    assert records()
    assert sg.equal(y, x**2)


def test_a_result_of_no_grad_counts_as_a_constant() -> None:
    x = sg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with sg.no_grad():
        q = x * 2
    (q * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_leaves_made_inside_may_require_grad() -> None:
    with sg.no_grad():
        x = sg.ones(2, requires_grad=True)
        y = sg.ones(2).requires_grad_()
    assert x.requires_grad
    assert y.requires_grad
    assert (x * y).requires_grad


def test_managers_nest_in_any_order() -> None:
    with sg.no_grad():
        with sg.enable_grad():
            assert records()
            with sg.set_grad_enabled(False):
                assert not records()
            assert records()
        assert not records()
        with sg.no_grad():
            assert not records()
        assert not records()
        with sg.set_grad_enabled(True):
            assert records()
        assert not records()
    assert records()


def test_one_manager_may_be_entered_twice() -> None:
    off = sg.no_grad()
    with off:
        with sg.enable_grad(), off:
            assert not records()
        assert not records()
    assert records()
    with off:
        assert not records()
    assert records()


@pytest.mark.parametrize("manager", [sg.no_grad, lambda: sg.set_grad_enabled(False)])
def test_an_error_leaves_the_mode_as_it_was(manager: Any) -> None:
    with pytest.raises(ValueError, match="left early"), manager():
        raise ValueError("left early")
    assert records()


def test_set_grad_enabled_acts_at_once_as_a_call() -> None:
    try:
        sg.set_grad_enabled(False)
        assert not records()
        sg.set_grad_enabled(True)
        assert records()
    finally:
        sg.set_grad_enabled(True)


def test_set_grad_enabled_takes_a_condition() -> None:
    for training in (True, False):
        with sg.set_grad_enabled(training):
            assert records() is training
    assert records()


# ------------------------------------------------------------------ decorators
@pytest.mark.parametrize("decorator", [lambda: sg.no_grad(), lambda: sg.no_grad, lambda: sg.set_grad_enabled(False)])
def test_decorators_hold_for_the_call(decorator: Any) -> None:
    @decorator()
    def inside(a: int, *, b: int = 0) -> tuple[int, bool]:
        """Says what it saw."""
        return a + b, records()

    assert records()
    assert inside(1, b=2) == (3, False)
    assert records()
    assert inside.__name__ == "inside"
    assert inside.__doc__ == "Says what it saw."


def test_enable_grad_decorates_too() -> None:
    seen = []

    @sg.enable_grad()
    def inside() -> None:
        seen.append(records())

    with sg.no_grad():
        inside()
        assert not records()
    assert seen == [True]


def test_a_decorated_function_that_raises_leaves_the_mode() -> None:
    @sg.no_grad()
    def broken() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        broken()
    assert records()


def test_a_decorated_function_may_call_itself() -> None:
    @sg.no_grad()
    def count(n: int) -> list[bool]:
        return [records()] if n == 0 else [*count(n - 1), records()]

    assert count(3) == [False] * 4
    assert records()


def test_a_decorated_method_gets_its_object() -> None:
    class Model:
        @sg.no_grad()
        def score(self) -> tuple[type, bool]:
            return type(self), records()

    assert Model().score() == (Model, False)


# ------------------------------------------------------------------ generators
def test_a_decorated_generator_is_in_the_mode_only_while_it_runs() -> None:
    @sg.no_grad()
    def numbers() -> Iterator[tuple[int, bool]]:
        for k in range(3):
            yield k, records()

    for _, inside in numbers():
        assert not inside
        assert records()
    assert records()


def test_a_generator_gets_what_is_sent_and_returns_its_value() -> None:
    @sg.no_grad()
    def echo() -> Any:
        first = yield "ready"
        second = yield (first, records())
        return second, records()

    steps = echo()
    assert next(steps) == "ready"
    assert steps.send(1) == (1, False)
    with pytest.raises(StopIteration) as done:
        steps.send(2)
    assert done.value.value == (2, False)
    assert records()


def test_a_generator_gets_what_is_thrown() -> None:
    seen = []

    @sg.no_grad()
    def catching() -> Any:
        try:
            yield 1
        except ValueError:
            seen.append(records())
            yield 2

    steps = catching()
    next(steps)
    assert steps.throw(ValueError) == 2
    assert seen == [False]
    assert records()


def test_a_generator_that_is_closed_cleans_up_inside_the_mode() -> None:
    seen = []

    @sg.no_grad()
    def careful() -> Any:
        try:
            yield 1
        finally:
            seen.append(records())

    steps = careful()
    next(steps)
    steps.close()
    assert seen == [False]
    assert records()


def test_a_generator_that_raises_leaves_the_mode() -> None:
    @sg.no_grad()
    def broken() -> Any:
        yield 1
        raise ValueError("inside")

    steps = broken()
    next(steps)
    with pytest.raises(ValueError, match="inside"):
        next(steps)
    assert records()


# ------------------------------------------------------------------ threads and tasks
def test_the_mode_belongs_to_the_thread() -> None:
    seen = []
    with sg.no_grad():
        other = threading.Thread(target=lambda: seen.append(records()))
        other.start()
        other.join()
        assert not records()
    assert seen == [True]


def test_a_threads_mode_stays_in_it() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with sg.no_grad():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=hold)
    other.start()
    assert entered.wait(10)
    assert records()
    leave.set()
    other.join()
    assert records()


def test_the_mode_belongs_to_the_asyncio_task() -> None:
    async def off() -> bool:
        with sg.no_grad():
            await asyncio.sleep(0)
            return records()

    async def on() -> bool:
        await asyncio.sleep(0)
        return records()

    async def both() -> list[bool]:
        return await asyncio.gather(off(), on())

    assert asyncio.run(both()) == [False, True]
