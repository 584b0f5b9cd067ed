"""Giving every reference of a formula its name, once and for all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..graph import versions
from .calls import is_call, unknown
from .lower import Lowered
from .naming import Name
from .structure import Atom, Record
from .terms import ELEM_HEADS, Ref, Term, children


def freeze_names(
    lowered: Lowered, users: dict[Any, str], adjoints: dict[Any, Any], heads: list[Any], values: Collection[Any] = ()
) -> tuple[dict[Ref, Name], list[Name]]:
    """Names for the references that the formula mentions, and for the heads of its left-hand side.

    Leaves come first and keep a name that only they have; values of the same name are numbered in
    the order in which they were computed; a cotangent is its value's name with a bar; what has no
    name is t₁, t₂, … Calls of custom Functions are named ``Name(a, b)``, those in `values` like any
    other value.
    """

    def call(record: Any) -> bool:
        return unknown(record) and record not in values

    refs = _mentioned(lowered)
    calls = [r for r in refs if call(r.record)]
    bases: list[tuple[Any, str, int]] = []
    anonymous: list[Any] = []
    seen: set[Any] = set()
    for record in [*(r.record for r in refs), *heads]:
        if record in seen or call(record):
            continue
        seen.add(record)
        base, bars = _base(record, users, adjoints)
        (bases.append((record, base, bars)) if base else anonymous.append(record))
    groups: dict[tuple[str, int], list[Any]] = {}
    for record, base, bars in bases:
        groups.setdefault((Name(base).text, bars), []).append(record)
    names: dict[Any, Name] = {}
    taken: set[str] = set()
    written = {record: base for record, base, _ in bases}
    for (_, bars), members in groups.items():
        numbered = _numbers(members, heads)
        for record in members:
            names[record] = Name(written[record], numbered.get(record), bars)
            taken.add(names[record].symbol)
    counts = {"c": 0, "t": 0}
    deferred = [r for r in anonymous if adjoints.get(r) in seen]
    for record in [*(r for r in anonymous if r not in set(deferred)), *deferred]:
        value = names.get(adjoints.get(record))
        if value is not None and value.barred().symbol not in taken:
            names[record] = value.barred()
            taken.add(names[record].symbol)
            continue
        letter = "c" if isinstance(record, Atom) else "t"
        while True:
            counts[letter] += 1
            name = Name(letter, counts[letter])
            if name.symbol not in taken:
                break
        names[record] = name
    for r in calls:
        _name_call(r, names)
    return {r: names[r.record] for r in refs}, [Name(users.get(h, "y")) if call(h) else names[h] for h in heads]


def _name_call(r: Ref, names: dict[Any, Name]) -> None:
    """``Name(a, b)`` for a call, ``∂Name(a, b)/∂a`` for its unknown derivative."""
    if r.record in names:
        return
    for m in r.mentions:
        if unknown(m.record):
            _name_call(m, names)
    mentioned = [names[m.record] for m in r.mentions]
    names[r.record] = Name.call(r.record.given[0].given[0].__name__, mentioned) if is_call(r.record) else Name.partial(*mentioned)


def _mentioned(lowered: Lowered) -> list[Ref]:
    found: dict[Ref, None] = {}

    def mention(r: Ref) -> None:
        for m in r.mentions:
            mention(m)
        found.setdefault(r)

    def visit(t: Term) -> None:
        stack = [t]
        while stack:
            here = stack.pop()
            if here.head in ELEM_HEADS:
                mention(here.args[0])
            stack.extend(reversed(children(here)))

    for d in lowered.definitions:
        visit(d.term)
        found.setdefault(d.ref)
    for _, t in lowered.results:
        visit(t)
    return list(found)


def _base(record: Any, users: dict[Any, str], adjoints: dict[Any, Any]) -> tuple[str | None, int]:
    if record in users:
        return users[record], 0
    of = adjoints.get(record)
    if of is not None and of in users:
        return users[of], 1
    return None, 0


def _numbers(members: list[Any], heads: list[Any]) -> dict[Any, int]:
    """Numbers for values of one name: none for a single one, a leaf, or the value that the formula is of."""
    if len(members) == 1:
        return {}
    leaves = [m for m in members if isinstance(m, Atom)]
    bare = min(leaves, key=lambda m: m.seq) if leaves else next((m for m in members if m is heads[0]), None)
    rest = sorted((m for m in members if m is not bare), key=lambda m: m.seq)
    return {m: k for k, m in enumerate(rest, 1)}


def stale_leaf(leaves: list[Ref]) -> Ref | None:
    """A leaf whose values were written after they were used, if there is one."""
    for r in leaves:
        atom = r.record
        t = atom.value
        if t._extra is not None and t._extra.changed > atom.first_use > 0:
            return r
        if versions.writes_after(t._data, atom.first_use or versions.last_write):
            return r
    return None


__all__ = ["Record", "freeze_names", "stale_leaf"]
