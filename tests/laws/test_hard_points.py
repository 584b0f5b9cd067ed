"""The conventions at kinks, edges and structural zeros, one line a point: expression, at, slopes."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg

INF = float("inf")
POINTS: list[tuple[str, list[Any], list[Any]]] = [
    # kinks: PyTorch's choice where it lies inside of the subdifferential
    ("sg.relu(x)", [0.0], [0]),
    ("sg.abs(x)", [0.0], [0]),
    ("sg.abs(x)", [-0.0], [0]),
    ("sg.sign(x) + x", [0.0], [1]),
    ("sg.maximum(x, y)", [1.5, 1.5], [0.5, 0.5]),
    ("sg.minimum(x, y)", [-2.0, -2.0], [0.5, 0.5]),
    ("sg.maximum(x, sg.maximum(y, y))", [1.0, 1.0], [0.5, 0.5]),
    ("sg.relu(x) - sg.relu(-x)", [0.0], [0]),
    # edges of domains
    ("x**4", [0.0], [0]),
    ("x**1", [0.0], [1]),
    ("x**0", [0.0], [0]),
    ("x**y", [0.0, 3.0], [0, 0]),
    ("x**y", [0.0, 1.0], [1, 0]),
    ("x**y", [2.0, 0.0], [0, "log(2)"]),
    ("x**y", [-2.0, 3.0], [12, None]),
    ("0.0**y", [1.0], [0]),
    ("x * sg.log(y)", [0.0, 2.0], ["log(2)", 0]),
    # structural zeros are strong
    ("sg.where(x < 0, 1 / (1 - x), sg.log(x + 1))", [-1.0], [0.25]),
    ("sg.where(x <= 0, sg.exp(x), 1 + x)", [1000.0], [1]),
    ("sg.where(x > 0, sg.sqrt(x), 0)", [-1.0], [0]),
    ("sg.where(x > 0, sg.log(x), 0)", [0.0], [0]),
    ("sg.where(x > 1, 1 / x, 3 * x)", [0.0], [3]),
    ("sg.maximum(sg.log(x), -1)", [0.0], [0]),
    ("sg.relu(sg.log(x)) + x", [0.0], [1]),
    ("(x / sg.tensor([0.0, 1.0]))[1]", [[1.0, 1.0]], [[0, 1]]),
    ("sg.sqrt(x)[1:].sum()", [[0.0, 4.0]], [[0, 0.25]]),
    ("sg.sum(sg.where(x < 1, sg.cos(x), 0))", [[0.0, INF]], [[0, 0]]),
    ("sg.where(x > 0, y / x, y)", [0.0, 2.0], [0, 1]),
    # tails keep their digits
    ("sg.sigmoid(x)", [-700.0], ["exp(-700)/(1+exp(-700))**2"]),
    ("sg.sigmoid(x)", [37.42994775023705], ["exp(-x)/(1+exp(-x))**2"]),
    ("sg.tanh(x)", [190.0], ["4*exp(-380)"]),
    ("sg.softplus(x)", [-40.0], ["1/(1+exp(40))"]),
    ("sg.logsumexp(x, 0)", [[1e10, 1e10]], [[0.5, 0.5]]),
    ("sg.log_softmax(x, 0)[0]", [[0.0, -50.0]], [["1/(1+exp(50))", "-1/(1+exp(50))"]]),
    # empties and single entries
    ("x.sum() + 1", [[]], [[]]),
    ("sg.logsumexp(x, 0)", [[3.0]], [[1]]),
    ("sg.softmax(x, 0).sum()", [[3.0]], [[0]]),
]


LIMITS = {("x**y", 0), ("0.0**y", 0)}
"""Where 0ʸ·log(0) is 0 for y > 0 as a limit only: the formula as written has no value there, and says nan."""


def slope(wanted: Any, x: float) -> Any:
    """The slope as a number; text is evaluated in high precision."""
    if isinstance(wanted, str):
        return eval(wanted, {"exp": mpmath.exp, "log": mpmath.log, "x": mpmath.mpf(x)})
    return mpmath.mpf(wanted)


@pytest.mark.parametrize(("code", "at", "slopes"), POINTS, ids=[f"{c} at {a}" for c, a, _ in POINTS])
def test_the_slope_at_a_hard_point(code: str, at: list[Any], slopes: list[Any]) -> None:
    leaves = [sg.tensor(np.array(a, float), requires_grad=True) for a in at]
    with np.errstate(all="ignore"):
        out = eval(code, {"sg": sg, "x": leaves[0], "y": leaves[-1]})
    found = sg.autograd.grad(out, leaves, retain_graph=True, materialize_grads=True)
    for leaf, g, wanted in zip(leaves, found, slopes, strict=True):
        formula = sg.formula(out, wrt=leaf)
        exact = [mpmath.mpf(0)] * leaf._data.size if INF in np.ravel(leaf._data) else np.ravel(formula.evaluate(30))
        for x, n, e, w in zip(
            np.ravel(leaf._data), np.ravel(g._data), exact, np.ravel(np.array(wanted, object)), strict=True
        ):
            if w is None:  # no derivative
                assert not np.isfinite(n)
                continue
            with mpmath.workdps(40):
                w = slope(w, float(x))
                assert abs(mpmath.mpf(float(n)) - w) <= abs(w) * mpmath.mpf(2) ** -50, (n, w)
                if (code, w) in LIMITS and e != e:
                    continue
                assert abs(e - w) <= abs(w) * mpmath.mpf(10) ** -25, (formula, e, w)
