"""The command ``symgrad``: a typed formula in, its gradient explained out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from . import __version__
from .errors import ArgumentError, SymgradError, TypedFormulaError

EXAMPLES = """\
examples:
  symgrad explain 'mean(log(1+exp(-y*(X@w))))' --wrt w
  symgrad explain 'x**2*y + sin(x)' --at x=2 --at y=3
  symgrad explain 'z = a + b*x; mean(softplus(z) - y*z)' --wrt b --at a=15 --at b=-0.23 \\
      --at x=@data.csv:temperature --at y=@data.csv:failed
  symgrad explain 'sum((X@w - t)**2)' --wrt w --shape X=20,3 --seed 7
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="symgrad",
        description="Exact gradient formulas, step by step, with a numeric proof.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"symgrad {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    explain = commands.add_parser(
        "explain",
        help="how the gradient of a formula comes about",
        description="Computes a formula, differentiates it, and shows every step, the exact formula and the proof.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    explain.add_argument(
        "formula", help="a formula such as 'mean((X@w - t)**2)'; several statements are separated by ;"
    )
    explain.add_argument(
        "--wrt", action="append", default=[], metavar="NAME", help="a variable to differentiate by; all, if not given"
    )
    explain.add_argument(
        "--at",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a value: a number, a list, @file.csv, @file.csv:column or @file.npy",
    )
    explain.add_argument("--shape", action="append", default=[], metavar="NAME=SIZES", help="a shape, such as X=20,3")
    explain.add_argument("--seed", type=int, help="the seed of values that are not given")
    return parser


def _pairs(items: Sequence[str], option: str) -> dict[str, str]:
    """NAME=VALUE arguments, by name."""
    found: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise TypedFormulaError(f"{option} takes NAME=VALUE, not {item!r}")
        if name.strip() in found:
            raise TypedFormulaError(f"{option} {name.strip()} is given twice; give it once")
        found[name.strip()] = value.strip()
    return found


def _shapes(items: Sequence[str]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for name, sizes in _pairs(items, "--shape").items():
        try:
            found[name] = tuple(int(n) for n in sizes.replace("x", ",").split(",") if n.strip())
        except ValueError:
            raise TypedFormulaError(
                f"--shape {name}: sizes are whole numbers separated by commas, not {sizes!r}"
            ) from None
    return found


def _explain(arguments: argparse.Namespace) -> Any:
    from . import typed
    from .derivation import explain

    given = typed.evaluate(
        arguments.formula, at=_pairs(arguments.at, "--at"), shapes=_shapes(arguments.shape), seed=arguments.seed
    )
    if not given.variables:
        raise TypedFormulaError(
            "the formula has no variable to differentiate by; write a name where a value shall vary"
        )
    names = [name.strip() for item in arguments.wrt for name in item.split(",")]
    unknown = [name for name in names if name not in given.variables]
    if unknown:
        raise TypedFormulaError(
            f"--wrt {unknown[0]}: the formula has no such variable; it has {', '.join(given.variables) or 'none'}"
        )
    wrt = [given.variables[name] for name in names] or list(given.variables.values())
    notes = [*given.assumptions]
    if any("random" in note for note in notes):
        notes.append(f"random values come from seed {given.seed}: --seed {given.seed} draws them again")
    return explain(given.result, wrt, title=arguments.formula, notes=notes)


def _show(derivation: Any) -> None:
    """Plain in a pipe; on a terminal with headings that stand out."""
    from .derivation.plain import sections

    if not sys.stdout.isatty():
        print(derivation)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(derivation.title, style="bold"))
    for heading, lines in sections(derivation):
        if lines:
            console.print(Text(f"\n{heading}", style="bold cyan"))
            for line in lines:
                console.print(
                    Text(line, style="dim" if line.startswith("        ") else "green" if heading == "Proof" else "")
                )


def _no_option(argument: str) -> str:
    """A formula that begins with a minus, with a blank before it, so that it is not taken for an option."""
    return (
        f" {argument}" if argument.startswith("-") and argument not in ("-h", "-") and argument[1] != "-" else argument
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code: 0, or 2 for input that is refused."""
    parsed = _parser().parse_args([_no_option(a) for a in (sys.argv[1:] if arguments is None else arguments)])
    try:
        _show(_explain(parsed))
    except BrokenPipeError:
        sys.stderr.close()
    except (SymgradError, ArgumentError, ValueError, OSError) as error:
        print(
            f"symgrad: {error}" if not isinstance(error, TypedFormulaError) or not error.text else str(error),
            file=sys.stderr,
        )
        return 2
    return 0
