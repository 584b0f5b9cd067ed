"""Law: of any program, value, gradient and formula are the exact ones, structural zeros included."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from hypothesis import assume, given, settings

import symgrad as sg
from symgrad.errors import FormulaError
from symgrad.verify import exact_gradient
from symgrad.verify import oracle as oracle_of

from .checks import errors, flat, nudged
from .programs import Program, programs

MOST = 64
"""Ulps of the scale for a program of up to eight ops."""


def exact(program: Program, leaves: list[np.ndarray]) -> Any:
    """The oracle's answer at these leaves."""
    out, tensors, _ = Program(leaves, program.lines).run()
    return exact_gradient(out, tensors)


def worst(numeric: list[Any], wanted: list[Any], sizes: list[Any]) -> float:
    """The largest error in ulps of the sizes."""
    parts = [errors(n, e, s, np.dtype("float64")) for n, e, s in zip(numeric, wanted, sizes, strict=True)]
    return max((e for part in parts for e in part), default=0)


def sensitivity(program: Program, oracle: Any) -> list[Any]:
    """What an ulp in every leaf would change, by size, in value and gradients; infinite where a branch flips."""
    answers = [flat(x) for x in (oracle.value, *oracle.gradients)]
    total = [[mpmath.mpf(0)] * len(a) for a in answers]
    for moved in nudged(program.leaves):
        there = exact(program, moved)
        for k, b in enumerate((there.value, *there.gradients)):
            changes = [abs(x - y) for x, y in zip(answers[k], flat(b), strict=True)]
            total[k] = [t + (c if mpmath.isfinite(c) else mpmath.inf) for t, c in zip(total[k], changes, strict=True)]
    return total


def out_of_range(out: Any, leaves: list[Any]) -> bool:
    """Whether something that has influence cannot be held by a double, or has no value at all.

    Influence is followed back through local derivatives; what an op that selects did not take has none.
    """
    program = oracle_of.Program(out, leaves)
    with mpmath.workdps(60):
        found = program.values(program.leaf_values())
        live: dict[Any, set[int]] = {program.root: set(range(out._data.size))}
        for record in reversed(program.order):
            here = live.get(record, set())
            values = flat(found[record])
            if any(not mpmath.isfinite(values[p]) or not 1e-290 < abs(values[p] or 1) < 1e290 for p in here):
                return True
            operands = [oracle_of._value(o, found) for o in record.operands]
            strong = record.op.selects or record.op.structural
            for k, o in enumerate(record.operands):
                if record.needs >> k & 1:
                    for p, q, c in oracle_of._partials(record, operands, k, values):
                        if p in here and not (strong and c == 0):
                            live.setdefault(o, set()).add(q)
                            if not mpmath.isfinite(c) or not 1e-290 < abs(c or 1) < 1e290:
                                return True
    return False


def formula_if_used(out: sg.Tensor, x: sg.Tensor) -> sg.Formula | None:
    """The derivative's formula; None where out was not computed from x at all."""
    try:
        return sg.formula(out, wrt=x)
    except FormulaError as error:
        if "not computed from" not in str(error):
            raise
        return None


@settings(max_examples=400)
@given(programs())
def test_values_gradients_and_formulas_are_exact(program: Program) -> None:
    out, leaves, _ = program.run()
    assume(out.requires_grad)
    oracle = exact_gradient(out, leaves)
    values = flat(oracle.value)
    assume(all(v == v for v in values))
    found = sg.autograd.grad(out, leaves, sg.ones_like(out), retain_graph=True, materialize_grads=True)
    for gradient, x, size in zip(oracle.gradients, leaves, oracle.scales, strict=True):
        formula = formula_if_used(out, x)
        if formula is None:
            assert not any(flat(gradient))
            continue
        jacobian = np.asarray(formula.evaluate(30), object)
        assert jacobian.shape == (*out.shape, *x.shape)
        rows = jacobian.reshape(len(values), x._data.size)
        with mpmath.workdps(40):
            for column, wanted, s in zip(rows.T, flat(gradient), flat(size), strict=True):
                if wanted == wanted:
                    off = abs(sum(column, mpmath.mpf(0)) - wanted)
                    assert off <= mpmath.mpf(10) ** -25 * (abs(wanted) + s), (formula, column, wanted)
    with mpmath.workdps(40):
        for a, b in zip(flat(sg.formula(out).evaluate(30)), values, strict=True):
            assert a == b or abs(a - b) <= mpmath.mpf(10) ** -25 * abs(b)
    numbers = [out._data, *(g._data for g in found)]
    wanted, sizes = [oracle.value, *oracle.gradients], [oracle.value, *oracle.scales]
    if worst(numbers, wanted, sizes) <= MOST or out_of_range(out, leaves):
        return
    for n, e, s, scale in zip(numbers, wanted, sensitivity(program, oracle), sizes, strict=True):
        for x, y, z, w in zip(np.ravel(n), flat(e), s, flat(scale), strict=True):
            if y == y:
                assert np.isfinite(x), (x, y)
                assert abs(mpmath.mpf(float(x)) - y) <= MOST * (z + mpmath.mpf(2) ** -52 * w), (x, y, z)
