"""Directives that run something while the pages are built and show what it printed.

``command``: a shell command and its output::

    ```{command} symgrad explain 'x**2' --at x=3
    ```

The option ``:exit:`` is the exit code that is expected, 0 by default; any other fails the build.

``example``: the code of a file in ``examples/`` without its docstring, then the formulas it prints.
The build fails unless the pages together show every example.
"""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(command: list[str], exit_code: int = 0) -> str:
    """What the command prints, on either stream; run from the root of the repository, with this Python first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
    )
    if done.returncode != exit_code:
        raise ExtensionError(f"{shlex.join(command)} ended with {done.returncode}, not {exit_code}:\n{done.stdout}")
    return done.stdout.rstrip("\n")


def block(text: str, language: str, *classes: str) -> nodes.container:
    """A block of text in a container of these classes."""
    literal = nodes.literal_block(text, text, language=language)
    return nodes.container("", literal, classes=list(classes))


class Command(SphinxDirective):
    """A shell command with its output."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {"exit": directives.nonnegative_int, "head": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        """The command as typed, then what it prints."""
        text = "\n".join([self.arguments[0], *self.content])
        words = shlex.split(text.replace("\\\n", " "))
        printed = run(words, self.options.get("exit", 0))
        if "head" in self.options:
            lines = printed.splitlines()
            printed = "\n".join([*lines[: self.options["head"]], "…"])
        return [block(text, "sh"), block(printed, "text", "captured", "table")]


class Example(SphinxDirective):
    """An example: its code, and the formulas it prints."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The code by ``literalinclude``, then the output."""
        file = EXAMPLES / f"{self.arguments[0]}.py"
        self.env.note_dependency(str(file))
        code = file.read_text(encoding="utf-8")
        docstring = ast.parse(code).body[0]
        first = (docstring.end_lineno or 0) + 1
        while not code.splitlines()[first - 1].strip():
            first += 1
        place = os.path.relpath(file, Path(self.env.doc2path(self.env.docname)).parent)
        include = f"```{{literalinclude}} {place}\n:language: python\n:lines: {first}-\n```\n"
        shown = self.env.metadata[self.env.docname].setdefault("examples_shown", [])
        shown.append(file.stem)
        return [*self.parse_text_to_nodes(include), block(run([sys.executable, str(file)]), "text", "captured")]


def every_example_is_shown(app: Sphinx, env: Any) -> None:
    """Fails the build if an example is on no page."""
    shown = {name for page in env.metadata.values() for name in page.get("examples_shown", [])}
    missing = {f.stem for f in EXAMPLES.glob("*.py")} - shown
    if missing:
        raise ExtensionError(f"no page shows these examples: {', '.join(sorted(missing))}; add them to docs/gallery.md")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("command", Command)
    app.add_directive("example", Example)
    app.connect("env-check-consistency", every_example_is_shown)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
