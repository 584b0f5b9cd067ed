"""Writes the functions that an op's declaration implies: its recording function and its pull.

As `dataclasses` writes `__init__`: a generic `apply(op, *args)` would cost as much as a small
op itself. The source of every generated function is kept in `linecache`, so tracebacks show it.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array import broadcast_error, promote, promote_floats
from ..errors import ArgumentTypeError
from ..graph.modes import grad_mode
from ..graph.node import Node, attach_guards, next_seq, pending_guards

if TYPE_CHECKING:
    from .declare import Op


class Unset:
    """The default of a keyword that has another spelling."""

    def __repr__(self) -> str:
        return "..."


UNSET = Unset()
SPELLINGS = {"dim": "axis", "keepdim": "keepdims"}
"""NumPy's spelling of PyTorch's keywords; every op takes both."""


def operand_of(op: Op, name: str, value: Any) -> tuple[Any, Any, bool]:
    """An argument that is no plain tensor: (operand to record, value, requires grad)."""
    if isinstance(value, Tensor := runtime["Tensor"]):
        return value, value._data, value._requires_grad
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        if op.broadcasts:
            return value, value, False
        value = np.asarray(value)
    if isinstance(value, (np.ndarray, np.generic)):
        tensor = Tensor.constant(value)
        return tensor, tensor._data, False
    raise ArgumentTypeError(
        f"{op.name}: argument {name!r} must be a Tensor{', a number' if op.broadcasts else ''} or an ndarray, "
        f"not {type(value).__name__}; wrap it with sg.tensor(...)"
    )


def caller() -> tuple[Any, int]:
    """Code and bytecode offset of the frame that called the library from outside."""
    frame = sys._getframe(2)
    while frame.f_back is not None and "__symgrad_internal__" in frame.f_globals:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


runtime: dict[str, Any] = {
    "__name__": "symgrad.ops.generated",
    "__symgrad_internal__": True,
    "UNSET": UNSET,
    "Node": Node,
    "float64": np.float64,
    "dtype_float64": np.dtype("float64"),
    "new": object.__new__,
    "grad_enabled": grad_mode.get,
    "next_seq": next_seq,
    "operand_of": operand_of,
    "promote": promote,
    "promote_floats": promote_floats,
    "broadcast_error": broadcast_error,
    "pending_guards": pending_guards,
    "attach_guards": attach_guards,
    "frame": sys._getframe,
    "caller": caller,
}
"""The globals of all generated functions. `Tensor` joins them when it is defined."""


def compile_function(name: str, source: str, bindings: dict[str, Any]) -> Callable[..., Any]:
    """The function of that name in the source, with the runtime and the bindings as its globals."""
    filename = f"<symgrad op {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    for key, value in bindings.items():
        runtime[f"{name}_{key}"] = value
    scope: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), runtime, scope)
    return next(iter(scope.values()))


def recording_source(op: Op, order: tuple[str, ...] | None = None) -> str:
    """The source of the function that users call.

    Parameters
    ----------
    op : Op
        The declaration.
    order : tuple of str, optional
        The order of the tensor arguments in the signature: swapped for reflected operators.
    """
    names, n = op.args, op.name
    head = list(order or names)
    head += [f"*{p}" if p == op.star else f"{p}=UNSET" if op.defaults[p] is UNSET else f"{p}={n}_defaults[{p!r}]" for p in op.params]
    spellings = [(ours, numpy) for ours, numpy in SPELLINGS.items() if ours in op.params]
    if spellings:
        head += ["*"] * (op.star is None) + [f"{numpy}=UNSET" for _, numpy in spellings]
    if op.star:
        head.append("**named")
    lines = [f"def {n}({', '.join(head)}):"]
    add = lines.append
    if op.star:
        add(f"    if named: {op.star} = {n}_named({op.star}, named)")
    for ours, numpy in spellings:
        add(f"    if {numpy} is not UNSET: {ours} = {numpy}")
    for a in names:
        add(f"    if type({a}) is Tensor:")
        add(f"        value_{a} = {a}._data; needs_{a} = {a}._requires_grad")
        if op.broadcasts and len(names) > 1:
            add(f"    elif type({a}) is int or type({a}) is float: value_{a} = {a}; needs_{a} = False")
        add(f"    else: {a}, value_{a}, needs_{a} = operand_of({n}_op, {a!r}, {a})")
    values = ", ".join(f"value_{a}" for a in names)
    lines += _promotion(op)
    params = ", ".join(op.params)
    if op.prepare:
        add(f"    params = {n}_prepare({values}{', ' if params else ''}{params})")
        call = f"{n}_forward({values}, *params)"
    elif params:
        call = f"{n}_forward({values}, {params})"
    else:
        call = f"{n}_forward({values})"
    if op.broadcasts and len(names) > 1:
        shapes = ", ".join(f"getattr(value_{a}, 'shape', ())" for a in names)
        add(f"    try: out = {call}")
        add("    except ValueError as error:")
        add("        if 'broadcast' not in str(error): raise")
        add(f"        raise broadcast_error({n!r}, {shapes}) from None")
    else:
        add(f"    out = {call}")
    add("    result = new(Tensor)")
    add("    result._data = out")
    add("    result._grad = result._extra = None")
    add(f"    if ({' or '.join('needs_' + a for a in names)}) and grad_enabled():")
    add("        result._node = node = Node()")
    add(f"        result._requires_grad = {op.differentiable}")
    add(f"        node.op = {n}_op")
    for k, a in enumerate(names):
        add(f"        node.a{k} = {a} if type({a}) is not Tensor or {a}._node is None else {a}._node")
    bits = [f"(needs_{a} and {1 << k})" if k else f"needs_{a}" for k, a in enumerate(names) if a in op.rules]
    fit = ""
    if op.broadcasts and len(names) > 1:
        fit = " | fit"
        if len(op.args) == 2:
            x, y = (f"value_{a}" for a in op.args)
            add(f"        if fit < 0: fit = 0 if {x}.shape == {y}.shape else 8")
    elif op.fits:
        fit = " | 8"
    add(f"        node.needs = needs = {' | '.join(bits) + fit if bits else '0'}")
    for k, a in enumerate(names):
        if op.readers[a]:
            mask = sum(1 << names.index(r) for r in op.readers[a])
            everything = (1 << len(names)) - 1
            condition = "" if mask == everything or len(names) == 1 else f" if needs & {mask} else None"
            add(f"        node.v{k} = value_{a}{condition}")
    if op.readers["out"]:
        mask = sum(1 << names.index(r) for r in op.readers["out"])
        add(f"        node.out = out{'' if len(names) == 1 else f' if needs & {mask} else None'}")
    else:
        add("        node.out = None")
    kept = "params" if op.prepare else f"({params},)" if params else "None"
    add(f"        node.params = {kept}; node.extra = None")
    add("        if type(out) is float64: node.shape = (); node.dtype = dtype_float64")
    add("        else: node.shape = out.shape; node.dtype = out.dtype")
    add("        node.seq = next_seq()")
    add("        f = frame(1)")
    add("        node.code = f.f_code; node.lasti = f.f_lasti")
    add("        if pending_guards: attach_guards(node)")
    add("    else:")
    add("        result._node = None; result._requires_grad = False")
    add("    return result")
    return "\n".join(lines) + "\n"


def _promotion(op: Op) -> list[str]:
    """The lines that bring the values to their common dtype, and find out whether cotangents will fit as they are."""
    names = [a for a in op.args if a not in op.constants]
    if not op.promotes or not names:
        return ["    fit = 8"] if op.broadcasts and len(op.args) > 1 else []
    convert = "promote_floats" if op.floats else "promote"
    if len(names) == 1 and len(op.args) == 1:
        value = f"value_{names[0]}"
        test = f"type({value}) is not float64 and {value}.dtype is not dtype_float64 and {value}.dtype.kind != 'f'"
        return [f"    if {test}: ({value},) = {convert}({value})"] if op.floats else []
    if len(names) != 2 or len(op.args) != 2:
        every = ", ".join(f"value_{a}" for a in names)
        return [f"    {every}{',' if len(names) == 1 else ''} = {convert}({every}); fit = 8"]
    x, y = (f"value_{a}" for a in names)
    promotion = f"{x}, {y} = {convert}({x}, {y})"
    same = f"{x}.dtype is not {y}.dtype" + (f" or {x}.dtype.kind != 'f'" if op.floats else "")
    return [
        f"    type_x = type({x}); type_y = type({y})",
        "    if type_x is type_y:",
        "        if type_x is float64: fit = 0",
        f"        elif {same}: fit = 8; {promotion}",
        "        else: fit = -1",
        "    elif type_y is float or type_y is int:",
        "        fit = 0",
        f"        if {x}.dtype.kind != 'f': {promotion}",
        "    elif type_x is float or type_x is int:",
        "        fit = 0",
        f"        if {y}.dtype.kind != 'f': {promotion}",
        f"    else: fit = 8; {promotion}",
    ]


def pull_source(op: Op) -> str:
    """The source of `pull(xp, g, n, needs)`: pairs of operand and cotangent, for the operands that need one."""
    n = op.name
    lines = [f"def pull_{n}(xp, g, n, needs):"]
    add = lines.append
    for k, p in enumerate(op.params):
        if any(p in rule.reads for rule in op.rules.values() if rule):
            add(f"    {p} = n.params[{k}]")
    sources = {"xp": "xp", "g": "g", "out": "n.out", **{p: p for p in op.params}}

    def source(name: str, rule: Any) -> str:
        """A saved value where the rule reads it; else the operand, which has a shape and a dtype too."""
        if name in sources:
            return sources[name]
        k = op.args.index(name)
        return f"n.v{k}" if name in rule.reads else f"n.a{k}"

    def pair(a: str) -> str:
        k, rule = op.args.index(a), op.rules[a]
        if rule is None:
            return f"(n.a{k}, xp.zeros(n.a{k}.shape, n.a{k}.dtype))"
        return f"(n.a{k}, {n}_vjp_{a}({', '.join(source(r, rule) for r in rule.takes)}))"

    differentiable = [a for a in op.args if a in op.rules]
    if len(differentiable) == 1:
        add(f"    return ({pair(differentiable[0])},)")
    elif len(differentiable) == 2:
        first, second = differentiable
        one, two = 1 << op.args.index(first), 1 << op.args.index(second)
        add(f"    if needs & {one | two} == {one | two}: return ({pair(first)}, {pair(second)})")
        add(f"    if needs & {one}: return ({pair(first)},)")
        add(f"    return ({pair(second)},)")
    else:
        add("    pairs = []")
        for a in differentiable:
            add(f"    if needs & {1 << op.args.index(a)}: pairs.append({pair(a)})")
        add("    return pairs")
    return "\n".join(lines) + "\n"
