"""Relations. Their results are bools without gradient, but they keep the relation they came from."""

from __future__ import annotations

import numpy as np

from .declare import op


@op(broadcasts=True, vjp={}, expr=lambda m, x, y: m.eq(x, y))
def eq(x, y):
    """Whether ``x = y``, elementwise."""
    return np.equal(x, y)


@op(broadcasts=True, vjp={}, expr=lambda m, x, y: m.ne(x, y))
def ne(x, y):
    """Whether ``x ≠ y``, elementwise."""
    return np.not_equal(x, y)


@op(broadcasts=True, vjp={}, expr=lambda m, x, y: m.lt(x, y))
def lt(x, y):
    """Whether ``x < y``, elementwise."""
    return np.less(x, y)


@op(broadcasts=True, vjp={}, expr=lambda m, x, y: m.le(x, y))
def le(x, y):
    """Whether ``x ≤ y``, elementwise."""
    return np.less_equal(x, y)


@op(broadcasts=True, vjp={}, expr=lambda m, x, y: m.gt(x, y))
def gt(x, y):
    """Whether ``x > y``, elementwise."""
    return np.greater(x, y)


@op(broadcasts=True, vjp={}, expr=lambda m, x, y: m.ge(x, y))
def ge(x, y):
    """Whether ``x ≥ y``, elementwise."""
    return np.greater_equal(x, y)


@op(broadcasts=True, vjp={}, expr=lambda m, x: m.negate(x))
def logical_not(x):
    """Whether ``x`` is false (or zero), elementwise."""
    return np.logical_not(x)


RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
