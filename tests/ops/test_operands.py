"""Operands that are no tensors."""

import numpy as np

import symgrad as sg


def test_an_ndarray_is_copied():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    a = np.array([1.0, 2.0])
    y = (x * a).sum()
    a += 10
    y.backward()
    assert x.grad.tolist() == [1.0, 2.0]
    assert [float(v) for v in sg.formula(y, wrt=x).evaluate(20)] == [1.0, 2.0]
