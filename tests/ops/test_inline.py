"""Functions that generated code writes out instead of calling."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.ops.declare import catalogue
from symgrad.ops.inline import called, written_out


def test_the_text_means_what_the_function_does() -> None:
    assert written_out(lambda a, b: a * b, ("g", "node.v1")) == "g * node.v1"
    assert written_out(lambda xp, g, x: g * xp.exp(x), ("xp", "g", "node.v0")) == "g * xp.exp(node.v0)"


NEAR: Any = [
    lambda x, y: y * x,
    lambda x, y: x**y,
    lambda x, *, y: x * y,
    lambda g, alpha: g if alpha == 2 else g * alpha,
    lambda x: np.exp(x),
]


@pytest.mark.parametrize("function", NEAR)
def test_what_only_looks_alike_is_called(function: Any) -> None:
    assert written_out(function, ("p", "q")) is None


def test_a_docstring_changes_nothing() -> None:
    def product(x: Any, y: Any) -> Any:
        """Product."""
        return x * y

    assert written_out(product, ("p", "q")) == "p * q"


def test_a_closure_is_called() -> None:
    factor = 3.0
    assert written_out(lambda x: x * factor, ("p",)) is None


def test_only_numpy_own_functions_are_called_directly() -> None:
    class Other:
        exp = staticmethod(lambda x: x)

    assert called(lambda x: np.exp(x)) is np.exp
    scope = {"np": Other}
    exec("f = lambda x: np.exp(x)", scope)
    assert called(scope["f"]) is scope["f"]


def test_generated_code_has_no_call_for_a_product() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert catalogue["mul"].recorder is not None
    assert "out = value_x * value_y" in "".join(linecache.getlines("<symgrad op mul>"))
    assert "vjp" not in "".join(linecache.getlines("<symgrad op pull_mul>"))
