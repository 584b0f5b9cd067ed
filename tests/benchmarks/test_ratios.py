"""symgrad's time and memory as a fraction of a peer's, measured in turns (ours, theirs, ours, …) on one core.

Other work on the machine slows both alike, and the minimum of many turns is what neither was disturbed in.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import symgrad as sg

from . import programs
from .programs import chain, leaves

OPS = 1000
MANY_OPS = 1_000_000


class Table:
    """The ratios found so far, each with its target."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float, str]] = []

    def add(self, what: str, ours: float, theirs: float, target: float, unit: str) -> None:
        """Notes a ratio, and the two numbers that it is made of."""
        self.rows.append((what, ours / theirs, target, f"{ours:.4g} / {theirs:.4g} {unit}"))

    def __str__(self) -> str:
        width = max(len(what) for what, *_ in self.rows)
        lines = [f"{'':{width}}  ratio  target"]
        for what, ratio, target, numbers in self.rows:
            missed = "" if ratio <= target else "  missed"
            lines.append(f"{what:{width}}  {ratio:5.3f}  ≤ {target:.2f}  ({numbers}){missed}")
        return "\n".join(lines)


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    found = Table()
    yield found
    if found.rows:
        print(f"\n\n{found}")


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    """Pins this process, and those it starts, to one core, and hides the test runner's objects from the collector."""
    pinned = hasattr(os, "sched_setaffinity")
    allowed = os.sched_getaffinity(0) if pinned else set()
    if pinned:
        os.sched_setaffinity(0, {max(allowed)})
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
    if pinned:
        os.sched_setaffinity(0, allowed)


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch")
    threads = found.get_num_threads()
    found.set_num_threads(1)
    yield found
    found.set_num_threads(threads)


def in_turns(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> tuple[float, float]:
    """The minimum of each over so many rounds."""
    ours(), theirs()  # the first run pays for imports, caches and allocation
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return min(p[0] for p in pairs), min(p[1] for p in pairs)


def timed(run: Callable[[], object]) -> Callable[[], float]:
    """The function that runs it and returns the seconds that took."""

    def seconds() -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return seconds


def forward_and_backward(library: Any, shape: tuple[int, ...]) -> Callable[[], object]:
    x, a, b = leaves(library, shape)
    seed = library.ones(shape, dtype=library.float64)
    return lambda: chain(library, x, a, b, OPS).backward(seed)


def forward_only(library: Any, shape: tuple[int, ...]) -> Callable[[], object]:
    x, a, b = leaves(library, shape)

    def run() -> None:
        with library.no_grad():
            chain(library, x, a, b, OPS)

    return run


@pytest.mark.parametrize(
    ("what", "program", "shape", "target"),
    [
        ("0-d, forward and backward", forward_and_backward, (), 0.30),
        ("64-vector, forward and backward", forward_and_backward, (64,), 0.50),
        ("0-d, no_grad", forward_only, (), 0.50),
        ("64-vector, no_grad", forward_only, (64,), 0.80),
    ],
)
def test_an_op(benchmark: Any, table: Table, torch: Any, what: str, program: Any, shape: Any, target: float) -> None:
    turns = (timed(program(sg, shape)), timed(program(torch, shape)), 150)
    ours, theirs = benchmark.pedantic(in_turns, args=turns, rounds=1)
    table.add(f"an op: {what}", ours / OPS * 1e6, theirs / OPS * 1e6, target, "µs")


def test_a_million_ops(benchmark: Any, table: Table, torch: Any) -> None:
    def long_chain(name: str) -> tuple[float, int]:
        command = [sys.executable, programs.__file__, name, str(MANY_OPS)]
        seconds, memory = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        return float(seconds), int(memory)

    def both() -> list[tuple[tuple[float, int], tuple[float, int]]]:
        return [(long_chain("symgrad"), long_chain("torch")) for _ in range(2)]

    pairs = benchmark.pedantic(both, rounds=1)
    (our_time, our_memory), (their_time, their_memory) = (
        tuple(min(run[k] for run in runs) for k in (0, 1)) for runs in zip(*pairs, strict=True)
    )
    table.add("a million 0-d ops: time", our_time, their_time, 0.40, "s")
    table.add("a million 0-d ops: peak memory", our_memory / MANY_OPS, their_memory / MANY_OPS, 0.40, "bytes an op")


def test_import(benchmark: Any, table: Table, tmp_path: Path) -> None:
    """Against `import numpy`, both from compiled bytecode, as where they are installed."""
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def importing(name: str) -> Callable[[], float]:
        command = [sys.executable, "-c", f"import {name}"]
        return timed(lambda: subprocess.run(command, check=True, env=environment))

    ours, theirs = benchmark.pedantic(in_turns, args=(importing("symgrad"), importing("numpy"), 25), rounds=1)
    table.add("import, against NumPy's", ours * 1e3, theirs * 1e3, 1.30, "ms")
