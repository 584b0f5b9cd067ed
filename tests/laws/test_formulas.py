"""Law: the formula of a value and of its derivatives is exact; entries and numbers say the same."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.ops.declare import Op
from symgrad.verify import exact_gradient, exact_hvp

from .checks import flat, same_digits, without_noise
from .inputs import DIFFERENTIABLE, Case, cases, cotangents, named

DIGITS = 25


def prepared(case: Case) -> tuple[Any, list[Any]]:
    """The result and the leaves to differentiate by."""
    leaves = case.leaves()
    with np.errstate(all="ignore"):
        return case.run(*leaves), [t for t in leaves if t.requires_grad]


def contracted(jacobian: Any, seed: np.ndarray, shape: tuple[int, ...]) -> list[tuple[Any, Any]]:
    """Σ seed·∂out/∂x, and the same by size, for every entry of x."""
    rows = np.asarray(jacobian, object).reshape(seed.size, int(np.prod(shape, dtype=int)))
    weights = [mpmath.mpf(float(s)) for s in seed.ravel()]
    out = []
    for column in rows.T:
        parts = [w * c for w, c in zip(weights, column, strict=True) if w]
        out.append((sum(parts, mpmath.mpf(0)), sum(map(abs, parts), mpmath.mpf(0))))
    return out


def assert_same(found: list[tuple[Any, Any]], exact: Any, digits: int) -> None:
    """Equal to that many digits of the size; where the oracle has no derivative nothing is promised."""
    for (value, size), wanted in zip(found, flat(exact), strict=True):
        if mpmath.isfinite(wanted) and value != wanted:
            off = abs(value - wanted)
            assert off <= mpmath.mpf(10) ** -digits * max(size, abs(wanted)), (value, wanted)


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=named)
@settings(max_examples=25)
@given(data=st.data())
def test_formulas_are_exact(op: Op, data: Any) -> None:
    out, wanted = prepared(data.draw(cases(op)))
    seed = data.draw(cotangents(out.shape, out._data.dtype))
    oracle = exact_gradient(out, wanted, seed)
    same_digits(sg.formula(out).evaluate(30), oracle.value, DIGITS)
    for k, x in enumerate(wanted):
        jacobian = sg.formula(out, wrt=x).evaluate(30)
        assert np.shape(jacobian) == (*out.shape, *x.shape)
        with mpmath.workdps(40):
            assert_same(contracted(jacobian, seed, x.shape), oracle.gradients[k], DIGITS)


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=named)
@settings(max_examples=12)
@given(data=st.data())
def test_second_derivatives_are_exact(op: Op, data: Any) -> None:
    out, wanted = prepared(data.draw(cases(op, tame=True)))
    assume(out._data.size * max(t._data.size for t in wanted) ** 2 <= 64)
    seed = data.draw(cotangents(out.shape, out._data.dtype))
    first = exact_gradient(out, wanted, seed)
    assume(not first.kinks and not any(x != x for g in first.gradients for x in flat(g)))
    for k, x in enumerate(wanted):
        direction = data.draw(cotangents(x.shape, x._data.dtype))
        directions = [direction if j == k else np.zeros(t.shape) for j, t in enumerate(wanted)]
        oracle = list(map(without_noise, exact_hvp(out, wanted, directions, seed)))
        for j, y in enumerate(wanted):
            hessian = sg.formula(out, wrt=(y, x)).evaluate(25)
            assert np.shape(hessian) == (*out.shape, *y.shape, *x.shape)
            with mpmath.workdps(40):
                both = np.multiply.outer(seed, direction)
                moved = np.moveaxis(
                    np.asarray(hessian, object),
                    range(out.ndim + y.ndim, out.ndim + y.ndim + x.ndim),
                    range(out.ndim, out.ndim + x.ndim),
                )
                assert_same(contracted(moved, both, y.shape), oracle[j], 15)


def substituted(expression: Any, values: dict[str, np.ndarray]) -> Any:
    """An entry with the leaves' exact values put in for its symbols."""

    def exact(x: Any) -> sympy.Rational:
        f = Fraction(float(x))
        return sympy.Rational(f.numerator, f.denominator)

    mapping = {e: exact(values[str(e.base.label)][tuple(map(int, e.indices))]) for e in expression.atoms(sympy.Indexed)}
    mapping |= {
        s: exact(values[s.name]) for s in expression.free_symbols if s.name in values and not values[s.name].shape
    }
    return expression.xreplace(mapping).evalf(30)


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=named)
@settings(max_examples=6)
@given(data=st.data())
def test_entries_say_what_evaluate_says(op: Op, data: Any) -> None:
    case = data.draw(cases(op, tame=True))
    assume(0.1 not in case.params)  # entries write it as typed, 1/10; evaluate takes the double that it is
    leaves = [
        sg.tensor(o, requires_grad=d, name=f"v{k}")
        for k, (o, d) in enumerate(zip(case.operands, case.differentiable, strict=True))
    ]
    out = case.run(*leaves)
    values = {f"v{k}": o for k, o in enumerate(case.operands)}
    for wrt in (None, next(t for t in leaves if t.requires_grad)):
        formula = sg.formula(out, wrt=wrt)
        numbers, entries = formula.evaluate(30), formula.entries()
        assert np.shape(entries) == np.shape(numbers)
        for e, n in zip(np.ravel(entries), flat(numbers), strict=True):
            found = substituted(e, values)
            assert isinstance(e, sympy.Basic)
            if mpmath.isfinite(n):
                with mpmath.workdps(30):
                    assert abs(mpmath.mpf(str(found)) - n) <= mpmath.mpf(10) ** -20 * max(abs(n), 1), (e, found, n)
