"""The programs that are measured, the same for both libraries.

Run as a script, it does the long chain in the library named and prints what that took.
"""

from __future__ import annotations

import importlib
import resource
import sys
import time
from pathlib import Path
from typing import Any


def leaves(library: Any, shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """The start of the chain, and its factor and its summand."""
    values = (library.full(shape, v, dtype=library.float64) for v in (0.3, 0.5, 0.1))
    x, a, b = (v.requires_grad_() for v in values)
    return x, a, b


def chain(library: Any, x: Any, a: Any, b: Any, ops: int) -> Any:
    """So many small ops, one after the other: x ↦ exp(sin(a·x + b)), which stays between 1/e and e."""
    for _ in range(ops // 4):
        x = x * a
        x = x + b
        x = library.sin(x)
        x = library.exp(x)
    return x


def peak_memory() -> int:
    """The most memory that this process has had, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux `getrusage` would start from what the parent process had
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def long_chain(name: str, ops: int) -> tuple[float, int]:
    """Seconds and bytes that a chain of 0-d ops takes: forward, backward, and freed."""
    library = importlib.import_module(name)
    if name == "torch":
        library.set_num_threads(1)
    chain(library, *leaves(library, ()), 1000).backward()
    before, start = peak_memory(), time.perf_counter()
    y = chain(library, *leaves(library, ()), ops)
    y.backward()
    del y
    return time.perf_counter() - start, peak_memory() - before


if __name__ == "__main__":
    print(*long_chain(sys.argv[1], int(sys.argv[2])))
