"""Guards: the Python branches that a program took on the way to a value."""

from __future__ import annotations

from typing import Any

from ..errors import FormulaError
from ..graph import Guard, Node
from .naming import source_line
from .structure import Record, apply
from .terms import ZERO, Term, negate, rel

RELATIONS = {"eq", "ne", "lt", "le", "gt", "ge"}


def guard_records(records: dict[Any, Any]) -> list[tuple[Guard, Record | None]]:
    """The guards of these records, each with the tested value as a record; None where it is gone."""
    found: list[tuple[Guard, Record | None]] = []
    for source in list(records):
        if isinstance(source, Node) and source.extra is not None:
            found += [(guard, _read(guard, records)) for guard in source.extra.guards]
    return found


def _read(guard: Guard, records: dict[Any, Any]) -> Record | None:
    operands = guard.alive()
    if operands is None or guard.op.variadic:
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


def in_words(guard: Guard) -> str:
    """A guard whose condition cannot be written: its line, and which way it went."""
    _, line, source = source_line(guard.code, guard.lasti)
    return f"the branch in line {line} ({source}) goes {'in' if guard.outcome else 'past'}"
