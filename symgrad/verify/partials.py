"""The local derivatives of one op, from its own expression; gradient rules are never looked at.

An elementwise op: SymPy's derivative of its scalar expression. An op that is linear in an
argument: its own formula run on linear forms, which is exact and needs no derivative at all.
Any other op: its formula written out for the symbols of its entries, and differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import sympy

from ..formulas.arithmetics import Numbers, Symbols
from ..formulas.build import FACE
from ..formulas.evaluate import Evaluator
from ..formulas.scalars import mpmath_face, sympy_face
from ..formulas.structure import Record
from ..formulas.terms import Ref, Term, elem, index, term
from ..ops.declare import Op

NAN = mpmath.mpf("nan")


class Linear:
    """A linear form in the entries of one operand: Σ coefficient·entry, without a constant.

    A sum keeps its two sides and is added up once, at the end, so that long sums stay linear.
    """

    __slots__ = ("left", "right")

    def __init__(self, left: Any, right: Any):
        self.left, self.right = left, right

    def __add__(self, other: Any) -> Linear:
        return Linear(self, other) if isinstance(other, (Linear, Entry)) else self

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Linear:
        total = Linear(None, None)
        for k, c in coefficients(self).items():
            total = Linear(total, Entry(k, c * factor))
        return total

    __rmul__ = __mul__


class Entry:
    """A coefficient times one entry."""

    __slots__ = ("coefficient", "entry")

    def __init__(self, entry: int, coefficient: Any):
        self.entry, self.coefficient = entry, coefficient

    def __add__(self, other: Any) -> Any:
        return Linear(self, other) if isinstance(other, (Linear, Entry)) else self

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Entry:
        return Entry(self.entry, self.coefficient * factor)

    __rmul__ = __mul__


def coefficients(form: Any) -> dict[int, Any]:
    """The coefficients of a form, by entry."""
    out: dict[int, Any] = {}
    stack = [form]
    while stack:
        here = stack.pop()
        if isinstance(here, Entry):
            out[here.entry] = out.get(here.entry, 0) + here.coefficient
        elif isinstance(here, Linear):
            stack += [here.left, here.right]
    return out


def scalar_call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """A scalar function of numbers; nan where it has no real value."""
    try:
        found = function(*args)
    except (ZeroDivisionError, ValueError, OverflowError):
        return NAN
    return found if not isinstance(found, (mpmath.mpc, complex)) else NAN


@lru_cache(maxsize=4096)
def elementwise_partial(op: Op, params: tuple[Any, ...], argument: int, numbers: tuple[Any, ...]) -> Callable[..., Any]:
    """∂expr/∂argument compiled to mpmath; `numbers` holds the operands that are plain integers, else None."""
    symbols = [
        sympy.Symbol(f"x{k}", real=True) if n is None else sympy.Rational(n.numerator, n.denominator)
        for k, n in enumerate(numbers)
    ]
    assert op.expr is not None
    if op.args and op.args[0] in op.constants and op.name == "where":
        expr = op.expr(sympy_face(), sympy.Symbol("c0", real=True), *symbols[1:])
        symbols[0] = sympy.Symbol("c0", real=True)
    else:
        # A float is the exact rational of its double; SymPy's own would be its decimal digits.
        expr = op.expr(
            sympy_face(),
            *symbols,
            *(sympy.Rational(*p.as_integer_ratio()) if isinstance(p, float) else p for p in params),
        )
    derivative = sympy.powsimp(sympy.diff(expr, symbols[argument]))  # y·xʸ/x has no value at 0, y·xʸ⁻¹ has
    free = [s if isinstance(s, sympy.Symbol) else sympy.Dummy() for s in symbols]
    if derivative.has(sympy.zoo, sympy.nan, sympy.oo):
        return lambda *_: NAN
    return sympy.lambdify(free, derivative, modules=[_SAFE, "mpmath"])


_SAFE = {"sigmoid": mpmath_face().sigmoid, "DiracDelta": lambda x: NAN if x == 0 else mpmath.mpf(0)}
"""SymPy's functions that mpmath lacks; at a jump there is no derivative."""


class _Operand:
    """An operand as an `index` face sees it."""

    def __init__(self, ref: Ref):
        self.ref, self.shape = ref, ref.shape

    def __call__(self, *given: Any) -> Term:
        flat = given[0] if len(given) == 1 and isinstance(given[0], tuple) else given
        return elem(self.ref, tuple(map(term, flat)))


Shapes = tuple[tuple[int, ...], ...]


@lru_cache(maxsize=1024)
def own_term(
    op: Op, params: tuple[Any, ...], shapes: tuple[tuple[int, ...], ...]
) -> tuple[tuple[Term, ...], Term, list[Ref]]:
    """The op's own formula at free indices, in references to operands of these shapes."""
    refs = [Ref(None, shape) for shape in shapes]
    i = tuple(index(n) for n in op.result_shape(shapes, params))
    assert op.index is not None
    return i, term(op.index(FACE, i, *map(_Operand, refs), *params)), refs


def _plain(sizes: Any) -> Any:
    """Shapes and parameters with the names of sizes taken off, as numbers are asked for."""
    if isinstance(sizes, tuple) and type(sizes) is tuple:
        return tuple(map(_plain, sizes))
    return int(sizes) if isinstance(sizes, int) and hasattr(sizes, "term") else sizes


def _facts(record: Record) -> tuple[Op, tuple[Any, ...], Shapes]:
    return record.op, _plain(record.params or ()), tuple(_plain(tuple(o.shape)) for o in record.operands)


def own_values(record: Record, operands: list[Any], scalars: Any) -> Any:
    """The op's own formula evaluated on arrays of scalars."""
    return _values(_facts(record), operands, scalars)


def _values(facts: Any, operands: list[Any], scalars: Any) -> Any:
    i, t, refs = own_term(*facts)
    evaluator = Evaluator(scalars, dict(zip(refs, operands, strict=True)))
    return evaluator.array(i, t, tuple(k.args[1] for k in i))


def linear_partials(record: Record, operands: list[Any], argument: int) -> list[tuple[int, int, Any]]:
    """(output entry, input entry, coefficient) for an argument in which the op is linear."""
    x = operands[argument]
    basis: Any = Entry(0, mpmath.mpf(1))
    if np.ndim(x):
        basis = np.empty(np.shape(x), dtype=object)
        for k, place in enumerate(np.ndindex(*np.shape(x))):
            basis[place] = Entry(k, mpmath.mpf(1))
    forms = own_values(record, [basis if k == argument else o for k, o in enumerate(operands)], Numbers())
    out = []
    for p, form in enumerate(np.ravel(np.asarray(forms, dtype=object))):
        out += [(p, q, c) for q, c in coefficients(form).items()]
    return out


def general_partials(record: Record, operands: list[Any], argument: int) -> list[tuple[int, int, Any]]:
    """The same for any op, by differentiating its entries written out."""
    flat = [x for o in operands for x in np.ravel(np.asarray(o, dtype=object))]
    return [
        (p, q, c)
        for p, (entries, read, gradient) in enumerate(_written_gradient(*_facts(record), argument))
        for q, c in zip(entries, gradient(*(flat[e] for e in read)), strict=True)
    ]


@lru_cache(maxsize=1024)
def _written_gradient(
    op: Op, params: tuple[Any, ...], shapes: Shapes, argument: int
) -> list[tuple[list[int], list[int], Callable[..., Any]]]:
    """For each output entry: the argument's entries in it, all entries it reads, its gradient as a function of them."""
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes]
    starts = np.cumsum([0, *sizes])
    symbols = []
    for start, size, shape in zip(starts, sizes, shapes, strict=False):
        named = np.empty(size, dtype=object)
        named[:] = [sympy.Symbol(f"x{start + k}", real=True) for k in range(size)]
        symbols.append(named.reshape(shape)[()])
    first, last = int(starts[argument]), int(starts[argument + 1])
    out = []
    for expression in np.ravel(np.asarray(_values((op, params, shapes), symbols, Symbols()), dtype=object)):
        read = sorted(int(s.name[1:]) for s in sympy.sympify(expression).free_symbols)
        names = {sympy.Symbol(f"x{e}", real=True): sympy.Symbol(f"s{k}", real=True) for k, e in enumerate(read)}
        own = tuple(k for k, e in enumerate(read) if first <= e < last)
        gradient = _compiled_gradient(sympy.sympify(expression).xreplace(names), len(read), own)
        out.append(([read[k] - first for k in own], read, gradient))
    return out


@lru_cache(maxsize=4096)
def _compiled_gradient(expression: sympy.Expr, n: int, own: tuple[int, ...]) -> Callable[..., Any]:
    names = [sympy.Symbol(f"s{k}", real=True) for k in range(n)]
    return sympy.lambdify(names, [sympy.diff(expression, names[k]) for k in own], modules=[_SAFE, "mpmath"])
