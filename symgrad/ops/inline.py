"""Functions so small that generated code writes them out: a call would cost as much as what they do.

A function is known by its bytecode. Its forms are listed as functions too, beside the text that
means the same, so that whatever bytecode this Python has, equal code is equal. A function of any
other form is called, which differs in time alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np

_FORMS: tuple[tuple[Callable[..., Any], str], ...] = (
    (lambda g: g, "{0}"),
    (lambda g: -g, "-{0}"),
    (lambda x, y: x + y, "{0} + {1}"),
    (lambda x, y: x * y, "{0} * {1}"),
    (lambda xp, g, x: g * xp.cos(x), "{1} * {0}.{cos}({2})"),
    (lambda x, y, alpha=1: x + y if alpha == 1 else x + alpha * y, "{0} + {1} if {2} == 1 else {0} + {2} * {1}"),
    (lambda g, alpha: g if alpha == 1 else g * alpha, "{0} if {1} == 1 else {0} * {1}"),
)
"""Functions of positions, whose only names are attributes, and their texts."""


def _key(code: CodeType) -> tuple[Any, ...]:
    """What two functions share that compute the same of their positions, whatever names they give them."""
    return code.co_code, code.co_argcount, code.co_kwonlyargcount, code.co_consts[1:], code.co_freevars


_TEXTS = {_key(form.__code__): (text, form.__code__.co_names) for form, text in _FORMS}
_CALLS = {_key(form.__code__) for form in (lambda x: np.exp(x), lambda x, y: np.maximum(x, y))}


def written_out(function: Callable[..., Any], arguments: Sequence[str]) -> str | None:
    """The expression that the function returns, of these arguments; None if it must be called.

    Parameters
    ----------
    function : callable
        A forward or a gradient rule.
    arguments : sequence of str
        The source of each of its arguments, as plain as a name or an attribute: it may be written twice.

    Examples
    --------
    >>> written_out(lambda g, y: g * y, ("g", "node.v1"))
    'g * node.v1'
    """
    code = function.__code__
    text, names = _TEXTS.get(_key(code), (None, ()))
    if text is None:
        return None
    return text.format(*arguments, **dict(zip(names, code.co_names, strict=True)))


def called(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function where the given one is nothing but a call of it, which saves a frame; else the given one."""
    code = function.__code__
    if _key(code) in _CALLS and function.__globals__.get(code.co_names[0]) is np:
        return getattr(np, code.co_names[1])
    return function
