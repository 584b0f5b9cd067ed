"""The scalar functions that formulas are made of: one row each, for every notation.

A row says what a function is to SymPy, to mpmath, in Unicode and in LaTeX. `expr` faces of
ops call them by name on a namespace; a new function is one row here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
import sympy


class sigmoid(sympy.Function):
    """The logistic function σ(x) = 1/(1 + exp(−x)), kept whole in formulas."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """σ' = σ·(1 − σ)."""
        value: Any = sigmoid(self.args[0])
        return value * (1 - value)

    def _eval_evalf(self, prec: int) -> Any:
        return self._eval_rewrite_as_exp(self.args[0])._eval_evalf(prec)

    def _eval_rewrite_as_exp(self, x: Any, **_: Any) -> sympy.Expr:
        return 1 / (1 + sympy.exp(-x))

    def _eval_is_real(self) -> bool | None:
        return self.args[0].is_real

    def _eval_is_positive(self) -> bool | None:
        return self.args[0].is_real

    def _latex(self, printer: Any, exp: Any = None) -> str:
        body = rf"\sigma\left({printer._print(self.args[0])}\right)"
        return rf"{body}^{{{exp}}}" if exp else body


GUARD = 40
"""The last bits of a number in the precision in force, which rounding may have changed."""


def snapped(x: Any) -> Any:
    """The number without its last bits: what is equal but for rounding compares equal."""
    if not isinstance(x, mpmath.mpf):
        return x
    with mpmath.workprec(mpmath.mp.prec - GUARD):
        return +x


@dataclass(frozen=True, slots=True)
class Scalar:
    """One scalar function in all notations."""

    name: str
    sympy: Callable[..., Any]
    mpmath: Callable[..., Any]
    text: str
    latex: str


def _relu(x: Any) -> Any:
    return sympy.Piecewise((x, x > 0), (0, True))


def _sympy_max(x: Any, y: Any) -> Any:
    return sympy.Piecewise((x, x > y), (y, x < y), ((x + y) / 2, True))


def _sympy_min(x: Any, y: Any) -> Any:
    return sympy.Piecewise((x, x < y), (y, x > y), ((x + y) / 2, True))


def _mp_sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x)) if x >= 0 else mpmath.exp(x) / (1 + mpmath.exp(x))


SCALARS: dict[str, Scalar] = {
    s.name: s
    for s in (
        Scalar("exp", sympy.exp, mpmath.exp, "exp", r"\exp"),
        Scalar("log", sympy.log, mpmath.log, "log", r"\log"),
        Scalar("sin", sympy.sin, mpmath.sin, "sin", r"\sin"),
        Scalar("cos", sympy.cos, mpmath.cos, "cos", r"\cos"),
        Scalar("tanh", sympy.tanh, mpmath.tanh, "tanh", r"\tanh"),
        Scalar("sigmoid", sigmoid, _mp_sigmoid, "σ", r"\sigma"),
        Scalar("relu", _relu, lambda x: x if x > 0 else mpmath.mpf(0), "relu", r"\operatorname{relu}"),
        Scalar("sign", sympy.sign, mpmath.sign, "sign", r"\operatorname{sign}"),
        Scalar("abs", sympy.Abs, abs, "abs", r"\operatorname{abs}"),
        Scalar("max", _sympy_max, max, "max", r"\max"),
        Scalar("min", _sympy_min, min, "min", r"\min"),
        Scalar(
            "floordiv", lambda a, b: sympy.floor(a / b), lambda a, b: mpmath.floor(a / b), "div", r"\operatorname{div}"
        ),
        Scalar("mod", sympy.Mod, lambda a, b: a - b * mpmath.floor(a / b), "mod", r"\operatorname{mod}"),
    )
}


_RELATIONS = {"==": sympy.Eq, "!=": sympy.Ne, "<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge}


def as_number(x: Any) -> Any:
    """A condition as the number 1 or 0, with which SymPy's own do not compute."""
    return sympy.Piecewise((1, x), (0, True)) if isinstance(x, sympy.logic.boolalg.Boolean) and not x.is_Symbol else x


def sympy_relation(relation: str, a: Any, b: Any) -> Any:
    """A SymPy relation; that a condition is 0 is its opposite, where ``sympy.Eq`` says that the two are never equal."""
    if isinstance(a, sympy.logic.boolalg.Boolean) and not a.is_Symbol and b == 0 and relation in ("==", "!="):
        return sympy.Not(a) if relation == "==" else a
    return _RELATIONS[relation](as_number(a), as_number(b))


class SymPyFace:
    """The namespace of `expr` faces for SymPy."""

    @staticmethod
    def is_zero(x: Any) -> bool:
        """Whether a coefficient is certainly 0."""
        return x == 0

    @staticmethod
    def sqrt(x: Any) -> Any:
        """√x."""
        return sympy.sqrt(x)

    @staticmethod
    def where(condition: Any, a: Any, b: Any) -> Any:
        """A choice, as a Piecewise."""
        if not isinstance(condition, (sympy.logic.boolalg.Boolean, bool)):
            condition = sympy.Ne(condition, 0)
        return sympy.Piecewise((a, condition), (b, True))

    eq, ne, lt, le, gt, ge = sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge
    negate = staticmethod(lambda x: sympy.Not(x) if isinstance(x, sympy.logic.boolalg.Boolean) else sympy.Eq(x, 0))

    def __getattr__(self, name: str) -> Any:
        return SCALARS[name].sympy


class MpmathFace:
    """The namespace of `expr` faces for numbers of any precision."""

    @staticmethod
    def is_zero(x: Any) -> bool:
        """Whether a coefficient is 0."""
        return x == 0

    sqrt = staticmethod(mpmath.sqrt)
    where = staticmethod(lambda condition, a, b: a if condition else b)
    eq = staticmethod(lambda a, b: snapped(a) == snapped(b))
    ne = staticmethod(lambda a, b: snapped(a) != snapped(b))
    lt = staticmethod(lambda a, b: snapped(a) < snapped(b))
    le = staticmethod(lambda a, b: snapped(a) <= snapped(b))
    gt = staticmethod(lambda a, b: snapped(a) > snapped(b))
    ge = staticmethod(lambda a, b: snapped(a) >= snapped(b))
    negate = staticmethod(lambda x: not x)

    def __getattr__(self, name: str) -> Any:
        return SCALARS[name].mpmath


@cache
def sympy_face() -> SymPyFace:
    """The one SymPy face."""
    return SymPyFace()


@cache
def mpmath_face() -> MpmathFace:
    """The one mpmath face."""
    return MpmathFace()
