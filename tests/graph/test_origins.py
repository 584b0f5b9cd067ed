"""Constants remember where they come from, and keep nothing alive for it."""

import gc
import weakref

import numpy as np

import symgrad as sg
from symgrad.graph.origins import DEEPEST


def test_an_unnamed_constant_reads_as_what_it_was_computed_from():
    y = sg.tensor([1.0, -1.0])
    w = sg.ones(2, requires_grad=True)
    loss = (-y * w).sum()
    assert str(sg.formula(loss, wrt=w)) == "∂loss/∂wᵢ = −yᵢ"


def test_a_named_constant_is_its_name():
    y = sg.tensor([1.0, -1.0])
    flipped = -y
    w = sg.ones(2, requires_grad=True)
    loss = (flipped * w).sum()
    assert str(sg.formula(loss, wrt=w)) == "∂loss/∂wᵢ = flippedᵢ"


def test_operands_are_not_kept_alive():
    raw = sg.tensor(np.zeros(1000))
    gone = weakref.ref(raw)
    scaled = raw * 2
    del raw
    gc.collect()
    assert gone() is None
    assert scaled.numel() == 1000


def test_a_running_average_grows_no_history():
    average = sg.tensor(0.0)
    for k in range(100):
        average = 0.9 * average + 0.1 * sg.tensor(float(k))
    assert average._extra is not None
    depth = average._extra.origin.depth if average._extra.origin else 0
    assert depth <= DEEPEST


def test_a_changed_operand_is_not_read_through():
    y = sg.tensor([1.0, -1.0])
    w = sg.ones(2, requires_grad=True)
    loss = (-y * w).sum()
    y[0] = 5.0
    formula = sg.formula(loss, wrt=w)
    assert "y" not in str(formula).split("=")[1]
    assert [float(v) for v in formula.evaluate(20)] == [-1.0, 1.0]


def test_what_integers_and_bools_cut_or_wrap_is_not_read_as_numbers():
    x = sg.tensor(2.0, requires_grad=True)
    c = sg.tensor([3.7, -1.2])
    n = sg.tensor([100, 100], dtype=sg.int8)
    large = sg.tensor([2**40, 3])
    for factor in (c.long(), (c > 2) + (c > 0), n * 2, n + n, large * large):
        y = (x * factor).sum()
        (expected,) = sg.autograd.grad(y, x, retain_graph=True)
        assert float(sg.formula(y, wrt=x).evaluate()) == expected.item()
