"""Law: one rule, many columns: numeric, recorded and masked give the same gradient on finite programs.

The structure column's gradient is the formula's, which `test_formulas` holds against the oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.autograd.gradfn import tensor_of
from symgrad.graph import pull, reached
from symgrad.graph.columns import NumericColumn, RecordedColumn
from symgrad.graph.masked import MaskedColumn
from symgrad.ops.declare import Op

from .inputs import DIFFERENTIABLE, cases, cotangents, named


def pulled(out: Any, leaves: list[Any], column: Any, seed: Any) -> list[np.ndarray]:
    """The gradients of the leaves, by the loop in that column."""
    flow = column.seed(seed) if isinstance(column, MaskedColumn) else seed
    with np.errstate(all="ignore"):
        left = pull(reached([out._node]), {out._node: flow}, column)
    found = [left.get(leaf) for leaf in leaves]
    filled = [c.filled() if hasattr(c, "filled") else c for c in found]
    return [
        np.zeros(t.shape) if c is None else np.asarray(getattr(c, "_data", c))
        for c, t in zip(filled, leaves, strict=True)
    ]


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=named)
@settings(max_examples=25)
@given(data=st.data())
def test_columns_agree(op: Op, data: Any) -> None:
    case = data.draw(cases(op))
    leaves = case.leaves()
    with np.errstate(all="ignore"):
        out = case.run(*leaves)
    assume(out.requires_grad and out._node is not None)
    wanted = [t for t in leaves if t.requires_grad]
    seed = data.draw(cotangents(out.shape, out._data.dtype))
    numeric = pulled(out, wanted, NumericColumn(), seed[()])
    assume(all(np.isfinite(x).all() for x in numeric))
    recorded = RecordedColumn(tensor_of)
    for column, flow in (
        (MaskedColumn(NumericColumn()), seed[()]),
        (recorded, sg.tensor(seed)),
        (MaskedColumn(recorded), sg.tensor(seed)),
    ):
        for a, b in zip(numeric, pulled(out, wanted, column, flow), strict=True):
            assert a.shape == b.shape
            np.testing.assert_array_equal(a, b)
