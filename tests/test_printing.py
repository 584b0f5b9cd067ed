"""How tensors print: `printed.txt` holds what PyTorch 2.13 prints for each expression, with the default float64."""

from __future__ import annotations

import math
import pathlib
import re

import numpy as np
import pytest

import symgrad as sg

PRINTED = re.findall(
    r"^>>> (.+)\n((?:(?!>>> ).*\n)+)", (pathlib.Path(__file__).parent / "printed.txt").read_text(), flags=re.MULTILINE
)


@pytest.mark.parametrize(("code", "text"), PRINTED, ids=[code for code, _ in PRINTED])
def test_tensors_print_as_in_pytorch(code: str, text: str) -> None:
    t = eval(code, {"sg": sg, "nan": math.nan, "inf": math.inf})
    assert repr(t) == str(t) == f"{t!r}" == text.rstrip("\n")


def test_the_recorded_strings_are_all_there() -> None:
    assert len(PRINTED) == 60


def test_notes_follow_the_values() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 4.], grad_fn=<MulBackward0>)"
    assert repr(x.float()) == "tensor([1., 2.], dtype=symgrad.float32, grad_fn=<ToCopyBackward0>)"
    assert repr(x.detach()) == repr(x.data) == "tensor([1., 2.])"
    with sg.no_grad():
        assert repr(x * 2) == "tensor([2., 4.])"
    assert repr((x.sum(), None)) == "(tensor(3., grad_fn=<SumBackward0>), None)"


def test_a_note_that_does_not_fit_moves_to_the_next_line(float32: None) -> None:
    x = sg.tensor([1.0] * 9, dtype=sg.float64, requires_grad=True)
    first, second = repr(x * 3.0).splitlines()[-2:]
    assert first == "tensor([3., 3., 3., 3., 3., 3., 3., 3., 3.], dtype=symgrad.float64,"
    assert second == "       grad_fn=<MulBackward0>)"


def test_tensors_inside_of_strings() -> None:
    t = sg.tensor(1.5)
    assert f"{t} {t:.2f} {t:8.3e}|" == "1.5 1.50 1.500e+00|"
    assert f"{sg.tensor(3):03d}" == "003"
    assert f"{sg.ones(2)}" == "tensor([1., 1.])"
    assert f"{sg.tensor(1.5, requires_grad=True)}" == "tensor(1.5000, requires_grad=True)"


def test_shapes_print_as_sizes() -> None:
    assert repr(sg.ones(2, 3).shape) == "symgrad.Size([2, 3])"
    assert repr(sg.tensor(1.0).size()) == "symgrad.Size([])"


def test_scalars_and_0d_arrays_print_alike() -> None:
    t = sg.tensor(2.5)
    before = repr(t)
    t.numpy()
    assert repr(t) == before == "tensor(2.5000)"


def test_a_view_prints_what_it_shows() -> None:
    assert repr(sg.from_numpy(np.arange(6.0).reshape(2, 3)).t()[1:]) == "tensor([[1., 4.],\n        [2., 5.]])"
