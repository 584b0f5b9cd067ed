"""The algebra of terms: normal form, equality, numbers as typed and as they are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symgrad.formulas import terms
from symgrad.formulas.build import FACE
from symgrad.formulas.conditions import delta
from symgrad.formulas.sums import substitute
from symgrad.formulas.terms import ONE, ZERO, index, num

from .algebra import M, N, a, b, c, heads, u, v, value


def test_order_does_not_matter() -> None:
    assert a + b == b + a
    assert a * b * c == c * (b * a)
    assert hash(a + b * c) == hash(c * b + a)
    assert a + b != a * b


def test_like_terms_and_like_bases_are_combined() -> None:
    assert a + a == 2 * a
    assert a - a == ZERO
    assert a * a == a**2
    assert a / a == ONE
    assert (a * b) ** 2 == a**2 * b**2
    assert FACE.exp(a) ** 2 == FACE.exp(2 * a)


def test_what_is_not_equal_stays_apart() -> None:
    assert (a**2) ** num(Fraction(1, 2)) != a  # it is |a|
    assert value((b**2) ** num(Fraction(1, 2))) == 0.5
    assert value(FACE.sqrt(b * b)) == 0.5
    assert value((b**2) ** a) == pytest.approx(0.25**1.25)


def test_a_float_remembers_how_it_was_typed_and_what_it_is() -> None:
    shown, exact = num(0.1).args
    assert shown == Fraction(1, 10)
    assert exact == Fraction(0.1) != shown
    product = (num(0.1) * num(3)).args
    assert product == (Fraction(3, 10), 3 * Fraction(0.1))


def test_integers_stay_exact() -> None:
    assert (num(10) ** 30 * num(3)).args[1] == 3 * 10**30
    assert num(2) ** -3 == num(Fraction(1, 8))


def test_brackets() -> None:
    above = FACE.where(FACE.gt(a, b), 1, 0)
    assert above * above == above  # 1·1 = 1, 0·0 = 0
    assert FACE.where(FACE.lt(num(1), num(2)), a, b) == a
    assert FACE.where(FACE.gt(a, b), c, c) == c
    assert value(FACE.where(FACE.lt(a, b), 1 / (a - a + 1), c)) == 3.0
    assert value(FACE.negate(FACE.gt(a, b))) == 0.0


def test_a_bracket_that_does_not_hold_wins_over_what_has_no_value() -> None:
    assert terms.mul(ZERO, terms.power(ZERO, num(-1))) == ZERO
    assert value(FACE.where(FACE.lt(a, b), FACE.log(b), 0)) == 0.0


def test_deltas() -> None:
    i, j, one = index(N), index(N), index(1)
    assert delta(i, i) == ONE
    assert delta(num(1), num(2)) == ZERO
    assert delta(i, i + 1) == ZERO
    assert delta(i, j) == delta(j, i)
    assert delta(one, index(1)) == ONE  # both can only be 0
    assert delta(i, j) ** 2 == delta(i, j)
    assert value(delta(i, 2 - j), {i: 2, j: 0}) == 1.0


def test_an_index_is_compared_by_its_range_where_that_decides() -> None:
    i = index(N)
    assert FACE.where(FACE.ge(i, 0), a, b) == a
    assert FACE.where(FACE.lt(i, 3), a, b) == a
    assert FACE.where(FACE.lt(i, 0), a, b) == b
    assert FACE.where(FACE.lt(i, 2), a, b) not in (a, b)


def test_substitution_reaches_everywhere_and_normalises() -> None:
    i, j = index(N), index(N)
    t = u(i) * FACE.exp(M(i, j)) + delta(i, j) * v(i + 1)
    at = substitute(t, {i: num(1), j: num(1)})
    assert at == u(1) * FACE.exp(M(1, 1)) + v(2)
    assert "IDX" not in heads(at)


def test_indices_of_products_of_reshaping() -> None:
    i = index(6)
    assert FACE.mod(i, 6) == i
    assert FACE.floordiv(i, 6) == ZERO
    assert [value(3 * FACE.floordiv(i, 3) + FACE.mod(i, 3), {i: k}) for k in range(6)] == list(range(6))


def test_inverse_of_a_slice() -> None:
    i = index(7)
    place, inside = FACE.preimage(i, 1, 2, 3, 7)  # entries 1, 3, 5
    assert [value(inside, {i: k}) for k in range(7)] == [0, 1, 0, 1, 0, 1, 0]
    assert [value(place, {i: k}) for k in (1, 3, 5)] == [0, 1, 2]
    assert FACE.preimage(i, 0, 1, 0, 7)[1] == ZERO
