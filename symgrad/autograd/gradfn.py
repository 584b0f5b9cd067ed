"""`grad_fn`: a node as users see it, with PyTorch's names.

A node becomes an instance of a class of its own name the first time it is shown. The graph
holds plain nodes only, so showing one costs nothing to those that are never looked at.
"""

from __future__ import annotations

import types
import weakref
from _thread import get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array import cast
from ..errors import GradientError
from ..graph import Guard, Node
from ..graph import is_grad_enabled as grad_enabled
from ..graph.columns import NumericColumn, RecordedColumn, check_versions, recorded_namespace
from ..graph.node import FREED, pending_guards
from ..graph.pull import freed_error
from ..ops.declare import catalogue
from ..ops.generate import caller, runtime
from ..tensor import Tensor
from .hooks import Handle

if TYPE_CHECKING:
    import sympy

__symgrad_internal__ = True


class AccumulateGrad:
    """Where a graph ends: adds what arrives to the gradient of its leaf.

    Attributes
    ----------
    variable : Tensor
        The leaf.
    """

    __slots__ = ("__weakref__", "variable")

    def __init__(self, variable: Tensor):
        self.variable = variable

    next_functions: tuple[()] = ()
    metadata: types.MappingProxyType[str, Any] = types.MappingProxyType({})

    def name(self) -> str:
        """PyTorch's full name of it."""
        return "symgrad::autograd::AccumulateGrad"

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {id(self):#x}>"

    def __call__(self, gradient: Tensor) -> None:
        from .backward import accumulate

        accumulate(self.variable, gradient._data)


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """The one `AccumulateGrad` of the leaf, as long as somebody looks at it."""
    extra = leaf._get_extra()
    found = extra.accumulator() if extra.accumulator else None
    if found is None:
        found = AccumulateGrad(leaf)
        extra.accumulator = weakref.ref(found)
    return found


def tensor_of(value: Any, operand: Any) -> Any:
    """A saved value as the tensor it was: the leaf itself, or a tensor that leads back into the graph.

    A value that promotion has changed is the recorded cast of its operand, so that a cotangent of it finds
    its way back to the operand's own dtype.
    """
    if isinstance(operand, Node):
        if value.dtype == operand.dtype:
            return _leading_to(value, operand)
        return _cast(_leading_to(cast(value, operand.dtype), operand), value)
    if not isinstance(operand, Tensor):
        return value
    data = operand._data
    if data is value:
        return operand
    if not operand._requires_grad:
        return Tensor.constant(value)
    if data.dtype != value.dtype and np.array_equal(cast(data, value.dtype), value, equal_nan=True):
        return _cast(operand, value)
    if data.dtype == value.dtype and np.array_equal(data, value, equal_nan=True):
        return operand
    raise GradientError(
        "the data of a leaf was replaced after it was used, so it no longer is what was recorded; "
        "run the forward computation again"
    )


def _leading_to(value: Any, node: Node) -> Tensor:
    result = Tensor.constant(value)
    result._node, result._requires_grad = node, node.op.differentiable
    return result


def _cast(source: Tensor, value: Any) -> Tensor:
    """The tensor cast to the dtype of the value, which is what the cast gave the first time."""
    result = recorded_namespace.cast(source, value.dtype)
    result._data = value
    return result


class GradFn(Node):
    """The record of one op, as `grad_fn` shows it.

    ``name()``, ``next_functions``, ``metadata``, ``register_hook`` and ``_saved_…`` are
    PyTorch's; `expr` and `local_derivatives` are what PyTorch cannot show.
    """

    __slots__ = ()

    def name(self) -> str:
        """The name of the node, such as ``MulBackward0``."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"

    @property
    def metadata(self) -> dict[str, Any]:
        """Always empty."""
        return {}

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """For each operand (its node, which output of it), (None, 0) where no gradient is needed."""
        out: list[tuple[Any, int]] = []
        operands = self.operands
        for k in self._inputs():
            operand = operands[k]
            if not self.needs >> k & 1:
                out.append((None, 0))
            elif isinstance(operand, Node):
                out.append(show_output(operand))
            else:
                out.append((accumulator(operand), 0))
        return tuple(out)

    def _inputs(self) -> list[int]:
        """The operands that PyTorch counts as inputs, in its order.

        A condition is none, nor is the number in ``x**2`` and ``2 - x``; the number in ``2 * x`` and ``2 + x``
        comes second, as PyTorch turns them round.
        """
        op, operands = self.op, self.operands
        places = list(range(len(operands)))
        if op.variadic:
            return places
        places = [k for k in places if op.args[k] not in op.constants]
        if len(places) == 2 and isinstance(operands[places[0]], (int, float)):
            return places[1:] if op.name in ("sub", "pow") else places[::-1] if op.name in ("add", "mul") else places
        if op.name == "pow":
            return [k for k in places if not isinstance(operands[k], (int, float))]
        return places

    def __call__(self, *gradients: Tensor) -> Any:
        (gradient,) = gradients
        column = RecordedColumn(tensor_of) if grad_enabled() else NumericColumn()
        g = gradient if grad_enabled() else gradient._data
        results: dict[Any, Any] = {}
        operands = self.operands
        if self.out is FREED:
            raise freed_error(self)
        check_versions(self)
        view = column.view(self) if column.view else self
        for operand, c in self.op.pull(column.xp, g, view, self.needs):
            for k, own in enumerate(operands):
                if own is operand and self.needs >> k & 1 and k not in results:
                    c = column.fit(c, operand)
                    results[k] = c if grad_enabled() else Tensor.constant(c)
                    break
        found = tuple(results.get(k) for k in self._inputs())
        return found[0] if len(found) == 1 else found

    def register_hook(self, hook: Callable[..., Any]) -> Handle:
        """Hooks on nodes are not built yet; a tensor's `register_hook` sees the gradient that arrives here."""
        raise GradientError(
            f"{self.name()}: hooks on nodes are not built yet; call register_hook on the tensor, which sees "
            "its gradient"
        )

    def _saved(self, name: str) -> Any:
        if self.out is FREED:
            raise freed_error(self)
        check_versions(self)
        if name == "result":
            return None if self.out is None else tensor_of(self.out, self)
        k = self.op.operand_names(self).index(name)
        if self._inputs() == [1, 0]:
            k = 1 - k
        operand, value = self.operands[k], self.saved[k]
        if value is None:
            return operand if isinstance(operand, (int, float)) else None
        return tensor_of(value, operand)

    @property
    def expr(self) -> sympy.Expr:
        """This op alone as a SymPy expression in the names of its inputs."""
        from ..formulas.local import local_expr

        return local_expr(self, frame_depth=2)

    @property
    def local_derivatives(self) -> dict[sympy.Expr, sympy.Expr]:
        """The partial derivative of `expr` with respect to each input that needs a gradient."""
        from ..formulas.local import local_derivatives

        return local_derivatives(self, frame_depth=2)


special_classes: dict[str, type[GradFn]] = {}
"""The base of the shown class, for ops that have one of their own."""
_classes: dict[tuple[str, tuple[str, ...], str], type[GradFn]] = {}


def _saved_property(name: str) -> property:
    return property(lambda self: self._saved(name), doc=f"The saved {name!r}; None if it was not needed.")


def show(node: Node) -> Any:
    """The node as `grad_fn`: of the class that bears its name. Which output of it does not matter here."""
    return show_output(node)[0]


def show_output(node: Node) -> tuple[Any, int]:
    """The node as `grad_fn`, and the number of its output."""
    if node.op.name == "output_of":
        return show(node.a0), node.params[0]  # pyright: ignore[reportOptionalSubscript]
    if type(node) is Node:
        name = node.op.grad_name(node)
        saved = (*node.op.operand_names(node), "result") if not node.op.variadic else ()
        key = (name, saved, node.op.name)
        if key not in _classes:
            base = special_classes.get(node.op.name, GradFn)
            members: dict[str, Any] = {"__slots__": (), "__module__": base.__module__}
            members |= {f"_saved_{s}": _saved_property(s) for s in saved}
            _classes[key] = type(name, (base,), members)
        node.__class__ = _classes[key]
    return node, 0


def node_name(node: Node) -> str:
    """The name that a tensor's repr gives for its node."""
    return type(show(node)).__name__


class _Nothing:
    """What a reference to a value that is gone refers to."""


_gone: Any = weakref.ref(_Nothing())


def note_guard(tested: Tensor, outcome: int) -> None:
    """Remembers that Python branched on a tensor, or indexed with it; the next recorded node carries it."""
    if not grad_enabled():
        return
    node = tested._node
    if node is not None:
        op, operands, params = node.op, node.operands, node.params
    elif tested._requires_grad:
        op, operands, params = catalogue["ne"], (tested, 0), None
    else:
        origin = tested._extra.origin if tested._extra is not None else None
        if origin is None:
            return
        op, params = origin.op, origin.params
        operands = tuple(o[0]() if isinstance(o, tuple) else o for o in origin.operands)
        gone = any(isinstance(o, tuple) and o[0]() is None and o[1] is None for o in origin.operands)
        if not gone and not any(isinstance(o, Tensor) and o._node is not None for o in operands):
            return  # a test of constants comes out the same in every run
    code, lasti = caller()
    held = tuple(weakref.ref(o) if isinstance(o, (Node, Tensor)) else _gone if o is None else o for o in operands)
    pending_guards.append(Guard(op, held, params, outcome, code, lasti, get_ident()))


runtime["show"], runtime["node_name"], runtime["note_guard"] = show, node_name, note_guard
