"""Guards: the Python branches that a program took on the way to a value."""

from __future__ import annotations

import threading
from typing import Any

from ..errors import FormulaError
from ..graph import Guard, Node
from ..graph.node import pending_guards
from .conditions import negate, rel
from .naming import name_of, source_line
from .structure import Record, apply
from .terms import ZERO, Term

RELATIONS = {"eq", "ne", "lt", "le", "gt", "ge"}


def guard_records(records: dict[Any, Any]) -> list[tuple[Guard, Record | None]]:
    """The guards of these records, each with the tested value as a record; None where it is gone.

    A test that nothing has been recorded since, such as the one that ended a loop, counts if it is on
    these records.
    """
    mine = [(g, _read(g, records)) for g in pending_guards if g.thread == threading.get_ident()]
    found: list[tuple[Guard, Record | None]] = []
    for source in list(records):
        if isinstance(source, Node) and source.extra is not None:
            found += [(guard, _read(guard, records)) for guard in source.extra.guards]
    return found + [(g, r) for g, r in mine if r is not None]


def _read(guard: Guard, records: dict[Any, Any]) -> Record | None:
    operands = guard.alive()
    if operands is None or guard.op.expr is None:
        return None
    read = [records.get(o) if isinstance(o, Node) or hasattr(o, "_data") else o for o in operands]
    if any(r is None for r in read):
        return None
    record = apply(guard.op, *read, params=guard.params)
    return record if not record.shape else None


def condition(guard: Guard, lowering: Any, record: Record) -> Term | None:
    """The guard as a condition that holds; None where the tested value has no formula."""
    try:
        tested = lowering.entry(record, ())
    except FormulaError:
        return None
    if guard.op.name not in RELATIONS:
        tested = rel("!=", tested, ZERO)
    return tested if guard.outcome else negate(tested)


def in_words(guard: Guard, frame: dict[int, str]) -> str:
    """A guard on values that this formula does not contain: by their names, or else by its line."""
    operands = guard.alive()
    if operands is not None and guard.op.name in RELATIONS:
        texts = [f"{o:g}" if isinstance(o, (int, float)) else name_of(o, frame) for o in operands]
        if all(texts):
            relation = guard.op.name if guard.outcome else _OPPOSITE[guard.op.name]
            return f"{texts[0]} {_SYMBOL[relation]} {texts[1]}"
    if operands is not None and guard.op.name in ("all", "any", "argmax") and (name := name_of(operands[0], frame)):
        called = f"{guard.op.name}({name})"
        if guard.op.name == "argmax":
            return f"{called} = {int(guard.outcome)}"
        return called if guard.outcome else f"not {called}"
    _, line, source = source_line(guard.code, guard.lasti)
    return f"the branch in line {line}{f' ({source})' if source else ''} {'is' if guard.outcome else 'is not'} taken"


_SYMBOL = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥"}
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
