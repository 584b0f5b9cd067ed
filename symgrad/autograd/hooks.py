"""Functions that users hang onto tensors and nodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..errors import ArgumentTypeError, GradientError
from ..tensor import Tensor

__symgrad_internal__ = True

_ids = itertools.count()


class Handle:
    """Removes a hook: call `remove`, or leave a ``with`` block."""

    def __init__(self, hooks: dict[int, Any], key: int):
        self._hooks, self._key = hooks, key

    def remove(self) -> None:
        """Takes the hook away; a second call does nothing."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def register(hooks: dict[int, Any], hook: Callable[..., Any]) -> Handle:
    """Enters the hook; returns the handle that removes it."""
    key = next(_ids)
    hooks[key] = hook
    return Handle(hooks, key)


def register_tensor_hook(tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> Handle:
    """Calls `hook` with the gradient of the tensor in every backward that reaches it."""
    if not tensor._requires_grad:
        raise GradientError(
            "register_hook: cannot register a hook on a tensor that doesn't require gradient; call "
            "requires_grad_() first"
        )
    extra = tensor._node.get_extra() if tensor._node is not None else tensor._get_extra()
    if extra.hooks is None:
        extra.hooks = {}
    return register(extra.hooks, hook)


def run_hooks(hooks: dict[int, Any], gradient: Tensor) -> Tensor:
    """The gradient after all hooks have seen it, and possibly replaced it."""
    for hook in list(hooks.values()):
        result = hook(gradient)
        if result is None:
            continue
        name = getattr(hook, "__name__", repr(hook))
        if not isinstance(result, Tensor):
            raise ArgumentTypeError(f"hook {name!r} must return a Tensor or None, not {type(result).__name__}")
        if result._data.shape != gradient._data.shape:
            raise GradientError(
                f"hook {name!r} has changed the size of the gradient from {list(gradient._data.shape)} to "
                f"{list(result._data.shape)}; keep it"
            )
        gradient = result
    return gradient
