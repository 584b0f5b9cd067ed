"""How a tensor prints: PyTorch's layout, number for number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

PRECISION, THRESHOLD, EDGE, WIDTH = 4, 1000, 3, 80


class _Format:
    """Decides once for a tensor how each of its numbers is written."""

    def __init__(self, values: np.ndarray):
        self.floating = values.dtype.kind == "f"
        self.integral = self.scientific = False
        self.width = 1
        flat = values.ravel()
        if not self.floating:
            self.width = max((len(str(v)) for v in flat.tolist()), default=1)
            return
        finite = flat[np.isfinite(flat)]
        self.integral = bool((finite == np.ceil(finite)).all())
        numbers = finite[finite != 0].astype("float64")
        if numbers.size:
            size = np.abs(numbers)
            largest, smallest = float(size.max()), float(size.min())
            spread = largest / smallest > 1000.0
            self.scientific = spread or largest > 1e8 or (not self.integral and smallest < 1e-4)
        self.width = max((len(self.text(v)) for v in numbers.tolist()), default=1)  # zeros, inf and nan do not count

    def text(self, v: float) -> str:
        """The number without padding."""
        if not self.floating:
            return str(v)
        if not math.isfinite(v):
            return str(v)
        if self.scientific:
            return f"{v:.{PRECISION}e}"
        return f"{v:.0f}." if self.integral else f"{v:.{PRECISION}f}"

    def __call__(self, v: Any) -> str:
        return self.text(v).rjust(self.width)


def _rows(values: np.ndarray, indent: int, summarize: bool, fmt: _Format) -> str:
    if values.ndim == 0:
        return fmt(values.item())
    n = values.shape[0]
    cut = summarize and n > 2 * EDGE
    chosen = [*range(EDGE), *range(n - EDGE, n)] if cut else list(range(n))
    if values.ndim == 1:
        per_line = max(1, (WIDTH - indent) // (fmt.width + 2))
        items = [fmt(v) for v in values[chosen].tolist()]
        if cut:
            items.insert(EDGE, " ...")
        lines = [items[k : k + per_line] for k in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"
    parts = [_rows(values[k], indent + 1, summarize, fmt) for k in chosen]
    if cut:
        parts.insert(EDGE, "...")
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _edges(values: np.ndarray) -> np.ndarray:
    """The entries that a summary shows."""
    for axis, n in enumerate(values.shape):
        if n > 2 * EDGE:
            values = np.take(values, [*range(EDGE), *range(n - EDGE, n)], axis)
    return values


def tensor_text(values: np.ndarray, notes: list[str], default: np.dtype) -> str:
    """``tensor(...)`` with its notes (size, dtype, grad_fn, …), wrapped at 80 columns.

    Parameters
    ----------
    values : ndarray
        The values.
    notes : list of str
        What follows the values, such as ``requires_grad=True``.
    default : dtype
        The default dtype, which is not named.
    """
    prefix = "tensor("
    summarize = values.size > THRESHOLD
    # Brackets without entries show no kind of number, so only the default goes without saying.
    named = values.dtype == default or (values.size > 0 and values.dtype in (np.dtype("int64"), np.dtype(bool)))
    if values.size == 0:
        notes = ([f"size={values.shape}"] if values.ndim != 1 else []) + notes
        body = "[]"
    else:
        body = _rows(values, len(prefix), summarize, _Format(_edges(values) if summarize else values))
    dtype_note = [] if named else [f"dtype=symgrad.{values.dtype.name}"]
    k = 1 if notes and notes[0].startswith("size=") else 0
    notes = [*notes[:k], *dtype_note, *notes[k:]]
    text = prefix + body
    last = len(text) - text.rfind("\n") + 1  # as PyTorch counts
    for note in notes:
        if last + len(note) + 2 > WIDTH:
            text += ",\n" + " " * len(prefix) + note
            last = len(prefix) + len(note)
        else:
            text += ", " + note
            last += len(note) + 2
    return text + ")"
