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
from operator import attrgetter
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
    add, append = seen.add, found.append
    for node in found:  # the list grows while it is walked
        needs, operand = node.needs, node.a0
        if type(operand) is tuple:
            for k, part in enumerate(operand):
                if needs >> k & 1 and part not in seen:
                    add(part)
                    if isinstance(part, Node):
                        append(part)
            continue
        if needs & 1 and operand not in seen:
            add(operand)
            if type(operand) is Node or isinstance(operand, Node):
                append(operand)
        if needs == 1:  # most nodes: what follows would find nothing
            continue
        if needs & 2 and (operand := node.a1) not in seen:
            add(operand)
            if type(operand) is Node or isinstance(operand, Node):
                append(operand)
        if needs & 4 and (operand := node.a2) not in seen:
            add(operand)
            if type(operand) is Node or isinstance(operand, Node):
                append(operand)
    found.sort(key=attrgetter("seq"))
    return found


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
        Oldest first.
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
    for node in reversed(order):
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
        run = op.pull  # looked up apart from the call: on a slot that is several times faster
        for operand, c in run(xp, g, node if view is None else view(node), needs):
            if needs >= FIT:
                c = fit(c, operand)
            before = get(operand)
            if before is None:
                cotangents[operand] = c
            elif in_place and operand in owned:
                before += c
            else:
                cotangents[operand] = total = c + before  # consumers come youngest first; sums read oldest first
                if in_place and type(total) is ndarray:
                    owned.add(operand)
        if free and op.saves:
            node.v0 = node.v1 = node.v2 = None
            node.out = FREED
    return cotangents
