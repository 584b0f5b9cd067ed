"""From an op's declaration to suitable operands and parameters.

What a declaration does not say is guessed by the parameter's name (`GUESSES`), or said here, one
line an op: `PARAMETERS`, `SHAPES`, `DOMAIN`, and for helper ops `HELPERS`. An op for which that is
not enough fails with a message that says where the line is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import symgrad as sg
from symgrad.graph.columns import recorded_namespace as recorded
from symgrad.ops.declare import Op, catalogue
from symgrad.ops.indexing import Span, normal_index

from .values import ANY, BROADCASTING, arrays, axes, factors, indices, reduced, shapes_together

Shapes = list[tuple[int, ...]]

GUESSES: dict[str, Callable[[Shapes], Any]] = {
    "dim": lambda s: reduced(len(s[0])),
    "keepdim": lambda s: st.booleans(),
    "dtype": lambda s: st.none(),
    "everything": lambda s: st.none(),
    "alpha": lambda s: st.sampled_from([1, 2, -0.5, 0.1]),
    "index": lambda s: indices(s[0]),
}
"""By the name of a parameter: a strategy for it, from the shapes of the operands."""

PARAMETERS: dict[str, Callable[[Shapes], Any]] = {
    "softplus": lambda s: st.sampled_from([(1, 20), (2.5, 20), (0.1, 20), (4, 1)]),
    "cast": lambda s: st.sampled_from([(sg.float32,), (sg.float64,)]),
    "permute": lambda s: st.permutations(range(len(s[0]))).map(lambda p: (tuple(p),)),
    "transpose": lambda s: st.tuples(axes(len(s[0])), axes(len(s[0]))),
    "reshape": lambda s: st.sampled_from(factors(int(np.prod(s[0], dtype=int)))).map(lambda n: (n,)),
    "expand": lambda s: st.tuples(larger(s[0])),
    "unsqueeze": lambda s: st.tuples(axes(len(s[0]) + 1)),
    "softmax": lambda s: st.tuples(axes(len(s[0]))),
    "log_softmax": lambda s: st.tuples(axes(len(s[0]))),
    "argmax": lambda s: st.tuples(st.one_of(st.none(), axes(len(s[0]))), st.booleans()),
    "dpow": lambda s: st.sampled_from([(1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 1)]),
    "center": lambda s: st.sampled_from([(k,) for k in range(len(s[0]))] or [()]).map(lambda d: (d,)),
    "project": lambda s: st.sampled_from([(k,) for k in range(len(s[0]))] or [()]).map(lambda d: (d,)),
    "place": lambda s: placing(s[0]),
}
"""By op: a strategy for the tuple of its parameters."""

SHAPES: dict[str, Any] = {
    "matmul": st.sampled_from(
        [[(3,), (3,)], [(2, 3), (3,)], [(3,), (3, 2)], [(2, 3), (3, 2)], [(2, 2, 3), (3, 2)], [(2, 3), (2, 3, 1)],
         [(2, 1, 2), (1, 2, 2)], [(2,), (2, 2, 2)], [(2, 1, 2), (2,)], [(0,), (0,)], [(2, 0), (0, 2)], [(0, 2), (2, 1)],
         [(1,), (1,)], [(1, 1), (1, 1)], [(1, 2, 2), (2, 2, 1)]]
    ),
    "t": st.sampled_from([[s] for s in ANY if len(s) <= 2]),
    "argmax": st.sampled_from([[s] for s in ANY if 0 not in s]),
    "softmax": st.sampled_from([[s] for s in ANY]),
    "center": st.sampled_from([[s, s] for s in ANY if np.prod(s) <= 4]),
    "project": st.sampled_from([[s, s] for s in ANY if np.prod(s) <= 4]),
}  # fmt: skip
"""By op: the shapes of its operands, for an op of several that does not broadcast, or that refuses some shapes."""

DOMAIN: dict[str, Callable[..., list[np.ndarray]]] = {
    "log": lambda x: [np.abs(x)],
    "sqrt": lambda x: [np.abs(x)],
    "pow": lambda x, y: [np.where(y == np.round(y), x, np.abs(x)), y] if x.shape == y.shape else [np.abs(x), y],
    "dpow": lambda x, y: [np.abs(x), y],
    "where": lambda c, x, y: [c > 0, x, y],
    "all": lambda x: [x > 0],
    "any": lambda x: [x > 0],
}
"""By op: how drawn operands are brought to where the function is defined. Edges stay in."""

HELPERS: dict[str, Callable[..., Any]] = {
    "dtanh": lambda op, x, y: op(x, recorded.tanh(x)),
    "dsigmoid": lambda op, x, y: op(x, recorded.sigmoid(x)),
    "ddsigmoid": lambda op, x, y: op(x, recorded.sigmoid(x)),
    "center": lambda op, u, y, dim: op(u, recorded.softmax(y, dim), dim),
    "project": lambda op, u, y, dim: op(u, recorded.softmax(y, dim), dim),
}
"""Ops whose operands are not free (``dtanh(x, y)`` has y = tanh(x)): how they are called."""

UNUSED = {"dtanh": (1,), "dsigmoid": (1,), "ddsigmoid": (1,)}
"""Operands that a helper's call computes itself."""


@st.composite
def larger(draw: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that the shape expands to."""
    grown = tuple(draw(st.sampled_from([1, 2])) if n == 1 else draw(st.sampled_from([n, -1])) for n in shape)
    return draw(st.sampled_from([(), (2,), (1,)])) + grown


@st.composite
def placing(draw: Any, shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """An index and a target shape for what has this shape: spans with room around them, and places to add."""
    index: list[Any] = []
    target: list[int] = []
    for n in shape:
        start, step = draw(st.integers(0, 1)), draw(st.integers(1, 2))
        index.append(Span(start, step, n))
        target.append(start + step * n + draw(st.integers(0, 1)))
    if draw(st.booleans()):
        index.insert(0, 1)
        target.insert(0, 2)
    assert normal_index(tuple(target), tuple(index)) == tuple(index)
    return tuple(index), tuple(target)


@dataclass
class Case:
    """An op with operands and parameters; `run` calls it on tensors."""

    op: Op
    operands: list[np.ndarray]
    params: tuple[Any, ...]

    def run(self, *tensors: Any) -> Any:
        helper = HELPERS.get(self.op.name)
        return helper(self.op.record, *tensors, *self.params) if helper else self.op.record(*tensors, *self.params)

    def leaves(self) -> list[Any]:
        """Fresh leaf tensors; floats require grad where the op has a derivative."""
        return [sg.tensor(o.copy(), requires_grad=bool(self.differentiable[k])) for k, o in enumerate(self.operands)]

    @property
    def differentiable(self) -> list[bool]:
        """Which operands have a gradient here."""
        helper, skipped = self.op.name in HELPERS, UNUSED.get(self.op.name, ())
        return [
            self.op.differentiable
            and o.dtype.kind == "f"
            and k not in skipped
            and (helper or a not in self.op.constants)
            for k, (a, o) in enumerate(zip(self.op.args, self.operands, strict=True))
        ]

    def __repr__(self) -> str:
        made = ", ".join(f"np.array({o.tolist()!r}, {o.dtype.name!r}).reshape({o.shape})" for o in self.operands)
        return f"catalogue[{self.op.name!r}].record({', '.join(filter(None, [made, *map(repr, self.params)]))})"


def _shapes(op: Op, tame: bool) -> Any:
    if op.name in SHAPES:
        return SHAPES[op.name]
    if op.broadcasts:
        return shapes_together(op.arity, BROADCASTING)
    if op.arity == 1:
        return st.sampled_from([[s] for s in ANY])
    raise LookupError(
        f"the laws cannot guess shapes for the op {op.name!r}, which takes {op.args} and does not broadcast: "
        "add a line to SHAPES in tests/laws/inputs.py"
    )


def _parameters(op: Op, shapes: Shapes) -> Any:
    if op.name in PARAMETERS:
        return PARAMETERS[op.name](shapes)
    unknown = [p for p in op.params if p not in GUESSES]
    if unknown:
        raise LookupError(
            f"the laws cannot guess the parameters {unknown} of the op {op.name!r}: "
            "add a line to PARAMETERS in tests/laws/inputs.py"
        )
    return st.tuples(*(GUESSES[p](shapes) for p in op.params))


@st.composite
def cases(draw: Any, op: Op, dtype: str = "float64", tame: bool = False) -> Case:
    """Operands and parameters for the op; `tame` leaves the extremes of range out."""
    shapes = draw(_shapes(op, tame))
    params = draw(_parameters(op, list(shapes)))
    operands = [draw(arrays(s, dtype, tame)) for s in shapes]
    if op.name in DOMAIN:
        operands = [np.asarray(o) for o in DOMAIN[op.name](*operands)]
    return Case(op, operands, params)


@st.composite
def cotangents(draw: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A seed that is not uniform, of few significant bits."""
    size = int(np.prod(shape, dtype=int))
    start = draw(st.integers(0, 4))
    return np.resize(np.roll([0.75, -1.25, 2.0, 0.5, -0.625], start), size).reshape(shape).astype(dtype)


EVERY = list(catalogue.values())
DIFFERENTIABLE = [o for o in EVERY if o.differentiable]


def named(op: Op) -> str:
    """The op's name, for the names of tests."""
    return op.name
