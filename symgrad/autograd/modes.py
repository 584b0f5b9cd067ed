"""Switches for recording: as context managers, and as decorators of functions and generators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ..graph.modes import grad_mode

__symgrad_internal__ = True


class set_grad_enabled:
    """Turns recording on or off: at once, within a ``with`` block, or for a decorated function.

    The switch belongs to the thread (and to the asyncio task); a new thread starts with it on.

    Parameters
    ----------
    mode : bool
        Whether ops shall record.

    Examples
    --------
    >>> import symgrad as sg
    >>> x = sg.tensor(2.0, requires_grad=True)
    >>> with sg.set_grad_enabled(False):
    ...     print((x * x).requires_grad)
    False
    """

    def __init__(self, mode: bool):
        self._mode = bool(mode)
        self._before = [grad_mode.get()]
        grad_mode.set(self._mode)

    def __enter__(self) -> set_grad_enabled:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        grad_mode.set(self._before[-1])

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        grad_mode.set(self._before[-1])
        return _decorated(function, _Within, self._mode)


class _Within:
    """Recording on or off within a ``with`` block; instances nest and can be used again."""

    def __init__(self, mode: bool):
        self._mode = mode
        self._before: list[bool] = []

    def __enter__(self) -> Any:
        self._before.append(grad_mode.get())
        grad_mode.set(self._mode)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        grad_mode.set(self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return _decorated(function, _Within, self._mode)


class no_grad(_Within):
    """Within it, ops do not record: ``with sg.no_grad(): …`` or ``@sg.no_grad()``.

    Examples
    --------
    >>> import symgrad as sg
    >>> x = sg.tensor(2.0, requires_grad=True)
    >>> with sg.no_grad():
    ...     print((x * x).requires_grad)
    False
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return object.__new__(cls) if function is None else _decorated(function, _Within, False)

    def __init__(self, function: None = None):
        super().__init__(False)


class enable_grad(_Within):
    """Within it, ops record, also inside of `no_grad`."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return object.__new__(cls) if function is None else _decorated(function, _Within, True)

    def __init__(self, function: None = None):
        super().__init__(True)


def _decorated(function: Callable[..., Any], within: type[_Within], mode: bool) -> Callable[..., Any]:
    """The function run in the mode; a generator is in it whenever it runs, and out of it while it waits."""
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def steps(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            resume, value = generator.send, None
            while True:
                try:
                    with within(mode):
                        item = resume(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    value, resume = (yield item), generator.send
                except GeneratorExit:
                    with within(mode):
                        generator.close()
                    raise
                except BaseException as error:
                    value, resume = error, generator.throw

        return steps

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with within(mode):
            return function(*args, **kwargs)

    return wrapper
