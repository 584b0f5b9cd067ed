"""A derivation as plain text, for pipes, doctests and `print`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .steps import Derivation, Step


def value_text(value: Any) -> str:
    """A value in a few characters: a number, the first entries of an array with its extremes."""
    a = np.asarray(value)
    if a.ndim == 0:
        return _number(a.item())
    flat = a.ravel()
    if a.size <= 4:
        inside = ", ".join(map(_number, flat.tolist()))
        return f"[{inside}]" if a.ndim == 1 else f"{'×'.join(map(str, a.shape))} [{inside}]"
    shown = ", ".join(map(_number, flat[:3].tolist()))
    norm = float(np.sqrt(np.sum(np.square(a.astype("float64")))))
    least, most = _number(a.min().item()), _number(a.max().item())
    return f"{'×'.join(map(str, a.shape))} [{shown}, …]  min {least}  max {most}  norm {_number(norm)}"


def _number(x: Any) -> str:
    if isinstance(x, (bool, int)):
        return str(x)
    return f"{x + 0.0:.6g}".replace("-", "−")  # no reader wants a −0


def _columns(rows: list[tuple[str, ...]], indent: str = "  ", widest: int = 60) -> list[str]:
    widths = [min(max((len(r[k]) for r in rows), default=0), widest) for k in range(len(rows[0]))] if rows else []
    return [(indent + "  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True))).rstrip() for r in rows]


def sections(d: Derivation) -> list[tuple[str, list[str]]]:
    """The parts of a derivation: (heading, lines)."""
    forward = [s for s in d.steps if s.kind == "forward"]
    backward = [s for s in d.steps if s.kind != "forward"]
    parts: list[tuple[str, list[str]]] = []
    if d.notes:
        parts.append(("Assumed", [f"  {n}" for n in d.notes]))
    numbers = {id(s): k for k, s in enumerate(forward, 1)}
    parts.append(
        ("Forward", _columns([(f"{numbers[id(s)]:>2}", s.op, s.equation, value_text(s.value)) for s in forward]))
    )
    parts.append(("Backward", _backward(backward)))
    formulas = []
    for f, p in zip(d.formulas, d.proofs, strict=True):
        formulas += [f"  {line}" for line in str(f).splitlines()]
        formulas.append(f"      = {value_text(p.numeric)}")
    parts.append(("Gradient", formulas))
    parts.append(("Proof", [f"  {p}" for p in d.proofs]))
    return parts


def _backward(steps: list[Step]) -> list[str]:
    lines: list[str] = []
    rows = [(s.op or s.kind, s.equation, value_text(s.value)) for s in steps]
    for s, line in zip(steps, _columns(rows), strict=True):
        lines.append(line)
        because = ",  ".join(filter(None, [s.rule, s.local]))
        if because:
            lines.append(f"        {because}")
    return lines


def render(d: Derivation) -> str:
    """The derivation as text."""
    blocks = [d.title] + [f"{heading}\n" + "\n".join(lines) for heading, lines in sections(d) if lines]
    return "\n\n".join(blocks)
