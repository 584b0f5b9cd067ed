"""Formulas at the edges of what a command line and a double can hold."""

import pytest

from symgrad.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["explain", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("formula", "gradient"), [("-x**2", "−2·x"), ("-x**-2", "2/x³"), ("-(-x)", "1"), ("--x", None)]
)
def test_a_formula_may_begin_with_a_minus(
    capsys: pytest.CaptureFixture[str], formula: str, gradient: str | None
) -> None:
    if gradient is None:
        with pytest.raises(SystemExit):
            run(capsys, formula)
        return
    code, out, _ = run(capsys, formula, "--wrt", "x", "--at", "x=2.5")
    assert code == 0
    assert f"∂y/∂x = {gradient}\n" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("1e-400*x", "--at", "x=2"),
        ("2*x", "--at", "x=1e-400"),
        ("x**0.000e5 + 3E-999",),
        ("x*(1e-200*1e-200)",),
        ("1e-200**2*x",),
        ("x*(1e-300/1e300)",),
    ],
)
def test_a_number_that_would_become_zero_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2 and not out
    assert "smaller than a double can be" in err


def test_zeros_are_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "0.0*x + 0e10 + 0*x + x", "--at", "x=0.00")
    assert code == 0 and "∂y/∂x = 1\n" in out
