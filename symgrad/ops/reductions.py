"""Sums and means over dimensions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..array import normal_axes, normal_axis, numpy_dtype, reduced_shape, unwrapped
from ..errors import DTypeError
from .declare import op


def spread(xp: Any, g: Any, shape: tuple[int, ...], dim: tuple[int, ...] | None, keepdim: bool) -> Any:
    """The cotangent of a reduction, repeated over the reduced dimensions."""
    if dim is None:
        dim = tuple(range(len(shape)))
    if dim and not keepdim:
        g = xp.unsqueeze(g, dim)
    return xp.expand(g, tuple(shape))


def over(m: Any, i: tuple[Any, ...], x: Any, dim: tuple[int, ...] | None, keepdim: bool, body: Any) -> Any:
    """Σ over the reduced dimensions of body(index), the others taken from `i`."""
    if dim is None:
        dim = tuple(range(len(x.shape)))
    rest = iter(i)
    slots: list[Any] = []
    for k in range(len(x.shape)):
        slots.append(None if k in dim else next(rest))
        if k in dim and keepdim:
            next(rest)

    def close(k: int, chosen: tuple[Any, ...]) -> Any:
        if k == len(slots):
            return body(chosen)
        if slots[k] is not None:
            return close(k + 1, (*chosen, slots[k]))
        return m.sum(x.shape[k], lambda j: close(k + 1, (*chosen, j)))

    return close(0, ())


def _suffix(op_name: str) -> Any:
    return lambda n: f"{op_name}Backward0" if n.params[0] is None else f"{op_name}Backward1"


def _axes(dim: Any, ndim: int, op_name: str) -> tuple[int, ...] | None:
    """The dimensions in normal form; None, which names the node, where none were given."""
    return None if dim is None else normal_axes(dim, ndim, op_name)


def _sum_params(x: Any, dim: Any, keepdim: Any, dtype: Any) -> tuple[Any, ...]:
    wanted = numpy_dtype(dtype) if dtype is not None else np.dtype("int64") if x.dtype.kind in "iub" else x.dtype
    return _axes(dim, x.ndim, "sum"), bool(keepdim), wanted


@op(
    params=("dim", "keepdim", "dtype"),
    prepare=_sum_params,
    linear=("x",),
    shape=lambda x, dim, keepdim, dtype: reduced_shape(x, dim, keepdim),
    index=lambda m, i, x, dim, keepdim, dtype: over(m, i, x, dim, keepdim, x),
    vjp=dict(x=lambda xp, g, x, dim, keepdim: spread(xp, xp.cast(g, x.dtype), x.shape, dim, keepdim)),
    torch_name=_suffix("Sum"),
    rule_name="sum rule",
)
def sum_(x, dim=None, keepdim=False, dtype=None):
    """Sum ``Σ x`` over the dimensions `dim`, all of them by default."""
    return np.add.reduce(x, axis=dim, dtype=dtype, keepdims=keepdim)


def _mean_params(x: Any, dim: Any, keepdim: Any, dtype: Any) -> tuple[Any, ...]:
    wanted = numpy_dtype(dtype) if dtype is not None else x.dtype
    if wanted.kind != "f":
        raise DTypeError(
            f"mean: the dtype of the result must be floating point, and the input is {x.dtype}; convert it, or "
            "pass dtype=sg.float64"
        )
    return _axes(dim, x.ndim, "mean"), bool(keepdim), wanted


def count(shape: tuple[int, ...], dim: tuple[int, ...] | None) -> int:
    """The number of entries that a reduction takes together."""
    return prod(shape if dim is None else (shape[d] for d in dim))


def _mean_entry(m: Any, i: tuple[Any, ...], x: Any, dim: Any, keepdim: Any, dtype: Any) -> Any:
    n = count(x.shape, dim)
    return over(m, i, x, dim, keepdim, x) / m.size(n) if n else float("nan")


@op(
    params=("dim", "keepdim", "dtype"),
    prepare=_mean_params,
    linear=("x",),
    shape=lambda x, dim, keepdim, dtype: reduced_shape(x, dim, keepdim),
    index=_mean_entry,
    vjp=dict(
        x=lambda xp, g, x, dim, keepdim: spread(
            xp, xp.div(xp.cast(g, x.dtype), max(count(x.shape, dim), 1)), x.shape, dim, keepdim
        )
    ),
    torch_name=_suffix("Mean"),
    rule_name="sum rule",
)
def mean(x, dim=None, keepdim=False, dtype=None):
    """Mean ``Σ x / n`` over the dimensions `dim`, all of them by default."""
    half = dtype == np.float16  # whose range a sum may leave
    total = np.add.reduce(x, axis=dim, dtype=np.float32 if half else dtype, keepdims=keepdim)
    n = count(x.shape, dim)
    out = total / n if n else total / total.dtype.type(0)
    return out.astype(np.float16) if half else out


# ------------------------------------------------------------------ logsumexp and its family
def _shifted(x: Any, dim: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """(m, exp(x − m), log Σ exp(x − m)) with m the maximum; the logarithm keeps its digits near 0."""
    m = np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    m = np.where(np.isfinite(m), m, 0).astype(x.dtype)
    e = np.exp(x - m)
    total = np.add.reduce(e, axis=dim, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.log(total)
    if np.any(total < 1.5):
        logs = np.where(total < 1.5, np.log1p(_rest(e, dim)), logs) if e.size else logs
    return m, e, logs


def _rest(e: Any, dim: tuple[int, ...]) -> Any:
    """Σ e without one entry that is 1, or −1 + Σ e where there is none."""
    kept = tuple(k for k in range(e.ndim) if k not in dim)
    flat = (
        np.moveaxis(e, dim, range(len(kept), e.ndim)).reshape([e.shape[k] for k in kept] + [count(e.shape, dim)]).copy()
    )
    top = np.argmax(flat, axis=-1)[..., None]
    highest = np.take_along_axis(flat, top, -1)
    np.put_along_axis(flat, top, 0, -1)
    rest = flat.sum(-1) + (highest[..., 0] - 1)
    return rest.reshape([1 if k in dim else e.shape[k] for k in range(e.ndim)])


def _float_axes(name: str) -> Any:
    def prepare(x: Any, dim: Any, keepdim: Any) -> tuple[Any, ...]:
        return normal_axes(dim, x.ndim, name), bool(keepdim)

    return prepare


def _weighted(xp: Any, g: Any, x: Any, dim: tuple[int, ...]) -> Any:
    """The cotangent by the softmax weights; of one value logsumexp is that value, be it −∞."""
    return g if count(x.shape, dim) == 1 else g * xp.softmax(x, dim)


def single(x: Any, dim: tuple[int, ...]) -> bool:
    """Whether the dimensions hold one value, and not by the number that a named size happens to be."""
    return all(x.shape[d] == 1 and not hasattr(x.shape[d], "term") for d in dim)


def _logsumexp_entry(m: Any, i: tuple[Any, ...], x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    if single(x, dim):
        return over(m, i, x, dim, keepdim, x)
    return m.log(over(m, i, x, dim, keepdim, lambda j: m.exp(x(j))))


@op(
    floats=True,
    params=("dim", "keepdim"),
    prepare=_float_axes("logsumexp"),
    shape=reduced_shape,
    index=_logsumexp_entry,
    vjp=dict(x=lambda xp, g, x, dim, keepdim: _weighted(xp, spread(xp, g, x.shape, dim, keepdim), x, dim)),
    torch_name="LogsumexpBackward0",
)
def logsumexp(x, dim=None, keepdim=False):
    """``log Σ exp(x)`` over the dimensions `dim`, without overflow."""
    if not dim:
        return x
    m, _, logs = _shifted(x, dim)
    out = m + logs
    return out if keepdim else unwrapped(np.squeeze(out, dim))


def _one_axis(name: str) -> Any:
    def prepare(x: Any, dim: Any, dtype: Any = None) -> tuple[Any, ...]:
        if x.dtype.kind in "iub":
            raise NotImplementedError(f"{name} is not implemented for {x.dtype}; convert the tensor to a float dtype")
        if isinstance(dim, tuple):
            return (normal_axes(dim, x.ndim, name),)
        return ((normal_axis(dim, x.ndim, name),) if x.ndim else _checked_0d(dim, name),)

    return prepare


def _checked_0d(dim: Any, name: str) -> tuple[int, ...]:
    normal_axis(dim, 0, name)
    return ()


def others(values: Any, dim: tuple[int, ...]) -> Any:
    """For each entry the sum of all the others over `dim`, added up without a subtraction."""
    kept = tuple(k for k in range(values.ndim) if k not in dim)
    moved = np.moveaxis(values, dim, range(len(kept), values.ndim))
    n = count(values.shape, dim)
    flat = moved.reshape([values.shape[k] for k in kept] + [n])
    if n <= 32:
        with np.errstate(invalid="ignore"):
            sums = flat @ (1 - np.eye(n, dtype=flat.dtype)) if np.isfinite(flat).all() else _exclusive(flat)
    else:
        sums = _exclusive(flat)
    return np.moveaxis(sums.reshape(moved.shape), range(len(kept), values.ndim), dim)


def _exclusive(flat: Any) -> Any:
    before, after = np.zeros_like(flat), np.zeros_like(flat)
    np.cumsum(flat[..., :-1], axis=-1, out=before[..., 1:])
    np.cumsum(flat[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before + after


def _softmax_index(m: Any, i: tuple[Any, ...], x: Any, dim: tuple[int, ...]) -> Any:
    if single(x, dim):
        return m.size(1)
    return m.exp(x(i)) / over(m, i, x, dim, True, lambda j: m.exp(x(j)))


def _log_softmax_index(m: Any, i: tuple[Any, ...], x: Any, dim: tuple[int, ...]) -> Any:
    if single(x, dim):
        return m.size(0)
    return x(i) - m.log(over(m, i, x, dim, True, lambda j: m.exp(x(j))))


def _same_shape(x: tuple[int, ...], *_: Any) -> tuple[int, ...]:
    return x


@op(
    params=("dim",),
    prepare=_one_axis("softmax"),
    shape=_same_shape,
    index=_softmax_index,
    repeats=2,
    vjp=dict(x=lambda xp, g, out, dim: xp.center(g, out, dim) * out),
    saved_names={"x": "self"},
    rule_name="softmax rule",
)
def softmax(x, dim):
    """``exp(xᵢ) / Σⱼ exp(xⱼ)`` along `dim`."""
    if not dim:
        return x - x + 1
    _, e, _ = _shifted(x, dim)
    return e / np.add.reduce(e, axis=dim, keepdims=True)


@op(
    params=("dim",),
    prepare=_one_axis("log_softmax"),
    shape=_same_shape,
    index=_log_softmax_index,
    repeats=2,
    vjp=dict(x=lambda xp, g, x, dim: xp.project(g, xp.softmax(x, dim), dim)),
    rule_name="softmax rule",
)
def log_softmax(x, dim):
    """``xᵢ − log Σⱼ exp(xⱼ)`` along `dim`, without overflow or cancellation."""
    if not dim:
        return x - x
    m, _, logs = _shifted(x, dim)
    return (x - m) - logs


@op(
    params=("dim",),
    linear=("u", "y"),
    shape=_same_shape,
    index=lambda m, i, u, y, dim: u(i) - over(m, i, u, dim, True, lambda j: u(j) * y(j)),
    entries=lambda m, u, y, dim: u - np.add.reduce(u * y, axis=dim, keepdims=True),
    repeats=2,
    vjp=dict(
        u=lambda xp, g, y, dim: xp.project(g, y, dim),
        y=lambda xp, g, u, dim: -(xp.sum(g, dim, True) * u) if dim else -(g * u),
    ),
    public=False,
    rule_name="softmax rule",
)
def center(u, y, dim):
    """``uᵢ − Σⱼ uⱼ·yⱼ`` for weights y with sum 1; keeps its digits when one weight is nearly 1."""
    return u * others(y, dim) - others(u * y, dim) if dim else u - u * y


@op(
    params=("dim",),
    linear=("u", "y"),
    shape=_same_shape,
    index=lambda m, i, u, y, dim: u(i) - y(i) * over(m, i, u, dim, True, u),
    entries=lambda m, u, y, dim: u - y * np.add.reduce(u, axis=dim, keepdims=True),
    repeats=2,
    vjp=dict(
        u=lambda xp, g, y, dim: xp.center(g, y, dim),
        y=lambda xp, g, u, dim: -g * xp.sum(u, dim, True) if dim else -g * u,
    ),
    public=False,
    rule_name="softmax rule",
)
def project(u, y, dim):
    """``uᵢ − yᵢ·Σⱼ uⱼ`` for weights y with sum 1; the transpose of `center`."""
    return u * others(y, dim) - y * others(u, dim) if dim else u - y * u
