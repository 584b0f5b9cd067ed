"""The catalogue: one op, one declaration.

declare     the decorator `op`, the catalogue, and what a declaration must hold
generate    the functions that a declaration implies
place       where the library was called from, for functions that call an op on the user's behalf
arithmetic, elementary, comparison, logic, reductions, products, shaping, indexing
            the ops, by kind
"""

from . import arithmetic, comparison, elementary, indexing, logic, products, reductions, shaping
from .declare import Op, Reflected, catalogue, op, public_ops

__all__ = [
    "Op",
    "Reflected",
    "arithmetic",
    "catalogue",
    "comparison",
    "elementary",
    "indexing",
    "logic",
    "op",
    "products",
    "public_ops",
    "reductions",
    "shaping",
]
