"""Evaluation: digits that are right, strong brackets, values that do not exist."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaError
from symgrad.formulas.settling import settle


def evaluated(out, digits: int = 30, wrt=None):
    with np.errstate(all="ignore"):
        return sg.formula(out, wrt=wrt).evaluate(digits)


def leaf(value):
    return sg.tensor(value, requires_grad=True)


def test_as_many_digits_as_asked_for() -> None:
    x = leaf(2.0)
    with mpmath.workdps(220):
        assert abs(evaluated(sg.exp(x), 200) - mpmath.exp(2)) < mpmath.mpf(10) ** -199


def test_leaves_and_literals_are_the_doubles_that_they_are() -> None:
    x = leaf(0.1)
    with mpmath.workdps(60):
        assert evaluated(x * 10 - 1, 30) == mpmath.mpf(0.1) * 10 - 1 != 0
        assert evaluated(x * 0 + 0.3, 30) == mpmath.mpf(0.3)


def test_absorption_is_not_agreement() -> None:
    """In 45 digits and in 90 the tiny term is gone; both agree, and both are wrong."""
    tiny, huge = leaf(1e-300), leaf(1e300)
    with mpmath.workdps(700):
        assert abs(evaluated((huge + tiny) - huge.detach() * 1.0 - 0 * tiny, 20)) > 0
        found = evaluated(sg.log(1 + sg.exp(leaf(-700.0))), 20)
        assert abs(found / mpmath.exp(-700) - 1) < mpmath.mpf(10) ** -19


def test_noise_around_nought_is_nought() -> None:
    x = leaf(0.3)
    assert evaluated(sg.log(sg.exp(x) * sg.exp(x)) - 2 * x, 20) == 0
    assert evaluated(sg.sin(x) ** 2 + sg.cos(x) ** 2 - 1, 20) == 0


def test_ties_survive_rounding() -> None:
    x = leaf(1.0)
    y = sg.maximum(sg.exp(x) / sg.exp(sg.log(sg.exp(x))), x)
    assert float(evaluated(y)) == 1.0


def test_brackets_keep_out_what_has_no_value() -> None:
    x = leaf([-1.0, 0.0, 4.0])
    y = sg.where(x > 0, sg.log(x) / x, 2 * x)
    assert list(map(float, evaluated(y, 20)[:2])) == [-2.0, 0.0]
    jacobian = np.asarray(evaluated(y, 20, x), float)
    np.testing.assert_allclose(jacobian, np.diag([2, 2, (1 - np.log(4)) / 16]), rtol=1e-15)


def test_out_of_domain_is_nan() -> None:
    x = leaf([-1.0, 0.0])
    logarithm = evaluated(sg.log(x), 20)
    assert logarithm[0] != logarithm[0]
    assert logarithm[1] == -mpmath.inf
    for y in (sg.sqrt(x)[0], x[0] ** 0.5, (1 / x)[1], x[1] ** -2):
        value = evaluated(y, 20)
        assert value != value


def test_shapes_of_results() -> None:
    assert np.shape(evaluated(leaf(1.0) * 2)) == ()
    assert evaluated(leaf(np.zeros((0, 2))) * 2).shape == (0, 2)
    assert evaluated(leaf(np.ones((1, 1))) * 2).shape == (1, 1)
    assert evaluated(leaf(np.zeros((0,))).sum()) == 0


def test_settling_refuses_what_never_agrees() -> None:
    values = iter(range(100))
    assert settle(lambda span: ([mpmath.mpf(next(values)) + 1], None), 10) is None
    assert settle(lambda span: ([], "rest"), 10) == ([], "rest")


def test_what_remains_when_terms_of_far_apart_sizes_cancel() -> None:
    x = leaf(-5000.0)
    t = sg.exp(x)
    for y, limit in (
        (((1 + t) - 1) / t, 1),
        ((sg.exp(t) - 1) / t, 1),
        ((sg.exp(t) - 1 - t) / t / t, 0.5),
        ((sg.cos(t) - 1) / t / t, -0.5),
        ((sg.sin(t) / t - 1) / t / t * 3, -0.5),
        (((1 + t) ** 2 - 1) / t, 2),
    ):
        assert abs(evaluated(y) - limit) < 1e-29


def test_derivatives_far_below_the_smallest_double() -> None:
    x = leaf([[0.0, 0.0], [0.0, 800.0]])
    with np.errstate(all="ignore"):
        y = sg.softmax(sg.where(x == 0, x, x * sg.log(sg.abs(x))), 0)
    slope = evaluated(y, 20, x)[1, 1, 1, 1]
    with mpmath.workdps(3000):
        p = 1 / (1 + mpmath.mpf(800) ** -800)
        wanted = p * (1 - p) * (mpmath.log(800) + 1)
        assert abs(slope / wanted - 1) < 1e-19
    slope = evaluated(sg.tanh(x), 20, x)[1, 1, 1, 1]
    with mpmath.workdps(40):
        assert abs(slope / mpmath.sech(800) ** 2 - 1) < 1e-19


@pytest.mark.parametrize(
    "quotient",
    [
        lambda t: (sg.exp(t) - 1) / t,
        lambda t: sg.log(sg.exp(t) - 1),
        lambda t: 1 / (sg.exp(t) - 1),
        lambda t: sg.where(sg.exp(t) > 1, t, -t),
    ],
)
def test_what_would_take_too_many_digits_is_refused(quotient) -> None:
    t = sg.exp(leaf(-1e6))
    with np.errstate(all="ignore"), pytest.raises(FormulaError, match="too far apart"):
        sg.formula(quotient(t)).evaluate()


def test_what_cancels_to_less_than_anybody_can_use_is_zero() -> None:
    x = leaf([0.0, 1e300])
    assert np.all(abs(evaluated(sg.softmax(x, 0), 20, x)) < mpmath.mpf(10) ** -3000)
    assert evaluated(sg.tanh(x), 20, x)[1, 1] == 0


@pytest.mark.parametrize("data", [[3.0], [1.0, 1.0], [1e300, 1e300]])
def test_softmax_of_ties(data) -> None:
    x = leaf(data)
    assert list(map(float, evaluated(sg.softmax(x, 0), 20))) == [1 / len(data)] * len(data)
