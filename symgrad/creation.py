"""Functions that make tensors from numbers, lists, arrays and random generators."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .array import default_dtype, numpy_dtype
from .errors import ArgumentError, ArgumentTypeError, ArgumentValueError, GradientError, ShapeError
from .ops.generate import runtime
from .ops.shaping import _sizes
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
            raise ArgumentError(
                f"dims names {len(dims)} dimensions, but the tensor has {values.ndim}: shape {list(values.shape)}"
            )
        extra.dims = tuple(dims)
    if requires_grad:
        t.requires_grad_(True)
    return t


def _ragged(data: Any, depth: int = 0) -> None:
    """Names the first place where nested sequences differ in length, or stand beside numbers."""
    if not isinstance(data, (list, tuple)) or not data:
        return
    lengths = [len(d) if isinstance(d, (list, tuple)) else None for d in data]
    for k, n in enumerate(lengths):
        if (n is None) != (lengths[0] is None):
            raise ArgumentTypeError(
                f"tensor: numbers and sequences stand side by side at dim {depth}: the entry 0 is of type "
                f"{type(data[0]).__name__}, the entry {k} of type {type(data[k]).__name__}; make rows of equal lengths"
            )
        if n != lengths[0]:
            raise ArgumentValueError(
                f"tensor: expected sequence of length {lengths[0]} at dim {depth + 1} (got {n}); rows must "
                "have equal lengths"
            )
    for d in data:
        _ragged(d, depth + 1)


def _refuse_entries(values: np.ndarray) -> None:
    """Says what it is that NumPy made no real numbers of."""
    if values.dtype.kind in "OuU":
        for entry in values.ravel().tolist():
            if isinstance(entry, int) and not isinstance(entry, bool):
                raise ArgumentValueError(f"tensor: overflow, {entry} does not fit into int64; write it as a float")
            if not isinstance(entry, (int, float, str, complex)):
                raise ArgumentError(
                    f"tensor: could not infer dtype of {type(entry).__name__}; give a number, a sequence or an ndarray"
                )
    raise ArgumentTypeError(
        f"tensor: invalid data type {values.dtype}: entries must be real numbers or bools, complex is not supported"
    )


def _says_its_dtype(data: Any) -> bool:
    """Whether the first entry comes from NumPy, whose floats say what they are."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


def _dtype(dtype: Any) -> np.dtype:
    return default_dtype() if dtype is None else numpy_dtype(dtype)


def _plain(data: Any) -> Any:
    """Nested lists with tensors replaced by their values."""
    if isinstance(data, Tensor):
        if data._requires_grad:
            raise GradientError(
                "tensor: a list that holds tracked tensors would lose their gradients; join them with ops, or "
                "detach() them first"
            )
        return data._data
    return [_plain(d) for d in data] if isinstance(data, (list, tuple)) else data


def _values(data: Any, dtype: Any) -> np.ndarray:
    wanted = None if dtype is None else numpy_dtype(dtype)
    if isinstance(data, (str, bytes)):
        raise ArgumentTypeError(
            f"tensor: invalid data type {type(data).__name__!r}; give a number, a sequence or an ndarray"
        )
    if not isinstance(data, (np.ndarray, np.generic)):
        _ragged(data)
        data = _plain(data)
    try:
        values = np.array(data)
    except ValueError as error:
        raise ArgumentValueError(f"tensor: not a rectangular array of numbers: {error}") from None
    if values.dtype.kind not in "biuf" or (values.dtype == np.dtype("uint64") and not _says_its_dtype(data)):
        _refuse_entries(values)
    if wanted is None and values.dtype == np.dtype("float64") and not _says_its_dtype(data):
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
        warnings.warn(
            "tensor: to copy a tensor, use t.detach().clone(); this copy is outside the graph",
            UserWarning,
            stacklevel=2,
        )
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


def _shape(size: Any, name: str) -> tuple[int, ...]:
    """The sizes, checked, however they were spelled: f(2, 3), f((2, 3)) or f(2)."""
    sizes = _sizes(size if isinstance(size, (tuple, list)) else (size,), name)
    for n in sizes:
        if n < 0:
            raise ShapeError(f"{name}: a size cannot be negative, and {n} is in {list(sizes)}")
    return tuple(int(n) for n in sizes)


def zeros(
    *size: Any, dtype: Any = None, requires_grad: bool = False, name: str | None = None, dims: Any = None
) -> Tensor:
    """Zeros of that shape."""
    return _finish(np.zeros(_shape(size, "zeros"), _dtype(dtype)), requires_grad, name, dims)


def ones(
    *size: Any, dtype: Any = None, requires_grad: bool = False, name: str | None = None, dims: Any = None
) -> Tensor:
    """Ones of that shape."""
    return _finish(np.ones(_shape(size, "ones"), _dtype(dtype)), requires_grad, name, dims)


def full(
    size: Any,
    fill_value: float,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
    dims: Any = None,
) -> Tensor:
    """A constant of that shape; its dtype is that of the value unless given."""
    value = _values(_number(fill_value, "full"), dtype)
    return _finish(np.full(_shape(size, "full"), value, value.dtype), requires_grad, name, dims)


def _number(value: Any, name: str) -> Any:
    if isinstance(value, Tensor) and value.ndim == 0:
        return value._data
    if not isinstance(value, (bool, int, float, np.generic)):
        raise ArgumentTypeError(f"{name}: fill_value must be a number, not {type(value).__name__}")
    return value


def empty(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of that shape with no values promised (they are zeros)."""
    return zeros(*size, dtype=dtype, requires_grad=requires_grad)


def arange(
    start: float, end: float | None = None, step: float = 1, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """``start, start + step, …`` up to but not including `end`; one argument counts from 0."""
    if end is None:
        start, end = 0, start
    if step == 0:
        raise ArgumentError("arange: step must not be zero; leave it out to count by 1")
    if (end - start) * step < 0:
        raise ArgumentError(f"arange: from {start} to {end} nothing is reached with step {step}; turn its sign round")
    if dtype is None and any(isinstance(v, float) for v in (start, end, step)):
        dtype = default_dtype()
    return _finish(
        np.arange(start, end, step).astype(numpy_dtype("int64" if dtype is None else dtype)), requires_grad, None, None
    )


def linspace(start: float, end: float, steps: int, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`steps` evenly spaced values from start to end, both included."""
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)):
        raise ArgumentTypeError(f"linspace: steps must be an integer, not {type(steps).__name__}")
    if steps < 0:
        raise ArgumentError(f"linspace: the number of steps must not be negative, and is {steps}")
    return _finish(np.linspace(start, end, steps).astype(_dtype(dtype)), requires_grad, None, None)


def eye(n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    rows, columns = _shape((n, n if m is None else m), "eye")
    return _finish(np.eye(rows, columns, dtype=_dtype(dtype)), requires_grad, None, None)


# ------------------------------------------------------------------ like another
def _like(t: Tensor, dtype: Any, name: str) -> tuple[tuple[int, ...], np.dtype]:
    if not isinstance(t, Tensor):
        raise ArgumentTypeError(
            f"{name}: the first argument must be a Tensor, not {type(t).__name__}; wrap it with sg.tensor"
        )
    return t._data.shape, numpy_dtype(dtype) if dtype is not None else t._data.dtype


def zeros_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and dtype of `t`."""
    return _finish(np.zeros(*_like(t, dtype, "zeros_like")), requires_grad, None, None)


def ones_like(t: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape and dtype of `t`."""
    return _finish(np.ones(*_like(t, dtype, "ones_like")), requires_grad, None, None)


def full_like(t: Tensor, fill_value: float, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A constant in the shape and dtype of `t`."""
    shape, kind = _like(t, dtype, "full_like")
    return _finish(np.full(shape, _number(fill_value, "full_like"), kind), requires_grad, None, None)
