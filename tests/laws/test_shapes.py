"""Laws of shape and memory: layout, mutation, repetition, seeds, repeated operands, broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.ops.declare import Op

from .inputs import DIFFERENTIABLE, EVERY, HELPERS, Case, cases, cotangents, named
from .values import BROADCASTING, arrays


def ulps_of(op: Op) -> int:
    """What layout may change: NumPy adds in another order, and has other kernels for strided memory."""
    return 0 if op.structural or not op.differentiable else 8


def layouts(x: np.ndarray) -> dict[str, np.ndarray]:
    """The same values in other memory: transposed, strided, reversed."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype) if x.ndim else x
    if x.ndim:
        wide[..., ::2] = x
    return {
        "transposed": x.copy(order="F"),
        "strided": wide[..., ::2] if x.ndim else x,
        "reversed": x[::-1].copy()[::-1] if x.ndim else x,
    }


def gradients(case: Case, operands: list[np.ndarray], seed: np.ndarray | None = None) -> tuple[Any, list[Any]]:
    """The result and the gradients, on leaves that share the memory of the operands."""
    leaves = [sg.from_numpy(o) for o in operands]
    for leaf, wanted in zip(leaves, case.differentiable, strict=True):
        leaf.requires_grad_(wanted)
    with np.errstate(all="ignore"):
        out = case.run(*leaves)
    if not out.requires_grad:
        return out._data, []
    g = sg.from_numpy(np.ones(out.shape, out._data.dtype) if seed is None else seed)
    tracked = [t for t in leaves if t.requires_grad]
    return out._data, [x._data for x in sg.autograd.grad(out, tracked, g, materialize_grads=True)]


def assert_equal(a: list[Any], b: list[Any], ulps: int = 0, scale: float = 0.0) -> None:
    for x, y in zip(a, b, strict=True):
        assert np.shape(x) == np.shape(y)
        assert x.dtype == y.dtype
        if ulps:
            tiny = np.finfo(x.dtype).eps
            np.testing.assert_allclose(x, y, rtol=ulps * tiny, atol=ulps * tiny * scale)
        else:
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("op", EVERY, ids=named)
@settings(max_examples=15)
@given(data=st.data())
def test_layout_changes_nothing(op: Op, data: Any) -> None:
    case = data.draw(cases(op, tame=True))
    name = data.draw(st.sampled_from(["transposed", "strided", "reversed"]))
    out, found = gradients(case, case.operands)
    there, moved = gradients(case, [layouts(o)[name] for o in case.operands])
    size = max(
        (float(np.abs(x[np.isfinite(x)]).max(initial=0)) for x in (out, *found) if x.dtype.kind == "f"), default=0.0
    )
    assert_equal([out, *found], [there, *moved], ulps_of(op), size)


@pytest.mark.parametrize("op", EVERY, ids=named)
@settings(max_examples=10)
@given(data=st.data())
def test_a_broadcast_view_is_an_operand_like_any_other(op: Op, data: Any) -> None:
    case = data.draw(cases(op, tame=True))
    assume(all(o.ndim and o.size for o in case.operands))
    flat = [np.broadcast_to(o.reshape(-1)[:1].reshape((1,) * o.ndim), o.shape) for o in case.operands]
    whole = [o.copy() for o in flat]
    out, found = gradients(case, whole)
    leaves = [sg.from_numpy(o.reshape(-1)[:1].reshape((1,) * o.ndim).copy()) for o in case.operands]
    for leaf, wanted in zip(leaves, case.differentiable, strict=True):
        leaf.requires_grad_(wanted)
    views = [t.expand(o.shape) for t, o in zip(leaves, whole, strict=True)]
    there = case.run(*views)
    moved = []
    if there.requires_grad:
        tracked = [v for v in views if v.requires_grad]
        moved = [x._data for x in sg.autograd.grad(there, tracked, sg.ones_like(there), materialize_grads=True)]
    size = max(
        (float(np.abs(x[np.isfinite(x)]).max(initial=0)) for x in (out, *found) if x.dtype.kind == "f"), default=0.0
    )
    assert_equal([out, *found], [there._data, *moved], ulps_of(op), size)


@pytest.mark.parametrize("op", EVERY, ids=named)
@settings(max_examples=15)
@given(data=st.data())
def test_inputs_are_left_alone_and_answers_are_repeated(op: Op, data: Any) -> None:
    case = data.draw(cases(op))
    before = [o.tobytes() for o in case.operands]
    out, _ = gradients(case, case.operands)
    seed = data.draw(cotangents(np.shape(out), out.dtype if out.dtype.kind == "f" else np.dtype("float64")))
    given_seed = seed.tobytes()
    first = gradients(case, case.operands, seed)
    again = gradients(case, case.operands, seed)
    assert [o.tobytes() for o in case.operands] == before
    assert seed.tobytes() == given_seed
    assert_equal([first[0], *first[1]], [again[0], *again[1]])


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=named)
@settings(max_examples=15)
@given(data=st.data())
def test_the_gradient_is_linear_in_the_seed(op: Op, data: Any) -> None:
    case = data.draw(cases(op, tame=True))
    out, _ = gradients(case, case.operands)
    a, b = (data.draw(cotangents(np.shape(out), out.dtype)) for _ in range(2))
    _, of_a = gradients(case, case.operands, a)
    _, doubled = gradients(case, case.operands, np.asarray(-2 * a))
    assert_equal([-2 * x for x in of_a], doubled)
    _, of_b = gradients(case, case.operands, b)
    _, of_both = gradients(case, case.operands, np.asarray(a + b))
    size = max((float((np.abs(x) + np.abs(y)).max(initial=0)) for x, y in zip(of_a, of_b, strict=True)), default=0.0)
    assert_equal([x + y for x, y in zip(of_a, of_b, strict=True)], of_both, 16, size)


SEVERAL = [o for o in DIFFERENTIABLE if o.arity > 1 and o.broadcasts and o.name not in HELPERS]


@pytest.mark.parametrize("op", SEVERAL, ids=named)
@settings(max_examples=20)
@given(data=st.data())
def test_a_repeated_operand_gets_the_sum_of_the_partials(op: Op, data: Any) -> None:
    x = np.asarray(np.abs(data.draw(arrays(data.draw(st.sampled_from(BROADCASTING)), "float64", tame=True))))
    case = data.draw(cases(op, tame=True))
    apart = [x.copy() if d else np.asarray(data.draw(st.booleans())) for d in case.differentiable]
    out, partials = gradients(Case(op, apart, case.params), apart)
    leaf = sg.tensor(x, requires_grad=True)
    same = op.record(
        *(leaf if d else sg.tensor(o) for d, o in zip(case.differentiable, apart, strict=True)), *case.params
    )
    (found,) = sg.autograd.grad(same, [leaf], sg.ones_like(same), materialize_grads=True)
    np.testing.assert_array_equal(same._data, out)
    size = float(sum(np.abs(p) for p in partials).max(initial=0))
    np.testing.assert_allclose(found._data, sum(partials), rtol=4e-16, atol=4e-16 * size)


@pytest.mark.parametrize("op", SEVERAL, ids=named)
@settings(max_examples=20)
@given(data=st.data())
def test_broadcasting_is_expanding_first(op: Op, data: Any) -> None:
    case = data.draw(cases(op))
    out, found = gradients(case, case.operands)
    leaves = case.leaves()
    with np.errstate(all="ignore"):
        expanded = case.run(*(t.expand(np.shape(out)) for t in leaves))
    np.testing.assert_array_equal(expanded._data, out)
    tracked = [t for t in leaves if t.requires_grad]
    there = sg.autograd.grad(expanded, tracked, sg.ones_like(expanded), materialize_grads=True)
    assert_equal(found, [x._data for x in there])
