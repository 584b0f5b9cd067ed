"""Every example runs, and prints what its docstring says."""

import ast
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_prints_its_docstring(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out.strip()
    assert printed
    assert printed in (ast.get_docstring(ast.parse(path.read_text())) or "")
