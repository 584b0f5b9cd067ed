"""Derivatives of powers keep their digits: y − 1 is rounded, and far from 1 a base notices."""

import mpmath
import numpy as np
import pytest

import symgrad as sg


@pytest.mark.parametrize("exponent", [0.3, 0.1, -1.7, 1 / 3, 2.3, 1e17])
@pytest.mark.parametrize("base", [1e-300, 1e-20, 1e-8, 0.5, 1.0000000001, 1e10, 5e-324])
@pytest.mark.parametrize("tracked", [False, True])
def test_slopes_and_curvatures_are_right_to_two_units(base: float, exponent: float, tracked: bool) -> None:
    x = sg.tensor([base], requires_grad=True)
    y = sg.tensor(exponent, requires_grad=True) if tracked else exponent
    with np.errstate(all="ignore"):
        (slope,) = sg.autograd.grad((x**y).sum(), x, create_graph=True)
        (curvature,) = sg.autograd.grad(slope.sum(), x)
    with mpmath.workdps(60):
        b, e = mpmath.mpf(base), mpmath.mpf(exponent)
        exact = [e * b ** (e - 1), e * (e - 1) * b ** (e - 2)]
        for got, right in zip((slope, curvature), exact, strict=True):
            if 1e-300 < abs(right) < 1e307:
                assert abs(got.item() - right) <= 2.5 * float(np.spacing(float(abs(right))))


def test_the_edges_stay_what_they_were() -> None:
    with np.errstate(all="ignore"):
        for base, slopes in ((0.0, [np.inf, -np.inf, 0.0]), (np.inf, [0.0, 0.0, np.inf]), (-1.0, [np.nan] * 3)):
            x = sg.tensor(base, requires_grad=True)
            np.testing.assert_array_equal([sg.autograd.grad(x**p, x)[0].item() for p in (0.3, -1.7, 2.3)], slopes)


def test_a_narrow_base_stays_narrow() -> None:
    x = sg.tensor([1e-20, 2.0], dtype=sg.float32, requires_grad=True)
    (slope,) = sg.autograd.grad((x**0.3).sum(), x)
    assert slope.dtype == sg.float32
