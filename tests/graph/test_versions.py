"""A value that was saved and then written in place is never used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg


def leaf(values: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True)


def test_a_leaf_written_after_it_was_saved_is_refused() -> None:
    x = leaf([1.0, 2.0])
    z = (x * x).sum()
    with sg.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        z.backward()
    assert "MulBackward0" in str(caught.value)
    assert "add_" in str(caught.value)
    assert x.grad is None


@pytest.mark.parametrize(
    "write",
    [
        lambda d: d.zero_(),
        lambda d: d.fill_(2.0),
        lambda d: d.copy_(sg.ones(2)),
        lambda d: d.mul_(2),
        lambda d: d.__setitem__(0, 5.0),
        lambda d: d[1:].zero_(),
        lambda d: d.reshape(2, 1)[0].fill_(3.0),
    ],
)
def test_a_write_through_detach_is_seen(write: Any) -> None:
    x = leaf([1.0, 2.0])
    y = x * 1
    z = y * y
    write(y.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_write_through_data_is_not_seen() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    z = y * y
    y.data.zero_()
    z.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_what_was_not_saved_may_be_written() -> None:
    x = leaf([1.0, 2.0])
    y = x * 1
    z = y + 1
    y.detach().zero_()
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_write_before_the_record_is_no_matter() -> None:
    x = leaf([1.0, 2.0])
    with sg.no_grad():
        x.mul_(3)
    (x * x).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_training_steps_write_between_graphs() -> None:
    w = leaf([1.0, 1.0])
    for _ in range(3):
        w.grad = None
        (w * w).sum().backward()
        with sg.no_grad():
            w -= 0.25 * w.grad
    assert w.tolist() == [0.125, 0.125]
    assert w.is_leaf
    assert w.requires_grad


def test_versions_count_writes_of_all_views() -> None:
    t = sg.zeros(4)
    assert t._version == 0
    t.add_(1)
    t[:2].zero_()
    t.detach().fill_(3.0)
    assert t._version == 3
    t.data.zero_()
    assert t._version == 3
    assert t.tolist() == [0.0] * 4


def test_a_write_to_one_array_does_not_disturb_another() -> None:
    x, other = leaf([1.0, 2.0]), sg.zeros(2)
    z = (x * x).sum()
    other.add_(1)
    z.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_zero_dimensional_value_was_saved_as_a_number_which_nothing_can_write() -> None:
    x = leaf(2.0)
    y = x * 1
    z = y * y
    y.detach().zero_()
    assert y.item() == 0.0
    z.backward()
    assert x.grad.item() == 4.0


def test_a_saved_value_read_from_the_node_is_guarded() -> None:
    x = leaf([1.0, 2.0])
    node = (x * x).grad_fn
    with sg.no_grad():
        x.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        _ = node._saved_self


def test_memory_of_numpy_is_shared_and_its_writes_are_the_callers_affair() -> None:
    array = np.array([1.0, 2.0])
    t = sg.from_numpy(array)
    array[0] = 9.0
    assert t.tolist() == [9.0, 2.0]
    t.add_(1)
    assert array.tolist() == [10.0, 3.0]


def test_a_function_refuses_written_saved_tensors() -> None:
    class Square(sg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: sg.Tensor) -> sg.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: sg.Tensor) -> sg.Tensor:
            return 2 * g * ctx.saved_tensors[0]

    x = leaf([1.0, 2.0])
    y = x * 1
    z = Square.apply(y)
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    assert x.grad is None
