"""Reading the tape: nodes and leaves as records."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from ..autograd.function import FUNCTION, OUTPUT_OF
from ..errors import FormulaError
from ..graph import Node, versions
from ..graph.origins import Origin
from .calls import read_call
from .dims import Dim
from .structure import Atom, Symbolic, apply, number


def read(roots: list[Any], wanted: list[Any], has_name: Callable[[Any], bool] | None = None) -> dict[Any, Any]:
    """The records of everything that the roots (nodes, leaf tensors) were computed from.

    Parameters
    ----------
    roots : list of nodes and leaf tensors
        Conditions and constants that they depend on are read too.
    wanted : list of nodes and leaf tensors
        What derivatives are taken by: tracked, even if it does not require grad.
    has_name : callable, optional
        Whether the user names a tensor. A constant without a name is read as the op that made it,
        where that is still known; without this argument constants stay constants.

    Returns
    -------
    dict
        From nodes and tensors to their records, operands first.
    """
    reader = _Reader(wanted, has_name)
    for node in _ancestors(roots):
        reader.node(node)
    for root in [*roots, *wanted]:
        if not isinstance(root, Node):
            reader.tensor(root, 0)
    return reader.found


class _Reader:
    """The records made so far, and how to make the next."""

    def __init__(self, wanted: list[Any], has_name: Callable[[Any], bool] | None):
        self.found: dict[Any, Any] = {}
        self._targets = set(map(id, wanted))
        self._has_name = has_name
        self._sizes_have_names = False
        self._sizes: dict[str, int] = {}

    def node(self, node: Node) -> None:
        """Reads one op, whose operands that are nodes have been read."""
        if node.op is FUNCTION:
            self.found[node] = read_call(node, self)
            return
        if node.op is OUTPUT_OF:
            raise FormulaError(
                f"{FUNCTION.grad_name(node.a0)} has several outputs; formulas through such a Function are not built yet"
            )
        operands = [
            self.found[o] if isinstance(o, Node) else self.tensor(o, node.seq) if hasattr(o, "_data") else o
            for o in node.operands
        ]
        record = apply(node.op, *operands, params=self._params(node, operands), source=node)
        record.dtype = node.dtype
        record.track = record.track or id(node) in self._targets
        self.found[node] = record

    def read_more(self, t: Any, known: dict[Any, Any]) -> Symbolic | None:
        """Reads what was recorded since, on top of what is known already; None if that is not possible."""
        more = _Reader([], self._has_name)
        more.found = {**self.found, **known}
        more._sizes_have_names = self._sizes_have_names
        if isinstance(t, (int, float)):
            return number(t)
        if t._node is None:
            return more.found.get(t) or more.tensor(t, 0)
        try:
            for node in _ancestors([t._node], more.found):
                more.node(node)
        except FormulaError:
            return None
        return more.found[t._node]

    def tensor(self, t: Any, time: int) -> Symbolic:
        """Reads a leaf, or, for a constant that nobody names, the op that made it."""
        if t not in self.found:
            self.found[t] = self._origin(t) or self._leaf(t, time)
        return self.found[t]

    def _leaf(self, t: Any, time: int) -> Atom:
        names = t._extra.dims if t._extra is not None else None
        shape = t._data.shape
        if names:
            for n, d in zip(shape, names, strict=True):
                if self._sizes.setdefault(d, n) != n:
                    raise FormulaError(
                        f"the dimension {d!r} has the size {self._sizes[d]} in one tensor and {n} "
                        "in another; name them apart"
                    )
            shape = tuple(Dim.named(n, d) for n, d in zip(shape, names, strict=True))
            self._sizes_have_names = True
        atom = Atom("leaf", t, shape, t._data.dtype, id(t) in self._targets)
        atom.first_use = time
        return atom

    def _origin(self, t: Any) -> Symbolic | None:
        if (
            self._has_name is None
            or id(t) in self._targets
            or t._requires_grad
            or t._extra is None
            or self._has_name(t)
        ):
            return None
        return None if t._extra.origin is None else self._made_by(t._extra.origin)

    def _made_by(self, origin: Origin) -> Symbolic | None:
        operands: list[Any] = []
        for o in origin.operands:
            if not isinstance(o, tuple):
                operands.append(o)
                continue
            reference, inner = o
            t = reference()
            if t is not None and self._unchanged(t, origin.seq):
                operands.append(self.tensor(t, origin.seq))
            elif inner is not None and (record := self._made_by(inner)) is not None:
                operands.append(record)
            else:
                return None
        return apply(origin.op, *operands, params=origin.params)

    @staticmethod
    def _unchanged(t: Any, time: int) -> bool:
        written = t._extra is not None and t._extra.changed > time
        return not written and versions.writes_after(t._data, time) is None

    def _params(self, node: Node, operands: list[Any]) -> tuple[Any, ...] | None:
        """The parameters, with sizes in a shape parameter named where an operand names them."""
        if not self._sizes_have_names or not node.params or node.op.name != "reshape":
            return node.params
        known = {int(n): n for o in operands if isinstance(o, Symbolic) for n in o.shape if isinstance(n, Dim)}  # pyright: ignore[reportAttributeAccessIssue]
        return (tuple(known.get(int(n), n) for n in node.params[0]), *node.params[1:])


def _ancestors(roots: list[Any], known: Container[Any] = ()) -> list[Node]:
    """Every node that the roots depend on and that is not known yet, conditions included, oldest first."""
    found: list[Node] = [r for r in dict.fromkeys(roots) if isinstance(r, Node) and r not in known]
    seen = set(found)
    for node in found:
        for o in node.operands:
            if isinstance(o, Node) and o not in seen and o not in known:
                seen.add(o)
                found.append(o)
    found.sort(key=lambda n: n.seq)
    return found
