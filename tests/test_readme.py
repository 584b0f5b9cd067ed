"""The README's sessions run, and print what it says; its commands are the ones that CI finds."""

import doctest
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_sessions():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.testfile(str(README), module_relative=False, optionflags=flags)
    assert results.attempted > 10
    assert results.failed == 0


def test_two_commands_of_one_line_each():
    section = README.read_text().split("## Two commands")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.S)
    assert [block.count("\n") for block in blocks] == [1, 1]
    assert all("venv" in block and "pip install" in block for block in blocks)
