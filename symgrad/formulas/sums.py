"""Closing a sum over an index, and walking through terms that hold sums.

What can be said without a sum is said without it: a sum over one value is that value, over
nothing 0; factors without the index leave; deltas are contracted; a body without the index is
multiplied by the number of its values. What remains binds its index by height, so that equal
sums are equal terms.
"""

from __future__ import annotations

from collections.abc import Callable

from .conditions import delta, iverson, rel, where
from .division import floordiv, mod, rejoined
from .terms import (
    MINUS_ONE,
    ONE,
    ZERO,
    Term,
    add,
    bound,
    common_factor,
    compound,
    elem,
    fn,
    from_factors,
    index,
    is_num,
    mul,
    power,
    term,
)


def sum_over(extent: int, body: Callable[[Term], Term]) -> Term:
    """Σ body(k) for k from 0 to below the extent."""
    if extent == 0:
        return ZERO
    if extent == 1 and not hasattr(extent, "term"):
        return body(ZERO)
    k = index(extent)
    return close(k, body(k))


def close(k: Term, body: Term) -> Term:
    """The sum of the body over all values of the free index."""
    extent = k.args[1]
    if k not in body.idx:
        return mul(term(extent), body)
    if body.head == "ADD":
        c, rest = common_factor(body)
        return _close_sum(k, body) if c is ONE else mul(c, close(k, rest))
    if body.head == "MUL":
        coefficient, factors = body.args
        outside = tuple((b, e) for b, e in factors if k not in b.idx and k not in e.idx)
        inside = tuple((b, e) for b, e in factors if k in b.idx or k in e.idx)
        if outside or coefficient is not ONE:
            return mul(coefficient, from_factors(ONE, outside) if outside else ONE, close(k, from_factors(ONE, inside)))
        for position, (b, _) in enumerate(inside):
            if b.head == "DELTA":
                solution = _solve(k, b)
                if solution is not None:
                    rest = from_factors(ONE, inside[:position] + inside[position + 1 :])
                    return mul(in_range(solution, extent), substitute(rest, {k: solution}))
        for position, (b, e) in enumerate(inside):
            if b.head == "ADD" and e is ONE and _has_delta(k, b):
                rest = from_factors(ONE, inside[:position] + inside[position + 1 :])
                return add(*(close(k, mul(c, m, rest)) for m, c in _addends(b)))
    if body.head == "DELTA":
        solution = _solve(k, body)
        if solution is not None:
            return in_range(solution, extent)
    height = body.height + 1
    return _bind(k, height, body)


def _bind(k: Term, height: int, body: Term) -> Term:
    b = bound(height, k.args[1])
    inner = substitute(body, {k: b})
    t = compound("SUM", (b, k.args[1], inner), (inner,))
    t.height = height
    return t


def reclose(t: Term, change: Callable[[Term], Term]) -> Term:
    """A sum whose body is changed: its index is freed, and bound again."""
    b, extent, body = t.args
    k = index(extent)
    return close(k, change(free_bound(body, b, k)))


def free_bound(t: Term, b: Term, k: Term) -> Term:
    """The body with its bound index replaced by a free one."""
    if t == b:
        return k
    if t.head == "SUM" and t.args[0] == b:
        return t
    if not children(t):
        return t
    return rebuild(t, lambda c: free_bound(c, b, k))


def _close_sum(k: Term, body: Term) -> Term:
    """Addends that need no sum leave it; the others stay together."""
    apart: list[Term] = []
    together: list[Term] = []
    for monomial, coefficient in _addends(body):
        t = mul(coefficient, monomial)
        (apart if k not in monomial.idx or _has_delta(k, monomial) else together).append(t)
    if not apart:
        height = body.height + 1
        return _bind(k, height, body)
    closed = [close(k, t) for t in apart]
    if together:
        closed.append(close(k, add(*together)))
    return add(*closed)


def _addends(t: Term) -> list[tuple[Term, Term]]:
    constant, pairs = t.args
    return [*pairs, *([] if is_num(constant) and constant.args[1] == 0 else [(ONE, constant)])]


def _has_delta(k: Term, t: Term) -> bool:
    """Whether a delta in k is a factor of the term, or of an addend of one of its factors."""
    if k not in t.idx:
        return False
    if t.head == "DELTA":
        return _solve(k, t) is not None
    if t.head == "MUL":
        return any(_has_delta(k, b) for b, e in t.args[1] if e is ONE)
    if t.head == "ADD":
        return any(_has_delta(k, m) for m, _ in t.args[1])
    return False


def _solve(k: Term, d: Term) -> Term | None:
    """The value of k at which the two sides of a delta agree, if it is plain to see."""
    a, b = d.args
    for here, there in ((a, b), (b, a)):
        if here == k and k not in there.idx:
            return there
        if here.head == "ADD" and k not in there.idx:
            for monomial, coefficient in here.args[1]:
                if monomial == k and coefficient in (ONE, MINUS_ONE):
                    rest = add(here, mul(MINUS_ONE, coefficient, k))
                    if k not in rest.idx:
                        return mul(coefficient, add(there, mul(MINUS_ONE, rest)))
    return None


def in_range(value: Term, extent: int) -> Term:
    """1 if the index term certainly lies in the range, else the brackets that say so."""
    if value.head in ("IDX", "BOUND") and value.args[1] == extent:
        return ONE
    if value.head == "NUM":
        return ONE if 0 <= value.args[1] < extent else ZERO
    return mul(iverson(rel(">=", value, ZERO)), iverson(rel("<", value, term(extent))))


# ------------------------------------------------------------------ walking through terms
def children(t: Term) -> tuple[Term, ...]:
    """The terms directly inside."""
    head = t.head
    if head == "ADD":
        return tuple(m for m, _ in t.args[1])
    if head == "MUL":
        return tuple(p for pair in t.args[1] for p in pair)
    if head in ("FN", "REL", "ELEM"):
        return t.args[1:]
    if head in ("IVERSON", "DELTA", "ITE"):
        return t.args
    return (t.args[2],) if head == "SUM" else ()


_DIVISIONS = {"mod": mod, "floordiv": floordiv}


def rebuild(t: Term, change: Callable[[Term], Term]) -> Term:
    """The term with `change` applied to each child, in normal form again."""
    head, args = t.head, t.args
    if head == "ADD":
        return add(args[0], *(mul(c, change(m)) for m, c in args[1]))
    if head == "MUL":
        return mul(args[0], *(power(change(b), change(e)) for b, e in args[1]))
    if head == "FN":
        function = _DIVISIONS.get(args[0])
        changed = map(change, args[1:])
        return function(*changed) if function else fn(args[0], *changed)
    if head == "ELEM":
        return elem(args[0], tuple(rejoined(change(i)) for i in args[1:]))
    if head == "REL":
        return rel(args[0], change(args[1]), change(args[2]))
    if head == "IVERSON":
        return iverson(change(args[0]))
    if head == "DELTA":
        return delta(change(args[0]), change(args[1]))
    if head == "ITE":
        return where(*map(change, args))
    if head == "SUM":
        return reclose(t, change)
    return t


def substitute(t: Term, mapping: dict[Term, Term]) -> Term:
    """Free indices replaced by terms."""
    if t in mapping:
        return mapping[t]
    if t.idx.isdisjoint(mapping):
        return t
    return rebuild(t, lambda c: substitute(c, mapping))
