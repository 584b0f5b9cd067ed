"""Writes into existing tensors: recorded where they can be, refused where they would corrupt."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg


def leaf(values: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True)


def iadd(y: Any, v: Any) -> Any:
    y += v
    return y


def isub(y: Any, v: Any) -> Any:
    y -= v
    return y


def imul(y: Any, v: Any) -> Any:
    y *= v
    return y


def idiv(y: Any, v: Any) -> Any:
    y /= v
    return y


def ipow(y: Any, v: Any) -> Any:
    y **= v
    return y


UPDATES = {
    "+=": (iadd, lambda y, v: y + v),
    "-=": (isub, lambda y, v: y - v),
    "*=": (imul, lambda y, v: y * v),
    "/=": (idiv, lambda y, v: y / v),
    "**=": (ipow, lambda y, v: y**v),
    "add_": (lambda y, v: y.add_(v), lambda y, v: y + v),
    "sub_": (lambda y, v: y.sub_(v), lambda y, v: y - v),
    "mul_": (lambda y, v: y.mul_(v), lambda y, v: y * v),
    "div_": (lambda y, v: y.div_(v), lambda y, v: y / v),
    "pow_": (lambda y, v: y.pow_(v), lambda y, v: y**v),
}


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("tracked", ["both", "left", "right"])
def test_an_update_of_a_result_is_recorded(name: str, shape: tuple[int, ...], tracked: str) -> None:
    update, plain = UPDATES[name]
    gradients = []
    for op in (update, plain):
        a = sg.full(shape, 1.5, requires_grad=tracked != "right")
        b = sg.full(shape, 2.5, requires_grad=tracked != "left")
        y = a * 1
        before = y
        result = op(y, b)
        assert (result is before) == (op is update)
        (result * result).sum().backward()
        gradients.append([None if t.grad is None else t.grad.tolist() for t in (a, b)])
    assert gradients[0] == gradients[1]


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_of_a_plain_tensor_writes_its_memory(name: str) -> None:
    update, plain = UPDATES[name]
    t = sg.tensor([1.5, 2.5])
    memory = t.numpy()
    expected = plain(sg.tensor([1.5, 2.5]), 2.0).tolist()
    assert update(t, 2.0) is t
    assert t.tolist() == memory.tolist() == expected
    assert (t.requires_grad, t._version) == (False, 1)


def test_an_update_keeps_what_was_saved_before() -> None:
    x = leaf([1.0, 2.0])
    y = x * 1
    z = y * y
    y += 10
    (z + y).sum().backward()
    assert x.grad.tolist() == [3.0, 5.0]


def test_an_update_by_itself() -> None:
    x = leaf([1.0, 2.0])
    y = x * 1
    y += y
    y *= y
    y.sum().backward()
    assert x.grad.tolist() == [8.0, 16.0]


def test_updates_in_a_loop_are_a_chain() -> None:
    x = leaf(2.0)
    total = sg.tensor(0.0)
    for k in range(1, 4):
        total += x**k
    total.backward()
    assert x.grad.item() == 1 + 2 * 2.0 + 3 * 4.0


def test_a_plain_tensor_becomes_tracked_by_what_is_added() -> None:
    x = leaf([1.0, 2.0])
    y = sg.zeros(2)
    y += x * 3
    assert y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_an_update_keeps_the_dtype_of_the_left_side() -> None:
    x = leaf([1.0, 2.0])
    y = (x * 1).float()
    y *= sg.tensor([3.0, 4.0], dtype=sg.float64)
    assert y.dtype == sg.float32
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    t = sg.tensor([1.0], dtype=sg.float32)
    t += sg.tensor([2.0])
    assert t.dtype == sg.float32


def test_an_update_broadcasts_its_right_side_only() -> None:
    t = sg.zeros(2, 2)
    t += sg.tensor([1.0, 2.0])
    assert t.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    with pytest.raises(RuntimeError, match="broadcast shape"):
        t += sg.ones(3, 2, 2)
    assert t.tolist() == [[1.0, 2.0], [1.0, 2.0]]


def test_leaves_are_written_under_no_grad() -> None:
    w = leaf([[1.0, -1.0], [-1.0, 1.0]])
    inputs = sg.tensor([[2.0, 1.0], [0.0, 3.0], [1.0, 0.5]])
    (inputs @ w).sum().backward()
    with sg.no_grad():
        same = w
        w -= 0.5 * w.grad
    assert same is w
    assert w.is_leaf
    assert w.requires_grad
    assert w.tolist() == [[-0.5, -2.5], [-3.25, -1.25]]


@pytest.mark.parametrize(
    "write",
    [
        lambda t: iadd(t, 1),
        lambda t: t.mul_(2),
        lambda t: t.zero_(),
        lambda t: t.fill_(2.0),
        lambda t: t.copy_(sg.ones(3)),
        lambda t: t.__setitem__(0, 5.0),
    ],
)
def test_a_refused_write_changes_nothing(write: Any) -> None:
    x = leaf([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="leaf"):
        write(x)
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert x._version == 0


@pytest.mark.parametrize(
    "look", [lambda y: y.detach(), lambda y: y.numpy(force=True), lambda y: y.data, lambda y: y[1:]]
)
def test_a_tracked_update_of_shared_memory_is_refused(look: Any) -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    view = look(y)
    with pytest.raises(RuntimeError, match="shared with a view"):
        y += x
    assert y.tolist() == [1.0, 2.0, 3.0]
    del view
    y += x
    assert y.tolist() == [2.0, 4.0, 6.0]


def test_overwriting_a_part_of_a_graph_is_refused_with_the_way_out() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    with pytest.raises(RuntimeError, match="not built yet"):
        y[0] = 5.0
    with pytest.raises(RuntimeError, match="not built yet"):
        sg.zeros(3)[0] = x[0]
    with sg.no_grad():
        y[0] = 5.0
    assert y.tolist() == [5.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("index", "value", "expected"),
    [
        (0, 5.0, [[5.0, 5.0], [2.0, 3.0]]),
        ((1, -1), 5.0, [[0.0, 1.0], [2.0, 5.0]]),
        ((slice(None), 0), sg.tensor([7.0, 8.0]), [[7.0, 1.0], [8.0, 3.0]]),
        (Ellipsis, 1, [[1.0, 1.0], [1.0, 1.0]]),
        ((slice(0, 1),), [[9.0, 8.0]], [[9.0, 8.0], [2.0, 3.0]]),
        ((Ellipsis, 1), sg.tensor([5, 6]), [[0.0, 5.0], [2.0, 6.0]]),
    ],
)
def test_entries_of_plain_tensors_can_be_written(index: Any, value: Any, expected: Any) -> None:
    t = sg.arange(4.0).reshape(2, 2)
    t[index] = value
    assert t.tolist() == expected


def test_fill_copy_and_zero() -> None:
    t = sg.ones(2, 2)
    assert t.fill_(3.0) is t
    assert t.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert t.copy_(sg.tensor([1, 2])).tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert t.zero_().tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert t.fill_(sg.tensor(2.0)).tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_write_reaches_all_views() -> None:
    t = sg.zeros(2, 2)
    row, column = t[0], t[:, 0]
    t.add_(1)
    row.mul_(5)
    assert column.tolist() == [5.0, 1.0]


def test_a_scalar_tensor_is_written_where_it_stands() -> None:
    t = sg.tensor(1.0)
    alias = t.detach()
    t += 2
    assert (t.item(), alias.item()) == (3.0, 3.0)
