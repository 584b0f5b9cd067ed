"""The functions that a formula may call: the ops of the catalogue, by name, and their usual spellings.

An elementwise op that joins the catalogue can be typed at once. Of any other op the inference
knows the shape only if `inference` has a rule for it; else it takes what comes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..ops import catalogue, products
from ..ops.declare import Op
from ..ops.generate import SPELLINGS, UNSET
from .refusal import closest


@dataclass(frozen=True)
class Function:
    """A function of the language: an op, under one of its names.

    Attributes
    ----------
    name : str
        The name under which nodes and `call` know it.
    op : Op
        The op behind it.
    record : callable
        What computes it.
    """

    name: str
    op: Op
    record: Callable[..., Any]

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters that can be typed."""
        return tuple(p for p in self.op.params if p not in _HIDDEN)

    def signature(self, spelled: str) -> str:
        """How to write a call, for messages."""
        optional = [p if self.op.defaults[p] is UNSET else f"{p}={self.op.defaults[p]}" for p in self.params]
        return f"{spelled}({', '.join((*self.op.args, *optional))})"


_HIDDEN = ("dtype", "everything", "threshold", "alpha")
_LEFT_OUT = ("cast", "getitem", "argmax", "all", "any")
"""Ops without a derivative, or with another spelling."""
_ALIASES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg", "absolute": "abs", "power": "pow",
    "ln": "log", "σ": "sigmoid", "logistic": "sigmoid", "sgn": "sign", "greater": "gt", "greater_equal": "ge",
    "less": "lt", "less_equal": "le", "not_equal": "ne", "view": "reshape", "broadcast_to": "expand",
}  # fmt: skip
_MEND = {
    "max": "write maximum(a, b) for the larger of two",
    "min": "write minimum(a, b) for the smaller of two",
    "norm": "write sqrt(sum(x**2))",
    "var": "write mean((x - mean(x))**2)",
    "std": "write sqrt(mean((x - mean(x))**2))",
    "tan": "write sin(x)/cos(x)",
    "cosh": "write (exp(x) + exp(-x))/2",
    "sinh": "write (exp(x) - exp(-x))/2",
    "log10": "write log(x)/log(10)",
    "log2": "write log(x)/log(2)",
    "log1p": "write log(1 + x)",
    "expm1": "write exp(x) - 1",
    "square": "write x**2",
    "cbrt": "write x**(1/3)",
    "outer": "write a[:, None]*b[None, :]",
    "prod": "write the factors out with *",
    "tr": "write the entries out, such as A[0,0] + A[1,1]",
    "trace": "write the entries out, such as A[0,0] + A[1,1]",
    "cross_entropy": "write -sum(y*log_softmax(z, 0))",
}


def _whitelist() -> dict[str, Function]:
    found = {o.name: Function(o.name, o, o.record) for o in catalogue.values() if o.public and o.name not in _LEFT_OUT}
    matmul = found["matmul"]
    for name in ("mm", "mv", "dot", "bmm"):
        found.setdefault(name, Function(name, matmul.op, getattr(products, name)))
    for alias, name in _ALIASES.items():
        found.setdefault(alias, found[name])
    return found


FUNCTIONS: Mapping[str, Function] = _whitelist()
"""Every name that can stand before a bracket."""


def call(name: str, args: tuple[Any, ...], params: Mapping[str, Any]) -> Any:
    """Computes a function of values that the program calls by that name."""
    if name == "T":
        return catalogue["permute"].record(*args, *reversed(range(args[0].ndim)))
    if name == "mT":
        return args[0].mT
    if name == "getitem":
        return catalogue["getitem"].record(args[0], params["index"])
    function = FUNCTIONS[name]
    star = function.op.star
    if star is None:
        return function.record(*args, **params)
    return function.record(*args, *params[star])


def op_of(name: str) -> Op | None:
    """The op behind a name, if it is one of the catalogue."""
    return FUNCTIONS[name].op if name in FUNCTIONS else catalogue.get(name)


def bound(
    spelled: str, function: Function, given: list[ast.expr], named: Mapping[str, ast.expr]
) -> tuple[list[ast.expr], dict[str, Any]]:
    """Arguments in their places: the tensors in order, and the parameters by name.

    Raises
    ------
    ValueError
        If there are too many, too few, or one is unknown; the message shows how to write the call.
    """
    op, usage = function.op, f"write {function.signature(spelled)}"
    names = {ours: value for ours, value in named.items() if ours not in SPELLINGS.values()}
    for ours, numpy in SPELLINGS.items():
        if numpy in named:
            if ours in named:
                raise ValueError(f"{spelled}: '{ours}' and '{numpy}' are one thing; {usage}")
            names[ours] = named[numpy]
    for name in names:
        if name not in op.args and name not in function.params:
            raise ValueError(f"{spelled} has no argument '{name}'; {usage}")
    tensors, rest = list(given[: len(op.args)]), list(given[len(op.args) :])
    for a in op.args[len(tensors) :]:
        if a not in names:
            raise ValueError(f"{spelled}: argument '{a}' is missing; {usage}")
        tensors.append(names.pop(a))
    params: dict[str, Any] = {}
    if op.star and rest:
        single = len(rest) == 1 and isinstance(rest[0], (ast.Tuple, ast.List))
        params[op.star], rest = (rest[0] if single else rest), []
    free = [p for p in function.params if p not in params]
    if len(rest) > len(free):
        raise ValueError(f"{spelled}: too many arguments; {usage}")
    params.update(zip(free, rest, strict=False))
    for name, value in names.items():
        if name in op.args or name in params:
            raise ValueError(f"{spelled}: argument '{name}' is given twice; {usage}")
        params[name] = value
    for p in function.params:
        if p not in params and op.defaults[p] is UNSET:
            raise ValueError(f"{spelled}: '{p}' is missing; {usage}")
    return tensors, params


def advice(name: str, is_variable: bool) -> str:
    """What to write instead of a function that there is not."""
    if name in _MEND:
        return f"there is no function '{name}' yet; {_MEND[name]}"
    if is_variable:
        return f"'{name}' is a variable, not a function; write {name}*(...) for a product"
    near = closest(name, FUNCTIONS)
    if near:
        return f"there is no function '{name}'; the closest is {FUNCTIONS[near].signature(near)}"
    return f"there is no function '{name}'; write one of exp, log, sqrt, sum, mean, …, or {name}*(...) for a product"
