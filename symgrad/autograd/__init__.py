"""Everything about gradients that PyTorch users look for under ``autograd``.

backward    `backward` and `grad`
modes       `no_grad`, `enable_grad`, `set_grad_enabled`
gradfn      nodes as `grad_fn` shows them, `AccumulateGrad`
function    `Function` and its context
hooks       functions hung onto tensors and nodes
"""

from ..tensor import Tensor
from . import function
from .backward import backward, grad
from .function import Function
from .gradfn import AccumulateGrad
from .modes import enable_grad, no_grad, set_grad_enabled


class _Legacy(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_Legacy):
    """The name that Tensor had before PyTorch 0.4: ``Variable(t, requires_grad)`` is a tensor on the memory of t."""

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Tensor:
        made = data.detach()
        return made.requires_grad_() if requires_grad else made


__all__ = [
    "AccumulateGrad",
    "Function",
    "Variable",
    "backward",
    "enable_grad",
    "function",
    "grad",
    "no_grad",
    "set_grad_enabled",
]
