"""The function's own slopes at a kink: one-sided derivatives of the whole, not of its parts.

``relu(x) − relu(−x)`` is x: it has slope 1 at 0, whatever the conventions of its two kinks add up
to. One-sided difference quotients of exact values tell, entry by entry.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from ..formulas.settling import working
from ..tensor import Tensor
from .oracle import Program, exact_array


def one_sided_slopes(out: Tensor, wrt: list[Tensor], seed: Any = None, digits: int = 20) -> list[tuple[Any, Any]]:
    """For each variable ``Σ seed·d out/dx`` from below and from above, entry by entry.

    Parameters
    ----------
    out, wrt, seed
        As in `exact_gradient`.
    digits : int
        About how many digits of the slopes are right.

    Returns
    -------
    list of (object ndarray, object ndarray)
        The slopes from below and from above. Where they agree, the function has that derivative along
        the entry.

    Examples
    --------
    >>> import symgrad as sg
    >>> x = sg.tensor(0.0, requires_grad=True)
    >>> ((below, above),) = one_sided_slopes(sg.relu(x) - sg.relu(-x), [x])
    >>> print(below, above)
    1.0 1.0
    """
    program = Program(out, wrt)
    cotangent = np.ravel(exact_array(np.ones(out._data.shape) if seed is None else np.asarray(seed)))
    with working(4 * digits + 340):
        step = mpmath.mpf(10) ** -(digits + 320)  # far below the smallest double, so that no other kink is crossed

        def total(moved: Any) -> Any:
            values = np.ravel(np.asarray(program.values(moved)[program.root], dtype=object))
            return sum((c * v for c, v in zip(cotangent, values, strict=True)), mpmath.mpf(0))

        here = total(program.leaf_values())
        slopes = []
        for target in program.targets:
            shape = [int(n) for n in target.shape]
            below, above = np.empty(shape, dtype=object), np.empty(shape, dtype=object)
            for place in np.ndindex(*shape):
                for sign, into in ((-1, below), (1, above)):
                    moved = program.leaf_values()
                    moved[target] = _nudged(moved[target], place, sign * step)
                    into[place] = +mpmath.mpf((total(moved) - here) / (sign * step))
            slopes.append((_rounded(below, digits), _rounded(above, digits)))
    return slopes


def _nudged(value: Any, place: tuple[int, ...], by: Any) -> Any:
    if not place:
        return value + by
    out = value.copy()
    out[place] = out[place] + by
    return out


def _rounded(values: Any, digits: int) -> Any:
    with working(digits):
        out = np.empty(values.shape, dtype=object)
        for place in np.ndindex(*values.shape):
            out[place] = +values[place]
    return out if values.shape else out[()]
