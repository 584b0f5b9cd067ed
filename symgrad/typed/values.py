"""Random values for variables that were given none."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Literal

import numpy as np

from .program import Apply, Name, Number, Program

Domain = Literal["real", "positive", "unit"]
"""Where values are drawn: the whole line, above 0, or between 0 and 1."""


def domains(program: Program) -> dict[str, tuple[Domain, str]]:
    """For each variable that must not be just any number: where it lies, and the reason.

    What stands under a logarithm or a root is followed down through products, sums, powers and
    indices to bare names; ``1 - p`` there puts p between 0 and 1. A name that is compared is positive
    too, so that the first branch is the one that is shown.
    """
    found: dict[str, tuple[Domain, str]] = {}
    for node in program.nodes:
        if not isinstance(node, Apply):
            continue
        if node.function in ("log", "sqrt"):
            _positive(program, node.args[0], f"it stands under {node.function}", found)
        elif node.function == "pow" and not _whole(program, node.args[1]):
            _positive(program, node.args[0], "its power is not a whole number", found)
        elif node.function in ("lt", "le", "gt", "ge", "eq", "ne"):
            for k in node.args:
                if isinstance(base := program.nodes[k], Name):
                    found.setdefault(base.name, ("positive", "it is compared"))
    return found


_THROUGH = (
    "mul",
    "div",
    "add",
    "matmul",
    "sum",
    "mean",
    "getitem",
    "T",
    "t",
    "reshape",
    "pow",
    "sqrt",
    "maximum",
    "minimum",
)


def _positive(program: Program, k: int, reason: str, found: dict[str, tuple[Domain, str]]) -> None:
    stack, seen = [k], set()
    while stack:
        k = stack.pop()
        node = program.nodes[k]
        if k in seen:
            continue
        seen.add(k)
        if isinstance(node, Name):
            if found.get(node.name, ("real", ""))[0] != "unit":
                found[node.name] = ("positive", reason)
        elif isinstance(node, Apply) and node.function == "sub":
            left, right = (program.nodes[a] for a in node.args)
            if isinstance(left, Number) and left.value == 1 and isinstance(right, Name):
                found[right.name] = ("unit", reason)
        elif isinstance(node, Apply) and node.function == "pow" and _even(program, node.args[1]):
            continue
        elif isinstance(node, Apply) and node.function in _THROUGH:
            stack.extend(node.args[:1] if node.function == "pow" else node.args)


def _whole(program: Program, k: int) -> bool:
    node = program.nodes[k]
    if isinstance(node, Apply) and node.function == "neg":
        node = program.nodes[node.args[0]]
    return isinstance(node, Number) and node.value == int(node.value)


def _even(program: Program, k: int) -> bool:
    node = program.nodes[k]
    return isinstance(node, Number) and node.value % 2 == 0


def draw(name: str, shape: tuple[int, ...], domain: Domain, seed: int) -> np.ndarray:
    """Values with three decimals; those of a name depend on the seed and on nothing else in the formula."""
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    if domain == "unit":
        return np.asarray(random.uniform(0.1, 0.9, shape)).round(3)
    if domain == "positive":
        return np.asarray(random.uniform(0.2, 2.0, shape)).round(3)
    values = np.asarray(random.standard_normal(shape)).round(3)
    return np.where(values == 0, 0.001, values)


def reasons_of(found: Mapping[str, tuple[Domain, str]], name: str) -> tuple[Domain, str]:
    """The domain of a name, and how to say it after ``drawn at random``."""
    domain, reason = found.get(name, ("real", ""))
    words = {"real": "", "positive": f", positive as {reason}", "unit": f", between 0 and 1 as {reason}"}
    return domain, words[domain]
