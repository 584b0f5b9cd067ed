"""What symgrad knows about ndarrays: dtypes, promotion, broadcasting.

The values of tensors are NumPy arrays, and NumPy scalars (`np.float64`, …) for 0-d results,
which are several times cheaper than 0-d arrays. Promotion follows PyTorch: an operand of
lower priority (a 0-d tensor, then a Python number) never widens one of its own kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .errors import ArgumentTypeError, DimensionError, ShapeError

Value: TypeAlias = Any
"""An ndarray or a NumPy scalar."""

Number: TypeAlias = int | float


class DType:
    """A dtype with PyTorch's name; compares equal to NumPy's own.

    Examples
    --------
    >>> import symgrad as sg
    >>> sg.float32, sg.tensor([1, 2]).dtype
    (symgrad.float32, symgrad.int64)
    """

    __slots__ = ("name", "numpy")

    def __init__(self, name: str):
        self.name = name
        self.numpy = np.dtype(name)

    def __repr__(self) -> str:
        return f"symgrad.{self.name}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self.numpy == other.numpy
        return isinstance(other, (np.dtype, type, str)) and self.numpy == other

    def __hash__(self) -> int:
        return hash(self.numpy)

    def __reduce__(self) -> tuple[type[DType], tuple[str]]:
        return DType, (self.name,)

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype; NumPy's own functions look for it, so ``np.zeros(3, sg.float32)`` works."""
        return self.numpy

    @property
    def is_floating_point(self) -> bool:
        """Whether tensors of this dtype can require gradients."""
        return self.numpy.kind == "f"


DTYPES = {
    name: DType(name) for name in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
}
_BY_NUMPY = {d.numpy: d for d in DTYPES.values()}
_default = np.dtype("float64")


def dtype_of(numpy_dtype: np.dtype) -> DType:
    """The `DType` of a NumPy dtype."""
    try:
        return _BY_NUMPY[numpy_dtype]
    except KeyError:
        raise ArgumentTypeError(
            f"symgrad has no dtype {numpy_dtype}; it knows {', '.join(DTYPES)} (complex is not supported)"
        ) from None


def numpy_dtype(dtype: Any) -> np.dtype:
    """The NumPy dtype of anything that names a dtype: a `DType`, a NumPy dtype, a name, a Python type."""
    if isinstance(dtype, DType):
        return dtype.numpy
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise ArgumentTypeError(f"not a dtype: {dtype!r}; write for example dtype=sg.float32") from None
    return dtype_of(found).numpy


def default_dtype() -> np.dtype:
    """The dtype of floats that do not say theirs."""
    return _default


def set_default_dtype(dtype: Any) -> None:
    """Sets the dtype that Python floats and the creation functions get.

    Parameters
    ----------
    dtype : DType
        `sg.float64` (the default at import), `sg.float32` or `sg.float16`.

    Raises
    ------
    ArgumentTypeError
        If it is not a floating-point dtype.
    """
    global _default
    found = numpy_dtype(dtype)
    if found.kind != "f":
        raise ArgumentTypeError(f"set_default_dtype: only floating-point dtypes can be the default, not {found}")
    _default = found


# ------------------------------------------------------------------ promotion
_KIND = {"b": 0, "i": 1, "u": 1, "f": 2}


def _widest(dtypes: Sequence[np.dtype]) -> np.dtype:
    """PyTorch's common dtype: floats decide among floats; integers never widen them."""
    top = max(_KIND[d.kind] for d in dtypes)
    return np.result_type(*[d for d in dtypes if _KIND[d.kind] == top])


def result_dtype(*values: Value | Number) -> np.dtype:
    """The dtype that an op on these values has, by PyTorch's three priorities.

    Parameters
    ----------
    *values : ndarray, NumPy scalar or Python number
        Arrays come first, 0-d values second, Python numbers last; a later group counts
        only if it is of a higher kind (bool < integer < float) than all before it.
    """
    groups: list[list[np.dtype]] = [[], [], []]
    for v in values:
        if isinstance(v, (bool, int, float)) and not isinstance(v, np.generic):
            groups[2].append(
                np.dtype(bool) if isinstance(v, bool) else np.dtype("int64") if isinstance(v, int) else _default
            )
        else:
            groups[0 if v.ndim else 1].append(v.dtype)
    result: np.dtype | None = None
    for group in groups:
        if group:
            candidate = _widest(group)
            if result is None or _KIND[candidate.kind] > _KIND[result.kind]:
                result = candidate
    assert result is not None
    return result


def cast(value: Value | Number, dtype: np.dtype | DType) -> Value:
    """The value in that dtype; the same object if it has it already."""
    if isinstance(dtype, DType):
        dtype = dtype.numpy
    if isinstance(value, np.ndarray):
        return value if value.dtype == dtype else value.astype(dtype)
    return dtype.type(value)


def promote(*values: Any) -> tuple[Any, ...]:
    """The values in their common dtype (`result_dtype`).

    A Python number stays one where NumPy treats it as weak in the same way, which keeps it
    cheap and lets `x**2` see the integer 2.
    """
    target = result_dtype(*values)
    return tuple(
        v if type(v) in (int, float) and (target.kind == "f" or type(v) is int) else cast(v, target) for v in values
    )


def promote_floats(*values: Any) -> tuple[Any, ...]:
    """As `promote`, with integers and bools turned into the default dtype first."""
    if result_dtype(*values).kind == "f":
        return promote(*values)
    return tuple(v if type(v) in (int, float) else cast(v, _default) for v in values)


def unwrapped(value: Any) -> Value:
    """The value itself, with a 0-d array replaced by its scalar."""
    return value if value.ndim else value[()]


# ------------------------------------------------------------------ shapes
def normal_axis(axis: int, ndim: int, op: str) -> int:
    """The axis counted from the front, checked."""
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise ArgumentTypeError(f"{op}: a dimension must be an integer, not {type(axis).__name__}")
    span = max(ndim, 1)
    if not -span <= axis < span:
        raise DimensionError(
            f"{op}: Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {axis})"
        )
    return int(axis) % span


def normal_axes(axes: Any, ndim: int, op: str) -> tuple[int, ...]:
    """The axes counted from the front, sorted; all of them for None."""
    if axes is None:
        return tuple(range(ndim))
    given = tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)
    if not given:
        return tuple(range(ndim))
    found = sorted(normal_axis(a, ndim, op) for a in given)
    if len(set(found)) < len(found):
        raise ShapeError(f"{op}: dim {list(given)} names a dimension twice; name each once")
    return tuple(a for a in found if a < ndim)


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...] | None, keepdim: bool) -> tuple[int, ...]:
    """The shape after a reduction over the axes, all of them for None."""
    if axes is None:
        axes = tuple(range(len(shape)))
    if keepdim:
        return tuple(1 if k in axes else n for k, n in enumerate(shape))
    return tuple(n for k, n in enumerate(shape) if k not in axes)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape; sizes are taken over as they are, so that named sizes keep their names."""
    out: list[int] = []
    for k in range(1, max(map(len, shapes), default=0) + 1):
        sizes = [s[-k] for s in shapes if len(s) >= k]
        out.append(next((n for n in sizes if n != 1), sizes[0]))
    return tuple(reversed(out))


def broadcast_error(op: str, *shapes: tuple[int, ...]) -> ShapeError:
    """The error for shapes that do not broadcast: which sizes, at which dimension, and the mend."""
    a, b = shapes[0], shapes[-1]
    for first in range(len(shapes)):
        for second in range(first + 1, len(shapes)):
            s, t = shapes[first], shapes[second]
            for k in range(1, min(len(s), len(t)) + 1):
                if s[-k] != t[-k] and 1 not in (s[-k], t[-k]):
                    dim = max(len(s), len(t)) - k
                    return ShapeError(
                        f"{op}: The size of tensor a ({s[-k]}) must match the size of tensor b ({t[-k]}) at "
                        f"non-singleton dimension {dim}; the shapes are {list(s)} and {list(t)}; reshape or "
                        "unsqueeze one of them so that sizes agree or are 1"
                    )
    return ShapeError(f"{op}: shapes {list(a)} and {list(b)} do not broadcast")


def unbroadcast(xp: Any, cotangent: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent summed back to the shape that broadcasting stretched; in any column."""
    lead = len(cotangent.shape) - len(shape)
    axes = tuple(range(lead)) + tuple(
        lead + k for k, n in enumerate(shape) if n == 1 and cotangent.shape[lead + k] != 1
    )
    if axes:
        cotangent = xp.sum(cotangent, axes, True)
    if lead:
        cotangent = xp.squeeze(cotangent, tuple(range(lead)))
    return cotangent
