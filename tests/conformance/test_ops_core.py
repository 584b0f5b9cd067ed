"""PyTorch's recorded numbers for the ops of the core: results, gradients, and derivatives of the gradients.

Each line of `ops_core.json` is one case, recorded with PyTorch: a call over the arguments ``a``, ``b``, …, the
cotangents of its results, and what PyTorch returned. ``hvp`` and ``jvp`` are the derivatives of
``Σ ⟨gradient, direction⟩`` by the arguments and by the cotangents. Where PyTorch's answer is not the right one,
``right`` holds the one that is, and ``note`` says why. A composite whose spelling overflows keeps PyTorch's answer:
what was written is what is computed.
"""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any

import numpy as np
import pytest

import symgrad as sg

CASES = json.loads((pathlib.Path(__file__).parent / "ops_core.json").read_text())["cases"]
SECOND = [case for case in CASES if "second" in case]

pytestmark = [pytest.mark.usefixtures("float32"), pytest.mark.filterwarnings("ignore")]


def numbers(encoded: dict[str, Any]) -> np.ndarray:
    """A recorded array; infinities and nan are strings there."""
    as_floats = np.array(encoded["data"], dtype=object).astype(float).astype(encoded["dtype"])
    return as_floats.reshape(encoded["shape"])


def leaf(encoded: dict[str, Any]) -> sg.Tensor:
    return sg.tensor(numbers(encoded), requires_grad=encoded.get("grad", False))


def call(case: dict[str, Any], arguments: list[sg.Tensor]) -> list[Any]:
    """The results of the case's expression, or of its statements, which end by setting `out`."""
    scope: dict[str, Any] = {"torch": sg, "F": sg.nn.functional, "math": math, "kw": case["kwargs"]}
    scope |= dict(zip("abcdefgh", arguments, strict=False))
    if "out = " in case["call"]:
        exec(case["call"], scope)
    else:
        scope["out"] = eval(case["call"], scope)
    out = scope["out"]
    return list(out) if isinstance(out, (list, tuple)) else [out]


def assert_recorded(case: dict[str, Any], key: str, found: list[Any], recorded: list[Any]) -> None:
    """Each is the recorded array, or the right one; a second derivative of zero may be None."""
    assert len(found) == len(recorded)
    for k, (mine, theirs) in enumerate(zip(found, recorded, strict=True)):
        encoded = (case.get("right", {}).get(key) or recorded)[k] or theirs
        if mine is None or encoded is None:
            rest = encoded and numbers(encoded) if mine is None else mine.detach().numpy()
            assert rest is None or (key in ("hvp", "jvp") and not np.any(rest)), f"{key}[{k}]"
            continue
        assert list(mine.shape) == encoded["shape"], f"{key}[{k}]"
        assert mine.dtype == encoded["dtype"], f"{key}[{k}]"
        np.testing.assert_allclose(
            mine.detach().numpy().astype(float),
            numbers(encoded).astype(float),
            rtol=case.get("rtol", 1e-9),
            atol=case.get("atol", 1e-11),
            err_msg=f"{key}[{k}]",
        )


def gradients(case: dict[str, Any], create_graph: bool) -> tuple[list[sg.Tensor], list[sg.Tensor], list[Any]]:
    """(tracked arguments, cotangents, gradients)."""
    arguments = [leaf(a) for a in case["args"]]
    outputs = call(case, arguments)
    assert_recorded(case, "outputs", outputs, case["outputs"])
    tracked = [a for a in arguments if a.requires_grad]
    pairs = [(o, leaf({**c, "grad": create_graph})) for o, c in zip(outputs, case["cotangents"], strict=False) if c]
    if not pairs:
        return tracked, [], []
    seeds = [c for _, c in pairs]
    found = sg.autograd.grad([o for o, _ in pairs], tracked, seeds, create_graph=create_graph, allow_unused=True)
    assert_recorded(case, "grads", list(found), case["grads"])
    return tracked, seeds, list(found)


@pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
def test_values_and_gradients_are_pytorchs(case: dict[str, Any]) -> None:
    _, _, found = gradients(case, create_graph=False)
    assert not any(g.requires_grad for g in found if g is not None)


@pytest.mark.parametrize("case", SECOND, ids=[c["id"] for c in SECOND])
def test_derivatives_of_the_gradients_are_pytorchs(case: dict[str, Any]) -> None:
    tracked, seeds, found = gradients(case, create_graph=True)
    directions = [leaf({**d, "grad": False}) for d in case["second"]["directions"]]
    dot: Any = sum((g * d).sum() for g, d in zip(found, directions, strict=True) if g is not None)
    inputs = [*tracked, *seeds]
    if not getattr(dot, "requires_grad", False):
        second: list[Any] = [None] * len(inputs)
    else:
        second = list(sg.autograd.grad(dot, inputs, allow_unused=True))
    assert_recorded(case, "hvp", second[: len(tracked)], case["second"]["hvp"])
    assert_recorded(case, "jvp", second[len(tracked) :], case["second"]["jvp"])


def test_the_cases_reach_every_public_op_of_the_core() -> None:
    named = {c["op"] for c in CASES}
    core = {"add", "sub", "mul", "div", "pow", "maximum", "minimum", "where", "sum", "mean", "logsumexp", "softmax",
            "log_softmax", "matmul", "reshape", "permute", "transpose", "squeeze", "unsqueeze", "expand", "getitem",
            "exp", "log", "sqrt", "abs", "sign", "sin", "cos", "tanh", "sigmoid", "relu", "softplus"}  # fmt: skip
    assert core <= named
