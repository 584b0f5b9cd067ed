"""Law: the gradient of the gradient is the exact second derivative, where there is one."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.ops.declare import Op
from symgrad.verify import exact_gradient, exact_hvp
from symgrad.verify.oracle import directional_difference

from .checks import assert_close, flat, without_noise
from .inputs import DIFFERENTIABLE, Case, cases, cotangents, named

MOST = 16


def exact(case: Case, operands: list[np.ndarray], seed: np.ndarray, directions: list[np.ndarray]) -> list[Any]:
    """Second derivatives along the directions, by operand."""
    at = Case(case.op, operands, case.params)
    leaves = at.leaves()
    with np.errstate(all="ignore"):
        found = exact_hvp(at.run(*leaves), [t for t in leaves if t.requires_grad], directions, seed)
    return list(map(without_noise, found))


def scales(case: Case, seed: np.ndarray, directions: list[np.ndarray]) -> list[Any]:
    """The same with the contribution of every entry of the directions taken by size."""
    total: list[Any] = [np.full(d.shape, mpmath.mpf(0), object) for d in directions]
    for k, d in enumerate(directions):
        for place in np.ndindex(*d.shape):
            alone = [np.zeros_like(v) for v in directions]
            alone[k][place] = d[place]
            found = exact(case, case.operands, seed, alone)
            total = [t + np.abs(np.asarray(f, object)) for t, f in zip(total, found, strict=True)]
    return total


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=named)
@settings(max_examples=20)
@given(data=st.data())
def test_the_gradient_of_the_gradient_is_the_second_derivative(op: Op, data: Any) -> None:
    case = data.draw(cases(op, tame=True))
    leaves = case.leaves()
    wanted = [t for t in leaves if t.requires_grad]
    out = case.run(*leaves)
    assume(out.requires_grad and all(np.isfinite(t._data).all() for t in (out, *leaves)))
    seed = data.draw(cotangents(out.shape, out._data.dtype))
    first = exact_gradient(out, wanted, seed)
    assume(not first.kinks and not any(x != x for g in first.gradients for x in flat(g)))
    directions = [data.draw(cotangents(t.shape, t._data.dtype)) for t in wanted]
    found = sg.autograd.grad(out, wanted, sg.tensor(seed), create_graph=True, materialize_grads=True)
    tracked = [(g, v) for g, v in zip(found, directions, strict=True) if g.requires_grad]
    if tracked:
        second = sg.autograd.grad(
            [g for g, _ in tracked], wanted, [sg.tensor(v) for _, v in tracked], materialize_grads=True
        )
    else:  # the gradient is constant
        second = [sg.zeros_like(t) for t in wanted]
    oracle = exact(case, case.operands, seed, directions)
    sizes = scales(case, seed, directions)
    for k, (leaf, h) in enumerate(zip(wanted, second, strict=True)):
        assert h.shape == leaf.shape
        assert_close(
            h._data, oracle[k], leaf._data.dtype, MOST, case.operands,
            lambda o, k=k: exact(case, o, seed, directions)[k], sizes[k],
        )  # fmt: skip


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=named)
@settings(max_examples=10)
@given(data=st.data())
def test_the_oracle_agrees_with_a_difference_quotient(op: Op, data: Any) -> None:
    """Its independent route: values alone, no derivative of SymPy's."""
    case = data.draw(cases(op, tame=True))
    leaves = case.leaves()
    wanted = [t for t in leaves if t.requires_grad]
    out = case.run(*leaves)
    seed = data.draw(cotangents(out.shape, out._data.dtype))
    first = exact_gradient(out, wanted, seed)
    assume(not first.kinks and all(mpmath.isfinite(x) for g in (first.value, *first.gradients) for x in flat(g)))
    directions = [data.draw(cotangents(t.shape, t._data.dtype)) for t in wanted]
    quotient = without_noise(directional_difference(out, wanted, directions, seed))
    along = [
        (g * float(v), s * abs(float(v)))
        for gs, ss, vs in zip(first.gradients, first.scales, directions, strict=True)
        for g, s, v in zip(flat(gs), flat(ss), vs.ravel(), strict=True)
    ]
    size = sum((s for _, s in along), mpmath.mpf(0))
    assert abs(quotient - sum((g for g, _ in along), mpmath.mpf(0))) <= mpmath.mpf(10) ** -15 * size
