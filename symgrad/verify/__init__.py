"""Verification: why anyone should believe the numbers.

oracle      exact values and derivatives of a recorded program, without any gradient rule
partials    the local derivatives of one op, by SymPy from the op's own expression
slopes      what the function itself does at a kink
ulps        errors in units in the last place
"""

from .oracle import Exact, Undecided, exact_gradient, exact_hvp
from .slopes import one_sided_slopes
from .ulps import largest_ulps, ulps

__all__ = ["Exact", "Undecided", "exact_gradient", "exact_hvp", "largest_ulps", "one_sided_slopes", "ulps"]
