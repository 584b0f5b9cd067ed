"""The masked column: cotangents that know where they are structurally zero.

What `where`, indexing, `maximum` or `relu` did not select contributes exactly nothing,
whatever it is multiplied with on the way: 0·∞ does not arise where the 0 means "absent".
A numeric zero is not an absence, so a real 0·∞ stays visible. The column sits on top of
another one, numeric or recorded, and the engine uses it only after a first run met a
non-finite gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import unbroadcast


def _raw(value: Any) -> Any:
    return getattr(value, "_data", value)


class Masked:
    """A cotangent and its support: where the support is False, the value is 0 and stays so."""

    __slots__ = ("data", "ns", "support")
    __array_ufunc__ = None  # an array on the left leaves the operation to the reflected one here

    def __init__(self, ns: MaskedNamespace, data: Any, support: Any):
        self.ns, self.support = ns, support
        self.data = data if np.all(support) else ns.base.where(support, data, 0)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the cotangent."""
        return tuple(_raw(self.data).shape)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the cotangent."""
        return _raw(self.data).dtype

    def filled(self) -> Any:
        """The cotangent with zeros where it is absent."""
        return self.data

    def _with(self, data: Any) -> Masked:
        return Masked(self.ns, data, np.broadcast_to(self.support, _raw(data).shape))

    def __mul__(self, other: Any) -> Masked:
        return self._with(self.data * other)

    def __rmul__(self, other: Any) -> Masked:
        return self._with(other * self.data)

    def __truediv__(self, other: Any) -> Masked:
        return self._with(self.data / other)

    def __neg__(self) -> Masked:
        return self._with(-self.data)

    def __add__(self, other: Masked) -> Masked:
        return Masked(self.ns, self.data + other.data, np.logical_or(self.support, other.support))


class MaskedNamespace:
    """The functions of another column, carrying supports along where a cotangent is masked."""

    def __init__(self, base: Any):
        self.base = base

    def __getattr__(self, name: str) -> Any:
        plain = getattr(self.base, name)

        def call(*args: Any) -> Any:
            where = [k for k, a in enumerate(args) if isinstance(a, Masked)]
            if not where:
                return plain(*args)
            k = where[0]
            masked = args[k]
            data = plain(*(a.data if isinstance(a, Masked) else a for a in args))
            if name in _STRUCTURAL:
                from .columns import numeric_namespace

                moved = getattr(numeric_namespace, name)(np.asarray(masked.support), *args[1:])
                return Masked(self, data, np.asarray(moved))
            return Masked(self, data, np.ones(_raw(data).shape, bool))

        return call

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Masked:
        """Nothing at all."""
        return Masked(self, self.base.zeros(shape, dtype), np.zeros(shape, bool))

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        """A selection: the cotangent is absent where the other side was chosen."""
        if not isinstance(x, Masked) and not isinstance(y, Masked):
            return self.base.where(condition, x, y)
        chosen = np.asarray(_raw(condition))
        sides = []
        for side, here in ((x, chosen), (y, np.logical_not(chosen))):
            if isinstance(side, Masked):
                sides.append((side.data, np.logical_and(side.support, here)))
            else:
                sides.append((side, np.zeros_like(here) if isinstance(side, int) and side == 0 else here))
        return Masked(
            self, self.base.where(condition, sides[0][0], sides[1][0]), np.logical_or(sides[0][1], sides[1][1])
        )

    def sum(self, x: Any, dim: Any, keepdim: bool) -> Any:
        """A sum over what is there."""
        if not isinstance(x, Masked):
            return self.base.sum(x, dim, keepdim)
        support = np.any(x.support, axis=dim, keepdims=keepdim)
        return Masked(self, self.base.sum(x.data, dim, keepdim), support)

    def cast(self, x: Any, dtype: Any) -> Any:
        """Another dtype."""
        return (
            Masked(self, self.base.cast(x.data, dtype), x.support)
            if isinstance(x, Masked)
            else self.base.cast(x, dtype)
        )

    def matmul(self, x: Any, y: Any) -> Any:
        """A matrix product; entry by entry where the other factor is not finite."""
        if not isinstance(x, Masked) and not isinstance(y, Masked):
            return self.base.matmul(x, y)
        other = y if isinstance(x, Masked) else x
        if np.isfinite(_raw(other)).all():
            data = self.base.matmul(*(a.data if isinstance(a, Masked) else a for a in (x, y)))
            counts = [np.asarray(a.support, float) if isinstance(a, Masked) else np.ones(_raw(a).shape) for a in (x, y)]
            return Masked(self, data, np.matmul(*counts) > 0)
        vector = len(y.shape) == 1
        if vector:
            y = self.unsqueeze(y, (1,))
        rank = max(len(x.shape), len(y.shape))
        a, b = self.unsqueeze(x, (len(x.shape),)), self.unsqueeze(y, (len(y.shape) - 2,))
        product = a * b if isinstance(a, Masked) else b * a  # what is masked stands on the left
        total = self.sum(product, (rank - 1,), False)
        return self.squeeze(total, (len(total.shape) - 1,)) if vector else total


_STRUCTURAL = {"expand", "reshape", "permute", "transpose", "t", "squeeze", "unsqueeze", "getitem", "place"}


class MaskedColumn:
    """The column beneath, with supports."""

    in_place = False

    def __init__(self, base: Any):
        self.base = base
        self.xp = MaskedNamespace(base.xp)
        self.view = base.view

    def seed(self, cotangent: Any) -> Masked:
        """A cotangent that is there everywhere."""
        return Masked(self.xp, cotangent, np.ones(_raw(cotangent).shape, bool))

    def fit(self, cotangent: Any, operand: Any) -> Any:
        """See `Column.fit`."""
        if not isinstance(cotangent, Masked):
            cotangent = self.seed(cotangent)
        target = operand if hasattr(operand, "seq") else operand._data
        if cotangent.shape != target.shape:
            cotangent = unbroadcast(self.xp, cotangent, target.shape)
        return cotangent if cotangent.dtype == target.dtype else self.xp.cast(cotangent, target.dtype)
