"""Whether ops record. One switch a thread and task: a context variable, not a global."""

from __future__ import annotations

from contextvars import ContextVar

grad_mode: ContextVar[bool] = ContextVar("symgrad_grad_mode", default=True)


def is_grad_enabled() -> bool:
    """Whether ops on tensors that require grad are recorded here and now."""
    return grad_mode.get()
