"""The catalogue: one op, one declaration.

declare     the decorator `op`, the catalogue, and what a declaration must hold
generate    the functions that a declaration implies
arithmetic, elementary, comparison, logic, reductions, products, shaping, indexing
            the ops, by kind
"""

from . import arithmetic, comparison, elementary, indexing, logic, products, reductions, shaping
from .declare import Op, catalogue, op, public_ops, reflected

__all__ = [
    "Op",
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
    "reflected",
    "shaping",
]
