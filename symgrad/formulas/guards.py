"""Guards: the Python branches that a program took on the way to a value."""

from __future__ import annotations

from typing import Any

from ..graph import Node
from ..ops.declare import catalogue
from .lower import Lowering
from .naming import Name, name_of, source_line
from .printing import Printer
from .structure import Symbolic, apply, number
from .terms import negate
from .text import TextStyle

RELATIONS = {"eq", "ne", "lt", "le", "gt", "ge"}


def guards_of(records: dict[Any, Any], names: dict[Any, Name], users: dict[Any, str], frame: dict[int, str]) -> list[str]:
    """The conditions under which the program that these records are of takes the same branches again."""
    found: dict[str, None] = {}
    for source in records:
        if not isinstance(source, Node) or source.extra is None:
            continue
        for guard in source.extra.guards:
            found.setdefault(_text(guard, records, frame))
    return list(found)


def _text(guard: Any, records: dict[Any, Any], frame: dict[int, str]) -> str:
    operands = guard.alive()
    _, line, source = source_line(guard.code, guard.lasti)
    if operands is None:
        return f"the branch at line {line} ({source}) {'is' if guard.outcome else 'is not'} taken"
    read = []
    for o in operands:
        r = records.get(o) if isinstance(o, Node) or hasattr(o, "_data") else number(o)
        if r is None:
            return f"the branch at line {line} ({source}) {'is' if guard.outcome else 'is not'} taken"
        read.append((o, r))
    texts = [_operand_text(o, r, frame) for o, r in read]
    if guard.op.name in RELATIONS and all(texts):
        relation = guard.op.name if guard.outcome else _OPPOSITE[guard.op.name]
        return f"{texts[0]} {_SYMBOL[relation]} {texts[1]}"
    if guard.op.name not in RELATIONS and len(texts) == 1 and texts[0] and guard.op.name in catalogue:
        return f"{guard.op.name}({texts[0]})" if guard.outcome else f"not {guard.op.name}({texts[0]})"
    return f"the branch at line {line} ({source}) {'is' if guard.outcome else 'is not'} taken"


_SYMBOL = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥"}
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def _operand_text(source: Any, record: Symbolic, frame: dict[int, str]) -> str | None:
    if isinstance(source, (int, float)):
        return f"{source:g}"
    name = name_of(source, frame)
    return Name(name).text if name else None


__all__ = ["Lowering", "Printer", "TextStyle", "apply", "guards_of", "negate"]
