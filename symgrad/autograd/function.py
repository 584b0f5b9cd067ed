"""`Function`: an op whose forward and backward a user writes."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..array import broadcast_shapes, unbroadcast
from ..errors import ArgumentTypeError, GradientError
from ..graph import Node, is_grad_enabled, versions
from ..graph.columns import recorded_namespace
from ..graph.node import FREED, attach_guards, next_seq, pending_guards
from ..graph.pull import freed_error
from ..ops.declare import Op
from ..ops.generate import caller
from ..tensor import Tensor
from .gradfn import GradFn, special_classes, tensor_of
from .modes import no_grad

__symgrad_internal__ = True


class FunctionCtx:
    """What forward and backward of one call share.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of forward, whether its gradient is wanted.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]):
        self.needs_input_grad = needs_input_grad
        self._to_save: tuple[Any, ...] = ()
        self._node: weakref.ref[Node] | None = None  # weak, as the node holds the context
        self._picks: tuple[weakref.ref[Node] | None, ...] = ()
        self._materialize = True
        self._non_differentiable: tuple[Any, ...] = ()
        self._sources: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for backward, where `saved_tensors` gives them back."""
        for k, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise ArgumentTypeError(
                    f"save_for_backward: argument {k} must be a Tensor or None, not {type(t).__name__}; keep "
                    "other things as attributes of ctx"
                )
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved."""
        node = None if self._node is None else self._node()
        if node is None:
            return self._to_save
        if node.out is FREED:
            raise freed_error(node)
        for value in node.v1 or ():
            _check_unwritten(value, node)
        pairs = zip(node.v1 or (), self._sources, strict=True)
        return tuple(
            None if v is None else tensor_of(v, self._output(node, s) if type(s) is _Output else s) for v, s in pairs
        )

    def _output(self, node: Node, which: _Output) -> Node:
        """The node of the call's own output, the one that its tensor has as long as it lives."""
        pick = self._picks[which.number]
        alive = None if pick is None else pick()
        return alive or _output_node(node, which.number)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declares outputs that need no gradient."""
        self._non_differentiable = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """In-place forwards are refused: they would have to rewrite the records of the inputs."""
        raise GradientError(
            "mark_dirty: a Function that writes its inputs in place is not built yet; return new tensors"
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros, rather than None, for outputs that nothing used."""
        self._materialize = value


class _Output(NamedTuple):
    """Says that a saved tensor is an output of the call itself."""

    number: int


def _check_unwritten(value: Any, node: Node) -> None:
    stale = versions.writes_after(value, node.seq)
    if stale:
        then, now, op = stale
        raise GradientError(
            f"{node.op.grad_name(node)}: a tensor saved for backward, of shape {list(value.shape)}, has been "
            "modified by an "
            f"inplace operation ({op}): it is at version {now}, but version {then} was saved; write out of "
            "place, or to a clone()"
        )


class Function:
    """A user's own op: two static methods, and `apply` to call it.

    In a formula a call appears as ``Name(a, b)``; its derivative is taken from its `backward`.

    Examples
    --------
    >>> import symgrad as sg
    >>> class Cube(sg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * 3 * x**2
    >>> x = sg.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    def __init__(self, *args: Any, **kwargs: Any):
        raise GradientError(
            f"{type(self).__name__}: the methods of a Function are static; call {type(self).__name__}.apply(...)"
        )

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """The values; everything inside is computed under `no_grad`."""
        raise NotImplementedError("a Function needs a static method forward(ctx, ...)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Where it is defined, forward takes no `ctx`, and this fills it from inputs and output."""
        raise NotImplementedError("setup_context is called only where a Function defines it")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """One gradient, or None, for each argument of forward."""
        raise NotImplementedError("a Function needs a static method backward(ctx, ...) to be differentiated")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Runs forward on the arguments and records the call."""
        tracked = is_grad_enabled() and any(isinstance(a, Tensor) and a._requires_grad for a in args)
        ctx = FunctionCtx(tuple(isinstance(a, Tensor) and a._requires_grad for a in args))
        with no_grad():
            if cls.setup_context is Function.setup_context:
                out = cls.forward(ctx, *args)
            else:
                out = cls.forward(*args)
                cls.setup_context(ctx, args, out)
        many = isinstance(out, tuple)
        outputs = out if many else (out,)
        for o in outputs:
            if not isinstance(o, Tensor):
                raise ArgumentTypeError(
                    f"{cls.__name__}: forward must return a Tensor or a tuple of them, not {type(o).__name__}"
                )
        if not tracked:
            return out
        node = _record(cls, ctx, args, outputs, many)
        results = tuple(
            _output(node, k, o, any(o is n for n in ctx._non_differentiable)) for k, o in enumerate(outputs)
        )
        ctx._picks = tuple(None if r._node is None else weakref.ref(r._node) for r in results)
        return results if many else results[0]


def _record(
    cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...], outputs: tuple[Tensor, ...], many: bool
) -> Node:
    node = Node()
    node.op = FUNCTION
    node.a0 = tuple(a if not isinstance(a, Tensor) or a._node is None else a._node for a in args)
    node.out = node.extra = None
    node.needs = sum(1 << k for k, a in enumerate(args) if isinstance(a, Tensor) and a._requires_grad)
    node.params = (cls, ctx, many, tuple(o._data.shape for o in outputs), tuple(o._data.dtype for o in outputs))
    node.shape, node.dtype = outputs[0]._data.shape, outputs[0]._data.dtype
    node.seq = next_seq()
    node.code, node.lasti = caller()
    if pending_guards:
        attach_guards(node)
    saved = ctx._to_save
    ctx._sources = tuple(None if t is None else _source(t, outputs) for t in saved)
    # In v1, as v0 is in step with the operands, and what a user saves is not.
    node.v0, node.v1, node.v2 = None, tuple(None if t is None else t._data for t in saved) if saved else None, None
    ctx._to_save = ()
    ctx._node = weakref.ref(node)
    return node


def _source(saved: Tensor, outputs: tuple[Tensor, ...]) -> Any:
    """Where a saved tensor comes from: an output of this call, a node, or the leaf itself."""
    own = next((k for k, o in enumerate(outputs) if o is saved), None)
    return _Output(own) if own is not None else saved._node or saved


def _output_node(node: Node, k: int) -> Node:
    """The node of one output: the function's own, or, where there are several, one that picks it."""
    _, _, many, shapes, dtypes = node.given
    if not many:
        return node
    pick = Node()
    pick.op, pick.a0, pick.params = OUTPUT_OF, node, (k,)
    pick.out = pick.extra = None
    pick.shape, pick.dtype, pick.needs, pick.seq = shapes[k], dtypes[k], 1, next_seq()
    pick.code, pick.lasti = node.code, node.lasti
    return pick


def _output(node: Node, k: int, value: Tensor, constant: bool) -> Tensor:
    result = Tensor.constant(value._data)
    if not constant:
        result._node, result._requires_grad = _output_node(node, k), True
    return result


class Parts:
    """The cotangents of a function with several outputs, None where nothing arrived."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[int, Any]):
        self.parts = parts

    def __add__(self, other: Parts) -> Parts:
        merged = dict(self.parts)
        for k, c in other.parts.items():
            merged[k] = c if k not in merged else merged[k] + c
        return Parts(merged)


def _pull_output(xp: Any, g: Any, view: Any, needs: int) -> list[tuple[Any, Any]]:
    return [(view.a0, Parts({view.params[0]: g}))]


def _pull_function(xp: Any, g: Any, view: Any, needs: int) -> list[tuple[Any, Any]]:
    """Runs the user's backward, on tensors in the recorded column and on plain ones in the numeric."""
    cls, ctx, _, shapes, dtypes = view.params
    node = ctx._node()
    numeric = not isinstance(g, Tensor) and not (
        isinstance(g, Parts) and any(isinstance(p, Tensor) for p in g.parts.values())
    )
    parts = g.parts if isinstance(g, Parts) else {0: g}

    def gradient(k: int) -> Any:
        if k in parts:
            return Tensor.constant(parts[k]) if numeric else parts[k]
        return Tensor.constant(np.zeros(shapes[k], dtypes[k])) if ctx._materialize else None

    given = cls.backward(ctx, *(gradient(k) for k in range(len(shapes))))
    given = given if isinstance(given, tuple) else (given,)
    name = node.op.grad_name(node)
    operands = node.a0
    if len(given) > len(operands) and all(e is None for e in given[len(operands) :]):
        given = given[: len(operands)]
    if len(given) != len(operands):
        raise GradientError(
            f"{name}: backward returned an incorrect number of gradients (expected {len(operands)}, got {len(given)}); "
            "return one for each argument of forward, None where there is none"
        )
    pairs = []
    for k, (operand, c) in enumerate(zip(operands, given, strict=True)):
        if not node.needs >> k & 1 or c is None:
            continue
        if not isinstance(c, Tensor):
            raise GradientError(f"{name}: the gradient at index {k} must be a Tensor or None, not {type(c).__name__}")
        target = operand if isinstance(operand, Node) else operand._data
        c = _fitted(c, target, name, k)
        pairs.append((operand, c._data if numeric else c))
    return pairs


def _fitted(c: Tensor, target: Any, name: str, k: int) -> Tensor:
    """The user's gradient in the operand's shape and dtype, where it broadcasts to or sums back to it."""
    if c._data.shape != target.shape:
        both = broadcast_shapes(c._data.shape, target.shape)
        lead = len(c._data.shape) - len(target.shape)
        fits = lead >= 0 and all(t in (1, n) for t, n in zip(target.shape, c._data.shape[lead:], strict=True))
        if fits and both == c._data.shape:
            c = unbroadcast(recorded_namespace, c, target.shape)
        else:
            raise GradientError(
                f"{name}: backward returned an invalid gradient at index {k} - got shape {list(c._data.shape)} "
                f"but expected shape compatible with {list(target.shape)}"
            )
    return c if c._data.dtype == target.dtype else c.to(target.dtype)


class FunctionNode(GradFn):
    """The record of a call of a `Function`; also its ``ctx`` as `grad_fn` shows it."""

    __slots__ = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved."""
        assert self.params is not None
        return self.params[1].saved_tensors

    def __repr__(self) -> str:
        return f"<{__name__}.{self.name()} object at {id(self):#x}>"


special_classes["function"] = FunctionNode


def special_op(name: str, torch_name: Callable[[Node], str], pull: Callable[..., Any], **facts: Any) -> Op:
    """An op of the tape that has no declaration: its rule is somebody else's."""
    usual: dict[str, Any] = dict.fromkeys(
        ("broadcasts", "promotes", "floats", "fits", "selects", "structural", "variadic", "public", "saves"), False
    )
    usual |= dict.fromkeys(("star", "prepare", "expr", "index", "entries", "shape", "kink"))
    usual |= dict(
        args=(), params=(), defaults={}, rules={}, constants=(), linear=(), repeats=1, saved_names={"x": "self"}
    )
    usual |= dict(forward=lambda *_: None, rule_name="user's rule", differentiable=True)
    return Op(**usual | dict(name=name, torch_name=torch_name, pull=pull) | facts)


FUNCTION = special_op(
    "function",
    lambda n: f"{n.params[0].__name__}Backward" if n.params else "FunctionBackward",
    _pull_function,
    variadic=True,
    saves=True,
)
OUTPUT_OF = special_op("output_of", lambda n: "OutputBackward", _pull_output, args=("x",))


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a backward whose result cannot be differentiated again: doing so raises, and gives no wrong number."""

    @functools.wraps(backward)
    def once(ctx: Any, *gradients: Any) -> Any:
        tracked = is_grad_enabled() and any(
            isinstance(g, Tensor) and g._requires_grad for g in (*gradients, *ctx.saved_tensors)
        )
        with no_grad():
            results = backward(ctx, *gradients)
        if not tracked:
            return results
        many = results if isinstance(results, tuple) else (results,)
        barred = tuple(r if r is None else _Once.apply(r.requires_grad_()) for r in many)
        return barred if isinstance(results, tuple) else barred[0]

    return once


class _Once(Function):
    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        return args[0].detach()

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise GradientError("trying to differentiate twice a function that was marked with @once_differentiable")
