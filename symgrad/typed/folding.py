"""Arithmetic of plain numbers in a formula: exact while it can be, and bounded."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .refusal import MAX_BITS, MAX_EXPONENT

_TOO_LARGE = "this number is larger than a double can be; write one below 1e300"
_TOO_SMALL = "this number is smaller than a double can be; write 0, or one above 1e-300"

_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


def fold(function: str, args: list[Any]) -> tuple[bool, Any]:
    """Whether a function of plain numbers is arithmetic, and what it gives.

    Whole numbers stay whole. A quotient of whole numbers is a float where that is what one would
    type (1/4 is 0.25), and a fraction else (1/3).

    Raises
    ------
    ValueError
        If the result is no real number, too large, or too small.

    Examples
    --------
    >>> fold("div", [1, 4]), fold("div", [1, 3]), fold("pow", [2, 10])
    ((True, 0.25), (True, Fraction(1, 3)), (True, 1024))
    """
    if any(isinstance(a, bool) for a in args):
        return False, None
    if function == "neg":
        return True, -args[0]
    if function in _RELATIONS:
        return True, _RELATIONS[function](*args)
    if function in _ARITHMETIC:
        return True, _kept(_checked(_ARITHMETIC[function](*args)), function == "mul" and all(args))
    if function == "div":
        if args[1] == 0:
            raise ValueError("this divides by zero; write another divisor")
        exact = all(isinstance(a, (int, Fraction)) for a in args)
        return True, _kept(
            _checked(Fraction(args[0]) / Fraction(args[1]) if exact else args[0] / args[1]), bool(args[0])
        )
    if function == "pow":
        return True, _kept(_power(*args), bool(args[0]))
    return False, None


def _kept(value: Any, nonzero: bool) -> Any:
    """The value, unless it is 0 only because a double cannot be that small."""
    if nonzero and value == 0:
        raise ValueError(_TOO_SMALL)
    return value


def power_is_bounded(exponent: Any) -> None:
    """Refuses a plain number that is too large to be an exponent."""
    if isinstance(exponent, (int, float, Fraction)) and abs(exponent) > MAX_EXPONENT:
        raise ValueError(f"this exponent is too large; write a power of at most {MAX_EXPONENT:,}")


def _power(base: Any, exponent: Any) -> Any:
    power_is_bounded(exponent)
    if base == 0 and exponent < 0:
        raise ValueError("this is a negative power of zero; write another base")
    if base < 0 and exponent != int(exponent):
        raise ValueError("a fractional power of a negative number is not real; write a positive base")
    if isinstance(base, (int, Fraction)) and isinstance(exponent, int):
        top, bottom = (base, 1) if isinstance(base, int) else (base.numerator, base.denominator)
        if max(top.bit_length(), bottom.bit_length()) * abs(exponent) > MAX_BITS + abs(exponent):
            raise ValueError(_TOO_LARGE)
        return _checked(Fraction(base) ** exponent)
    try:
        return _checked(float(base) ** float(exponent))
    except OverflowError:
        raise ValueError(_TOO_LARGE) from None


def _checked(value: Any) -> Any:
    """An int, a float, or a fraction that is neither."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(_TOO_LARGE)
        return value
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise ValueError(_TOO_LARGE)
        return value
    if value.denominator == 1:
        return _checked(value.numerator)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ValueError(_TOO_LARGE)
    return float(value) if Fraction(repr(float(value))) == value else value
