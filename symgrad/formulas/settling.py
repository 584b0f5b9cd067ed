"""When a number is settled: two precisions agree on it, and the higher one could not have missed anything.

Agreement alone proves nothing: ``(10³⁰⁰ + 1) − 10³⁰⁰`` is 0 in 40 digits and in 80. The second precision
therefore spans the whole range of doubles, and where a sum came to nothing, all that was added up on the
way there (`Span`). Where a value only shrinks as the precision grows (``x − log(exp(x))``) it is rounding
noise around 0, and 0 is the answer.
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
"""Digits of working precision to begin with at least, and to end with at most where no `Span` asks for more."""
FARTHEST = 20_000
"""Digits past which a `Span` is not followed: an exponential in them takes a fifth of a second.

What cancelled is then 0, which is wrong by less than 10⁻³⁰⁰⁰ of it; if something could have enlarged that,
nothing settles it.
"""
BITS_A_DIGIT = 3.3219280948873626


_one_at_a_time = threading.RLock()


@contextmanager
def working(dps: int) -> Iterator[None]:
    """That many digits to work with. mpmath's precision is one for the whole process: one thread at a time has it."""
    with _one_at_a_time, mpmath.workdps(dps):
        yield


class Span:
    """How far apart the numbers were that an evaluation added, and whether a sum of them came to nothing.

    ``1 + t`` is 1 in any precision that does not reach from 1 to t. That is no fault while the 1 remains; but
    where it is taken away again, in the same sum or a later one, all that is left is what had been dropped.

    Attributes
    ----------
    bits : int
        From the largest term of a sum to the smallest, at the widest.
    cancelled : bool
        Whether terms took each other away, or two numbers were found equal.
    enlarged : bool
        Whether a 0 was met by what could have made something of what it stands for: a divisor, a logarithm, a
        huge factor, a comparison.
    """

    __slots__ = ("bits", "cancelled", "enlarged")

    def __init__(self) -> None:
        self.bits, self.cancelled, self.enlarged = 0, False, False

    def covers(self, bits: int) -> None:
        """Numbers that many bits apart were added, if only inside of a function."""
        self.bits = max(self.bits, bits)

    def digits(self) -> int:
        """The digits of working precision that leave nothing out: of squares of what was added, too."""
        return int(2 * self.bits / BITS_A_DIGIT) if self.cancelled else 0


def settle(compute: Callable[[Span], tuple[list[Any], Any]], digits: int) -> tuple[list[Any], Any] | None:
    """Computes in rising precision until the numbers agree.

    Parameters
    ----------
    compute : callable
        Returns numbers, and anything else that comes with them, in the precision in force; tells the span that
        it is given what it adds.
    digits : int
        On how many digits two precisions must agree.

    Returns
    -------
    What the last `compute` returned, with noise replaced by 0; None if nothing settles the digits.
    """
    before: list[Any] = []
    settled: list[Any] = []
    seen: list[tuple[Any, int]] = []
    dps, wanted, first = max(digits + 15, LEAST), digits, True
    while True:
        span = Span()
        with working(dps):
            found, rest = compute(span)
            needed = digits + span.digits()
            if needed > FARTHEST:
                if span.enlarged:
                    return None
                needed = MOST
            wanted = max(wanted, needed)
            if first:
                settled, seen = [None] * len(found), [(mpmath.mpf(0), dps)] * len(found)
            if (not first and dps >= wanted) or not found:
                pairs = zip(settled, before, found, seen, strict=True)
                settled = [_agreed(a, b, digits, *at, dps) if s is None else s for s, a, b, at in pairs]
                if not any(s is None for s in settled):
                    return settled, rest
            seen = [(abs(x), dps) if x else at for x, at in zip(found, seen, strict=True)]
        if dps >= max(MOST, 2 * digits + RANGE, wanted + RANGE):
            return None
        before, first = found, False
        dps = max(digits + RANGE, dps + RANGE if dps >= RANGE else 0, wanted)


def _agreed(a: Any, b: Any, digits: int, size: Any, then: int, now: int) -> Any:
    """The value on which a and b agree; 0 if it is far below any double, and shrank since `then`, when it was not 0."""
    if a == b or (a != a and b != b) or abs(a - b) <= abs(b) * _tenth(digits):
        return b
    if now - then >= RANGE and abs(b) <= min(size * _tenth((now - then) * 4 // 5), _tenth(RANGE)):
        return mpmath.mpf(0)
    return None


def _tenth(power: int) -> Any:
    return mpmath.mpf(10) ** -power
