"""Random programs that symgrad and PyTorch both run: a list of steps over a growing list of values.

A step names an op, the positions of its operands among the values so far, and its parameters.
Shapes are drawn so that most steps fit; where one does not, both libraries must refuse it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

SHAPES = [(), (1,), (3,), (2, 3), (1, 3), (2, 1), (3, 3), (2, 2, 3), (0,), (2, 0), (2, 1, 3)]
# No ties and no zeros among these, so that kinks are met only where a step asks for them.
VALUES = [0.3, -0.7, 1.2, 0.9, -1.4, 2.1, 0.6, -0.2, 1.7, -1.1, 0.45, 2.6, 0.15, -0.55, 1.05, 0.75]


@dataclass(frozen=True)
class Step:
    """One op of a program."""

    op: str
    operands: tuple[int, ...]
    parameters: tuple[Any, ...] = ()

    def run(self, library: Any, values: list[Any]) -> Any:
        """The step in that library (torch or symgrad)."""
        return OPS[self.op](library, *(values[k] for k in self.operands), *self.parameters)


@dataclass(frozen=True)
class Program:
    """Leaves and steps."""

    leaves: tuple[np.ndarray, ...]
    tracked: tuple[bool, ...]
    steps: tuple[Step, ...]


UNARY = {
    "neg": lambda lib, x: -x,
    "abs": lambda lib, x: lib.abs(x),
    "exp": lambda lib, x: lib.exp(x),
    "log": lambda lib, x: lib.log(x),
    "sqrt": lambda lib, x: lib.sqrt(x),
    "sin": lambda lib, x: x.sin(),
    "cos": lambda lib, x: lib.cos(x),
    "tanh": lambda lib, x: lib.tanh(x),
    "sigmoid": lambda lib, x: lib.sigmoid(x),
    "relu": lambda lib, x: lib.relu(x),
    "softplus": lambda lib, x: lib.nn.functional.softplus(x),
    "square": lambda lib, x: x**2,
    "cube": lambda lib, x: x**3,
    "root": lambda lib, x: x**0.5,
    "inverse": lambda lib, x: x**-1,
    "base": lambda lib, x: 2.0**x,
    "shift": lambda lib, x: x + 0.5,
    "from_two": lambda lib, x: 2 - x,
    "scale": lambda lib, x: 3 * x,
    "over": lambda lib, x: 1 / x,
    "halve": lambda lib, x: x / 2,
    "t": lambda lib, x: x.t(),
    "mT": lambda lib, x: x.mT,
    "flatten": lambda lib, x: x.reshape(-1),
    "clone": lambda lib, x: x.clone(),
    "detach": lambda lib, x: x.detach(),
    "positive": lambda lib, x: x * (x > 0),
}
BINARY = {
    "add": lambda lib, x, y: x + y,
    "sub": lambda lib, x, y: x - y,
    "mul": lambda lib, x, y: x * y,
    "div": lambda lib, x, y: x / y,
    "pow": lambda lib, x, y: lib.abs(x) ** y,
    "maximum": lambda lib, x, y: lib.maximum(x, y),
    "minimum": lambda lib, x, y: lib.minimum(x, y),
    "where": lambda lib, x, y: lib.where(x > y, x, y * 2),
    "where_eq": lambda lib, x, y: lib.where(x == y, x, y),
    "where_number": lambda lib, x, y: lib.where(x <= y, x, 0.25),
    "matmul": lambda lib, x, y: x @ y,
}
REDUCTIONS = {
    "sum": lambda lib, x, dim, keepdim: x.sum() if dim is None else x.sum(dim=dim, keepdim=keepdim),
    "mean": lambda lib, x, dim, keepdim: x.mean() if dim is None else x.mean(dim=dim, keepdim=keepdim),
    "logsumexp": lambda lib, x, dim, keepdim: lib.logsumexp(x, 0 if dim is None else dim, keepdim),
    "softmax": lambda lib, x, dim, keepdim: lib.softmax(x, dim=0 if dim is None else dim),
    "log_softmax": lambda lib, x, dim, keepdim: lib.log_softmax(x, dim=0 if dim is None else dim),
    "squeeze": lambda lib, x, dim, keepdim: x.squeeze() if dim is None else x.squeeze(dim),
    "unsqueeze": lambda lib, x, dim, keepdim: x.unsqueeze(0 if dim is None else dim),
}
SHAPING = {
    "permute": lambda lib, x, dims: x.permute(dims),
    "transpose": lambda lib, x, dims: x.transpose(*dims),
    "reshape": lambda lib, x, shape: x.reshape(shape),
    "expand": lambda lib, x, shape: x.expand(shape),
    "getitem": lambda lib, x, index: x[index],
}
OPS: dict[str, Any] = UNARY | BINARY | REDUCTIONS | SHAPING


def _array(draw: Any, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    size = math.prod(shape)
    start = draw(st.integers(0, len(VALUES) - 1))
    values = [VALUES[(start + 5 * k) % len(VALUES)] + 0.01 * (k // len(VALUES)) for k in range(size)]
    return np.array(values, dtype).reshape(shape)


def _factorings(size: int) -> list[tuple[int, ...]]:
    if size == 0:
        return [(0,), (0, 2), (3, 0)]
    pairs = [(n, size // n) for n in range(1, size + 1) if size % n == 0]
    return [(size,), (-1, 1), *pairs] + ([()] if size == 1 else [])


def _index(draw: Any, shape: tuple[int, ...]) -> Any:
    items: list[Any] = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        choices: list[Any] = [slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(0, 0)]
        choices += [0, -1] if n else []
        items.append(draw(st.sampled_from(choices)))
    for extra in (None, Ellipsis):
        if draw(st.booleans()):
            items.insert(draw(st.integers(0, len(items))) if extra is None else len(items), extra)
    return tuple(items)


def _shaping(draw: Any, name: str, shape: tuple[int, ...]) -> Any:
    if name == "permute":
        return draw(st.permutations(range(len(shape))).map(tuple))
    if name == "transpose":
        span = max(len(shape), 1)
        dims = st.integers(-span, span - 1)
        return draw(dims), draw(dims)
    if name == "reshape":
        return draw(st.sampled_from(_factorings(math.prod(shape))))
    if name == "expand":
        grown = tuple(draw(st.sampled_from([1, 2])) if n == 1 else draw(st.sampled_from([n, -1])) for n in shape)
        return draw(st.sampled_from([(), (2,), (1,)])) + grown
    return _index(draw, shape)


@st.composite
def programs(draw: Any, torch: Any, ops: tuple[str, ...] = tuple(OPS), most: int = 5) -> Program:
    """Programs of at most that many steps over these ops; shapes on the way are PyTorch's own."""
    leaves, tracked = [], []
    for _ in range(draw(st.integers(1, 3))):
        dtype = draw(st.sampled_from(["float64", "float64", "float32"]))
        leaves.append(_array(draw, draw(st.sampled_from(SHAPES)), dtype))
        tracked.append(draw(st.booleans()) or not any(tracked))
    values: list[Any] = [torch.tensor(leaf) for leaf in leaves]
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, most))):
        name = draw(st.sampled_from(ops))
        # the newest value is the likeliest operand, so that programs are deep
        positions = st.one_of(st.just(len(values) - 1), st.integers(0, len(values) - 1))
        operands = (draw(positions), draw(positions)) if name in BINARY else (draw(positions),)
        shape = tuple(values[operands[0]].shape)
        parameters: tuple[Any, ...] = ()
        if name in REDUCTIONS:
            span = max(len(shape), 1)
            dim = draw(st.one_of(st.none(), st.integers(-span, span - 1)))
            parameters = (dim, draw(st.booleans()))
        elif name in SHAPING:
            parameters = (_shaping(draw, name, shape),)
        step = Step(name, operands, parameters)
        steps.append(step)
        try:
            values.append(step.run(torch, values))
        except (RuntimeError, IndexError):
            break  # a refusal is the last thing a program can do
    return Program(tuple(leaves), tuple(tracked), tuple(steps))
