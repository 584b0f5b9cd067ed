"""Half precision: what only passes through numbers that it cannot hold comes out right."""

import numpy as np

import symgrad as sg


def test_the_mean_of_more_ones_than_half_precision_can_count() -> None:
    x = sg.tensor(np.ones(70_000), dtype=sg.float16, requires_grad=True)
    out = x.mean()
    (gradient,) = sg.autograd.grad(out, x)
    assert out.dtype == gradient.dtype == sg.float16
    assert out.item() == 1
    assert np.unique(gradient.numpy()) == np.float16(1 / 70_000)


def test_a_mean_along_a_dimension_whose_sum_is_too_large() -> None:
    x = sg.tensor(np.full((2, 300), 300.0), dtype=sg.float16, requires_grad=True)
    out = x.mean(1, keepdim=True)
    assert out.tolist() == [[300.0], [300.0]]
    assert out.dtype == sg.float16


def test_division_by_a_number_that_half_precision_cannot_hold() -> None:
    x = sg.tensor([2.0, 7.0], dtype=sg.float16, requires_grad=True)
    out = x / 100_000
    np.testing.assert_array_equal(out.detach().numpy(), np.array([2e-5, 7e-5], np.float16))
    np.testing.assert_array_equal(sg.autograd.grad(out.sum(), x)[0].numpy(), np.array([1e-5, 1e-5], np.float16))
    assert (sg.tensor(2.0, dtype=sg.float16) / -100_000).item() == np.float16(-2e-5)
