"""How laws compare: in ulps of the dtype, against sizes that the oracle measured. No atol anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import numpy as np

from symgrad.formulas.settling import RANGE
from symgrad.verify.ulps import ulp, ulps


def flat(x: Any) -> list[Any]:
    """The entries of an exact result, in order."""
    return list(np.ravel(np.asarray(x, dtype=object)))


def errors(numeric: Any, exact: Any, scale: Any, dtype: np.dtype) -> list[Any]:
    """The error of every entry in ulps of its scale; 0 where the exact value is nan: nothing is promised there."""
    out = []
    for n, e, s in zip(np.ravel(np.asarray(numeric)), flat(exact), flat(scale), strict=True):
        if e != e:
            out.append(mpmath.mpf(0))
            continue
        own = ulps(n, e, dtype)
        if mpmath.isfinite(own) and own and mpmath.isfinite(s):
            own = own * ulp(e, dtype) / max(ulp(s, dtype), ulp(e, dtype))
        out.append(own)
    return out


def nudged(operands: list[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """The operands with one float entry moved by an ulp, for every entry in turn."""
    for k, x in enumerate(operands):
        for place in np.ndindex(*x.shape) if x.dtype.kind == "f" else ():
            moved = [o.copy() for o in operands]
            moved[k][place] = np.nextafter(x[place], x.dtype.type(np.inf if x[place] >= 0 else -np.inf))
            yield moved


def assert_close(
    numeric: Any,
    exact: Any,
    dtype: np.dtype,
    most: float,
    operands: list[np.ndarray],
    measure: Callable[[list[np.ndarray]], Any],
    scale: Any = None,
) -> None:
    """At most that many ulps off, of the scale where one is given.

    Where a result is further off, it is allowed what an ulp in each operand would change: a
    function that is that sensitive cannot be told apart from its neighbours in this dtype.
    `measure` gives the exact result for other operands.
    """
    assert np.shape(numeric) == np.shape(exact), (np.shape(numeric), np.shape(exact))
    found = errors(numeric, exact, exact if scale is None else scale, dtype)
    if max(found, default=0) <= most:
        return
    # A factor below the normal range has lost digits before it is multiplied by an operand.
    largest = max((float(np.abs(o).max(initial=1)) for o in operands if o.dtype.kind == "f"), default=1.0)
    underflow = mpmath.mpf(float(np.finfo(dtype).smallest_subnormal)) * min(largest, 1e3)
    slack = [mpmath.mpf(0)] * len(found)
    for moved in nudged(operands):
        there = flat(measure(moved))
        slack = [s + _distance(a, b) for s, a, b in zip(slack, there, flat(exact), strict=True)]
    for n, e, f, s in zip(np.ravel(np.asarray(numeric)), flat(exact), found, slack, strict=True):
        if f > most:
            off = abs(mpmath.mpf(float(n)) - e) if np.isfinite(n) else mpmath.inf
            assert off <= 4 * s + most * max(ulp(e, dtype), underflow), (
                f"{n!r} is {mpmath.nstr(f, 4)} ulps from the exact {mpmath.nstr(e, 20)}; "
                f"an ulp in the operands would account for {mpmath.nstr(s, 4)}"
            )


def _distance(a: Any, b: Any) -> Any:
    return abs(a - b) if mpmath.isfinite(a) and mpmath.isfinite(b) else mpmath.mpf(0)


BEYOND_DOUBLES = mpmath.mpf(10) ** -RANGE
"""Where the oracle stops looking. Formulas go on below."""


def same_digits(found: Any, wanted: Any, digits: int) -> None:
    """Exact results agree to that many digits, entry by entry, where there is a value."""
    assert np.shape(found) == np.shape(wanted), (np.shape(found), np.shape(wanted))
    for a, b in zip(flat(found), flat(wanted), strict=True):
        a, b = mpmath.mpf(a), mpmath.mpf(b)
        if a == b or not (mpmath.isfinite(a) or mpmath.isfinite(b)):  # 1/0 and its kin: no value, nothing promised
            continue
        off = max(mpmath.mpf(10) ** -digits * abs(b), BEYOND_DOUBLES)
        assert abs(a - b) <= off, (mpmath.nstr(a, 30), mpmath.nstr(b, 30))


def without_noise(exact: Any) -> Any:
    """A difference quotient with its noise taken off.

    It is right to some 40 digits of the values it subtracts. Tame operands have no derivative
    as small as this that is not 0.
    """
    clean = [mpmath.mpf(0) if abs(x) < mpmath.mpf(10) ** -50 else x for x in flat(exact)]
    return np.array(clean, object).reshape(np.shape(exact)) if np.ndim(exact) else clean[0]
