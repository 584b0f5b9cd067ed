"""dtypes, promotion and broadcasting: tables recorded with PyTorch 2.13."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import symgrad as sg
from symgrad.array import broadcast_shapes, normal_axes, result_dtype, unbroadcast
from symgrad.graph.columns import numeric_namespace

NAMES = {
    "b": "bool", "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "f32": "float32", "f64": "float64",
}  # fmt: skip

TWO_OF_A_RANK = """
     b    u8   i8   i32  i64  f16  f32  f64
b    b    u8   i8   i32  i64  f16  f32  f64
u8   u8   u8   i16  i32  i64  f16  f32  f64
i8   i8   i16  i8   i32  i64  f16  f32  f64
i32  i32  i32  i32  i32  i64  f16  f32  f64
i64  i64  i64  i64  i64  i64  f16  f32  f64
f16  f16  f16  f16  f16  f16  f16  f32  f64
f32  f32  f32  f32  f32  f32  f32  f32  f64
f64  f64  f64  f64  f64  f64  f64  f64  f64
"""
VECTOR_AND_NUMBER = """
     b    u8   i8   i32  i64  f16  f32  f64
b    b    u8   i8   i32  i64  f16  f32  f64
u8   u8   u8   u8   u8   u8   f16  f32  f64
i8   i8   i8   i8   i8   i8   f16  f32  f64
i32  i32  i32  i32  i32  i32  f16  f32  f64
i64  i64  i64  i64  i64  i64  f16  f32  f64
f16  f16  f16  f16  f16  f16  f16  f16  f16
f32  f32  f32  f32  f32  f32  f32  f32  f32
f64  f64  f64  f64  f64  f64  f64  f64  f64
"""
PYTHON_NUMBERS = """
       b    u8   i8   i32  i64  f16  f32  f64
True   b    u8   i8   i32  i64  f16  f32  f64
2      i64  u8   i8   i32  i64  f16  f32  f64
1.5    f64  f64  f64  f64  f64  f16  f32  f64
"""
QUOTIENTS = """
     b    u8   i8   i32  i64  f16  f32  f64
b    f64  f64  f64  f64  f64  f16  f32  f64
i32  f64  f64  f64  f64  f64  f16  f32  f64
i64  f64  f64  f64  f64  f64  f16  f32  f64
f16  f16  f16  f16  f16  f16  f16  f32  f64
f32  f32  f32  f32  f32  f32  f32  f32  f64
"""
UNARY = {
    "exp": "f64 f64 f64 f64 f64 f16 f32 f64",
    "sqrt": "f64 f64 f64 f64 f64 f16 f32 f64",
    "sigmoid": "f64 f64 f64 f64 f64 f16 f32 f64",
    "tanh": "f64 f64 f64 f64 f64 f16 f32 f64",
    "abs": "- u8 i8 i32 i64 f16 f32 f64",
    "neg": "- u8 i8 i32 i64 f16 f32 f64",
    "relu": "- u8 i8 i32 i64 f16 f32 f64",
    "sign": "b u8 i8 i32 i64 f16 f32 f64",
    "sum": "i64 i64 i64 i64 i64 f16 f32 f64",
    "mean": "- - - - - f16 f32 f64",
    "logsumexp": "f64 f64 f64 f64 f64 f16 f32 f64",
}


def entries(table: str) -> list[tuple[str, str, str]]:
    head, *rows = (line.split() for line in table.strip().splitlines())
    return [(row[0], column, kind) for row in rows for column, kind in zip(head, row[1:], strict=True)]


def one(kind: str, *shape: int) -> sg.Tensor:
    return sg.ones(*shape, dtype=NAMES[kind]) if shape else sg.tensor(1, dtype=NAMES[kind])


@pytest.mark.parametrize(("a", "b", "kind"), entries(TWO_OF_A_RANK))
def test_tensors_of_one_rank_promote_as_in_pytorch(a: str, b: str, kind: str) -> None:
    wanted = NAMES[kind]
    for x, y in ((one(a, 2), one(b, 2)), (one(a), one(b)), (one(a, 2), one(b, 1, 2))):
        assert (x + y).dtype == wanted
        assert (x * y).dtype == wanted
        assert sg.maximum(x, y).dtype == wanted
        assert sg.where(sg.tensor(True), x, y).dtype == wanted
        assert (x == y).dtype == sg.bool


@pytest.mark.parametrize(("a", "b", "kind"), entries(VECTOR_AND_NUMBER))
def test_a_0d_tensor_widens_only_a_lower_kind(a: str, b: str, kind: str) -> None:
    assert (one(a, 2) + one(b)).dtype == NAMES[kind]
    assert (one(b) + one(a, 2)).dtype == NAMES[kind]


@pytest.mark.parametrize(("number", "a", "kind"), entries(PYTHON_NUMBERS))
@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_python_number_widens_only_a_lower_kind(number: str, a: str, kind: str, shape: tuple[int, ...]) -> None:
    value = {"True": True, "2": 2, "1.5": 1.5}[number]
    assert (one(a, *shape) + value).dtype == NAMES[kind]
    assert (value * one(a, *shape)).dtype == NAMES[kind]


@pytest.mark.parametrize(("a", "b", "kind"), entries(QUOTIENTS))
def test_quotients_of_integers_are_floats(a: str, b: str, kind: str) -> None:
    assert (one(a, 2) / one(b, 2)).dtype == NAMES[kind]


@pytest.mark.parametrize("name", UNARY)
def test_ops_of_one_argument_keep_or_make_their_dtype(name: str) -> None:
    for a, kind in zip(["b", "u8", "i8", "i32", "i64", "f16", "f32", "f64"], UNARY[name].split(), strict=True):
        if kind != "-":
            dim = (0,) if name == "logsumexp" else ()
            assert getattr(one(a, 2), name)(*dim).dtype == NAMES[kind], a


@pytest.mark.parametrize("number", [2, 2.5])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_leave_the_value_of_a_float_tensor_in_its_precision(number: float, dtype: str) -> None:
    x = sg.tensor([0.1, 0.7], dtype=dtype)
    expected = np.array([0.1, 0.7], dtype) * np.dtype(dtype).type(number)
    assert (x * number).numpy().tobytes() == expected.tobytes()


def test_the_default_dtype_is_that_of_floats_that_do_not_say_theirs() -> None:
    assert sg.tensor(1.0).dtype == sg.float64
    try:
        sg.set_default_dtype(sg.float32)
        assert sg.tensor([1.0]).dtype == sg.float32
        assert sg.tensor(np.array([1.0])).dtype == sg.float64
        assert sg.tensor([np.float64(1.0)]).dtype == sg.float64
        assert (sg.tensor([1, 2]) / 2).dtype == sg.float32
        assert (sg.tensor([1, 2]) * 0.5).dtype == sg.float32
        assert sg.tensor([1, 2]).exp().dtype == sg.float32
        assert sg.where(sg.tensor([True]), 1.0, 0).dtype == sg.float32
        assert sg.tensor([1, 2]).float().dtype == sg.float32
        assert sg.zeros(2).dtype == sg.rand(2).dtype == sg.linspace(0, 1, 3).dtype == sg.float32
        assert "dtype" not in repr(sg.tensor(1.0))
        assert "dtype=symgrad.float64" in repr(sg.tensor(1.0, dtype=sg.float64))
    finally:
        sg.set_default_dtype(sg.float64)


@pytest.mark.parametrize("name", NAMES.values())
def test_a_dtype_is_numpys_under_pytorchs_name(name: str) -> None:
    dtype = getattr(sg, name)
    assert repr(dtype) == f"symgrad.{name}"
    assert dtype == np.dtype(name)
    assert dtype == name
    assert dtype != "complex64"
    assert np.zeros(1, dtype).dtype == name
    assert hash(dtype) == hash(np.dtype(name))
    assert pickle.loads(pickle.dumps(dtype)) == dtype
    assert dtype.is_floating_point is name.startswith("float")
    assert sg.zeros(1, dtype=dtype).dtype == sg.zeros(1, dtype=name).dtype == sg.zeros(1, dtype=np.dtype(name)).dtype


def test_dtypes_have_pytorchs_short_names() -> None:
    assert (sg.double, sg.float, sg.half, sg.long, sg.int) == (sg.float64, sg.float32, sg.float16, sg.int64, sg.int32)


@pytest.mark.parametrize(("kind", "name"), [(float, "float64"), (int, "int64"), (bool, "bool")])
def test_pythons_types_name_dtypes(kind: type, name: str) -> None:
    assert sg.tensor([1], dtype=kind).dtype == name


# ------------------------------------------------------------------ shapes
@given(hnp.mutually_broadcastable_shapes(num_shapes=3, min_side=0))
def test_shapes_broadcast_as_numpys(shapes: Any) -> None:
    assert broadcast_shapes(*shapes.input_shapes) == shapes.result_shape


@given(st.data())
def test_unbroadcasting_sums_what_broadcasting_repeated(data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    bigger = data.draw(hnp.broadcastable_shapes(shape, min_side=0, max_side=3, max_dims=4))
    result = np.broadcast_shapes(shape, bigger)
    cotangent = np.arange(float(np.prod(result))).reshape(result)
    summed = unbroadcast(numeric_namespace, cotangent, shape)
    assert summed.shape == shape
    # The transpose of broadcasting: ⟨broadcast(e), g⟩ = ⟨e, unbroadcast(g)⟩ for every unit vector e.
    for place in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[place] = 1
        assert np.sum(np.broadcast_to(unit, result) * cotangent) == summed[place]


@pytest.mark.parametrize(
    ("axes", "ndim", "normal"),
    [
        (None, 2, (0, 1)),
        ((), 2, (0, 1)),
        (-1, 3, (2,)),
        ([1, 0], 2, (0, 1)),
        ((-1, 0), 3, (0, 2)),
        (0, 0, ()),
        (-1, 0, ()),
    ],
)
def test_axes_are_counted_from_the_front(axes: Any, ndim: int, normal: tuple[int, ...]) -> None:
    assert normal_axes(axes, ndim, "sum") == normal


def test_result_dtype_takes_the_groups_in_order() -> None:
    assert result_dtype(np.ones(2, "float32"), np.float64(1)) == "float32"
    assert result_dtype(np.ones(2, "int32"), 1.5) == "float64"
    assert result_dtype(True, 2) == "int64"
