"""`formula`: from a tensor, and what to differentiate it by, to its `Formula`.

The records are read, the one loop is run over them once an order of differentiation, the
result is lowered to terms, and names are frozen.
"""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentTypeError, FormulaError
from ..graph import pull, reached
from ..graph.node import Extra
from ..tensor import Tensor
from .conditions import iverson
from .formula import Formula, FormulaList
from .freezing import freeze_names
from .guards import condition, guard_records, in_words
from .lower import Lowered, Lowering
from .naming import Name, calling_frame, frame_names, name_of
from .reading import read
from .structure import Atom, Record, StructureColumn, number, seed
from .terms import ZERO, Term, index

__symgrad_internal__ = True

LOOKED_AT = Extra()
"""Stands in the `extra` of records whose complete cotangent is to be seen."""


def formula(out: Tensor, wrt: Any = None, *, frame_depth: int = 1) -> Any:
    """The exact formula of a value, or of its derivatives.

    Parameters
    ----------
    out : Tensor
        What the formula is of.
    wrt : Tensor, list of Tensor, or tuple of Tensor, optional
        A tensor, leaf or intermediate, gives ``∂out/∂wrt``, entry by entry if `out` is no scalar; a list
        gives one formula for each; a tuple differentiates again and again: ``wrt=(x, x)``.
    frame_depth : int
        How many calls above this one the variables that give names are looked up.

    Returns
    -------
    Formula, or a list of them for a list

    Raises
    ------
    FormulaError
        If there is no formula, with the reason.

    Examples
    --------
    >>> import symgrad as sg
    >>> x = sg.tensor(2.0, requires_grad=True, name="x")
    >>> y = sg.tensor(3.0, requires_grad=True, name="y")
    >>> z = x**2 * y + sg.sin(x)
    >>> z.expr
    x**2*y + sin(x)
    >>> sg.formula(z, wrt=x)
    ∂z/∂x = 2·x·y + cos(x)
    """
    frame = frame_names(calling_frame(frame_depth))
    if isinstance(wrt, list):
        return FormulaList([derive(out, (w,), frame) for w in wrt])
    return derive(out, () if wrt is None else wrt if isinstance(wrt, tuple) else (wrt,), frame)


def key_of(t: Any) -> Any:
    """What the records know a tensor by: its node, or itself for a leaf."""
    if isinstance(t, Tensor):
        return t if t._node is None else t._node
    raise ArgumentTypeError(f"formula: expected a Tensor, not {type(t).__name__}")


def free_indices(shape: tuple[int, ...]) -> tuple[Term, ...]:
    """A fresh index for each dimension, 0 for one of size 1."""
    return tuple(ZERO if n == 1 and not hasattr(n, "term") else index(n) for n in shape)


def derive(
    out: Tensor,
    wrt: tuple[Any, ...],
    frame: dict[int, str],
    *,
    cotangent: tuple[Tensor, Name] | None = None,
    top: str | None = None,
    fixed: dict[Any, Name] | None = None,
) -> Formula:
    """The formula of `out`, or of its derivative by each variable in turn.

    Parameters
    ----------
    frame : dict
        Names of the calling frame, by identity.
    cotangent : (Tensor, Name), optional
        A cotangent for `out`, as a variable: the formula is then of the variable's adjoint.
    top : str, optional
        The name of `out` if it has none.
    fixed : dict, optional
        Names that are settled already, by node or leaf.
    """
    key, targets = key_of(out), [key_of(w) for w in wrt]
    records = read([key], targets, lambda t: name_of(t, frame) is not None)
    _check_related(out, wrt, records, frame)
    first, variables = records[key], [records[t] for t in targets]
    given = None if cotangent is None else Atom("leaf", cotangent[0], first.shape, first.dtype)
    root, groups, adjoints = _differentiate(first, variables, given)
    users = _user_names(records, first, top, frame)
    named_atoms = {r for r in [*users, given, *variables] if isinstance(r, Atom)}
    lowering = Lowering({r for r in users if isinstance(r, Record)} - {root, first}, named_atoms)
    lowered, words = _lower(lowering, root, groups, given, records, frame)
    settled = {records[source]: name for source, name in (fixed or {}).items() if source in records}
    names, heads = freeze_names(lowered, records.values(), users, adjoints, [first, *variables], fixed=settled)
    if cotangent is not None:
        names = {r: cotangent[1] if r.record is given else n for r, n in names.items()}
        return Formula(lowered, names, heads[1].barred(), [], [len(groups[-1])], words)
    return Formula(lowered, names, heads[0], heads[1:], [len(g) for g in groups], words)


def _check_related(out: Tensor, wrt: tuple[Any, ...], records: dict[Any, Any], frame: dict[int, str]) -> None:
    """Refuses a derivative by something that was not used: it would be 0, and is a slip."""
    for t in wrt:
        found = records.get(key_of(t))
        if found is None or (isinstance(found, Atom) and t is not out and not found.first_use):
            own, other = (name_of(key_of(x), frame) or "this tensor" for x in (out, t))
            raise FormulaError(
                f"{own} was not computed from {other}, so there is no derivative by it; if the name was bound "
                "to a new tensor since, differentiate by the one that was used"
            )


def _differentiate(
    first: Any, variables: list[Any], given: Atom | None
) -> tuple[Any, list[tuple[Term, ...]], dict[Any, Any]]:
    """Runs the loop once for each variable.

    Returns
    -------
    root : record
        The derivative.
    groups : list of tuples of free indices
        Of the value, then of each variable.
    adjoints : dict
        From cotangents, in the first run, to their values.
    """
    root, groups = first, [free_indices(first.shape)]
    adjoints: dict[Any, Any] = {}
    for order, target in enumerate(variables):
        flow = given or seed(root.shape, root.dtype, groups[-1])
        root = _pulled(root, flow, target, adjoints if order == 0 else None)
        groups.append(free_indices(target.shape))
    return root, groups, adjoints


def _pulled(root: Any, flow: Any, target: Any, adjoints: dict[Any, Any] | None) -> Any:
    captured: dict[Any, Any] = {}
    order = reached([root]) if isinstance(root, Record) else []

    def on_cotangent(node: Any, g: Any) -> Any:
        if adjoints is not None and isinstance(g, Record):
            adjoints.setdefault(g, node)
        if node is target:
            captured[node] = g
        return g if node.needs else None

    for node in order:
        node.extra = LOOKED_AT
    left = pull(order, {root: flow}, StructureColumn(), on_cotangent=on_cotangent)
    found = captured.get(target, left.get(target))
    return number(0, target.shape) if found is None else found


def _user_names(records: dict[Any, Any], first: Any, top: str | None, frame: dict[int, str]) -> dict[Any, str]:
    """The names that the user gave, by record; the result has one in any case."""
    users = {r: name for source, r in records.items() if (name := name_of(source, frame))}
    if first not in users and isinstance(first, Record):
        taken = set(users.values())
        users[first] = top or next(n for n in ("y", "f", "out", "result_") if n not in taken)
    return users


def _lower(
    lowering: Lowering,
    root: Any,
    groups: list[tuple[Term, ...]],
    given: Atom | None,
    records: dict[Any, Any],
    frame: dict[int, str],
) -> tuple[Lowered, list[str]]:
    """The formula's terms: the result first, then the guards that can be written; and the others in words."""
    guards = guard_records(records)
    written = [(g, r) for g, r in guards if r is not None]
    lowered = lowering([root, *(r for _, r in written)], [groups[-1], *(() for _ in written)])
    _, result = lowered.results[0]
    if result.head == "REL" and root.dtype != bool:
        result = iverson(result)  # 1 times a condition is a number
    conditions = [condition(g, lowering, r) for g, r in written]
    free = groups[-1] if given else sum(groups, ())
    lowered.results = [(free, result), *(((), c) for c in conditions if c is not None)]
    unwritten = [g for g, r in guards if r is None]
    unwritten += [g for (g, _), c in zip(written, conditions, strict=True) if c is None]
    return lowered, [in_words(g, frame) for g in unwritten]
