"""Giving every reference of a formula its name, once and for all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..graph import versions
from .calls import is_call, unknown
from .lower import Lowered
from .naming import Name
from .structure import Atom, Record
from .terms import ELEM_HEADS, Ref, Term, children, term


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
    taken: set[tuple[int, str]] = set()
    for size in size_names(lowered):
        taken.update(_looks(size))
    written = {record: base for record, base, _ in bases}
    later: list[tuple[Any, int]] = []
    for (_, bars), members in sorted(groups.items(), key=lambda g: not any(isinstance(m, Atom) for m in g[1])):
        numbered = _numbers(members, heads)
        for record in members:
            name = Name(written[record], None, bars)
            if record in numbered or not taken.isdisjoint(_looks(name)):
                later.append((record, bars))
            else:
                names[record] = name
                taken.update(_looks(name))
    for record, bars in sorted(later, key=lambda entry: entry[0].seq):
        number = 1
        while not taken.isdisjoint(_looks(name := Name(written[record], number, bars))):
            number += 1
        names[record] = name
        taken.update(_looks(name))
    counts = {"c": 0, "t": 0}
    deferred = [r for r in anonymous if adjoints.get(r) in seen]
    for record in [*(r for r in anonymous if r not in set(deferred)), *deferred]:
        value = names.get(adjoints.get(record))
        if value is not None and taken.isdisjoint(_looks(value.barred())):
            names[record] = value.barred()
            taken.update(_looks(names[record]))
            continue
        letter = "c" if isinstance(record, Atom) else "t"
        while True:
            counts[letter] += 1
            name = Name(letter, counts[letter])
            if taken.isdisjoint(_looks(name)):
                break
        names[record] = name
    for r in calls:
        _name_call(r, names)
    return {r: names[r.record] for r in refs}, [Name(users.get(h, "y")) if call(h) else names[h] for h in heads]


def _looks(name: Name) -> list[tuple[int, str]]:
    """What the name looks like in each notation: two names that agree in one of them cannot be told apart there."""
    return list(enumerate((name.symbol, name.text, f"{name.latex}_{name.below}")))


def size_names(lowered: Lowered) -> list[Name]:
    """The names of the sizes that the formula mentions, in its terms or as the range of an index."""
    found: dict[str, None] = {}
    terms = [t for d in lowered.definitions for t in (*d.indices, d.term)]
    stack = [*terms, *(t for indices, result in lowered.results for t in (*indices, result))]
    while stack:
        here = stack.pop()
        if here.head == "SIZE":
            found.setdefault(here.args[0])
        elif here.head in ("IDX", "BOUND", "SUM"):
            stack.append(term(here.args[1]))
        elif here.head in ELEM_HEADS:
            stack += map(term, here.args[0].shape)
        stack.extend(children(here))
    return [Name(n) for n in found]


def _name_call(r: Ref, names: dict[Any, Name]) -> None:
    """``Name(a, b)`` for a call, ``∂Name(a, b)/∂a`` for its unknown derivative."""
    if r.record in names:
        return
    for m in r.mentions:
        if unknown(m.record):
            _name_call(m, names)
    if is_call(r.record):
        names[r.record] = call_name(r.record, names)
    else:
        names[r.record] = Name.partial(*(names[m.record] for m in r.mentions))


def call_name(record: Record, names: dict[Any, Name]) -> Name:
    """``Name(a, 3)``: the call with the names of its tensors and its other arguments as they are."""
    node = record.given[0]
    given = [names[r] if r in names else Name.literal(repr(a)) for r, a in zip(record.a0, node.a0, strict=True)]
    return Name.call(node.given[0].__name__, given)


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
