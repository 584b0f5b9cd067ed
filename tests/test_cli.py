"""The command: what it prints, what it refuses, and with which exit code."""

import subprocess
import sys

import pytest

from symgrad.cli import main


def run(capsys, *arguments):
    code = main(["explain", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_formula_of_the_issue(capsys):
    code, out, _ = run(capsys, "mean(log(1+exp(-y*(X@w))))", "--wrt", "w", "--seed", "1")
    assert code == 0
    for part in ("Assumed", "Forward", "Backward", "Gradient", "Proof", "random values come from seed 1", "agree to"):
        assert part in out
    assert "∂f/∂wᵢ = −(1/n)·Σⱼ Xⱼᵢ·yⱼ·t₄[j]/(t₄[j] + 1)      where t₄[i] = exp(−yᵢ·Σⱼ Xᵢⱼ·wⱼ)" in out


def test_values_from_the_command_line(capsys):
    code, out, _ = run(capsys, "x**2*y + sin(x)", "--at", "x=2", "--at", "y=3", "--wrt", "x")
    assert code == 0
    assert "∂f/∂x = 2·x·y + cos(x)\n      = 11.5839" in out


def test_values_from_a_file(capsys, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("t,y\n1,2\n2,5\n3,10\n")
    code, out, _ = run(
        capsys, "mean((a*t - y)**2)", "--wrt", "a", "--at", "a=1", "--at", f"t=@{file}:t", "--at", f"y=@{file}:y"
    )
    assert code == 0
    assert "∂f/∂a = (2/3)·Σᵢ tᵢ·(a·tᵢ − yᵢ)" in out


def test_shapes_and_several_statements(capsys):
    code, out, _ = run(capsys, "r = X@w - t; sum(r**2)", "--wrt", "w", "--shape", "X=4,2", "--seed", "3")
    assert code == 0
    assert "∂y/∂wᵢ = 2·Σⱼ Xⱼᵢ·rⱼ" in out


def test_a_result_that_is_no_scalar(capsys):
    code, out, _ = run(capsys, "tanh(v)", "--at", "v=[0.5, 1]")
    assert code == 0
    assert "v̄ᵢ = ȳᵢ·(1 − tanh(vᵢ)²)" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x^2"], "write ** for a power"),
        (["log(x"], "never closed"),
        (["__import__('os')"], "^"),
        (["sinn(x)"], "sin"),
        (["x + y", "--wrt", "z"], "no such variable; it has x, y"),
        (["x", "--at", "x=1", "--at", "x=2"], "given twice"),
        (["x", "--at", "x"], "takes NAME=VALUE"),
        (["x", "--at", "x=@nowhere.csv"], "there is no file"),
        (["X@w", "--shape", "X=a,b"], "whole numbers"),
        (["3"], "no variable"),
    ],
)
def test_refusals_have_a_sentence_and_exit_code_2(capsys, arguments, said):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert said in err
    assert "Traceback" not in err


def test_as_a_module_and_in_a_pipe():
    command = [sys.executable, "-m", "symgrad", "explain", "x**2", "--at", "x=3"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert "∂y/∂x = 2·x" in done.stdout
    assert "\x1b[" not in done.stdout


def test_on_a_terminal_headings_stand_out(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, out, _ = run(capsys, "x**2", "--at", "x=3")
    assert "\x1b[" in out
    assert "∂y/∂x = 2·x" in out
