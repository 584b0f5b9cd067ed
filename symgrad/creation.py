"""Functions that make tensors from numbers, lists, arrays and random generators."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .array import default_dtype, numpy_dtype
from .errors import ArgumentError, ArgumentTypeError, ArgumentValueError, GradientError
from .ops.generate import runtime
from .ops.shaping import _flat
from .tensor import Tensor, place_of_caller

__symgrad_internal__ = True


def _finish(values: Any, requires_grad: bool, name: str | None, dims: Sequence[str] | None) -> Tensor:
    """A leaf of these values, with its name, the names of its dimensions, and the place it was made."""
    if values.ndim == 0:
        values = values[()]
    t = Tensor.constant(values)
    extra = t._get_extra()
    extra.place = place_of_caller()
    if name is not None:
        if not isinstance(name, str) or not name:
            raise ArgumentTypeError(f"name must be a non-empty string, not {name!r}")
        extra.name = name
    if dims is not None:
        if len(dims) != values.ndim:
            raise ArgumentError(f"dims names {len(dims)} dimensions, but the tensor has {values.ndim}: shape {list(values.shape)}")
        extra.dims = tuple(dims)
    if requires_grad:
        t.requires_grad_(True)
    return t


def _ragged(data: Any, depth: int = 0) -> None:
    """Names the first place where nested sequences differ in length."""
    if not isinstance(data, (list, tuple)) or not data:
        return
    lengths = [len(d) if isinstance(d, (list, tuple)) else -1 for d in data]
    for n in lengths[1:]:
        if n != lengths[0]:
            raise ArgumentValueError(
                f"tensor: expected sequence of length {lengths[0]} at dim {depth + 1} (got {n}); rows must have equal lengths"
            )
    for d in data:
        _ragged(d, depth + 1)


def _plain(data: Any) -> Any:
    """Nested lists with tensors replaced by their values."""
    if isinstance(data, Tensor):
        if data._requires_grad:
            raise GradientError(
                "tensor: a list that holds tracked tensors would lose their gradients; join them with ops, or detach() them first"
            )
        return data._data
    return [_plain(d) for d in data] if isinstance(data, (list, tuple)) else data


def _values(data: Any, dtype: Any) -> np.ndarray:
    wanted = None if dtype is None else numpy_dtype(dtype)
    if data is None:
        raise ArgumentError("tensor: Could not infer dtype of NoneType; give a number, a sequence or an ndarray")
    if isinstance(data, (str, bytes)):
        raise ArgumentTypeError(f"tensor: invalid data type {type(data).__name__!r}; give a number, a sequence or an ndarray")
    if not isinstance(data, (np.ndarray, np.generic)):
        _ragged(data)
        data = _plain(data)
    try:
        values = np.array(data)
    except ValueError as error:
        raise ArgumentValueError(f"tensor: not a rectangular array of numbers: {error}") from None
    if values.dtype.kind not in "biuf":
        raise ArgumentTypeError(
            f"tensor: invalid data type {values.dtype}: entries must be real numbers or bools, complex is not supported"
        )
    if wanted is None and values.dtype == np.dtype("float64") and not isinstance(data, (np.ndarray, np.generic)):
        wanted = default_dtype()
    return values if wanted is None else values.astype(wanted)


def make(data: Any, dtype: Any = None) -> Tensor:
    """A plain tensor of the data, always with its own memory."""
    return Tensor.constant(_values(data, dtype))


runtime["make"] = make


def tensor(
    data: Any,
    dtype: Any = None,
    requires_grad: bool = False,
    *,
    name: str | None = None,
    dims: Sequence[str] | None = None,
) -> Tensor:
    """A leaf tensor with a copy of the data.

    Parameters
    ----------
    data : number, nested sequence, ndarray or Tensor
        Real numbers or bools. Python floats get the default dtype; an ndarray keeps its own.
    dtype : DType, optional
        Another dtype.
    requires_grad : bool
        Whether ops on it are recorded.
    name : str, optional
        Its name in formulas; the variable that holds it by default.
    dims : sequence of str, optional
        Names of the dimensions, which formulas then show in place of their sizes.

    Raises
    ------
    ArgumentValueError
        If rows differ in length.
    ArgumentTypeError
        If entries are not real numbers.
    GradientError
        If an integer tensor shall require grad.

    Examples
    --------
    >>> import symgrad as sg
    >>> sg.tensor([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    if isinstance(data, Tensor):
        warnings.warn("tensor: to copy a tensor, use t.detach().clone(); this copy is outside the graph", UserWarning, stacklevel=2)
        data = data._data
    return _finish(_values(data, dtype), requires_grad, name, dims)


as_tensor = tensor


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor on the memory of the array."""
    if not isinstance(array, np.ndarray):
        raise ArgumentTypeError(f"from_numpy: expected an ndarray, not {type(array).__name__}; use sg.tensor")
    t = Tensor.constant(array)
    t._get_extra().place = place_of_caller()
    return t


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(int(n) for n in _flat(size))


def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False, name: str | None = None, dims: Any = None) -> Tensor:
    """Zeros of that shape."""
    return _finish(np.zeros(_shape(size), numpy_dtype(dtype or float)), requires_grad, name, dims)


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False, name: str | None = None, dims: Any = None) -> Tensor:
    """Ones of that shape."""
    return _finish(np.ones(_shape(size), numpy_dtype(dtype or float)), requires_grad, name, dims)


def full(
    size: Any, fill_value: float, *, dtype: Any = None, requires_grad: bool = False, name: str | None = None, dims: Any = None
) -> Tensor:
    """A constant of that shape; its dtype is that of the value unless given."""
    kind = _values(fill_value, dtype)
    return _finish(np.full(_shape((size,) if isinstance(size, int) else tuple(size)), kind, kind.dtype), requires_grad, name, dims)


def empty(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of that shape with no values promised (they are zeros)."""
    return zeros(*size, dtype=dtype, requires_grad=requires_grad)


def arange(start: float, end: float | None = None, step: float = 1, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """``start, start + step, …`` up to but not including `end`; one argument counts from 0."""
    if end is None:
        start, end = 0, start
    if dtype is None and any(isinstance(v, float) for v in (start, end, step)):
        dtype = default_dtype()
    return _finish(np.arange(start, end, step).astype(numpy_dtype(dtype or "int64")), requires_grad, None, None)


def linspace(start: float, end: float, steps: int, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`steps` evenly spaced values from start to end, both included."""
    return _finish(np.linspace(start, end, steps).astype(numpy_dtype(dtype or float)), requires_grad, None, None)


def eye(n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    return _finish(np.eye(n, m, dtype=numpy_dtype(dtype or float)), requires_grad, None, None)


# ------------------------------------------------------------------ random
_generator = np.random.default_rng(0)


def manual_seed(seed: int) -> None:
    """Starts the random generator of `rand` and `randn` anew."""
    global _generator
    _generator = np.random.default_rng(seed)


def rand(*size: Any, dtype: Any = None, requires_grad: bool = False, name: str | None = None, dims: Any = None) -> Tensor:
    """Uniform random numbers in [0, 1)."""
    return _finish(np.asarray(_generator.random(_shape(size))).astype(numpy_dtype(dtype or float)), requires_grad, name, dims)


def randn(*size: Any, dtype: Any = None, requires_grad: bool = False, name: str | None = None, dims: Any = None) -> Tensor:
    """Standard normal random numbers."""
    return _finish(np.asarray(_generator.standard_normal(_shape(size))).astype(numpy_dtype(dtype or float)), requires_grad, name, dims)


# ------------------------------------------------------------------ like another
def _like(t: Tensor, dtype: Any) -> tuple[tuple[int, ...], np.dtype]:
    return t._data.shape, numpy_dtype(dtype) if dtype is not None else t._data.dtype


def zeros_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and dtype of `t`."""
    return _finish(np.zeros(*_like(t, dtype)), requires_grad, None, None)


def ones_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape and dtype of `t`."""
    return _finish(np.ones(*_like(t, dtype)), requires_grad, None, None)


def full_like(t: Tensor, fill_value: float, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A constant in the shape and dtype of `t`."""
    shape, kind = _like(t, dtype)
    return _finish(np.full(shape, fill_value, kind), requires_grad, None, None)


def rand_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform random numbers in [0, 1), in the shape and dtype of `t`."""
    shape, kind = _like(t, dtype)
    return _finish(np.asarray(_generator.random(shape)).astype(kind), requires_grad, None, None)


def randn_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Standard normal random numbers, in the shape and dtype of `t`."""
    shape, kind = _like(t, dtype)
    return _finish(np.asarray(_generator.standard_normal(shape)).astype(kind), requires_grad, None, None)
