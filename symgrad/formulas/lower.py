"""From records to terms: which values become definitions, and what each one says.

A record is lowered into the terms of its operands, unless an operand is a definition, which
is named instead. Definitions are the values that are used more than once, that the user
named, or where a term would grow past a bound: so a formula is a straight line of small
terms, as long as the program, never a tree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from .build import FACE
from .calls import is_call
from .conditions import delta
from .division import rejoined
from .structure import Atom, Record, Symbolic
from .sums import children, rebuild, substitute
from .terms import ELEM_HEADS, ONE, ZERO, Ref, Term, elem, index, num, term

SMALL = 8
"""Terms of at most this size (half of it, if they have a sum) are written out wherever they are used, not named."""
LARGE = 48
"""Records whose term would be larger become definitions."""


@dataclass
class Definition:
    """A named value: its reference, its free indices, and the term that says what it is."""

    ref: Ref
    indices: tuple[Term, ...]
    term: Term
    keep: bool


@dataclass
class Lowered:
    """The straight line: definitions in order, each using only earlier ones, and the results."""

    definitions: list[Definition] = field(default_factory=list)
    results: list[tuple[tuple[Term, ...], Term]] = field(default_factory=list)


def ancestors(roots: Iterable[Any]) -> list[Any]:
    """The records that the roots depend on, in an order in which operands come first."""
    found = [r for r in dict.fromkeys(roots) if isinstance(r, Record)]
    seen = set(found)
    for r in found:
        for o in r.operands:
            if isinstance(o, Record) and o not in seen:
                seen.add(o)
                found.append(o)
    found.sort(key=lambda r: r.seq)
    return found


class Lowering:
    """One formula's way from records to terms.

    Parameters
    ----------
    named : set of records
        Those that the user's own variables name: they become definitions.
    named_atoms : set of atoms
        Leaves that have a name; a 0-d constant without one is written as a number.
    """

    def __init__(self, named: set[Any], named_atoms: Collection[Any] = ()):
        self.named, self.named_atoms = named, named_atoms
        self.refs: dict[Any, Ref] = {}
        self._terms: dict[Any, tuple[tuple[Term, ...], Term]] = {}
        self._by_term: dict[tuple[int, Term], Ref] = {}
        self._cut: set[Any] = set()

    # ------------------------------------------------------------------ one record
    def entry(self, record: Any, i: tuple[Any, ...]) -> Term:
        """The term of one entry of a record."""
        i = tuple(rejoined(term(j)) for j in i)
        if isinstance(record, Atom):
            if record.kind == "number":
                return term(record.value)
            if record.kind == "seed":
                out = ONE
                for a, b in zip(i, record.value, strict=True):
                    out = out * delta(a, b)
                return out
            written_out = record.kind == "leaf" and not record.shape and record not in self.named_atoms
            if written_out and not record.value._requires_grad:
                return num(record.value.item())
            return elem(self.ref(record), i)
        if record in self.refs:
            ref = self.refs[record]
            return elem(ref, i + ref.seeds)
        if record in self._terms:
            slots, t = self._terms[record]
            return substitute(t, dict(zip(slots, i, strict=True))) if slots else t
        return self._face(record, i)

    def ref(self, record: Any) -> Ref:
        """The reference of a leaf, of a definition or of a call."""
        if record not in self.refs:
            self.refs[record] = made = Ref(record, record.shape)
            if is_call(record):
                made.mentions = tuple(self.ref(o) for o in record.operands if isinstance(o, Symbolic))
            elif isinstance(record, Atom) and record.kind == "opaque":
                call, k = record.value
                made.mentions = (self.ref(call), self.ref(call.a0[k]))
        return self.refs[record]

    def _face(self, record: Record, i: tuple[Term, ...]) -> Term:
        if is_call(record):
            return elem(self.ref(record), i)
        op = record.op
        params = record.given
        if op.expr is not None:
            operands = [self.entry(o, _broadcast(i, o.shape, record.shape)) for o in record.operands]
            return term(op.expr(FACE, *operands, *params))
        assert op.index is not None
        return term(op.index(FACE, i, *(_Operand(self, o) for o in record.operands), *params))

    # ------------------------------------------------------------------ all of them
    def __call__(self, roots: list[Any], free: list[tuple[Term, ...]]) -> Lowered:
        order = ancestors(roots)
        uses = self._uses(order, roots)
        done = Lowered()
        results = set(roots)
        arguments = {o for r in order if is_call(r) for o in r.operands}
        for record in order:
            if record in arguments and not is_call(record):
                self._define(record, done, True, True, whole=True)
                continue
            if is_call(record) or not (uses[record] > 1 or record in self.named or record in self._cut):
                continue
            if record in results and uses[record] == 1:
                continue
            if record.op.structural and record not in self.named:
                continue
            self._define(record, done, record in self.named, uses[record] > 1)
        for root, i in zip(roots, free, strict=True):
            done.results.append((i, self.entry(root, i)))
        _share_sums(self, done)
        return _pruned(done)

    def _uses(self, order: list[Any], roots: list[Any]) -> dict[Any, int]:
        """How often each record is written; cuts where terms would grow too large."""
        uses: dict[Any, int] = dict.fromkeys(order, 0)
        for root in roots:
            if root in uses:
                uses[root] += 1
        for record in reversed(order):
            weight = record.op.repeats if not record.op.structural else uses[record]
            for o in record.operands:
                if o in uses:
                    uses[o] += max(weight, 1)
        size: dict[Any, int] = {}
        for record in order:
            total = 2
            for o in record.operands:
                total += record.op.repeats * size.get(o, 1)
            if uses[record] > 1 or record in self.named:
                total = min(total, SMALL)
            if total > LARGE:
                self._cut.add(record)
                total = 1
            size[record] = total
        return uses

    def _define(self, record: Record, done: Lowered, named: bool, shared: bool, whole: bool = False) -> None:
        slots = tuple(index(n) if n != 1 or hasattr(n, "term") else ZERO for n in record.shape)
        t = self._face(record, slots)
        used = tuple(s for s in slots if s is not ZERO)
        if not whole and (
            t.head in ELEM_HEADS
            or t.size <= (1 if named and shared else 2 if named else SMALL // 2 if t.height else SMALL)
        ):
            self._terms[record] = (used, t) if len(used) == len(slots) else (slots, t)
            return
        key = (len(slots), _canonical(t, used))
        same = self._by_term.get(key)
        if same is not None and same.record.shape == record.shape:
            self.refs[record] = same
            return
        seeds = tuple(sorted(t.idx.difference(used), key=lambda s: s.args[0]))
        self._by_term[key] = self.refs[record] = ref = Ref(record, record.shape, seeds)
        done.definitions.append(Definition(ref, slots + seeds, t, named))


class _Operand:
    """An operand as an `index` face sees it: called with indices, and of a shape."""

    __slots__ = ("_lowering", "_record", "shape")

    def __init__(self, lowering: Lowering, record: Any):
        self._lowering, self._record, self.shape = lowering, record, record.shape

    def __call__(self, *i: Any) -> Term:
        flat = i[0] if len(i) == 1 and isinstance(i[0], tuple) else i
        return self._lowering.entry(self._record, flat)


def _broadcast(i: tuple[Term, ...], shape: tuple[int, ...], result: tuple[int, ...]) -> tuple[Any, ...]:
    """The indices of an operand: 0 where its size is 1 and is repeated, be it a size with a name or not."""
    start = len(i) - len(shape)
    places = zip(shape, result[start:], i[start:], strict=True)
    return tuple(ZERO if n == 1 and (m != 1 or not hasattr(n, "term")) else j for n, m, j in places)


_slots: dict[tuple[int, int], Term] = {}


def _canonical(t: Term, slots: tuple[Term, ...]) -> Term:
    """The term with its free indices replaced by standard ones, to compare definitions by."""
    mapping = {}
    for k, s in enumerate(slots):
        key = (k, int(s.args[1]))
        if key not in _slots:
            _slots[key] = index(s.args[1])
        mapping[s] = _slots[key]
    return substitute(t, mapping)


# ------------------------------------------------------------------ after lowering
def _walk(t: Term) -> Iterable[Term]:
    stack = [t]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(children(here))


class _Shared:
    """The record of a value that only the formula has: a sum that occurs several times."""

    def __init__(self, shape: tuple[int, ...], seq: int):
        self.shape, self.seq = shape, seq
        self.op = None


def _share_sums(lowering: Lowering, done: Lowered) -> None:
    """Sums that occur in several places become definitions, so that each is printed once."""
    counts: dict[Term, int] = {}
    places = [d.term for d in done.definitions] + [t for _, t in done.results]
    for t in places:
        if not t.height:
            continue
        for s in _walk(t):
            if s.head == "SUM":
                free = tuple(sorted(s.idx, key=lambda i: i.args[0]))
                key = _canonical(s, free)
                counts[key] = counts.get(key, 0) + 1
    repeated = {k for k, n in counts.items() if n > 1}
    if not repeated:
        return
    made: dict[Term, tuple[Ref, int]] = {}
    out: list[Definition] = []

    def change(t: Term) -> Term:
        if not t.height:
            return t
        if t.head == "SUM":
            free = tuple(sorted(t.idx, key=lambda i: i.args[0]))
            key = _canonical(t, free)
            if key in repeated:
                if key not in made:
                    shape = tuple(i.args[1] for i in free)
                    ref = Ref(_Shared(shape, 0), shape)
                    made[key] = (ref, len(free))
                    fresh = tuple(index(i.args[1]) for i in free)
                    out.append(
                        Definition(
                            ref, fresh, substitute(rebuild(t, change), dict(zip(free, fresh, strict=True))), False
                        )
                    )
                return elem(made[key][0], free)
        return rebuild(t, change)

    for d in done.definitions:
        if d.term.head == "SUM":
            d.term = rebuild(d.term, change)
            free = tuple(i for i in d.indices if i is not ZERO)
            key = _canonical(d.term, tuple(sorted(d.term.idx, key=lambda i: i.args[0])))
            if key in repeated and key not in made and len(free) == len(d.indices) == len(d.term.idx):
                ordered = tuple(sorted(d.term.idx, key=lambda i: i.args[0]))
                if ordered == free:
                    made[key] = (d.ref, len(free))
        else:
            d.term = change(d.term)
        out.append(d)
    done.results = [(i, change(t)) for i, t in done.results]
    done.definitions = out


def _pruned(done: Lowered) -> Lowered:
    """Without definitions that nothing needs, and with those used once written where they are used."""
    counts: dict[Ref, int] = {}

    def count(t: Term) -> None:
        for s in _walk(t):
            if s.head in ELEM_HEADS:
                counts[s.args[0]] = counts.get(s.args[0], 0) + 1
                for m in s.args[0].mentions:
                    counts[m] = counts.get(m, 0) + 2  # a name cannot be written out
                    for inner in m.mentions:
                        counts[inner] = counts.get(inner, 0) + 2

    for _, t in done.results:
        count(t)
    live = []
    for d in reversed(done.definitions):
        if d.ref in counts:
            count(d.term)
            live.append(d)
    live.reverse()
    inline: dict[Ref, Definition] = {}

    def change(t: Term) -> Term:
        if t.head in ELEM_HEADS and t.args[0] in inline:
            d = inline[t.args[0]]
            mapping = {s: change(i) for s, i in zip(d.indices, t.args[1:], strict=True) if s is not ZERO}
            return substitute(d.term, mapping)
        return rebuild(t, change) if children(t) else t

    kept = []
    for d in live:
        if inline:
            d.term = change(d.term)
        if counts[d.ref] == 1 and not d.keep and d.term.size <= LARGE // 2:
            inline[d.ref] = d
        else:
            kept.append(d)
    if inline:
        done.results = [(i, change(t)) for i, t in done.results]
    done.definitions = kept
    return done
