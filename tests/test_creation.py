"""Functions that make tensors: values, shapes, dtypes, memory."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad import sampling


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        (1, "int64", 1),
        (1.5, "float64", 1.5),
        (True, "bool", True),
        ([1, 2], "int64", [1, 2]),
        ([1, 2.5], "float64", [1.0, 2.5]),
        ([True, 2], "int64", [1, 2]),
        ([True, 2.5], "float64", [1.0, 2.5]),
        ((1, (2, 3)[0]), "int64", [1, 2]),
        ([], "float64", []),
        ([[]], "float64", [[]]),
        (range(3), "int64", [0, 1, 2]),
        (np.float32(3), "float32", 3.0),
        (np.array([1, 2], np.int32), "int32", [1, 2]),
        ([np.array([1.0, 2.0]), np.array([3.0, 4.0])], "float64", [[1.0, 2.0], [3.0, 4.0]]),
        ([sg.tensor(1.0), sg.tensor(2.0)], "float64", [1.0, 2.0]),
    ],
)
def test_tensor_takes_anything_that_holds_numbers(data: Any, dtype: str, values: Any) -> None:
    t = sg.tensor(data)
    assert t.dtype == dtype
    assert t.tolist() == values
    assert t.shape == np.shape(values)
    assert (t.requires_grad, t.is_leaf, t.grad_fn, t.grad) == (False, True, None, None)


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        ([1, 2], sg.float32, [1.0, 2.0]),
        ([1.7, -1.7], sg.int64, [1, -1]),
        ([0.0, 2.2], sg.bool, [False, True]),
        (1, "float64", 1.0),
        (1, np.float16, 1.0),
        (1.5, int, 1),
    ],
)
def test_tensor_converts_to_the_dtype_asked_for(data: Any, dtype: Any, values: Any) -> None:
    t = sg.tensor(data, dtype=dtype)
    assert t.dtype == np.dtype(getattr(dtype, "numpy", dtype))
    assert t.tolist() == values


def test_tensor_copies_always() -> None:
    array = np.ones(2)
    t = sg.tensor(array)
    array[0] = 5.0
    assert t.tolist() == [1.0, 1.0]


def test_a_tensor_of_a_tensor_is_a_copy_outside_the_graph() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match=r"detach\(\)\.clone\(\)"):
        copy = sg.tensor(x * 2)
    assert copy.tolist() == [2.0, 4.0]
    assert not copy.requires_grad


def test_from_numpy_shares_memory_both_ways() -> None:
    array = np.array([1.0, 2.0])
    t = sg.from_numpy(array)
    array[0] = 5.0
    assert t.tolist() == [5.0, 2.0]
    t[1] = 7.0
    assert array.tolist() == [5.0, 7.0]
    assert t.numpy() is array


def test_from_numpy_takes_0d_arrays() -> None:
    array = np.array(1.5)
    t = sg.from_numpy(array)
    array[()] = 2.5
    assert t.item() == 2.5
    assert t.shape == ()


@pytest.mark.parametrize("size", [(2, 3), ((2, 3),), ([2, 3],), (sg.ones(2, 3).shape,), (np.int64(2), 3)])
def test_sizes_are_spelled_in_any_way(size: tuple[Any, ...]) -> None:
    for make in (sg.zeros, sg.ones, sg.empty, sg.rand, sg.randn):
        assert make(*size).shape == (2, 3)


@pytest.mark.parametrize("size", [(), ((),), (0,), (3,), (2, 0, 3)])
def test_zeros_and_ones(size: tuple[Any, ...]) -> None:
    shape = size[0] if size == ((),) else size
    assert sg.zeros(*size).tolist() == np.zeros(shape).tolist()
    assert sg.ones(*size, dtype=sg.int64).tolist() == np.ones(shape, int).tolist()


@pytest.mark.parametrize(
    ("size", "value", "dtype", "kind"),
    [
        ((2,), 1, None, "int64"),
        ((2,), 1.5, None, "float64"),
        ((), True, None, "bool"),
        (3, 2.0, None, "float64"),
        ((2, 1), 1, sg.float32, "float32"),
        ((2,), np.float32(1.5), None, "float32"),
        ((2,), sg.tensor(3.0), None, "float64"),
    ],
)
def test_full_has_the_dtype_of_its_value(size: Any, value: Any, dtype: Any, kind: str) -> None:
    t = sg.full(size, value, dtype=dtype)
    assert t.dtype == kind
    assert t.shape == ((size,) if isinstance(size, int) else size)
    assert set(np.ravel(t.tolist()).tolist()) == {getattr(value, "item", lambda: value)()}


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ((3,), [0, 1, 2]),
        ((3.0,), [0.0, 1.0, 2.0]),
        ((1, 4), [1, 2, 3]),
        ((1, 2.5, 0.5), [1.0, 1.5, 2.0]),
        ((3, 0, -1), [3, 2, 1]),
        ((0,), []),
        ((5, 5), []),
    ],
)
def test_arange_counts(arguments: tuple[float, ...], values: list[float]) -> None:
    t = sg.arange(*arguments)
    assert t.tolist() == values
    assert t.dtype == ("float64" if any(isinstance(a, float) for a in arguments) else "int64")
    assert sg.arange(*arguments, dtype=sg.float32).dtype == sg.float32


@pytest.mark.parametrize(
    ("arguments", "values"),
    [((0, 1, 3), [0.0, 0.5, 1.0]), ((1, 0, 2), [1.0, 0.0]), ((2, 5, 1), [2.0]), ((0, 1, 0), [])],
)
def test_linspace_includes_both_ends(arguments: tuple[Any, ...], values: list[float]) -> None:
    assert sg.linspace(*arguments).tolist() == values
    assert sg.linspace(0, 10, 3, dtype=sg.int64).tolist() == [0, 5, 10]


def test_eye_has_ones_on_its_diagonal() -> None:
    assert sg.eye(2).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert sg.eye(2, 3, dtype=sg.int32).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert sg.eye(0).shape == (0, 0)


LIKE = {"zeros_like": 0, "ones_like": 1}


@pytest.mark.parametrize("name", LIKE)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_like_another_takes_shape_and_dtype(name: str, dtype: str) -> None:
    t = sg.ones(2, 3, dtype=dtype)
    made = getattr(sg, name)(t)
    assert (made.shape, made.dtype) == (t.shape, t.dtype)
    assert made.tolist() == np.full((2, 3), LIKE[name], dtype).tolist()
    assert getattr(sg, name)(t, dtype=sg.float64).dtype == sg.float64


def test_like_another_is_not_tracked_because_the_other_is() -> None:
    x = sg.ones(2, requires_grad=True)
    assert not sg.zeros_like(x).requires_grad
    assert sg.zeros_like(x, requires_grad=True).requires_grad


def test_full_like_casts_its_value() -> None:
    assert sg.full_like(sg.tensor([1, 2]), 2.7).tolist() == [2, 2]
    assert sg.full_like(sg.tensor([1.0]), 2).tolist() == [2.0]


def test_random_numbers_repeat_after_the_same_seed() -> None:
    sg.manual_seed(0)
    first = [sg.rand(3), sg.randn(2, 2), sg.rand_like(sg.ones(2)), sg.randn_like(sg.ones(2))]
    sg.manual_seed(0)
    again = [sg.rand(3), sg.randn(2, 2), sg.rand_like(sg.ones(2)), sg.randn_like(sg.ones(2))]
    assert all(sg.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not sg.equal(first[0], sg.rand(3))
    sg.manual_seed(1)
    assert not sg.equal(first[0], sg.rand(3))


def test_the_first_numbers_are_those_of_seed_0_also_for_threads_that_draw_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampling, "_current", {})
    start = threading.Barrier(8)

    def draw(_: int) -> float:
        start.wait()
        return sg.rand(()).item()

    with ThreadPoolExecutor(8) as threads:
        drawn = list(threads.map(draw, range(8)))
    sg.manual_seed(0)
    assert sorted(drawn) == sorted(sg.rand(()).item() for _ in range(8))


def test_random_numbers_have_their_distribution() -> None:
    sg.manual_seed(0)
    uniform, normal = sg.rand(10_000).numpy(), sg.randn(10_000).numpy()
    assert 0 <= uniform.min() < 0.01
    assert 0.99 < uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.02
    assert abs(normal.mean()) < 0.05
    assert abs(normal.std() - 1) < 0.05
    assert sg.rand((), dtype=sg.float32).dtype == sg.float32
    assert sg.rand_like(sg.ones(2, dtype=sg.float32)).dtype == sg.float32


def test_everything_can_be_made_a_tracked_leaf() -> None:
    made = [
        sg.tensor(1.0, requires_grad=True),
        sg.zeros(2, requires_grad=True),
        sg.ones(2, requires_grad=True),
        sg.full((2,), 1.0, requires_grad=True),
        sg.arange(2.0, requires_grad=True),
        sg.linspace(0, 1, 2, requires_grad=True),
        sg.eye(2, requires_grad=True),
        sg.rand(2, requires_grad=True),
        sg.randn(2, requires_grad=True),
        sg.ones_like(sg.ones(2), requires_grad=True),
        sg.full_like(sg.ones(2), 3.0, requires_grad=True),
        sg.rand_like(sg.ones(2), requires_grad=True),
        sg.empty(2, requires_grad=True),
    ]
    for t in made:
        assert t.requires_grad
        assert t.is_leaf
        assert (t * 2).requires_grad


def test_names_and_dims_are_kept() -> None:
    t = sg.tensor([[1.0]], name="X", dims=("n", "d"))
    assert t.names == ("n", "d")
    assert sg.tensor([1.0]).names is None


def test_the_class_makes_floats() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sg.Tensor([1, 2]).tolist() == [1.0, 2.0]
        assert isinstance(sg.Tensor([1, 2]), sg.Tensor)
        assert sg.Tensor([1, 2]).dtype == sg.float64


def test_new_tensors_take_the_dtype_of_the_old() -> None:
    t = sg.ones(2, dtype=sg.float32)
    assert t.new_zeros(2, 3).dtype == t.new_ones((3,)).dtype == sg.float32
    assert t.new_ones(2).tolist() == [1.0, 1.0]
