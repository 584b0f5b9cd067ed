"""Giving every reference of a formula its name, once and for all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..graph import versions
from .calls import is_call, unknown
from .lower import Lowered
from .naming import Name
from .structure import Atom, Record
from .sums import children
from .terms import ELEM_HEADS, Ref, Term, term


class Namer:
    """The names of one program, as stable as they can be: they do not depend on which of its values a formula mentions.

    A name that only one value has is its name. Of several values of one name the first leaf keeps it,
    or else the value that the formula is of; the others are numbered in the order of the program.
    Leaves without a name are c₁, c₂, … in that order too.

    Parameters
    ----------
    program : iterable of records
        In the order in which they were computed.
    users : mapping of record to str
        The names that the user gave.
    top : record
        The value that the formula is of.
    fixed : mapping of record to Name
        Names that are given from outside.
    sizes : iterable of Name
        The names of sizes, which no value may have.
    """

    def __init__(
        self,
        program: Iterable[Any],
        users: Mapping[Any, str],
        top: Any,
        fixed: Mapping[Any, Name] | None = None,
        sizes: Iterable[Name] = (),
    ):
        self.names: dict[Any, Name] = dict(fixed or {})
        self._taken: set[tuple[int, str]] = set()
        self._counts = {"c": 0, "t": 0}
        for name in (*sizes, *self.names.values()):
            self._taken.update(_looks(name))
        groups: dict[str, list[Any]] = {}
        leaves: list[Any] = []
        for record in program:
            if record in self.names:
                continue
            if record in users:
                groups.setdefault(Name(users[record]).text, []).append(record)
            elif isinstance(record, Atom) and record.kind == "leaf" and (record.shape or record.value._requires_grad):
                leaves.append(record)
        later: list[Any] = []
        for members in sorted(groups.values(), key=lambda g: not any(isinstance(m, Atom) for m in g)):
            bare = _bare(members, top)
            for record in members:
                name = Name(users[record])
                if record is bare and self._free(name):
                    self._give(record, name)
                else:
                    later.append(record)
        for record in sorted(later, key=lambda r: r.seq):
            self._number(record, users[record])
        for record in leaves:
            self._count(record, "c")

    def adjoint(self, record: Any, of: Any) -> None:
        """The cotangent of a value has the value's name with a bar; where the value has none, it gets one."""
        if record in self.names:
            return
        barred = self.names[of].barred() if of in self.names else None
        if barred is not None and self._free(barred):
            self._give(record, barred)
        else:
            self.anonymous(record)

    def anonymous(self, record: Any) -> None:
        """The next of t₁, t₂, …, or c₁, c₂, … for a leaf."""
        if record not in self.names:
            self._count(record, "c" if isinstance(record, Atom) else "t")

    def _count(self, record: Any, letter: str) -> None:
        while True:
            self._counts[letter] += 1
            name = Name(letter, self._counts[letter])
            if self._free(name):
                self._give(record, name)
                return

    def _number(self, record: Any, base: str) -> None:
        number = self._counts.get(base + "#", 0)
        while True:
            number += 1
            name = Name(base, number)
            if self._free(name):
                break
        self._counts[base + "#"] = number
        self._give(record, name)

    def _free(self, name: Name) -> bool:
        return self._taken.isdisjoint(_looks(name))

    def _give(self, record: Any, name: Name) -> None:
        self.names[record] = name
        self._taken.update(_looks(name))


def _bare(members: list[Any], top: Any) -> Any:
    """Which of the values of one name keeps it without a number."""
    if len(members) == 1:
        return members[0]
    leaves = [m for m in members if isinstance(m, Atom)]
    return min(leaves, key=lambda m: m.seq) if leaves else next((m for m in members if m is top), None)


def freeze_names(
    lowered: Lowered,
    program: Iterable[Any],
    users: Mapping[Any, str],
    adjoints: Mapping[Any, Any],
    heads: list[Any],
    values: Collection[Any] = (),
    fixed: Mapping[Any, Name] | None = None,
) -> tuple[dict[Ref, Name], list[Name]]:
    """Names for the references that the formula mentions, and for the heads of its left-hand side.

    Parameters
    ----------
    lowered : Lowered
        The formula.
    program, users, fixed
        See `Namer`.
    adjoints : mapping of record to record
        From cotangents to their values.
    heads : list of records
        What the formula is of, then the variables.
    values : collection of records
        Calls of custom Functions that are named like any other value; others are ``Name(a, b)``.
    """

    def call(record: Any) -> bool:
        return unknown(record) and record not in values

    refs = _mentioned(lowered)
    namer = Namer((r for r in program if not call(r)), users, heads[0], fixed, size_names(lowered))
    plain = [record for record in dict.fromkeys([*(r.record for r in refs), *heads]) if not call(record)]
    for record in plain:
        if record not in adjoints or (adjoints[record] not in namer.names and adjoints[record] not in plain):
            namer.anonymous(record)
    for record in plain:
        if record in adjoints:
            namer.adjoint(record, adjoints[record])
    names = namer.names
    for r in refs:
        if call(r.record):
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
