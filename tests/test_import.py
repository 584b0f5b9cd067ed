"""What a plain import takes along, and what it leaves for later."""

from __future__ import annotations

import subprocess
import sys

import pytest

LATER = ("sympy", "mpmath", "rich", "hypothesis", "numpy.random", "symgrad.formulas", "symgrad.verify", "symgrad.typed")


def in_a_fresh_process(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


def test_a_plain_import_leaves_what_it_does_not_need() -> None:
    assert in_a_fresh_process(f"import sys, symgrad; print(*(m for m in {LATER} if m in sys.modules))") == ""


@pytest.mark.parametrize("name", ["formula", "explain", "verify", "typed"])
def test_the_lazy_parts_come_when_they_are_asked_for(name: str) -> None:
    assert in_a_fresh_process(f"import symgrad; print(symgrad.{name} is symgrad.{name})") == "True"


def test_the_first_use_of_a_reflected_operator_is_recorded_where_the_user_wrote_it() -> None:
    program = """
import symgrad as sg
x = sg.tensor(4.0, requires_grad=True)
first, second = 1 - x, 1 - x
assert first._node.code is second._node.code and first._node.code.co_name == "<module>", first._node.code
print(first.item(), (2 / x).item(), (2**x).item(), 3 - x.detach() - 1)
"""
    assert in_a_fresh_process(program) == "-3.0 0.5 16.0 tensor(-2.)"
