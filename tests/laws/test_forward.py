"""Law: an op's symbolic face, evaluated exactly, is what its forward computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.ops.declare import Op
from symgrad.verify import exact_gradient

from .checks import assert_close
from .inputs import EVERY, Case, cases, named

MOST = 6
SEARCHED = {"argmax", "all", "any"}
"""Ops whose result is found by searching: they have no formula, and say so."""


def exact_value(case: Case, operands: list[np.ndarray]) -> Any:
    """The op's own face on the exact rationals of the operands."""
    tensors = [sg.tensor(o, requires_grad=o.dtype.kind == "f") for o in operands]
    with np.errstate(all="ignore"):
        return exact_gradient(case.run(*tensors), []).value


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("op", [o for o in EVERY if o.differentiable and o.name not in SEARCHED], ids=named)
@settings(max_examples=40)
@given(data=st.data())
def test_the_face_is_the_forward(op: Op, dtype: str, data: Any) -> None:
    case = data.draw(cases(op, dtype))
    with np.errstate(all="ignore"):
        out = case.run(*case.leaves())
    exact = exact_value(case, case.operands)
    assert_close(out._data, exact, out._data.dtype, MOST, case.operands, lambda o: exact_value(case, o))
