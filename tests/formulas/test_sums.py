"""Sums: what leaves them, deltas, capture of indices, equality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.formulas.build import FACE
from symgrad.formulas.conditions import delta
from symgrad.formulas.sums import substitute
from symgrad.formulas.terms import ONE, ZERO, index, num

from .algebra import VALUES, M, N, a, b, c, heads, u, v, value

U, V, MATRIX = VALUES["u"], VALUES["v"], VALUES["M"]


def test_sums_over_nothing_and_over_one_value() -> None:
    assert FACE.sum(0, u) == ZERO
    assert FACE.sum(1, u) == u(0)
    assert FACE.sum(5, lambda k: a) == 5 * a


def test_constants_leave() -> None:
    assert FACE.sum(N, lambda k: a * u(k) / b) == a / b * FACE.sum(N, u)
    assert FACE.sum(N, lambda k: 2 * u(k)) == 2 * FACE.sum(N, u)
    i = index(N)
    assert FACE.sum(N, lambda k: u(i) * v(k)) == u(i) * FACE.sum(N, v)


def test_equal_sums_are_equal_whatever_their_letters() -> None:
    assert FACE.sum(N, lambda k: u(k) * v(k)) == FACE.sum(N, lambda m: v(m) * u(m))
    assert FACE.sum(N, u) != FACE.sum(N, v)
    nested = FACE.sum(N, lambda k: u(k) * FACE.sum(N, lambda m: M(k, m)))
    assert nested == FACE.sum(N, lambda p: FACE.sum(N, lambda q: M(p, q)) * u(p))
    assert nested != FACE.sum(N, lambda k: u(k) * FACE.sum(N, lambda m: M(m, k)))


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda i: FACE.sum(N, lambda k: delta(k, i) * u(k)), lambda i: U[i]),
        (lambda i: FACE.sum(N, lambda k: delta(i, k)), lambda i: 1.0),
        (lambda i: FACE.sum(N, lambda k: delta(k + 1, i) * u(k)), lambda i: U[i - 1] if i >= 1 else 0.0),
        (lambda i: FACE.sum(N, lambda k: delta(2 - k, i) * u(k)), lambda i: U[2 - i]),
        (lambda i: FACE.sum(2, lambda k: delta(k, i) * u(k)), lambda i: U[i] if i < 2 else 0.0),
        (lambda i: FACE.sum(N, lambda k: (delta(k, i) - u(k)) * v(k)), lambda i: V[i] - U @ V),
        (lambda i: FACE.sum(N, lambda k: delta(2 * k, i) * u(k)), lambda i: U[i // 2] if i % 2 == 0 else 0.0),
        (lambda i: FACE.sum(N, lambda k: delta(k, i) * FACE.sum(N, lambda m: M(k, m))), lambda i: MATRIX[i].sum()),
        (lambda i: FACE.sum(N, lambda k: FACE.sum(N, lambda m: delta(k, m) * M(k, m))), lambda i: MATRIX.trace()),
        (lambda i: FACE.sum(N, lambda k: u(k) ** delta(k, i)), lambda i: U[i] + 2),
    ],
)  # fmt: skip
def test_deltas_are_contracted(make, wanted) -> None:
    i = index(N)
    t = make(i)
    for k in range(N):
        assert value(t, {i: k}) == pytest.approx(wanted(k))


def test_a_contracted_delta_leaves_no_trace() -> None:
    i = index(N)
    assert FACE.sum(N, lambda k: delta(k, i) * u(k)) == u(i)
    assert FACE.sum(N, lambda k: delta(k, i)) == ONE
    assert FACE.sum(N, lambda k: FACE.sum(N, lambda m: delta(k, m) * u(k) * v(m))) == FACE.sum(N, lambda k: u(k) * v(k))


def test_a_bound_index_is_not_captured() -> None:
    """Σⱼ Mᵢⱼ with i replaced by what another sum binds keeps the two apart."""
    i = index(N)
    row = FACE.sum(N, lambda j: M(i, j) * u(j))
    total = FACE.sum(N, lambda k: v(k) * substitute(row, {i: k}))
    assert value(total) == pytest.approx(V @ MATRIX @ U)
    square = FACE.sum(N, lambda k: substitute(row, {i: k}) * substitute(row, {i: k}))
    assert value(square) == pytest.approx((MATRIX @ U) @ (MATRIX @ U))


def test_products_of_sums_inside_of_sums() -> None:
    t = FACE.sum(N, lambda i: FACE.sum(N, lambda j: M(i, j)) * FACE.sum(N, lambda j: M(j, i)) ** 2)
    assert value(t) == pytest.approx((MATRIX.sum(1) * MATRIX.sum(0) ** 2).sum())
    deep = FACE.sum(
        N, lambda i: u(i) * FACE.exp(FACE.sum(N, lambda j: M(i, j) * FACE.sum(N, lambda k: M(j, k) * v(k))))
    )
    assert value(deep) == pytest.approx(U @ np.exp(MATRIX @ MATRIX @ V))


def test_addends_without_the_index_count() -> None:
    t = FACE.sum(N, lambda k: u(k) + a + 1)
    assert value(t) == pytest.approx(U.sum() + 3 * 2.25)
    assert "SUM" in heads(t)


@given(st.integers(-3, 3), st.integers(-3, 3), st.integers(1, 4), st.integers(1, 4))
def test_affine_deltas(step: int, start: int, inner: int, outer: int) -> None:
    """Σₖ [step·k + start = i]·f(k) for every step, also where no or several values of k fit."""
    i = index(outer)
    t = FACE.sum(inner, lambda k: delta(FACE.affine(k, step, start), i) * FACE.exp(k * a) * b)
    for at in range(outer):
        wanted = sum(-0.5 * np.exp(1.25 * k) for k in range(inner) if step * k + start == at)
        assert value(t, {i: at}) == pytest.approx(wanted)


def test_numbers_of_any_kind_leave() -> None:
    assert FACE.sum(N, lambda k: num(0.1) * u(k)) == num(0.1) * FACE.sum(N, u)
    assert FACE.sum(N, lambda k: -u(k)) == -FACE.sum(N, u)
    assert FACE.sum(N, lambda k: c) == 3 * c
