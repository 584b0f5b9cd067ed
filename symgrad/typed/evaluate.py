"""A typed formula with values: variables become leaves, and the program is computed with the library's ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from ..creation import tensor
from ..tensor import Tensor
from .data import read_data
from .folding import fold, power_is_bounded
from .functions import call, op_of
from .grammar import parse
from .inference import Inferred, beside_products, infer
from .program import Apply, Name, Number, Program
from .refusal import MAX_ENTRIES, MAX_WORK, closest, refuse
from .sizes import Settled, settle
from .values import domains, draw, reasons_of

__symgrad_internal__ = True

CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e}
"""Names that are numbers where the user gave them no other meaning."""

Given = str | int | float | np.ndarray | Sequence[Any]


@dataclass(frozen=True)
class Typed:
    """A typed formula, computed.

    Attributes
    ----------
    text : str
        The formula as typed.
    result : Tensor
        Its value, recorded.
    variables : dict of str to Tensor
        The leaves, in order of appearance; each requires grad.
    assumptions : tuple of str
        What was not given and had to be assumed, a sentence each.
    seed : int
        The seed of the random values.
    kept : tuple of Tensor
        Values that depend on no variable, such as ``sqrt(2)``: formulas show where they come from for as
        long as they live.
    """

    text: str
    result: Tensor
    variables: dict[str, Tensor]
    assumptions: tuple[str, ...]
    seed: int
    kept: tuple[Tensor, ...] = field(default=(), repr=False, compare=False)


def evaluate(
    text: str,
    *,
    at: Mapping[str, Given] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int | None = None,
) -> Typed:
    """Computes a typed formula.

    Parameters
    ----------
    text : str
        The formula: statements separated by ``;`` or new lines, the last of which is the result.
    at : mapping of str to value
        Values of variables: numbers, arrays, or text as `read_data` takes it.
    shapes : mapping of str to sequence of int
        Shapes of variables whose values shall be drawn at random.
    seed : int, optional
        For the random values; drawn if it is not given.

    Raises
    ------
    TypedFormulaError
        For anything that cannot be read or computed.

    Examples
    --------
    >>> typed = evaluate("sum((X@w - t)**2)", at={"w": "[1, 2]", "X": [[1, 0], [0, 1]], "t": [0, 0]})
    >>> typed.result.item(), typed.assumptions
    (5.0, ())
    """
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    elif isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise refuse("the seed must be a whole number, 0 or more; write for example --seed 1")
    program = parse(text)
    values = {name: _value(name, v) for name, v in (at or {}).items()}
    sizes = {name: _shape(name, s) for name, s in (shapes or {}).items()}
    beside = beside_products(program)
    constants = [n for n in program.names if n in CONSTANTS and n not in values and n not in sizes and n not in beside]
    _check_names(program, values, "--at")
    _check_names(program, sizes, "--shape")
    for name in values.keys() & sizes.keys():
        if values[name].shape != sizes[name]:
            raise refuse(
                f"{name} is {_times(values[name].shape)} with --at and {_times(sizes[name])} with --shape; give one"
            )
    known = {**sizes, **{name: v.shape for name, v in values.items()}}
    inferred = infer(program, known, constants)
    cells = {n: inferred.shapes[k] or () for n, k in program.names.items() if n not in constants}
    settled = settle(inferred.sizes, cells, {*program.names, *program.assigned})
    filler = _Filler(program, inferred, settled, int(seed), sizes)
    variables = {name: filler.leaf(name, shape, values.get(name)) for name, shape in cells.items()}
    filler.mention_constants(constants)
    fixed = {name: tensor(CONSTANTS[name], name="pi" if name == "π" else name) for name in constants}
    computation = _Computation(program, {**variables, **fixed})
    result = computation.run()
    return Typed(text, result, variables, tuple(filler.sentences), int(seed), tuple(computation.kept))


# ------------------------------------------------------------------ what was given
def _value(name: str, given: Given) -> np.ndarray:
    if isinstance(given, str):
        return read_data(given)
    try:
        values = np.asarray(given)
    except (ValueError, OverflowError) as error:
        raise refuse(f"the values of {name} are no rectangular array of numbers; make rows of equal lengths") from error
    if values.dtype.kind not in "biuf":
        raise refuse(f"the values of {name} are no real numbers; give numbers, a list of them, or an ndarray")
    if values.size > MAX_ENTRIES:
        raise refuse(f"{name} has {values.size:,} entries, and at most {MAX_ENTRIES:,} are taken; give a part of them")
    return values.astype(np.float64)


def _shape(name: str, given: Sequence[int]) -> tuple[int, ...]:
    if (
        isinstance(given, (str, bytes))
        or not all(isinstance(n, (int, np.integer)) and n >= 0 for n in given)
        or len(given) > 8
    ):
        raise refuse(f"the shape of {name} must be at most eight whole numbers; write for example --shape {name}=20,3")
    shape = tuple(int(n) for n in given)
    _check_entries(name, shape)
    return shape


def _check_entries(name: str, shape: tuple[int, ...]) -> None:
    if prod(shape) > MAX_ENTRIES:
        has = f"{name} would have {prod(shape):,} entries"
        raise refuse(f"{has}, and at most {MAX_ENTRIES:,} are taken; give smaller sizes")


def _check_names(program: Program, given: Mapping[str, Any], option: str) -> None:
    for name in given:
        if name in program.assigned:
            raise refuse(f"{option} gives {name}, which the formula assigns itself; drop one of the two")
        if name not in program.names:
            near = closest(name, program.names)
            has = f"it has {', '.join(program.names)}" if program.names else "it has none"
            mend = f"did you mean {near}?" if near else "drop it, or use it in the formula"
            raise refuse(f"{option} gives {name}, but the formula has no such variable ({has}); {mend}")


# ------------------------------------------------------------------ what was not
class _Filler:
    """Makes the leaves, and says what was assumed."""

    def __init__(
        self, program: Program, inferred: Inferred, settled: Settled, seed: int, given: Mapping[str, tuple[int, ...]]
    ):
        self.inferred, self.settled, self.seed, self.given = inferred, settled, seed, given
        self.domains = domains(program)
        self.sentences: list[str] = []
        self.entries = 0
        self.mentioned: set[int] = set()

    def leaf(self, name: str, cells: tuple[int, ...], value: np.ndarray | None) -> Tensor:
        sizes = self.inferred.sizes
        roots = [sizes.find(c) for c in cells]
        shape = tuple(sizes.value[r] or 0 for r in roots)
        if value is None:
            _check_entries(name, shape)
            domain, so = reasons_of(self.domains, name)
            value = draw(name, shape, domain, self.seed)
            what = self._kind([self.settled.names.get(r) or str(sizes.value[r]) for r in roots])
            why = "as given" if name in self.given else self.inferred.reasons.get(name, "")
            self.sentences.append(f"{name} is {what} ({why}), drawn at random{so}")
        for r in roots:
            if r in self.settled.names and r not in self.mentioned:
                self.mentioned.add(r)
                kind = "a symbolic size with a small value" if r in self.settled.symbolic else "a small size was chosen"
                self.sentences.append(f"{self.settled.names[r]} = {sizes.value[r]} is not fixed by anything: {kind}")
        named = bool(roots) and all(r in self.settled.symbolic for r in roots)
        dims = tuple(self.settled.names[r] for r in roots) if named else None
        return tensor(value, requires_grad=True, name=name, dims=dims)

    def mention_constants(self, names: Sequence[str]) -> None:
        """Says which names are numbers."""
        for name in names:
            self.sentences.append(
                f"{name} is the constant {CONSTANTS[name]:.6g}; give --at {name}=... to make it a variable"
            )

    @staticmethod
    def _kind(sizes: list[str]) -> str:
        if not sizes:
            return "a number"
        if len(sizes) == 1:
            return f"a vector of {sizes[0]}"
        article = "an" if sizes[0][0] in "8nmrs" or sizes[0] in ("11", "18") else "a"
        return f"{article} {'×'.join(sizes)} {'matrix' if len(sizes) == 2 else 'array'}"


def _times(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "a number"


# ------------------------------------------------------------------ the program, computed
class _Computation:
    """Walks the nodes in order; numbers are folded exactly, everything else is an op of the library."""

    def __init__(self, program: Program, leaves: Mapping[str, Tensor]):
        self.program, self.leaves, self.work = program, leaves, 0
        self.values: list[Any] = []
        self.kept = [leaf for leaf in leaves.values() if not leaf.requires_grad]

    def run(self) -> Tensor:
        named = {k: name for name, k in self.program.assigned.items()}
        with np.errstate(all="ignore"):
            for k, node in enumerate(self.program.nodes):
                match node:
                    case Number():
                        self.values.append(node.value)
                    case Name():
                        self.values.append(self.leaves[node.name])
                    case Apply():
                        value = self._computed(node)
                        self.values.append(value)
                        if k in named and isinstance(value, Tensor) and value._node is not None:
                            value._node.get_extra().name = named[k]
            result = self.values[self.program.result]
            return result if isinstance(result, Tensor) else _literal(result)

    def _computed(self, node: Apply) -> Any:
        args = [self.values[a] for a in node.args]
        try:
            if not any(isinstance(a, Tensor) for a in args):
                done, value = fold(node.function, args)
                if done:
                    return value
                args = [_literal(a) for a in args]
                self.kept += args
            if node.function == "pow":
                power_is_bounded(args[1])
            self._bound(node, args)
            value = _scaled(node.function, args)
            if value is None:
                value = call(node.function, tuple(_double(a) for a in args), node.params)
        except (ArithmeticError, ValueError, TypeError, RuntimeError, IndexError, AttributeError, MemoryError) as error:
            reason = str(error) or "this is too large to be computed; take smaller sizes"
            raise refuse(reason, self.program.text, node.span) from None
        if isinstance(value, Tensor) and value._node is not None and not any(value is a for a in args):
            value._node.code = None  # the names are the formula's, not those of this function
        elif isinstance(value, Tensor):
            self.kept.append(value)
        return value

    def _bound(self, node: Apply, args: list[Any]) -> None:
        """Refuses what would have too many entries, before it is made."""
        op = op_of(node.function)
        shapes: list[tuple[int, ...]] = [a._data.shape if isinstance(a, Tensor) else () for a in args]
        entries = max(map(prod, shapes), default=0)
        if op is not None and op.broadcasts:
            entries = max(entries, _broadcast_entries(shapes))
        elif op is not None and op.name == "matmul" and all(shapes):
            x, y = shapes
            lead = _broadcast_entries([x[:-2], y[:-2]])
            entries = lead * prod(x[-2:-1]) * (y[-1] if len(y) > 1 else 1)
            self.work += entries * x[-1] // 200
        elif op is not None and op.name in ("expand", "reshape"):
            entries = max(entries, prod(abs(n) for n in node.params["shape"] if isinstance(n, int)))
        if entries > MAX_ENTRIES:
            raise ValueError(
                f"this would have {entries:,} entries, and at most {MAX_ENTRIES:,} are computed; take smaller sizes"
            )
        self.work += entries
        if self.work > MAX_WORK:
            raise ValueError(f"the values up to here have more than {MAX_WORK:,} entries together; take smaller sizes")


def _broadcast_entries(shapes: Sequence[tuple[int, ...]]) -> int:
    """The entries of what broadcasting makes; 0 where it cannot, which the op itself then says."""
    try:
        return prod(np.broadcast_shapes(*shapes))
    except ValueError:
        return 0


def _literal(value: Any) -> Tensor:
    """A number as a constant without a name, so that formulas show its digits."""
    large = isinstance(value, int) and not -(2**63) <= value < 2**63
    made = tensor(float(value) if large else _double(value))
    made._get_extra().place = None
    return made


def _double(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


def _scaled(function: str, args: list[Any]) -> Any:
    """A tensor times a fraction that is no short decimal, such as 1/3: it is divided, so that formulas stay exact."""
    if function not in ("mul", "div") or len(args) != 2:
        return None
    x, y = args
    if function == "mul" and isinstance(x, Fraction):
        x, y = y, x
    if not isinstance(y, Fraction) or not isinstance(x, Tensor):
        return None
    top, bottom = (y.numerator, y.denominator) if function == "mul" else (y.denominator, y.numerator)
    times: Callable[..., Any] = lambda a, n: a if n == 1 else call("mul", (n, a), {})
    return call("div", (times(x, top), bottom), {}) if bottom != 1 else times(x, top)
