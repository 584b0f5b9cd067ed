"""The numbers that laws are tried on: ordinary ones, and the hard points of every function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

ORDINARY = [0.5, -0.75, 1.25, 2.0, -1.5, 3.0, 0.3, -2.6, 1.0, -1.0]
HARD = [0.0, -0.0, 40.0, -40.0, 700.0, -700.0, 1e-9, -1e-9, 18.5, -37.5]
EXTREME = {
    "float64": [5e-324, -3e-320, 1e-300, 1e300, 1.0 + 2**-52, 1e-17],
    "float32": [1e-45, -3e-42, 1e-37, 1e37, 1.0 + 2**-23, 88.5],
}
BROADCASTING = [(), (1,), (3,), (2, 3), (2, 1), (1, 3), (0,), (2, 0), (1, 1), (2, 2, 1)]
ANY = [(), (1,), (3,), (2, 3), (3, 1), (1, 2, 2), (0,), (2, 0), (1, 1), (2, 1, 2)]


def factors(size: int) -> list[tuple[int, ...]]:
    """Shapes of that many entries."""
    if size == 0:
        return [(0,), (0, 2), (3, 0)]
    pairs = [(n, size // n) for n in range(1, size + 1) if size % n == 0]
    return [(size,), (-1, 1), (1, -1), *pairs] + ([()] if size == 1 else [])


@st.composite
def arrays(draw: Any, shape: tuple[int, ...], dtype: str, tame: bool = False) -> np.ndarray:
    """Values for an operand; few distinct ones, so that ties are common. `tame` leaves the extremes out."""
    pool = ORDINARY if tame else draw(st.sampled_from([ORDINARY, ORDINARY + HARD, HARD + EXTREME[dtype]]))
    free = st.floats(-4, 4, width=32, allow_subnormal=False)
    one = st.one_of(st.sampled_from(pool), free) if draw(st.booleans()) else st.sampled_from(pool)
    size = math.prod(shape)
    return np.array(draw(st.lists(one, min_size=size, max_size=size)), dtype).reshape(shape)


@st.composite
def shapes_together(draw: Any, count: int, pool: list[tuple[int, ...]] | None = None) -> list[tuple[int, ...]]:
    """That many shapes that broadcast with one another."""
    full = draw(st.sampled_from(pool or BROADCASTING))
    out = []
    for k in range(count):
        own = full[draw(st.integers(0, len(full))) :] if k else full
        out.append(tuple(1 if draw(st.integers(0, 4)) == 0 else n for n in own))
    return draw(st.permutations(out))


@st.composite
def indices(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index by ints, slices, None and ``...``."""
    items: list[Any] = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        spans = [slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(1, None, 2), slice(0, 0)]
        items.append(draw(st.sampled_from(spans + ([0, -1] if n else []))))
    if draw(st.booleans()):
        items.append(Ellipsis)
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), None)
    return tuple(items)


def axes(ndim: int) -> Any:
    """One dimension, counted from either end."""
    return st.integers(-max(ndim, 1), max(ndim, 1) - 1)


def reduced(ndim: int) -> Any:
    """What `dim` of a reduction may be: None, one dimension, or several."""
    several = st.lists(st.sampled_from(range(max(ndim, 1))), unique=True, min_size=1).map(tuple)
    return st.one_of(st.none(), axes(ndim), several) if ndim else st.one_of(st.none(), axes(0))
