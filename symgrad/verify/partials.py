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

from ..formulas.build import FACE
from ..formulas.evaluate import Evaluator, Numbers, Symbols
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
    """∂expr/∂argument compiled to mpmath; `numbers` holds the exact operands that are plain integers, None elsewhere."""
    symbols = [
        sympy.Symbol(f"x{k}", real=True) if n is None else sympy.Rational(n.numerator, n.denominator) for k, n in enumerate(numbers)
    ]
    assert op.expr is not None
    if op.args and op.args[0] in op.constants and op.name == "where":
        expr = op.expr(sympy_face(), sympy.Symbol("c0", real=True), *symbols[1:])
        symbols[0] = sympy.Symbol("c0", real=True)
    else:
        expr = op.expr(sympy_face(), *symbols, *params)
    derivative = sympy.diff(expr, symbols[argument])
    free = [s if isinstance(s, sympy.Symbol) else sympy.Dummy() for s in symbols]
    return sympy.lambdify(free, derivative, modules=[_SAFE, "mpmath"])


_SAFE = {"sigmoid": mpmath_face().sigmoid}


def own_term(record: Record, i: tuple[Term, ...]) -> tuple[Term, list[Ref]]:
    """The op's own formula at the indices, in references to its operands."""
    refs = [Ref(o, o.shape) for o in record.operands]

    class _Operand:
        def __init__(self, ref: Ref):
            self.ref, self.shape = ref, ref.shape

        def __call__(self, *given: Any) -> Term:
            flat = given[0] if len(given) == 1 and isinstance(given[0], tuple) else given
            return elem(self.ref, tuple(map(term, flat)))

    assert record.op.index is not None
    return term(record.op.index(FACE, i, *map(_Operand, refs), *(record.params or ()))), refs


def own_values(record: Record, operands: list[Any], scalars: Any) -> Any:
    """The op's own formula evaluated on arrays of scalars."""
    i = tuple(index(n) for n in record.shape)
    t, refs = own_term(record, i)
    evaluator = Evaluator(scalars, dict(zip(refs, operands, strict=True)))
    return evaluator.array(i, t, record.shape)


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
    shape = np.shape(operands[argument])
    symbols = np.empty(shape, dtype=object)
    for k, place in enumerate(np.ndindex(*shape)):
        symbols[place] = sympy.Symbol(f"x{k}", real=True)
    written = own_values(record, [symbols if k == argument else o for k, o in enumerate(operands)], Symbols())
    flat = np.ravel(np.asarray(operands[argument], dtype=object))
    out = []
    for p, expression in enumerate(np.ravel(np.asarray(written, dtype=object))):
        free = sorted(expression.free_symbols, key=lambda s: int(s.name[1:]))
        entries = [int(s.name[1:]) for s in free]
        names = [sympy.Symbol(f"s{k}", real=True) for k in range(len(free))]
        gradient = _compiled_gradient(expression.xreplace(dict(zip(free, names, strict=True))), len(free))
        values = gradient(*(flat[e] for e in entries)) if free else []
        out += [(p, q, c) for q, c in zip(entries, values, strict=True)]
    return out


@lru_cache(maxsize=4096)
def _compiled_gradient(expression: sympy.Expr, n: int) -> Callable[..., Any]:
    names = [sympy.Symbol(f"s{k}", real=True) for k in range(n)]
    return sympy.lambdify(names, [sympy.diff(expression, s) for s in names], modules="mpmath")
