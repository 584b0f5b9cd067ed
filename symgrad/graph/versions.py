"""When arrays were written in place, so that a stale saved value is never used.

Only arrays that were ever written appear here. A write and a record take their time from
the same clock (`next_seq`), so "changed after it was saved" is one comparison, and a node
carries no version numbers. In the usual training step every write (the optimiser's) is
older than every record, which one comparison for the whole graph settles.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .node import next_seq


class _Writes:
    """The writes to one buffer: their times, and what did them."""

    __slots__ = ("ops", "owner", "times")

    def __init__(self, owner: Any):
        self.owner = owner
        self.times: list[int] = []
        self.ops: list[str] = []


_written: dict[int, _Writes] = {}
last_write = 0
"""The time of the newest write to anything."""

_HISTORY = 1000


def buffer_of(array: np.ndarray) -> Any:
    """The object that owns the array's memory."""
    base = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    return base


def note_write(array: np.ndarray, op: str) -> None:
    """Notes that the array's memory is written now, by the named op."""
    global last_write
    owner = buffer_of(array)
    key = id(owner)
    if key not in _written:
        try:
            alive = weakref.ref(owner, lambda _: _written.pop(key, None))
        except TypeError:
            alive = owner  # bytes and the like cannot be referenced weakly; held, their id stays theirs
        _written[key] = _Writes(alive)
    writes = _written[key]
    last_write = next_seq()
    writes.times.append(last_write)
    writes.ops.append(op)
    if len(writes.times) > 2 * _HISTORY:
        del writes.times[:_HISTORY], writes.ops[:_HISTORY]


def writes_after(array: Any, time: int) -> tuple[int, int, str] | None:
    """The version at that time, the version now, and the op of the first write between; None if nothing changed."""
    if last_write <= time or not isinstance(array, np.ndarray):
        return None
    writes = _written.get(id(buffer_of(array)))
    if writes is None or writes.times[-1] <= time:
        return None
    then = sum(written <= time for written in writes.times)
    return then, len(writes.times), writes.ops[then]


def version(array: Any) -> int:
    """How often the array's memory has been written in place."""
    writes = _written.get(id(buffer_of(array))) if isinstance(array, np.ndarray) else None
    return len(writes.times) if writes else 0


def unversioned(array: np.ndarray) -> np.ndarray:
    """The same memory under another owner, so that writes through it are not noted (what `.data` promises)."""
    return np.asarray(memoryview(array.data))
