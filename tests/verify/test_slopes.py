"""One-sided slopes: the function's own, at kinks of its parts."""

import pytest

import symgrad as sg
from symgrad.verify import one_sided_slopes


@pytest.mark.parametrize(
    ("make", "below", "above"),
    [
        (lambda x: sg.relu(x) - sg.relu(-x), 1, 1),
        (lambda x: sg.abs(x), -1, 1),
        (lambda x: sg.maximum(x, 2 * x), 1, 2),
        (lambda x: sg.where(x > 0, x, x * x), 0, 1),
        (lambda x: sg.exp(x), 1, 1),
    ],
)
def test_slopes_at_zero(make, below, above):
    x = sg.tensor(0.0, requires_grad=True)
    ((low, high),) = one_sided_slopes(make(x), [x])
    assert abs(low - below) < 1e-15
    assert abs(high - above) < 1e-15


def test_entry_by_entry():
    x = sg.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    ((low, high),) = one_sided_slopes((sg.abs(x) * sg.tensor([1.0, 2.0, 3.0])).sum(), [x])
    assert [round(float(v), 12) for v in low] == [-1, -2, 3]
    assert [round(float(v), 12) for v in high] == [-1, 2, 3]
