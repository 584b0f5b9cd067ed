"""What the oracle takes for exact."""

from fractions import Fraction

import mpmath

import symgrad as sg
from symgrad.verify import exact_gradient


def test_a_float_parameter_is_its_double_not_its_digits():
    x = sg.tensor(1.0, requires_grad=True)
    y = sg.tensor(1.0, requires_grad=True)
    (gradient,) = exact_gradient(sg.add(x, y, alpha=0.1), y, digits=40).gradients
    with mpmath.workdps(40):
        exact = Fraction(0.1)
        assert gradient == mpmath.mpf(exact.numerator) / exact.denominator


def test_one_variable_needs_no_list():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    (gradient,) = exact_gradient((x**2).sum(), x).gradients
    assert [float(g) for g in gradient] == [2.0, 4.0]


def test_a_pole_has_no_value():
    x = sg.tensor(1.0, requires_grad=True)
    (gradient,) = exact_gradient(x / 0, x).gradients
    assert gradient != gradient
