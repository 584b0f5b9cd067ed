"""`backward` and `grad`: seeds in, the loop, gradients out.

Nothing is written before the whole pass has succeeded, so a failed backward leaves every
``.grad`` as it was.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array import cast
from ..errors import ArgumentTypeError, ArgumentValueError, GradientError
from ..graph import Node, pull, reached
from ..graph.columns import NumericColumn, RecordedColumn, check_all_versions
from ..graph.masked import Masked, MaskedColumn
from ..tensor import Tensor
from .function import FUNCTION
from .gradfn import tensor_of
from .hooks import run_hooks
from .modes import set_grad_enabled

__symgrad_internal__ = True

Tensors = Tensor | Sequence[Tensor]


def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulates the gradients of the tensors into `grad` of the leaves: ``leaf.grad += Σ gradient·∂tensor/∂leaf``.

    Parameters
    ----------
    tensors : Tensor or sequence of Tensor
        What to differentiate.
    grad_tensors : Tensor or sequence of Tensor or None, optional
        Their cotangents, in their shapes; 1 for a tensor with one entry.
    retain_graph : bool, optional
        Keeps the saved values for another backward; the value of `create_graph` by default.
    create_graph : bool
        Records the backward pass, so that the gradients can be differentiated.
    inputs : Tensor or sequence of Tensor, optional
        The tensors to fill, leaves or intermediate results; all leaves by default.

    Raises
    ------
    GradientError
        If nothing requires grad, a tensor is no scalar and has no gradient, a gradient has the wrong
        shape, or the saved values were freed or changed.
    """
    roots = _tuple(tensors)
    seeds = _seeds(roots, grad_tensors)
    targets = None
    if inputs is not None:
        targets = _tuple(inputs)
        if not targets:
            raise GradientError("backward: `inputs` cannot be empty; leave it out to fill all leaves")
    if create_graph:
        warnings.warn(
            "backward(create_graph=True) makes a reference cycle between a leaf and its gradient; "
            "prefer autograd.grad, or set .grad = None when done",
            UserWarning,
            stacklevel=3,
        )
    found = _run(roots, seeds, targets, create_graph if retain_graph is None else retain_graph, create_graph)
    for leaf, gradient in found.items():
        if isinstance(leaf, Tensor):
            _accumulate(leaf, gradient)
    for t in dict.fromkeys(targets or ()):
        if t._node in found:
            _accumulate(t, found[t._node])


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients ``Σ grad_output·∂output/∂input`` for each input; no `grad` is touched.

    Parameters
    ----------
    outputs, inputs : Tensor or sequence of Tensor
        What to differentiate, and by what; inputs may be intermediate results.
    grad_outputs, retain_graph, create_graph
        As in `backward`.
    allow_unused : bool, optional
        Gives None for an input that the outputs do not depend on, instead of raising.
    materialize_grads : bool
        Gives zeros for it.

    Raises
    ------
    GradientError
        As in `backward`; also if an input does not require grad or is not used.

    Examples
    --------
    >>> import symgrad as sg
    >>> x = sg.tensor(3.0, requires_grad=True)
    >>> sg.autograd.grad(x**2, x)
    (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise ArgumentValueError(
            "grad: materialize_grads=True needs allow_unused to be True or not given, but it is False"
        )
    roots, targets = _tuple(outputs), _tuple(inputs)
    for t in targets:
        if not t._requires_grad:
            raise GradientError(
                "grad: one of the inputs does not require grad; call requires_grad_() on it before computing"
            )
    seeds = _seeds(roots, grad_outputs)
    found = _run(roots, seeds, targets, create_graph if retain_graph is None else retain_graph, create_graph)
    out: list[Tensor | None] = []
    for k, t in enumerate(targets):
        g = found.get(_key(t))
        if g is None and materialize_grads:
            g = Tensor.constant(np.zeros(t._data.shape, t._data.dtype))
        elif g is None and not allow_unused:
            raise GradientError(
                f"grad: the input at index {k} was not used in the graph of the outputs; "
                "set allow_unused=True if that is intended (its gradient is then None)"
            )
        out.append(g)
    return tuple(out)


def _tuple(tensors: Any) -> tuple[Tensor, ...]:
    found = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    for t in found:
        if not isinstance(t, Tensor):
            raise ArgumentTypeError(f"expected Tensors, not {type(t).__name__}")
    return found


def _key(t: Tensor) -> Any:
    return t if t._node is None else t._node


def _seeds(roots: tuple[Tensor, ...], given: Any) -> list[Tensor]:
    """The cotangents of the roots, checked, in the roots' dtypes."""
    if isinstance(given, Tensor) or given is None:
        given = (given,) * len(roots) if given is None else (given,)
    elif not isinstance(given, Sequence):
        raise ArgumentTypeError(
            f"gradient must be a Tensor or a sequence of them, not {type(given).__name__}; wrap it with sg.tensor(...)"
        )
    if len(given) != len(roots):
        raise GradientError(f"got {len(roots)} tensors and {len(given)} gradients; give one for each")
    seeds = []
    for k, (root, g) in enumerate(zip(roots, given, strict=True)):
        if not root._requires_grad:
            raise GradientError(
                f"element {k} of the tensors does not require grad and does not have a grad_fn: nothing it was "
                "computed from has requires_grad=True (or that was under no_grad, or after detach)"
            )
        shape = root._data.shape
        if g is None:
            if root._data.size != 1:
                raise GradientError(
                    "grad can be implicitly created only for scalar outputs, and this one has the shape "
                    f"{list(shape)}; sum it, or pass a gradient of that shape"
                )
            seeds.append(Tensor.constant(np.ones(shape, root._data.dtype) if shape else root._data.dtype.type(1)))
            continue
        if not isinstance(g, Tensor):
            raise ArgumentTypeError(
                f"gradient {k} must be a Tensor or None, not {type(g).__name__}; wrap it with sg.tensor(...)"
            )
        if g._data.shape != shape:
            raise GradientError(
                f"gradient {k} has a shape of {list(g._data.shape)} and the tensor it belongs to has a shape of "
                f"{list(shape)}; they must agree"
            )
        if g._data.dtype != root._data.dtype:
            g = g.to(root._data.dtype)
        seeds.append(g)
    return seeds


def _run(
    roots: tuple[Tensor, ...], seeds: list[Tensor], targets: tuple[Tensor, ...] | None, retain: bool, create_graph: bool
) -> dict[Any, Tensor]:
    """From nodes or leaves to their gradients: of the targets, or of all leaves."""
    keys = [_key(r) for r in roots]
    order = reached(k for k in keys if isinstance(k, Node))
    wanted = None if targets is None else frozenset(_key(t) for t in targets)
    ends: frozenset[Any] = frozenset()
    if wanted is not None:
        order, ends = _leading_to(order, wanted)
    check_all_versions(order)
    selects = any(node.op.selects for node in order)
    once = selects and any(node.op is FUNCTION or (node.extra and node.extra.hooks) for node in order)
    keep = retain or selects
    with set_grad_enabled(create_graph), np.errstate(all="ignore"):
        run = _Pass(
            RecordedColumn(tensor_of) if create_graph else NumericColumn(), create_graph, wanted or frozenset(), ends
        )
        found = run(order, keys, seeds, not keep)
        if selects and not once and not all(_finite(c) for c in found.values()):
            run = _Pass(MaskedColumn(run.column), create_graph, wanted or frozenset(), ends)
            found = run(order, keys, seeds, False)
        if not retain and keep:
            for node in order:
                if node not in ends:
                    node.free()
        result: dict[Any, Tensor] = {}
        for key in list(found):
            c = found.pop(key)
            if wanted is not None and key not in wanted:
                continue
            if isinstance(key, Tensor) and key._extra is not None and key._extra.hooks:
                c = run.flow(run_hooks(key._extra.hooks, run.tensor(c)))
            result[key] = c if create_graph else Tensor.constant(_own(c))
    for owner, g in run.retained:
        owner._grad = run.tensor(g if create_graph else np.copy(g) if isinstance(g, np.ndarray) else g)
    return result


class _Pass:
    """One run of the loop in one column, with what it captures on the way."""

    def __init__(self, column: Any, create_graph: bool, wanted: frozenset[Any], ends: frozenset[Any]):
        self.column, self.create_graph, self.wanted, self.ends = column, create_graph, wanted, ends
        self.masked = isinstance(column, MaskedColumn)
        self.captured: dict[Any, Any] = {}
        self.retained: list[tuple[Tensor, Any]] = []

    def flow(self, t: Tensor) -> Any:
        """A tensor in the form that flows."""
        return t if self.create_graph else t._data

    def tensor(self, c: Any) -> Tensor:
        """What flows as a tensor."""
        return c if self.create_graph else Tensor.constant(c)

    def _plain(self, c: Any) -> Any:
        return c.filled() if isinstance(c, Masked) else c

    def on_cotangent(self, node: Node, g: Any) -> Any:
        """Runs hooks, keeps what is wanted or retained, and stops where the graph was cut."""
        extra = node.extra
        if extra is not None:
            if extra.hooks and not self.masked:
                g = self.flow(run_hooks(extra.hooks, self.tensor(g)))
            owner = extra.retained() if extra.retained else None
            if owner is not None:
                self.retained.append((owner, self._plain(g)))
        if node in self.wanted:
            self.captured[node] = self._plain(g)
        return None if node in self.ends else g

    def __call__(self, order: list[Node], keys: list[Any], seeds: list[Tensor], free: bool) -> dict[Any, Any]:
        cotangents: dict[Any, Any] = {}
        for key, seed in zip(keys, seeds, strict=True):
            c = self.column.seed(self.flow(seed)) if self.masked else self.flow(seed)
            cotangents[key] = c if key not in cotangents else cotangents[key] + c
        left = pull(order, cotangents, self.column, on_cotangent=self.on_cotangent, watched=self.wanted, free=free)
        found = {k: self._plain(c) for k, c in left.items() if isinstance(k, Tensor)}
        left.clear()
        return found | self.captured


def _leading_to(order: list[Node], wanted: frozenset[Any]) -> tuple[list[Node], frozenset[Any]]:
    """The nodes on a way to the wanted ones, and those wanted ones where all ways end."""
    useful: set[Any] = set()
    ends: set[Any] = set()
    kept = []
    for node in order:
        onward = any(o in wanted or o in useful for k, o in enumerate(node.operands) if node.needs >> k & 1)
        if onward:
            useful.add(node)
        elif node in wanted:
            ends.add(node)
        else:
            continue
        kept.append(node)
    return kept, frozenset(ends)


def _finite(c: Any) -> bool:
    value = c._data if isinstance(c, Tensor) else c
    return bool(np.isfinite(value).all())


def _own(c: Any) -> Any:
    """The cotangent as an array that nobody else holds or sees."""
    if not isinstance(c, np.ndarray):
        return c
    free = 3  # this argument, the caller's variable, and the one of getrefcount
    if c.base is None and c.flags.writeable and sys.getrefcount(c) <= free:
        return c
    return np.array(c)


def accumulate(leaf: Tensor, gradient: Any) -> None:
    """Adds the array to the leaf's gradient."""
    _accumulate(leaf, Tensor.constant(gradient))


def _accumulate(leaf: Tensor, gradient: Tensor) -> None:
    """Adds to `leaf.grad`, in the array that is there unless one of the two is tracked."""
    if not leaf._requires_grad:
        return
    before = leaf._grad
    if before is None:
        leaf._grad = gradient
    elif before._requires_grad or gradient._requires_grad:
        leaf._grad = before + gradient
    elif isinstance(before._data, np.ndarray) and before._data.flags.writeable:
        before._data += cast(gradient._data, before._data.dtype)
    else:
        before._data = before._data + gradient._data
