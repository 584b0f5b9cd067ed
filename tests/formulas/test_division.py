"""Division of indices: carried out where the ranges settle it, and right wherever it is."""

import itertools

import numpy as np
import pytest

import symgrad as sg
from symgrad.formulas.arithmetics import Numbers
from symgrad.formulas.division import floordiv, mod, rejoined
from symgrad.formulas.evaluate import Evaluator
from symgrad.formulas.terms import ZERO, add, index, mul, num

I, J = index(4), index(3)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (I, 4),
        (I, 3),
        (add(mul(num(3), I), J), 3),
        (add(mul(num(3), I), J), 6),
        (add(mul(num(6), I), J, num(4)), 6),
        (add(mul(num(4), I), mul(num(-1), J), num(2)), 4),
        (add(I, num(-1)), 4),
        (num(7), 3),
    ],
)
def test_quotient_and_rest_are_right_for_all_indices(a, b):
    q, r = floordiv(a, num(b)), mod(a, num(b))
    evaluator = Evaluator(Numbers(), {})
    for i, j in itertools.product(range(4), range(3)):
        env = {I: i, J: j}
        value = evaluator._index(a, env)
        assert (evaluator._index(q, env), evaluator._index(r, env)) == divmod(value, b)


def test_what_the_ranges_settle_is_carried_out():
    flat = add(mul(num(3), I), J)
    assert floordiv(flat, num(3)) == I
    assert mod(flat, num(3)) == J
    assert floordiv(I, num(4)) == ZERO


def test_quotient_and_rest_join_again():
    a = add(mul(num(3), I), J)
    parts = add(mul(num(5), floordiv(a, num(5))), mod(a, num(5)))
    assert rejoined(parts) == a


@pytest.mark.parametrize(("shape", "new"), [((3, 4), (12,)), ((4, 6), (8, 3)), ((2, 1, 6), (3, 4)), ((12,), (3, 2, 2))])
def test_a_square_of_reshaped_entries_is_a_square_of_entries(shape, new):
    A = sg.tensor(np.arange(12.0 if np.prod(shape) == 12 else 24.0).reshape(shape), requires_grad=True)
    y = (A.reshape(new) ** 2).sum()
    gradient = sg.formula(y, wrt=A)
    assert "div" not in str(gradient).replace("wrt", "")
    assert np.array_equal(np.vectorize(float)(gradient.evaluate(20)), 2 * A.detach().numpy())
