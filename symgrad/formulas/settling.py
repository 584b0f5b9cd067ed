"""When a number is settled: two precisions agree on it, and the higher one could not have missed anything.

Agreement alone proves nothing: ``(10³⁰⁰ + 1) − 10³⁰⁰`` is 0 in 40 digits and in 80. The second precision
therefore spans the whole range of doubles. Where a value only shrinks as the precision grows
(``x − log(exp(x))``) it is rounding noise around 0, and 0 is the answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mpmath

RANGE = 700
"""More digits than lie between the smallest double and the largest."""
LEAST, MOST = 40, 3000
"""Digits of working precision to begin with at least, and to end with at most."""


_one_at_a_time = threading.RLock()


@contextmanager
def working(dps: int) -> Iterator[None]:
    """That many digits to work with. mpmath's precision is one for the whole process: one thread at a time has it."""
    with _one_at_a_time, mpmath.workdps(dps):
        yield


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
    before: list[Any] = []
    settled: list[Any] = []
    seen: list[tuple[Any, int]] = []
    for dps in precisions(digits):
        with working(dps):
            found, rest = compute()
            if before or not found:
                pairs = zip(settled, before, found, seen, strict=True)
                settled = [_agreed(a, b, digits, *at, dps) if s is None else s for s, a, b, at in pairs]
                if not any(s is None for s in settled):
                    return settled, rest
            else:
                settled, seen = [None] * len(found), [(mpmath.mpf(0), dps)] * len(found)
            seen = [(abs(x), dps) if x else at for x, at in zip(found, seen, strict=True)]
        before = found
    return None


def _agreed(a: Any, b: Any, digits: int, size: Any, then: int, now: int) -> Any:
    """The value on which a and b agree; 0 if since `then`, when it last was not 0, it shrank with the precision."""
    if a == b or (a != a and b != b) or abs(a - b) <= abs(b) * mpmath.mpf(10) ** -digits:
        return b
    if now - then >= RANGE and abs(b) <= size * mpmath.mpf(10) ** -((now - then) * 4 // 5):
        return mpmath.mpf(0)
    return None
