"""Writes the functions that an op's declaration implies: its recording function and its pull.

As `dataclasses` writes `__init__`: a generic `apply(op, *args)` would cost as much as a small
op itself. The source of every generated function is kept in `linecache`, so tracebacks show it.
Ops of the same form have the same source, which is compiled once.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array import broadcast_error, promote, promote_floats
from ..errors import ArgumentTypeError
from ..graph.modes import grad_mode
from ..graph.node import FIT, Node, attach_guards, next_seq, pending_guards
from ..graph.origins import note_origin
from .inline import written_out

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
        # A bool widens nothing, nor does a 0-d tensor of it.
        if op.broadcasts and op.arity > 1 and not isinstance(value, bool):
            value = int(value) if isinstance(value, int) else float(value)  # an enumeration's members are ints too
            return value, value, False
        value = np.asarray(value)
    if isinstance(value, (np.ndarray, np.generic)):
        # A copy: what the caller does to the array afterwards cannot be noticed, and must not change what was recorded.
        tensor = Tensor.constant(np.array(value) if isinstance(value, np.ndarray) else value)
        return tensor, tensor._data, False
    raise ArgumentTypeError(
        f"{op.name}: argument {name!r} must be a Tensor{', a number' if op.broadcasts else ''} or an ndarray, "
        f"not {type(value).__name__}; wrap it with sg.tensor(...)"
    )


def all_numbers(op: Op) -> ArgumentTypeError:
    """The error for a call in which no tensor takes part."""
    return ArgumentTypeError(
        f"{op.name}: the arguments {' and '.join(op.args)} are all plain numbers, and at least one must be a Tensor or "
        "an ndarray; wrap one with sg.tensor(...)"
    )


def explained(error: ValueError, op: Op, *values: Any) -> Exception:
    """The error to raise for NumPy's own: where shapes do not broadcast, one that names them."""
    if "broadcast" not in str(error):
        return error
    return broadcast_error(op.name, *(getattr(v, "shape", ()) for v in values))


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
    "grad_enabled": grad_mode.get,
    "next_seq": next_seq,
    "operand_of": operand_of,
    "promote": promote,
    "promote_floats": promote_floats,
    "all_numbers": all_numbers,
    "explained": explained,
    "pending_guards": pending_guards,
    "attach_guards": attach_guards,
    "note_origin": note_origin,
    "frame": sys._getframe,
    "caller": caller,
}
"""The globals of all generated functions. `Tensor`, and `new` that makes a blank one, join them when it is defined."""


_OWN_NAMES = {
    *(
        "xp",
        "g",
        "out",
        "node",
        "result",
        "params",
        "needs",
        "fit",
        "parent",
        "own_shape",
        "pairs",
        "f",
        "error",
        "named",
    ),
    *("type_x", "type_y", "type", "int", "float", "ValueError"),
    *("op", "forward", "prepare", "defaults", "usual", "take_named"),
}
_OWN_PREFIXES = ("value_", "needs_", "vjp_")


def is_taken(name: str) -> bool:
    """Whether generated code uses the name for something of its own, so that no argument can have it."""
    return name in _OWN_NAMES or name in runtime or name == "Tensor" or name.startswith(_OWN_PREFIXES)


def compile_function(name: str, source: str, **bindings: Any) -> Callable[..., Any]:
    """The function that the source defines: its free variables are the bindings, its globals the runtime."""
    function = _maker(source, tuple(bindings))(**bindings)
    filename = f"<symgrad op {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    # A code object of its own, as the interpreter adapts it to what this one op meets; line 1 is the source's.
    function.__code__ = function.__code__.replace(
        co_name=name, co_qualname=name, co_filename=filename, co_firstlineno=1
    )
    function.__name__ = function.__qualname__ = name
    return function


@cache
def _maker(source: str, bindings: tuple[str, ...]) -> Callable[..., Any]:
    """A function that takes the bindings and returns the function that the source defines."""
    lines = source.splitlines()
    made = lines[0].removeprefix("def ").partition("(")[0]
    scope: dict[str, Any] = {}
    text = f"def make({', '.join(bindings)}):\n" + "".join(f" {line}\n" for line in lines) + f" return {made}\n"
    exec(compile(text, "<symgrad op>", "exec"), runtime, scope)
    return scope["make"]


def _signature(op: Op, order: tuple[str, ...]) -> str:
    """The parameters of the recording function."""
    head = list(order)
    for p in op.params:
        default = op.defaults[p]
        head.append(f"*{p}" if p == op.star else f"{p}=UNSET" if default is UNSET else f"{p}=defaults[{p!r}]")
    spellings = [f"{numpy}=UNSET" for ours, numpy in SPELLINGS.items() if ours in op.params]
    if spellings:
        head += ["*"] * (op.star is None) + spellings
    if op.star:
        head.append("**named")
    return ", ".join(head)


def recording_source(op: Op, order: tuple[str, ...] | None = None) -> str:
    """The source of the function that users call.

    Parameters
    ----------
    op : Op
        The declaration.
    order : tuple of str, optional
        The order of the tensor arguments in the signature: swapped for reflected operators.
    """
    names = op.args
    mixes = op.broadcasts and len(names) > 1
    lines = [f"def record({_signature(op, order or names)}):"]
    add = lines.append
    if op.star:
        add(f"    if named: {op.star} = take_named({op.star}, named)")
    for ours, numpy in SPELLINGS.items():
        if ours in op.params:
            add(f"    if {numpy} is not UNSET: {ours} = {numpy}")
    for a in names:
        add(f"    if type({a}) is Tensor: value_{a} = {a}._data; needs_{a} = {a}._requires_grad")
        if mixes:
            add(f"    elif type({a}) is int or type({a}) is float: value_{a} = {a}; needs_{a} = False")
        add(f"    else: {a}, value_{a}, needs_{a} = operand_of(op, {a!r}, {a})")
    lines += _promotion(op)
    values = ", ".join(f"value_{a}" for a in names)
    given = ", ".join((values, *op.params))
    if op.prepare:
        add(f"    params = prepare({given})")
    written = None if op.prepare else written_out(op.forward, [*(f"value_{a}" for a in names), *op.params])
    call = written or (f"forward({values}, *params)" if op.prepare else f"forward({given})")
    if mixes:
        add(f"    try: out = {call}")
        add(f"    except ValueError as error: raise explained(error, op, {values}) from None")
    else:
        add(f"    out = {call}")
    add("    result = new()")
    add("    result._data = out")
    add("    result._grad = result._extra = None")
    add(f"    if ({' or '.join(f'needs_{a}' for a in names)}) and grad_enabled():")
    tracked = "out.dtype.kind == 'f'" if "dtype" in op.params else True  # integers require no gradient
    add(f"        result._requires_grad = {op.differentiable and tracked}")
    add("        result._node = node = Node()")
    lines += [f"        {line}" for line in _record(op)]
    add("    else:")
    add("        result._node = None; result._requires_grad = False")
    kept = "params" if op.prepare else f"({', '.join(op.params)},)" if op.params else "None"
    add(f"        if grad_enabled(): note_origin(op, result, ({', '.join(names)},), {kept})")
    add("    return result")
    return "\n".join(lines) + "\n"


def _record(op: Op) -> list[str]:
    """The lines that fill the node."""
    names = op.args
    lines = ["node.op = op"]
    add = lines.append
    if len(names) == 1:
        (a,) = names
        add(f"parent = {a}._node")
        add(f"node.a0 = {a} if parent is None else parent")
    else:
        for k, a in enumerate(names):
            add(f"node.a{k} = ({a} if {a}._node is None else {a}._node) if needs_{a} or type({a}) is Tensor else {a}")
    for k, a in enumerate((*names, "out")):
        slot, value = (f"v{k}", f"value_{a}") if a != "out" else ("out", "out")
        readers = op.readers[a]
        always = len(names) == 1 or len(readers) == len(names)
        if readers:
            wanted = " or ".join(f"needs_{r}" for r in readers)
            add(f"node.{slot} = {value}" if always else f"node.{slot} = {value} if {wanted} else None")
        elif a == "out":
            add("node.out = None")
    if op.prepare:
        add("node.params = params")
    elif op.params:
        usual = [f"{p} is usual[{k}]" for k, p in enumerate(op.params)]
        add(f"node.params = usual if {' and '.join(usual)} else ({', '.join(op.params)},)")
    else:
        add("node.params = None")
    add("node.extra = None")
    if len(names) == 1 and op.broadcasts:
        # The shape is the operand's: its tuple is shared, not made anew for every node.
        add("node.shape = out.shape if parent is None else parent.shape")
        add("node.dtype = dtype_float64 if type(out) is float64 else out.dtype")
    else:
        add("if type(out) is float64: node.shape = (); node.dtype = dtype_float64")
        add("else:")
        add("    node.shape = own_shape = out.shape; node.dtype = out.dtype")
        if op.broadcasts and op.rules:
            # NumPy makes a tuple whenever it is asked for a shape; a node has its own at hand.
            shapes = {a: f"({a}._data if {a}._node is None else {a}._node).shape" for a in names if a in op.rules}
            stretched = " or ".join(f"needs_{a} and {shape} != own_shape" for a, shape in shapes.items())
            add(f"    if {stretched}: fit = {FIT}")
    lines += _needs(op)
    add("node.seq = next_seq()")
    add("f = frame(1)")
    add("node.code = f.f_code; node.lasti = f.f_lasti")
    add("if pending_guards: attach_guards(node)")
    return lines


def _needs(op: Op) -> list[str]:
    """The lines that say which operands take a cotangent, and whether it may have to be fitted to them."""
    names = op.args
    if len(names) == 1 or not op.rules:  # something requires a gradient, or nothing would be recorded
        return [f"node.needs = {bool(op.rules) + op.fits * FIT}"]
    if op.broadcasts and len(names) == len(op.rules) == 2:
        x, y = names  # no arithmetic in the usual case: a sum takes longer than the choices
        return [
            f"needs = (3 if needs_{y} else 1) if needs_{x} else 2",
            "node.needs = needs if fit == 0 else needs + fit",
        ]
    bits = [f"({1 << k} if needs_{a} else 0)" for k, a in enumerate(names) if a in op.rules]
    bits += ["fit"] * op.broadcasts or [f"{FIT}"] * op.fits
    return [f"node.needs = {' + '.join(bits)}"]


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
        numbers = " and ".join(f"(type(value_{a}) is float or type(value_{a}) is int)" for a in op.args)
        return [
            f"    if {numbers}: raise all_numbers(op)",
            f"    {every}{',' if len(names) == 1 else ''} = {convert}({every}); fit = 8",
        ]
    x, y = (f"value_{a}" for a in names)
    floating = f" and {x}.dtype.kind == 'f'" if op.floats else ""
    return [
        f"    type_x = type({x}); type_y = type({y})",
        "    if type_x is float64 and type_y is float64: fit = 0",
        "    else:",
        "        if type_y is float or type_y is int:",
        "            if type_x is float or type_x is int: raise all_numbers(op)",
        f"            fit = 0 if {x}.dtype.kind == 'f' else 8",
        f"        elif type_x is float or type_x is int: fit = 0 if {y}.dtype.kind == 'f' else 8",
        f"        else: fit = 0 if {x}.dtype is {y}.dtype{floating} else 8",
        f"        if fit: {x}, {y} = {convert}({x}, {y})",
    ]


def pull_source(op: Op) -> str:
    """The source of `pull(xp, g, node, needs)`: pairs of operand and cotangent, for the operands that need one."""
    lines = ["def pull(xp, g, node, needs):"]
    add = lines.append
    for k, p in enumerate(op.params):
        if any(p in rule.reads for rule in op.rules.values() if rule):
            add(f"    {p} = node.params[{k}]")
    sources = {"xp": "xp", "g": "g", "out": "node.out", **{p: p for p in op.params}}

    def source(name: str, rule: Any) -> str:
        """A saved value where the rule reads it; else the operand, which has a shape and a dtype too."""
        if name in sources:
            return sources[name]
        k = op.args.index(name)
        return f"node.v{k}" if name in rule.reads else f"node.a{k}"

    def pair(a: str) -> str:
        k, rule = op.args.index(a), op.rules[a]
        if rule is None:
            return f"(node.a{k}, xp.zeros(node.a{k}.shape, node.a{k}.dtype))"
        taken = [source(r, rule) for r in rule.takes]
        cotangent = written_out(rule.function, taken) or f"vjp_{a}({', '.join(taken)})"
        return f"(node.a{k}, {cotangent})"

    differentiable = [a for a in op.args if a in op.rules]
    if len(differentiable) == 1:
        add(f"    return ({pair(differentiable[0])},)")
    elif len(differentiable) == 2:
        first, second = differentiable
        one, two = 1 << op.args.index(first), 1 << op.args.index(second)
        both = f"needs == {one | two} or needs == {one | two | FIT}"
        add(f"    if {both}: return ({pair(first)}, {pair(second)})")
        add(f"    if needs & {one}: return ({pair(first)},)")
        add(f"    return ({pair(second)},)")
    else:
        add("    pairs = []")
        for a in differentiable:
            add(f"    if needs & {1 << op.args.index(a)}: pairs.append({pair(a)})")
        add("    return pairs")
    return "\n".join(lines) + "\n"
