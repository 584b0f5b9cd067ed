"""Terms as numbers of any precision, or as SymPy scalars, entry by entry.

One walk, two kinds of scalars. A bracket that is 0 is strong: what it multiplies is not
looked at. What has no value (1/0, the log of a negative number) is nan, never a guess.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import BudgetError
from .conditions import TESTS
from .lower import Lowered
from .terms import ELEM_HEADS, ONE, Ref, Term, is_positive, is_zero, num

ENTRY_BUDGET = 2_000_000
"""The number of scalar operations past which an evaluation is refused."""


@lru_cache(maxsize=4096)
def _of_indices(bracket: Term) -> bool:
    """Whether a bracket compares integers made of indices, so that it can be decided before anything is looked up."""
    condition = bracket.args[0]
    return condition.head == "REL" and all(map(_integral, condition.args[1:]))


def _integral(t: Term) -> bool:
    head, args = t.head, t.args
    if head == "ADD":
        return _whole(args[0]) and all(_whole(c) and _integral(m) for m, c in args[1])
    if head == "MUL":
        return _whole(args[0]) and all(_whole(e) and e.args[1] > 0 and _integral(b) for b, e in args[1])
    if head == "FN":
        return args[0] in ("mod", "floordiv") and all(map(_integral, args[1:]))
    return head in ("IDX", "BOUND") or _whole(t)


def _whole(t: Term) -> bool:
    return t.head == "NUM" and isinstance(t.args[1], Fraction) and t.args[1].denominator == 1


class Evaluator:
    """Evaluates a straight line of definitions, then the result.

    Parameters
    ----------
    scalars : Numbers or Symbols
        What kind of scalars.
    values : dict of Ref to object ndarray
        The values of leaves; those of definitions are added.
    """

    def __init__(self, scalars: Any, values: dict[Ref, Any]):
        self.scalars, self.values, self._given = scalars, values, frozenset(values)
        self._work = 0

    def array(self, indices: tuple[Term, ...], t: Term, shape: tuple[int, ...]) -> Any:
        """The term at every index, as an object array; a scalar for no indices."""
        found = self._entries(indices, t, shape)
        if not indices:
            return self.scalars.finished(found)
        for place in np.ndindex(found.shape):
            found[place] = self.scalars.finished(found[place])
        return found

    def _entries(self, indices: tuple[Term, ...], t: Term, shape: tuple[int, ...]) -> Any:
        if not indices:
            return self.scalar(t, {})
        out = np.empty([int(n) for n in shape], dtype=object)
        for place in itertools.product(*(range(int(n)) for n in shape)):
            out[place] = self.scalar(t, {i: k for i, k in zip(indices, place, strict=True) if i.head == "IDX"})
        return out

    def run(self, lowered: Lowered) -> None:
        """Evaluates the definitions in order."""
        for d in lowered.definitions:
            self.values[d.ref] = self._entries(d.indices, d.term, d.ref.shape)

    def scalar(self, t: Term, env: dict[Term, int]) -> Any:
        """The term with its indices taken from the environment."""
        self._work += 1
        if self._work > ENTRY_BUDGET:
            raise BudgetError(
                f"evaluating this formula takes more than {ENTRY_BUDGET:,} scalar operations; "
                "evaluate it at smaller shapes"
            )
        head, args = t.head, t.args
        scalars = self.scalars
        if head == "NUM":
            return scalars.number(t)
        if head in ELEM_HEADS:
            value = self.values[args[0]]
            return value[tuple(self._index(i, env) for i in args[1:])] if len(args) > 1 else value
        if head in ("IDX", "BOUND"):
            return env[t]
        if head == "ADD":
            terms = (self._scaled(c, scalars.plain(self.scalar(m, env))) for m, c in args[1])
            return self._total(terms if is_zero(args[0]) else itertools.chain((scalars.number(args[0]),), terms))
        if head == "MUL":
            return self._product(args, env)
        if head == "FN":
            if args[0] in ("mod", "floordiv"):
                return scalars.integer(self._index(t, env))
            return scalars.call(args[0], [scalars.plain(self.scalar(a, env)) for a in args[1:]])
        if head == "REL":
            given = all(a.head == "NUM" or (a.head in ELEM_HEADS and a.args[0] in self._given) for a in args[1:])
            return scalars.relation(args[0], *(self.scalar(a, env) for a in args[1:]), given)
        if head == "DELTA":
            return scalars.number(ONE) if self._holds(t, env) else scalars.strong_zero
        if head == "IVERSON":
            return scalars.choose(self.scalar(args[0], env), lambda: scalars.number(ONE), lambda: scalars.strong_zero)
        if head == "ITE":
            return scalars.choose(
                self.scalar(args[0], env), lambda: self.scalar(args[1], env), lambda: self.scalar(args[2], env)
            )
        if head == "SUM":
            b, extent, body = args
            return self._total(scalars.plain(self.scalar(body, {**env, b: k})) for k in range(int(extent)))
        if head == "SIZE":
            return scalars.number(num(args[1]))
        raise AssertionError(head)

    def _scaled(self, coefficient: Term, value: Any) -> Any:
        scalars = self.scalars
        return value if value is scalars.strong_zero else scalars.times(scalars.number(coefficient), value)

    def _total(self, summands: Iterable[Any]) -> Any:
        """The sum; a strong zero if every summand is one."""
        values = list(summands)
        strong = bool(values) and all(v is self.scalars.strong_zero for v in values)
        return self.scalars.strong_zero if strong else self.scalars.total(values)

    def _product(self, args: Any, env: dict[Term, int]) -> Any:
        coefficient, factors = args
        scalars = self.scalars
        conditions = []
        for base, _ in factors:
            if base.head == "DELTA" or (base.head == "IVERSON" and _of_indices(base)):
                if not self._holds(base, env):  # before anything else: other factors may have no such entry
                    return scalars.strong_zero
            elif base.head == "IVERSON":
                conditions.append(base.args[0])
        rest = [(b, e) for b, e in factors if b.head not in ("DELTA", "IVERSON")]
        rest.sort(key=lambda f: f[0].head not in ELEM_HEADS)  # a strong zero among those spares the other factors

        def product() -> Any:
            values = []
            for base, exponent in rest:
                values.append(value := scalars.plain(self.scalar(base, env)))
                if value is scalars.strong_zero and is_positive(exponent):
                    return value
            out = scalars.number(coefficient)
            for value, (_, exponent) in zip(values, rest, strict=True):
                power = None if exponent is ONE else scalars.plain(self.scalar(exponent, env))
                out = scalars.times(out, value if power is None else scalars.power(value, power, exponent))
            return out

        choice = product
        for condition in reversed(conditions):
            inner = choice
            choice = lambda c=condition, f=inner: scalars.choose(self.scalar(c, env), f, lambda: scalars.strong_zero)
        return choice()

    def _holds(self, bracket: Term, env: dict[Term, int]) -> bool:
        """Whether a bracket that speaks of indices alone is 1."""
        if bracket.head == "DELTA":
            return self._index(bracket.args[0], env) == self._index(bracket.args[1], env)
        relation, a, b = bracket.args[0].args
        return TESTS[relation](self._index(a, env), self._index(b, env))

    def _index(self, t: Term, env: dict[Term, int]) -> int:
        head, args = t.head, t.args
        if head == "NUM":
            return int(args[1])
        if head in ("IDX", "BOUND"):
            return env[t]
        if head == "SIZE":
            return int(args[1])
        if head == "ADD":
            return int(args[0].args[1]) + sum(int(c.args[1]) * self._index(m, env) for m, c in args[1])
        if head == "MUL":
            out = int(args[0].args[1])
            for base, e in args[1]:
                out *= self._index(base, env) ** int(e.args[1])
            return out
        if head == "FN":
            a, b = (self._index(x, env) for x in args[1:])
            return a % b if args[0] == "mod" else a // b
        raise AssertionError(head)
