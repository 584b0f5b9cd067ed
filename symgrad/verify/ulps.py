"""Errors in units in the last place: the only scale that means the same everywhere."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np


def ulp(exact: Any, dtype: np.dtype) -> Any:
    """The spacing of floats of the dtype at the exact value."""
    info = np.finfo(dtype)
    size = abs(exact)
    smallest = mpmath.mpf(float(info.smallest_subnormal))
    if size == 0:
        return smallest
    exponent = mpmath.floor(mpmath.log(size, 2))
    return max(mpmath.mpf(2) ** (exponent - info.nmant), smallest)


def ulps(numeric: Any, exact: Any, dtype: np.dtype) -> Any:
    """How many ulps of the exact value a number is off; 0 where both are the same infinity or nan.

    Parameters
    ----------
    numeric : float
        The number to judge.
    exact : mpmath.mpf
        The exact value.
    dtype : dtype
        Whose ulps.
    """
    numeric = float(numeric)
    if numeric != numeric or exact != exact:
        return mpmath.mpf(0) if numeric != numeric and exact != exact else mpmath.inf
    if abs(numeric) == float("inf"):
        limit = mpmath.mpf(float(np.finfo(dtype).max))
        return mpmath.mpf(0) if abs(exact) >= limit and (exact > 0) == (numeric > 0) else mpmath.inf
    if abs(exact) == mpmath.inf:
        return mpmath.inf
    return abs(mpmath.mpf(numeric) - exact) / ulp(exact, dtype)


def largest_ulps(numeric: Any, exact: Any, dtype: np.dtype) -> float:
    """The largest error of an array against its exact values, in ulps; 0 for an empty one."""
    pairs = zip(np.ravel(np.asarray(numeric)), np.ravel(np.asarray(exact, dtype=object)), strict=True)
    return float(max((ulps(n, e, dtype) for n, e in pairs), default=0.0))
