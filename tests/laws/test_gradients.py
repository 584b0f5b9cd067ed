"""Law: the numeric gradient is the exact derivative, for any cotangent, in the operand's shape and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.ops.declare import Op
from symgrad.verify import exact_gradient
from symgrad.verify.oracle import Exact

from .checks import assert_close
from .inputs import DIFFERENTIABLE, Case, cases, cotangents, named

MOST = 8


def exact(case: Case, operands: list[np.ndarray], seed: np.ndarray) -> tuple[list[Any], Exact]:
    """The differentiable leaves and their exact gradients."""
    at = Case(case.op, operands, case.params)
    leaves = at.leaves()
    wanted = [t for t in leaves if t.requires_grad]
    with np.errstate(all="ignore"):
        return wanted, exact_gradient(at.run(*leaves), wanted, seed)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=named)
@settings(max_examples=40)
@given(data=st.data())
def test_the_gradient_is_the_derivative(op: Op, dtype: str, data: Any) -> None:
    case = data.draw(cases(op, dtype))
    leaves = case.leaves()
    wanted = [t for t in leaves if t.requires_grad]
    with np.errstate(all="ignore"):
        out = case.run(*leaves)
    if not out.requires_grad:
        assert op.name in ("sign",)
        return
    seed = data.draw(cotangents(out.shape, out._data.dtype))
    found = sg.autograd.grad(out, wanted, sg.tensor(seed), materialize_grads=True)
    _, oracle = exact(case, case.operands, seed)
    for k, (leaf, g) in enumerate(zip(wanted, found, strict=True)):
        assert g.shape == leaf.shape
        assert g.dtype == leaf.dtype
        assert_close(
            g._data, oracle.gradients[k], leaf._data.dtype, MOST, case.operands,
            lambda o, k=k: exact(case, o, seed)[1].gradients[k], oracle.scales[k],
        )  # fmt: skip
