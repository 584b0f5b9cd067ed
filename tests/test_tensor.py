"""Tensors: what they are, their gradient state, and the ways to their values."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg


def leaf(values: Any, **named: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True, **named)


# ------------------------------------------------------------------ shape and size
def test_shapes_are_sizes_and_sizes_are_tuples() -> None:
    t = sg.ones(2, 3)
    assert t.shape == t.size() == (2, 3)
    assert isinstance(t.shape, tuple)
    assert (t.size(0), t.size(-1), t.ndim, t.dim(), t.numel(), t.nelement(), sg.numel(t)) == (2, 3, 2, 2, 6, 6, 6)
    assert t.shape.numel() == 6
    assert sg.tensor(1.0).shape.numel() == 1
    assert repr(t.shape + (1,)) == "symgrad.Size([2, 3, 1])"  # noqa: RUF005
    assert repr(t.shape[:1]) == "symgrad.Size([2])"
    assert t.shape[0] == 2
    rows, columns = t.shape
    assert (rows, columns) == (2, 3)


def test_length_and_iteration_go_over_the_first_dimension() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    assert len(x) == 2
    rows = list(x)
    assert [r.tolist() for r in rows] == [[1.0, 2.0], [3.0, 4.0]]
    (rows[0] * rows[1]).sum().backward()
    assert x.grad.tolist() == [[3.0, 4.0], [1.0, 2.0]]


def test_membership_compares_entries() -> None:
    assert 1.0 in sg.tensor([1.0, 2.0])
    assert 3.0 not in sg.tensor([1.0, 2.0])


# ------------------------------------------------------------------ gradient state
def test_requires_grad_is_off_until_asked_for_and_can_be_changed() -> None:
    d = sg.zeros(2)
    assert not d.requires_grad
    d.requires_grad = True
    assert d.requires_grad
    assert d.requires_grad_(False) is d
    assert not d.requires_grad
    assert d.requires_grad_() is d
    assert d.requires_grad


def test_what_was_recorded_before_and_after_requires_grad() -> None:
    a = sg.ones(2)
    b = (a * a).sum()
    a.requires_grad_()
    c = (a * a).sum()
    assert (b.requires_grad, c.requires_grad) == (False, True)
    c.backward()
    assert a.grad.tolist() == [2.0, 2.0]


def test_leaves_are_what_users_made_and_what_needs_no_gradient() -> None:
    x = leaf(2.0)
    z = x**2
    assert (x.is_leaf, z.is_leaf) == (True, False)
    assert (sg.ones(2) + 1).is_leaf
    assert (sg.ones(2) + 1).requires_grad_().is_leaf
    assert z.detach().is_leaf
    assert (x.detach() * 2).is_leaf
    assert [t.is_leaf for t in (x * 1, x.reshape(1), x.clone())] == [False] * 3
    z.backward()
    assert x.grad.is_leaf


def test_a_non_leaf_may_be_told_to_require_what_it_requires() -> None:
    y = leaf(2.0) * 2
    assert y.requires_grad_() is y
    assert not y.is_leaf


def test_a_gradient_can_be_assigned_and_cleared() -> None:
    x = leaf([1.0, 2.0])
    g = sg.tensor([5.0, 6.0])
    x.grad = g
    assert x.grad is g
    x.sum().backward()
    assert g.tolist() == [6.0, 7.0]
    x.grad = None
    assert x.grad is None


# ------------------------------------------------------------------ detach and data
def test_detach_gives_the_values_on_the_same_memory_outside_the_graph() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x.detach()
    assert (y is x, y.requires_grad, y.grad_fn, y.is_leaf) == (False, False, None, True)
    y[0] = 9.0
    assert x.tolist() == [9.0, 2.0, 3.0]
    m = x * 2
    n = m.detach()
    assert (m.requires_grad, n.requires_grad, n.is_leaf) == (True, False, True)


def test_detach_cuts_the_graph() -> None:
    x = leaf([1.0, 2.0, 3.0])
    (x.detach() * x).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 3.0]


def test_detach_in_place_makes_a_leaf() -> None:
    x = leaf([1.0, 2.0])
    y = x * 2
    assert y.detach_() is y
    assert (y.requires_grad, y.is_leaf, y.grad_fn) == (False, True, None)
    assert y.tolist() == [2.0, 4.0]


def test_zero_dimensional_tensors_share_memory_too() -> None:
    x = leaf(2.0)
    y = x.detach()
    y.fill_(5.0)
    assert x.item() == 5.0
    array = x.detach().numpy()
    array[()] = 7.0
    assert (x.item(), y.item()) == (7.0, 7.0)


def test_data_shares_memory_and_its_writes_are_not_seen() -> None:
    x = leaf([1.0, 2.0, 3.0])
    assert (x.data.requires_grad, x.data.is_leaf) == (False, True)
    y = (x * x).sum()
    x.data[0] = 10.0
    assert x.tolist() == [10.0, 2.0, 3.0]
    y.backward()
    assert x.grad.tolist() == [20.0, 4.0, 6.0]


def test_data_can_be_replaced() -> None:
    x = leaf([1.0, 2.0, 3.0])
    x.data = sg.tensor([5.0, 6.0])
    assert x.tolist() == [5.0, 6.0]
    assert x.requires_grad
    assert x.is_leaf


# ------------------------------------------------------------------ values
def test_numpy_shares_memory() -> None:
    t = sg.tensor([1.0, 2.0])
    array = t.numpy()
    array[0] = 9.0
    assert t.tolist() == [9.0, 2.0]
    t[1] = 8.0
    assert array.tolist() == [9.0, 8.0]
    assert array.dtype == np.float64
    assert np.asarray(t).tolist() == [9.0, 8.0]
    assert np.array(t, dtype=np.float32).dtype == np.float32


def test_numpy_of_a_tracked_tensor_can_be_forced() -> None:
    x = leaf([1.0, 2.0])
    assert x.numpy(force=True).tolist() == [1.0, 2.0]
    with sg.no_grad():
        assert (x**2).numpy().tolist() == [1.0, 4.0]


@pytest.mark.parametrize(("value", "kind"), [(2.5, float), (3, int), (True, bool)])
def test_item_is_a_python_number(value: Any, kind: type) -> None:
    for t in (sg.tensor(value), sg.tensor([value]), sg.tensor([[value]])):
        assert t.item() == value
        assert type(t.item()) is kind
    assert type(sg.tensor([value]).tolist()[0]) is kind
    assert type(sg.tensor(value).tolist()) is kind


def test_item_and_tolist_work_on_tracked_tensors() -> None:
    x = leaf([1.0, 2.0])
    assert x.tolist() == [1.0, 2.0]
    assert x[1].item() == 2.0
    assert (x * 2).tolist() == [2.0, 4.0]


def test_python_numbers_from_tensors() -> None:
    assert float(sg.tensor(2)) == 2.0
    assert int(sg.tensor([3.7])) == 3
    assert [10, 20, 30][sg.tensor(1)] == 20
    assert list(range(sg.tensor(2))) == [0, 1]
    assert math.sqrt(sg.tensor(4.0)) == 2.0


@pytest.mark.parametrize(
    ("value", "truth"), [(0.0, False), (2.0, True), (math.nan, True), (False, False), ([[3]], True)]
)
def test_one_entry_has_a_truth_value(value: Any, truth: bool) -> None:
    assert bool(sg.tensor(value)) is truth


def test_a_branch_on_a_tracked_tensor_changes_no_gradient() -> None:
    x = leaf(2.0)
    y = x * 3 if x > 1 else x
    y.backward()
    assert x.grad.item() == 3.0


# ------------------------------------------------------------------ comparison, copies, identity
def test_equal_compares_shapes_and_values() -> None:
    a = sg.tensor([1.0, 2.0])
    assert sg.equal(a, sg.tensor([1.0, 2.0], dtype=sg.float32))
    assert sg.equal(a, sg.tensor([1, 2]))
    assert not sg.equal(a, sg.tensor([1.0, 3.0]))
    assert not sg.equal(a, sg.tensor([[1.0, 2.0]]))
    assert not sg.equal(sg.tensor(math.nan), sg.tensor(math.nan))


def test_allclose_has_numpys_tolerances() -> None:
    a = sg.tensor([1.0, 2.0])
    assert sg.allclose(a, a + 1e-9)
    assert not sg.allclose(a, a + 1e-3)
    assert sg.allclose(a, a + 1e-3, atol=1e-2)
    assert sg.allclose(a, a * (1 + 1e-3), rtol=1e-2)
    assert not sg.allclose(sg.tensor(math.nan), sg.tensor(math.nan))
    assert sg.allclose(sg.tensor(math.nan), sg.tensor(math.nan), equal_nan=True)


def test_comparisons_give_bools_without_gradient() -> None:
    x = leaf([1.0, 2.0, 3.0])
    for result, values in (
        (x < 2, [True, False, False]),
        (x <= 2, [True, True, False]),
        (x > 2, [False, False, True]),
        (x >= 2, [False, True, True]),
        (x == 2, [False, True, False]),
        (x != 2, [True, False, True]),
        (x > 2, [False, False, True]),
        (x.eq(x), [True, True, True]),
        (~(x > 2), [True, True, False]),
    ):
        assert result.tolist() == values
        assert result.dtype == sg.bool
        assert (result.requires_grad, result.is_leaf) == (False, True)


def test_tensors_are_keys_by_identity() -> None:
    a, b = sg.ones(2), sg.ones(2)
    table = {a: "a", b: "b"}
    assert (table[a], table[b]) == ("a", "b")


def test_all_any_and_argmax() -> None:
    t = sg.tensor([[1.0, 5.0], [7.0, 0.0]])
    assert (t > 0).all().item() is False
    assert (t > 0).any(dim=1).tolist() == [True, True]
    assert sg.all(t > -1).item() is True
    assert t.argmax().item() == 2
    assert t.argmax(dim=1).tolist() == [1, 0]
    assert t.argmax(dim=0, keepdim=True).tolist() == [[1, 0]]
    assert t.argmax(dim=1).dtype == sg.int64


def test_deepcopy_copies_a_leaf_with_its_gradient() -> None:
    x = leaf([1.0, 2.0])
    x.sum().backward()
    y = copy.deepcopy(x)
    y.detach()[0] = 9.0
    y.grad[0] = 9.0
    assert (x.tolist(), x.grad.tolist()) == ([1.0, 2.0], [1.0, 1.0])
    assert (y.requires_grad, y.is_leaf) == (True, True)
    twice = copy.deepcopy([x, x])
    assert twice[0] is twice[1]


def test_clone_is_a_copy_within_the_graph() -> None:
    x = leaf([1.0, 2.0])
    y = x.clone()
    y.detach()[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    (y * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("method", ["double", "float", "half", "long", "int", "bool"])
def test_conversions_by_name(method: str) -> None:
    kind = {"double": "float64", "float": "float32", "half": "float16", "long": "int64", "int": "int32", "bool": "bool"}
    t = getattr(sg.tensor([1.5, 0.0]), method)()
    assert t.dtype == kind[method]
    assert t.tolist() == np.array([1.5, 0.0]).astype(kind[method]).tolist()


def test_conversions_lead_gradients_back() -> None:
    x = leaf([1.5, 2.5], dtype=sg.float32)
    (x.double() * 3).sum().backward()
    assert x.grad.dtype == sg.float32
    assert x.grad.tolist() == [3.0, 3.0]
    assert x.to(sg.float32) is x
    assert x.to(sg.ones(1)).dtype == sg.float64
    assert not x.long().requires_grad


# ------------------------------------------------------------------ operators and methods
def test_operators_methods_and_functions_are_one() -> None:
    x, y = sg.tensor([4.0, 9.0]), sg.tensor([2.0, 3.0])
    for a, b, c in (
        (x + y, x.add(y), sg.add(x, y)),
        (x - y, x.sub(y), sg.subtract(x, y)),
        (x * y, x.mul(y), sg.multiply(x, y)),
        (x / y, x.div(y), sg.true_divide(x, y)),
        (x**y, x.pow(y), sg.pow(x, y)),
        (-x, x.neg(), sg.negative(x)),
        (abs(x), x.abs(), sg.absolute(x)),
        (x @ y, x.matmul(y), sg.dot(x, y)),
        (x > y, x.gt(y), sg.greater(x, y)),
    ):
        assert sg.equal(a, b)
        assert sg.equal(a, c)
    assert (+x) is x


def test_alpha_scales_the_second_operand() -> None:
    x, y = leaf(1.0), leaf(2.0)
    z = x.add(y, alpha=3) + sg.sub(x, y, alpha=0.5)
    assert z.item() == 7.0 + 0.0
    z.backward()
    assert (x.grad.item(), y.grad.item()) == (2.0, 2.5)


def test_numpy_arrays_and_scalars_stand_on_either_side() -> None:
    x = leaf([1.0, 2.0])
    for result in (np.array([3.0, 4.0]) * x, x * np.array([3.0, 4.0])):
        assert isinstance(result, sg.Tensor)
        assert result.tolist() == [3.0, 8.0]
    assert (np.float64(2.0) - x).tolist() == [1.0, 0.0]
    (np.array([[3.0, 4.0]]) @ x).backward()
    assert x.grad.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("dim", ["dim", "axis"])
@pytest.mark.parametrize("keepdim", ["keepdim", "keepdims"])
def test_reductions_take_either_spelling(dim: str, keepdim: str) -> None:
    t = sg.arange(6.0).reshape(2, 3)
    for f in (sg.sum, sg.mean, sg.logsumexp):
        assert f(t, **{dim: 1, keepdim: True}).shape == (2, 1)
    assert sg.softmax(t, **{dim: 1}).shape == (2, 3)


def test_views_share_memory_where_they_can() -> None:
    t = sg.arange(6.0)
    v = t.view(2, 3)
    v[0, 0] = 9.0
    assert t[0].item() == 9.0
    assert t.view(-1, 2).shape == (3, 2)
    assert t.view_as(sg.ones(3, 2)).shape == t.reshape_as(sg.ones(3, 2)).shape == (3, 2)
    assert sg.ones(1, 3).expand_as(sg.ones(2, 3)).shape == (2, 3)
    assert sg.ones(2, 3).t().contiguous().view(6).shape == (6,)
    assert sg.ones(2, 3).is_contiguous()
    assert not sg.ones(2, 3).t().is_contiguous()


@pytest.mark.parametrize(
    ("arguments", "shape"), [((), (24,)), ((1,), (2, 12)), ((0, 1), (6, 4)), ((-2, -1), (2, 12)), ((1, 1), (2, 3, 4))]
)
def test_flatten_joins_a_range_of_dimensions(arguments: tuple[int, ...], shape: tuple[int, ...]) -> None:
    x = sg.ones(2, 3, 4, requires_grad=True)
    y = x.flatten(*arguments)
    assert y.shape == shape
    y.sum().backward()
    assert x.grad.shape == (2, 3, 4)
    assert sg.tensor(1.0).flatten().shape == (1,)


# ------------------------------------------------------------------ the name of before 0.4
def test_variable_is_a_tensor() -> None:
    plain = sg.tensor([[1.0, 2.0], [3.0, 4.0]])
    variable = sg.autograd.Variable(plain, requires_grad=True)
    assert type(variable) is type(plain) is sg.Tensor
    assert isinstance(plain, sg.Variable)
    assert isinstance(variable, sg.autograd.Variable)
    assert not isinstance(3.0, sg.Variable)
    assert (plain.requires_grad, variable.requires_grad, sg.Variable(plain).requires_grad) == (False, True, False)
    (variable * variable).mean().backward()
    assert variable.grad.tolist() == [[0.5, 1.0], [1.5, 2.0]]
    variable.data[0, 0] = 9.0
    assert plain[0, 0].item() == 9.0
    assert variable.is_leaf


# ------------------------------------------------------------------ where an op was called
def test_methods_note_the_line_of_the_caller_not_their_own() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    results = [
        x + 1, x.sum(), x[0], x.view(4), x.view_as(x), x.reshape_as(x), x.expand_as(x), x.flatten(), x.T, x.mT,
        x.float(), x.to(sg.float32), x.mm(x), x.t().contiguous(), x.where(x > 1, 0.0), next(iter(x)), sg.mm(x, x),
    ]  # fmt: skip
    for result in results:
        assert result.grad_fn.code.co_name == "test_methods_note_the_line_of_the_caller_not_their_own", result.grad_fn
