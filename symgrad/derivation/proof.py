"""The proof: the numbers that backward() gives, against the exact values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from ..tensor import Tensor
from ..verify import Undecided, exact_gradient, one_sided_slopes, ulps

BUDGET = 400_000
"""The number of scalar operations in high precision past which nothing is proved."""
DIGITS = 50
MOST_SLOPES = 32
"""The number of entries up to which one-sided slopes are computed at a kink."""
BOUND = 16
"""The number of ulps past which a difference needs an explanation."""


@dataclass(frozen=True)
class Proof:
    """How far a numeric gradient is from the exact one.

    Attributes
    ----------
    variable : str
        Whose gradient.
    numeric, exact : ndarray, object ndarray or None
        The numbers, and the exact values; None where there is no proof.
    ulps : float or None
        The largest error in units in the last place of the exact value.
    scaled : float or None
        The largest error in ulps of the size of the contributions, which is what rounding can do.
    kinks : tuple of str
        Ops that were evaluated where they have no derivative; their convention holds there.
    reason : str
        Why there is no proof; empty if there is one.
    singular : tuple of str
        What is to be said of entries that have no finite value, exactly or as a number.
    slopes : str
        What the function itself does at a kink.
    """

    variable: str
    numeric: Any
    exact: Any = None
    ulps: float | None = None
    scaled: float | None = None
    kinks: tuple[str, ...] = ()
    reason: str = ""
    singular: tuple[str, ...] = ()
    slopes: str = ""

    def __str__(self) -> str:
        if self.ulps is None:
            verdict = f"not proved: {self.reason}" if self.reason else "nothing to compare"
            return "; ".join([f"{self.variable}: {verdict}", *self.singular])
        half = max(BOUND, 2 ** (np.finfo(np.asarray(self.numeric).dtype).nmant // 2))  # half the digits are lost
        agree = min(self.ulps, self.ulps if self.scaled is None else self.scaled) <= half
        entries = int(np.size(np.asarray(self.numeric)))
        verdict = f"{'agree to' if agree else 'DISAGREE by'} {_short(self.ulps)} ulp"
        text = f"{self.variable}: numeric and exact {verdict} ({DIGITS} digits"
        if entries > 1:
            text += f", all {entries} entries" if not self.singular else f", {entries} entries but for those named"
        text += ")"
        if agree and self.ulps > BOUND:
            text += f"; the terms cancel: {_short(self.scaled or 0.0)} ulp of their size"
        elif not agree:
            text += ": a rule is wrong, or rounding inside the program took the digits"
        if self.kinks:
            text += f"; kink inside {', '.join(sorted(set(self.kinks)))}: {self.slopes or 'the convention holds there'}"
        return "; ".join([text, *self.singular])


def _short(x: float) -> str:
    return f"{x:.1f}" if x < 1000 else f"{x:.2g}"


def prove(out: Tensor, wrt: list[Tensor], names: list[str], numeric: list[Any], seed: Any, work: int) -> list[Proof]:
    """One proof for each variable."""
    if work > BUDGET:
        reason = (
            f"{work:,} scalar operations in high precision are more than the budget of {BUDGET:,}; "
            "explain a smaller case"
        )
        return [Proof(n, v, reason=reason) for n, v in zip(names, numeric, strict=True)]
    try:
        exact = exact_gradient(out, wrt, seed, digits=DIGITS)
    except Undecided as error:
        return [Proof(n, v, reason=str(error)) for n, v in zip(names, numeric, strict=True)]
    proofs = []
    for name, number, value, scale, t in zip(names, numeric, exact.gradients, exact.scales, wrt, strict=True):
        dtype = t._data.dtype
        flat = list(zip(*(np.ravel(np.asarray(a, dtype=object)) for a in (number, value, scale)), strict=True))
        singular = dict.fromkeys(filter(None, (_singular(n, e) for n, e, _ in flat)))
        finite = [(n, e, s) for n, e, s in flat if not _singular(n, e)]
        errors = [ulps(n, e, dtype) for n, e, _ in finite]
        scaled = [u * (_ulp(e, dtype) / _ulp(s, dtype)) for u, (_, e, s) in zip(errors, finite, strict=True)]
        proofs.append(
            Proof(
                name,
                number,
                value,
                float(max(errors)) if errors else None,
                float(max(scaled, default=0)),
                tuple(exact.kinks),
                singular=tuple(singular),
                slopes=_own_slopes(out, t, number, seed) if exact.kinks else "",
            )
        )
    return proofs


def _own_slopes(out: Tensor, t: Tensor, numeric: Any, seed: Any) -> str:
    """What the function itself does at a kink, for few entries: its derivative there, or that it has none."""
    if t._data.size > MOST_SLOPES:
        return ""
    ((below, above),) = one_sided_slopes(out, [t], seed)
    smooth = kinked = 0
    for n, low, high in zip(*(np.ravel(np.asarray(a, dtype=object)) for a in (numeric, below, above)), strict=True):
        near = mpmath.mpf(10) ** -9 * max(1, abs(low), abs(high))
        if not abs(low - high) <= near:
            kinked += 1
        elif abs(mpmath.mpf(float(n)) - low) > near:
            smooth += 1
    if smooth:
        return (
            f"the function itself is smooth there, and {smooth} of its slopes differ from what the "
            "conventions add up to"
        )
    return "the convention holds there" if kinked else "the function itself is smooth there, and has this slope"


def _singular(n: Any, e: Any) -> str:
    """What is to be said where one of the two has no finite value; empty where both have one."""
    n = float(n)
    no_number, no_value = not np.isfinite(n), e != e or abs(e) == mpmath.inf
    if no_number and no_value:
        return f"there is no finite derivative here (numeric {n})"
    if no_value:
        return f"there is no finite derivative here, and the number is {n:.6g}"
    if no_number and n != n:
        return f"the number is nan where the exact value is {mpmath.nstr(e, 6)}: 0·∞ or ∞ − ∞ on the way"
    if no_number:
        return f"the number is {n} where the exact value is {mpmath.nstr(e, 6)}: it overflows"
    return ""


def _ulp(x: Any, dtype: Any) -> Any:
    from ..verify.ulps import ulp

    return ulp(x, dtype) if x == x else ulp(0, dtype)
