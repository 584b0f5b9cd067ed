"""The oracle: exact values and derivatives of a recorded program.

It never uses a gradient rule. The program is computed again from the exact rationals of its
leaves in high precision, each op by its own expression; SymPy's derivatives of those
expressions are chained through the graph; two precisions must agree, else it says so. One
independent route, a difference quotient in high precision, guards it against faults of
SymPy's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np

from ..errors import SymgradError
from ..formulas.arithmetics import Numbers
from ..formulas.calls import is_call
from ..formulas.reading import read
from ..formulas.scalars import mpmath_face, snapped
from ..formulas.settling import Span, settle, working
from ..formulas.structure import Atom, Record
from ..tensor import Tensor
from . import partials


class Undecided(SymgradError):
    """The oracle has no answer, and says why."""


@dataclass
class Exact:
    """Exact results for one output.

    Attributes
    ----------
    value : mpf or object ndarray
        The output.
    gradients : list of mpf or object ndarray
        For each variable ``Σ seed·∂out/∂variable``; nan where there is no derivative.
    scales : list
        The same with every contribution taken by size: what rounding errors are measured against.
    kinks : list of str
        Ops that were evaluated where they have no derivative.
    digits : int
        How many digits two precisions agreed on.
    """

    value: Any
    gradients: list[Any]
    scales: list[Any]
    kinks: list[str] = field(default_factory=list)
    digits: int = 0


def exact_array(data: Any) -> Any:
    """A NumPy value as exact mpmath numbers."""
    data = np.asarray(data)
    exact = float if data.dtype.kind == "f" else int
    return _shaped([mpmath.mpf(exact(x)) for x in data.ravel()], data.shape)


class Program:
    """A recorded program, ready to be run on numbers of any precision.

    Parameters
    ----------
    out : Tensor
        The result.
    wrt : sequence of Tensor
        The variables.
    """

    def __init__(self, out: Tensor, wrt: list[Tensor]):
        self.out, self.wrt = out, wrt
        keys = [t if t._node is None else t._node for t in wrt]
        key = out if out._node is None else out._node
        records = read([key], keys)
        self.root = records[key]
        self.targets = [records[k] for k in keys]
        self.order = [r for r in records.values() if isinstance(r, Record)]
        for record in self.order:
            if is_call(record):
                raise Undecided(
                    f"{record.given[0].given[0].__name__} is a custom Function: it has no expression to differentiate"
                )
        self.leaves = [r for r in records.values() if isinstance(r, Atom) and r.kind == "leaf"]

    def values(self, given: dict[Any, Any]) -> dict[Any, Any]:
        """The value of every record, from those of the leaves (or of intermediate variables)."""
        found = dict(given)
        for record in self.order:
            if record in found:
                continue
            operands = [_value(o, found) for o in record.operands]
            found[record] = _forward(record, operands)
        return found

    def leaf_values(self) -> dict[Any, Any]:
        """The exact rationals of the leaves' data."""
        return {a: exact_array(a.value._data) for a in self.leaves}

    def gradient(self, found: dict[Any, Any], seed: Any) -> tuple[dict[Any, Any], dict[Any, Any], list[str]]:
        """Adjoints and their absolute sums, by local derivatives alone; and the kinks met."""
        adjoint: dict[Any, Any] = {self.root: _flat(seed)}
        scale: dict[Any, Any] = {self.root: [abs(s) for s in _flat(seed)]}
        kinks: list[str] = []
        for record in reversed(self.order):
            g, s = adjoint.get(record), scale.get(record)
            if g is None or s is None or not record.needs:
                continue
            operands = [_value(o, found) for o in record.operands]
            if record.op.kink is not None and _at_kink(record, operands):
                kinks.append(record.op.name)
            strong = record.op.selects or record.op.structural
            for k, o in enumerate(record.operands):
                if not record.needs >> k & 1:
                    continue
                size = int(np.prod(o.shape, dtype=int))
                into = adjoint.setdefault(o, [None] * size)  # None is absent, which is stronger than 0
                sizes = scale.setdefault(o, [mpmath.mpf(0)] * size)
                for p, q, c in _partials(record, operands, k, _flat(found[record])):
                    if (strong and c == 0) or g[p] is None:
                        continue
                    into[q] = g[p] * c if into[q] is None else into[q] + g[p] * c
                    sizes[q] = sizes[q] + s[p] * abs(c)
        return adjoint, scale, kinks


def _value(o: Any, found: dict[Any, Any]) -> Any:
    if isinstance(o, Atom) and o.kind == "number":
        exact = Fraction(o.value) if np.isfinite(o.value) else None
        return mpmath.mpf(exact.numerator) / exact.denominator if exact is not None else mpmath.mpf(o.value)
    return found[o]


def _flat(x: Any) -> list[Any]:
    return list(np.ravel(np.asarray(x, dtype=object)))


def _shaped(flat: list[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return flat[0]
    out = np.empty(len(flat), dtype=object)
    out[:] = flat
    return out.reshape([int(n) for n in shape])


def _broadcast(operands: list[Any], shape: tuple[int, ...]) -> list[np.ndarray]:
    full = [int(n) for n in shape]
    return [np.broadcast_to(np.asarray(o, dtype=object), full) for o in operands]


def _forward(record: Record, operands: list[Any]) -> Any:
    op, params = record.op, record.given
    if op.expr is None:
        return partials.own_values(record, operands, Numbers())
    expr = partial(op.expr, mpmath_face())
    spread = [a.ravel() for a in _broadcast(operands, record.shape)]

    def one(*x: Any) -> Any:
        if any(v != v for v in x) and op.name != "where":
            return NAN
        return _real(partials.scalar_call(expr, (*x, *params)))

    return _shaped([one(*x) for x in zip(*spread, strict=True)], record.shape)


NAN = mpmath.mpf("nan")


def _real(x: Any) -> Any:
    return mpmath.mpf(int(x)) if isinstance(x, bool) else mpmath.mpf(x) if isinstance(x, int) else x


def _at_kink(record: Record, operands: list[Any]) -> bool:
    face = mpmath_face()
    spread = [a.ravel() for a in _broadcast(operands, record.shape)]
    assert record.op.kink is not None
    return any(record.op.kink(face, *x) for x in zip(*spread, strict=True))


def _partials(record: Record, operands: list[Any], k: int, values: list[Any]) -> list[tuple[int, int, Any]]:
    """(output entry, input entry, local derivative) of the record with respect to operand k."""
    op = record.op
    if op.expr is None:
        if op.args[k] in op.linear:
            return partials.linear_partials(record, operands, k)
        return partials.general_partials(record, operands, k)
    derivative = partials.elementwise_partial(op, record.given, k, tuple(map(_integer, record.operands)))
    spread = [a.ravel() for a in _broadcast(operands, record.shape)]
    shape = np.shape(operands[k])
    own = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    places = np.broadcast_to(own, [int(n) for n in record.shape]).ravel()
    out = []
    for p, (q, *x) in enumerate(zip(places, *spread, strict=True)):
        at = tuple(map(snapped, x)) if op.kink is not None else tuple(x)
        # Outside of the domain there is no slope, even where a way through complex numbers would give one.
        outside = values[p] != values[p] and all(v == v for v in x)
        out.append((p, int(q), NAN if outside else _real(partials.scalar_call(derivative, at))))
    return out


def _integer(o: Any) -> Fraction | None:
    """The operand if it is an integer as typed, such as the exponent of x**2; such a one is no variable."""
    return Fraction(o.value) if isinstance(o, Atom) and o.kind == "number" and type(o.value) is int else None


# ------------------------------------------------------------------ the questions
def exact_gradient(out: Tensor, wrt: Tensor | list[Tensor], seed: Any = None, digits: int = 30) -> Exact:
    """The exact value of `out` and of ``Σ seed·∂out/∂x`` for each x in `wrt`.

    Parameters
    ----------
    out : Tensor
        A recorded result.
    wrt : Tensor or list of Tensor
        Leaves or intermediate results.
    seed : ndarray, optional
        The cotangent of `out`; ones by default.
    digits : int
        The number of digits on which two precisions must agree.

    Raises
    ------
    Undecided
        If no precision settles the digits.
    """
    program = Program(out, [wrt] if isinstance(wrt, Tensor) else list(wrt))
    cotangent = np.ones(out._data.shape) if seed is None else np.asarray(seed)

    def compute(_: Span) -> tuple[list[Any], Any]:
        found = program.values(program.leaf_values())
        adjoint, scale, kinks = program.gradient(found, exact_array(cotangent))
        gradients = [_of(adjoint, t) for t in program.targets]
        return [x for part in (_flat(found[program.root]), *gradients) for x in part], (scale, kinks)

    settled = settle(compute, digits)
    if settled is None:
        raise Undecided(f"{digits} digits could not be settled: what they depend on cancels too far")
    numbers, (scale, kinks) = settled
    taken = iter(numbers)

    def shaped(shape: tuple[int, ...]) -> Any:
        return _shaped([next(taken) for _ in range(int(np.prod(shape, dtype=int)))], shape)

    return Exact(
        shaped(program.root.shape),
        [shaped(t.shape) for t in program.targets],
        [_shaped(_of(scale, t), t.shape) for t in program.targets],
        kinks,
        digits,
    )


def _of(found: dict[Any, Any], target: Any) -> list[Any]:
    size = int(np.prod(target.shape, dtype=int))
    return [mpmath.mpf(0) if x is None else x for x in found.get(target) or [None] * size]


def exact_hvp(out: Tensor, wrt: list[Tensor], directions: list[Any], seed: Any = None, digits: int = 20) -> list[Any]:
    """The exact derivative of the gradient in a direction: a difference quotient of exact gradients.

    Parameters
    ----------
    out, wrt, seed
        As in `exact_gradient`.
    directions : list of ndarray
        One for each variable, which must be leaves.
    digits : int
        How many digits are wanted; the step is 10 to the minus that, in three times the precision.
    """
    program = Program(out, wrt)
    cotangent = exact_array(np.ones(out._data.shape) if seed is None else np.asarray(seed))

    def gradients(leaves: dict[Any, Any]) -> list[Any]:
        adjoint, _, _ = program.gradient(program.values(leaves), cotangent)
        return [x for t in program.targets for x in _of(adjoint, t)]

    taken = iter(_difference_quotient(program, directions, gradients, digits))
    return [_shaped([next(taken) for _ in range(int(np.prod(t.shape, dtype=int)))], t.shape) for t in program.targets]


def _difference_quotient(
    program: Program, directions: list[Any], compute: Callable[[dict[Any, Any]], list[Any]], digits: int
) -> list[Any]:
    """Numbers computed from the leaves, differentiated along the directions.

    The step is 10 to the minus `digits` of the smallest leaf, so that it is small beside each of them.
    """
    leaves = program.leaf_values()
    smallest = min((abs(x) for t in program.targets for x in _flat(leaves[t]) if x), default=mpmath.mpf(1))
    fine = max(0, -int(mpmath.floor(mpmath.log10(smallest))))
    with working(4 * digits + 2 * fine + 20):
        step = mpmath.mpf(10) ** -(digits + fine)
        sides = []
        for sign in (1, -1):
            moved = dict(leaves)
            for t, v in zip(program.targets, directions, strict=True):
                moved[t] = leaves[t] + sign * step * exact_array(np.asarray(v))
            sides.append(compute(moved))
        return [(plus - minus) / (2 * step) for plus, minus in zip(*sides, strict=True)]


def directional_difference(
    out: Tensor, wrt: list[Tensor], directions: list[Any], seed: Any = None, digits: int = 20
) -> Any:
    """``Σ seed·d out/dt`` along the directions by a difference quotient of exact values: the independent route."""
    program = Program(out, wrt)
    cotangent = _flat(exact_array(np.ones(out._data.shape) if seed is None else np.asarray(seed)))

    def value(leaves: dict[Any, Any]) -> list[Any]:
        result = _flat(program.values(leaves)[program.root])
        return [sum((c * r for c, r in zip(cotangent, result, strict=True)), mpmath.mpf(0))]

    return _difference_quotient(program, directions, value, digits)[0]
