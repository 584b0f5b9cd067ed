"""Where constants come from, for as long as that costs nothing to know.

Ops on tensors that require no gradient are not recorded. So that ``-y * (X @ w)`` still reads
−y, the result of such an op remembers the op and refers weakly to its operands: no array is
kept alive for a formula's sake, and a running average does not grow a history.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from .node import Extra, next_seq

if TYPE_CHECKING:
    from ..ops.declare import Op

DEEPEST = 8
"""How many ops an origin reaches back."""


class Origin(NamedTuple):
    """How a constant was computed.

    Attributes
    ----------
    op, params
        The op and its parameters in normal form.
    operands : tuple
        Numbers, or pairs of a weak reference to a tensor and that tensor's own origin.
    seq : int
        When.
    depth : int
        How many ops deep it reaches.
    """

    op: Op
    operands: tuple[Any, ...]
    params: tuple[Any, ...] | None
    seq: int
    depth: int


def note_origin(op: Op, result: Any, operands: tuple[Any, ...], params: tuple[Any, ...] | None) -> None:
    """Notes on the result of an unrecorded op where it comes from, and where it was computed."""
    held: list[Any] = []
    depth = 0
    for o in operands:
        if not hasattr(o, "_data"):
            held.append(o)
            continue
        origin = o._extra.origin if o._extra is not None else None
        held.append((weakref.ref(o), origin))
        if origin is not None:
            depth = max(depth, origin.depth)
    extra = result._extra = Extra()
    frame = sys._getframe(2)
    extra.place = frame.f_code, frame.f_lasti
    if depth < DEEPEST and _as_written(op, result._data.dtype.kind):
        extra.origin = Origin(op, tuple(held), params, next_seq(), depth + 1)


def _as_written(op: Op, kind: str) -> bool:
    """Whether the op computes what it reads as: casts cut, bools do not add up, and integers wrap."""
    return kind == "f" or op.structural or (kind == "b" and op.name not in ("add", "cast"))
