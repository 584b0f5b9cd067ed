"""The order of the records, and the one loop that carries cotangents backward through them.

A gradient rule is a pure function of a namespace `xp`. A *column* supplies that namespace
and the form in which saved values are presented; the loop is the same for all of them:

========== ============================== =========================================
column     what flows                     what it gives
========== ============================== =========================================
numeric    ndarrays                       `backward()`
masked     ndarrays with a support        the same, where structural zeros met infinities
recorded   tensors                        `create_graph=True`
structure  records without data           the derivative graph of a formula
========== ============================== =========================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from ..errors import GradientError
from .node import FIT, FREED, Node


def freed_error(node: Node) -> GradientError:
    """The error for a second run over a graph whose saved values are gone."""
    return GradientError(
        f"{node.op.grad_name(node)}: backward runs through this graph a second time, after the values it saved "
        "were freed by the first; call the first backward (or autograd.grad) with retain_graph=True"
    )


class Column(Protocol):
    """What the loop asks of a column."""

    xp: Any
    """The functions that rules call."""
    in_place: bool
    """Whether sums of cotangents may be formed in arrays that the loop made itself."""
    view: Callable[[Any], Any] | None
    """The node with its saved values in this column's form; None if that is how they are."""

    def fit(self, cotangent: Any, operand: Any) -> Any:
        """The cotangent in the operand's shape and dtype: what broadcasting and promotion did, undone."""
        ...


def reached(roots: Iterable[Any]) -> list[Any]:
    """Every record that a cotangent of the roots reaches, oldest first.

    Iterative: the depth of a graph is bounded by memory alone. Leaves are not listed.
    """
    found = list(dict.fromkeys(r for r in roots if isinstance(r, Node)))
    seen: set[Any] = set(found)
    stack = list(found)
    while stack:
        node = stack.pop()
        needs = node.needs
        first = node.a0
        if type(first) is tuple:
            candidates: Iterable[Any] = [a for k, a in enumerate(first) if needs >> k & 1]
        elif needs & 6 == 0:
            candidates = (first,) if needs & 1 else ()
        else:
            candidates = [a for bit, a in ((1, first), (2, node.a1), (4, node.a2)) if needs & bit]
        for operand in candidates:
            if operand not in seen:
                seen.add(operand)
                if isinstance(operand, Node):
                    found.append(operand)
                    stack.append(operand)
    found.sort(key=_by_seq)
    return found


def _by_seq(node: Any) -> int:
    return node.seq


def pull(
    order: list[Any],
    cotangents: dict[Any, Any],
    column: Column,
    *,
    on_cotangent: Callable[[Any, Any], Any] | None = None,
    watched: frozenset[Any] = frozenset(),
    free: bool = False,
) -> dict[Any, Any]:
    """Runs the rules of the records, newest first; what remains are the cotangents of the leaves.

    Parameters
    ----------
    order : list of nodes
        Oldest first; it is consumed.
    cotangents : dict
        From nodes and leaves to their cotangents: the seeds. Returned, with every node's entry
        replaced by those of its operands.
    column : Column
        The namespace of the rules and the form of saved values.
    on_cotangent : callable, optional
        Called with the final cotangent of each node that has extras (hooks, a retained gradient) or is
        watched; returns the one to go on with, None to stop there.
    watched : frozenset of nodes
        See `on_cotangent`.
    free : bool
        Whether each node's saved values are let go once it has run.
    """
    xp, view, fit, in_place = column.xp, column.view, column.fit, column.in_place
    pop, get = cotangents.pop, cotangents.get
    owned: set[Any] = set()
    ndarray = np.ndarray
    while order:
        node = order.pop()
        g = pop(node, None)
        if g is None:
            continue
        if (node.extra is not None or (watched and node in watched)) and on_cotangent is not None:
            g = on_cotangent(node, g)
            if g is None:
                continue
        if node.out is FREED:
            raise freed_error(node)
        needs, op = node.needs, node.op
        for operand, c in op.pull(xp, g, node if view is None else view(node), needs):
            if needs & FIT:
                c = fit(c, operand)
            before = get(operand)
            if before is None:
                cotangents[operand] = c
            elif in_place and operand in owned:
                before += c
            else:
                cotangents[operand] = total = before + c
                if in_place and type(total) is ndarray:
                    owned.add(operand)
        if free and op.saves:
            node.v0 = node.v1 = node.v2 = None
            node.out = FREED
    return cotangents
