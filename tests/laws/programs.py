"""Whole random programs as runnable code: leaves and a list of lines ``v3 = sg.relu(v1)``.

Ops are drawn from the catalogue's own strategies; patterns in which a selection sets aside what
has no value (``where(x > 0, log(x), 0)``) are drawn on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import symgrad as sg
from symgrad.ops.declare import Op, catalogue

from .inputs import HELPERS, PARAMETERS, _parameters
from .values import indices

LEAF_SHAPES = [(), (1,), (2,), (2, 2), (1, 2), (2, 1), (0,), (2, 0), (1, 1)]
LEAF_VALUES = [0.0, 0.0, 1.0, 1.0, -1.0, 0.5, -0.75, 2.0, 1.25, -2.0, 800.0, -40.0]
MASKED = [
    "sg.where({x} > 0, sg.log({x}), {x})",
    "sg.where({x} != 0, 1 / {x}, 2 * {x})",
    "sg.where({x} < 700, sg.exp({x}), 1 + {x})",
    "sg.where({x} > 0, sg.sqrt({x}), 0 * {x})",
    "sg.maximum(sg.log(sg.abs({x})), {x})",
    "sg.relu(1 / {x})",
    "sg.relu(-sg.exp({x}))",
    "sg.where({x} == 0, {x}, {x} * sg.log(sg.abs({x})))",
]
"""Lines in which something infinite or undefined is not selected."""
INDEXED = ["(1 / {x})[{i}]", "sg.log(sg.abs({x}))[{i}]", "sg.exp({x})[{i}]"]
SMALL = 6
"""No value has more entries: the oracle writes softmax and its kin out entry by entry."""
SKIPPED = {"argmax", "all", "any", "cast", "expand"}
OPS = [o for o in catalogue.values() if o.public and o.differentiable and o.name not in SKIPPED | set(HELPERS)]


@dataclass
class Program:
    """Leaves, and lines of code that compute v0, v1, … from them."""

    leaves: list[np.ndarray]
    lines: list[str]

    def __repr__(self) -> str:
        shown = [a.tolist() if a.size else f"np.zeros({a.shape})" for a in self.leaves]
        made = [f"x{k} = sg.tensor({a}, requires_grad=True)" for k, a in enumerate(shown)]
        return "\n".join(["", "import numpy as np", "import symgrad as sg", *made, *self.lines, ""])

    def run(self) -> tuple[Any, list[Any], dict[str, Any]]:
        """The last value, the leaves, and all names."""
        leaves = [sg.tensor(a, requires_grad=True) for a in self.leaves]
        scope: dict[str, Any] = {"sg": sg, "np": np} | {f"x{k}": t for k, t in enumerate(leaves)}
        with np.errstate(all="ignore"):
            for line in self.lines:
                exec(line, scope)
        return scope[self.lines[-1].split(" = ")[0]], leaves, scope


def _call(op: Op, names: list[str], params: tuple[Any, ...]) -> str:
    shown = [p if isinstance(p, str) else repr(p) for p in params]
    if op.name == "getitem":
        return f"{names[0]}[{shown[0]}]" if shown[0] != "()" else f"{names[0]}[...]"
    path = f"sg.{op.name}" if hasattr(sg, op.name) else f"sg.nn.functional.{op.name}"
    return f"{path}({', '.join([*names, *shown])})"


def _broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


@st.composite
def lines(draw: Any, values: dict[str, Any]) -> str:
    """The right-hand side of one more line."""
    names = list(values)
    newest = st.one_of(st.just(names[-1]), st.sampled_from(names))
    x = draw(newest)
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(MASKED)).format(x=x)
    if kind == 1 and values[x].ndim:
        index = draw(indices(values[x].shape))
        return draw(st.sampled_from(INDEXED)).format(x=x, i=repr(index) if index else "...")
    op = draw(st.sampled_from(OPS))
    shape = values[x].shape
    endless = op.name in ("softmax", "log_softmax") and not np.isfinite(values[x]).all()
    if (op.name == "t" and len(shape) > 2) or (op.name == "mean" and 0 in shape) or endless:
        return f"{x} * {x}"  # softmax of one value that is no number is nan in numbers, 1 as a formula
    operands = [x]
    if op.name == "matmul":
        fits = [
            n
            for n in names
            if values[n].ndim and shape and shape[-1] == values[n].shape[-2 if values[n].ndim > 1 else 0]
        ]
        if not fits or max(len(shape), *(values[n].ndim for n in fits)) > 2:
            return f"{x} * {x}"
        operands.append(draw(st.sampled_from(fits)))
    elif op.broadcasts and op.arity > 1:
        for _ in range(op.arity - 1 - (op.name == "where")):
            fits = [n for n in names if _broadcast([shape, values[n].shape]) is not None]
            operands.append(draw(st.sampled_from(fits)))
        if op.name == "where":
            relation = draw(st.sampled_from(["<", ">=", "==", "!="]))
            operands = [f"{operands[0]} {relation} {operands[1]}", draw(st.sampled_from(operands)), operands[1]]
        if op.name == "pow":
            operands = draw(st.sampled_from([[x, "2"], [x, "3"], [x, "-1"], [x, "0"], [f"sg.abs({x})", operands[1]]]))
    given = _parameters(op, [shape]) if op.params or op.name in PARAMETERS else st.just(())
    return _call(op, operands, draw(given))


@st.composite
def programs(draw: Any, most: int = 8) -> Program:
    """Programs of 3 to `most` lines on 1 to 3 leaves."""
    leaves = []
    for _ in range(draw(st.integers(1, 3))):
        shape = draw(st.sampled_from(LEAF_SHAPES))
        size = int(np.prod(shape, dtype=int))
        leaves.append(
            np.array(draw(st.lists(st.sampled_from(LEAF_VALUES), min_size=size, max_size=size))).reshape(shape)
        )
    values: dict[str, Any] = {f"x{k}": a for k, a in enumerate(leaves)}
    code: list[str] = []
    for _ in range(draw(st.integers(3, most))):
        line = draw(lines(values))
        scope: dict[str, Any] = {"sg": sg, "np": np} | {n: sg.tensor(a) for n, a in values.items()}
        with np.errstate(all="ignore"):
            found = eval(line, scope)
        if found._data.size > SMALL or found._data.dtype.kind != "f":
            continue
        name = f"v{len(code)}"
        code.append(f"{name} = {line}")
        values[name] = found._data
    return Program(leaves, code or ["v0 = x0 * x0"])
