"""When a number is settled: two precisions agree on it, and the higher one could not have missed anything.

Agreement alone proves nothing: ``(10³⁰⁰ + 1) − 10³⁰⁰`` is 0 in 40 digits and in 80. The second precision
therefore spans the whole range of doubles. Where a value only shrinks as the precision grows
(``x − log(exp(x))``) it is rounding noise around 0, and 0 is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mpmath

RANGE = 700
"""More digits than lie between the smallest double and the largest."""
LEAST, MOST = 40, 3000
"""Digits of working precision to begin with at least, and to end with at most."""


def precisions(digits: int) -> Iterator[int]:
    """Working precisions in which to compute a number of that many digits."""
    yield max(digits + 15, LEAST)
    dps = digits + RANGE
    while dps < max(MOST, 2 * digits + RANGE):
        yield dps
        dps *= 2


def settle(compute: Callable[[], tuple[list[Any], Any]], digits: int) -> tuple[list[Any], Any] | None:
    """Computes in rising precision until the numbers agree.

    Parameters
    ----------
    compute : callable
        Returns numbers, and anything else that comes with them, in the precision in force.
    digits : int
        On how many digits two precisions must agree.

    Returns
    -------
    What the last `compute` returned, with noise replaced by 0; None if nothing settles the digits.
    """
    before: list[Any] | None = None
    last = 0
    for dps in precisions(digits):
        with mpmath.workdps(dps):
            found, rest = compute()
            if before is not None:
                agreed = [_agreed(a, b, digits, dps - last) for a, b in zip(before, found, strict=True)]
                if not any(a is None for a in agreed):
                    return agreed, rest
        before, last = found, dps
    return None


def _agreed(a: Any, b: Any, digits: int, gained: int) -> Any:
    if a == b or (a != a and b != b) or abs(a - b) <= abs(b) * mpmath.mpf(10) ** -digits:
        return b
    if gained >= RANGE and abs(b) <= abs(a) * mpmath.mpf(10) ** -(gained * 4 // 5):
        return mpmath.mpf(0)
    return None
