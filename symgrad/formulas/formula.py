"""Formula: the exact formula of a value or of a derivative, as a straight line of definitions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
import numpy as np
import sympy

from ..errors import BudgetError, FormulaError
from .arithmetics import Numbers, Symbols
from .calls import unknown
from .evaluate import Evaluator
from .freezing import size_names, stale_leaf
from .latex import LatexStyle
from .lower import Lowered
from .naming import Name, escaped
from .printing import Printer
from .settling import Span, settle
from .structure import Atom
from .sums import children, rebuild, substitute
from .symbolic import ToSymPy
from .terms import Ref, Term
from .text import TextStyle

NODE_BUDGET = 20_000
DEPTH_BUDGET = 150
"""The size and the depth past which `Formula.expr` refuses to write a formula out."""


@dataclass(frozen=True)
class NamedDefinition:
    """One line of a formula: ``name[indices] = expr``.

    Attributes
    ----------
    name : str
        The name, as SymPy's symbol has it.
    indices : tuple of sympy.Symbol
        Its free indices.
    expr : sympy.Expr
        What it says, in earlier names and leaves.
    text, latex : str
        The line in Unicode and in LaTeX.
    """

    name: str
    indices: tuple[sympy.Symbol, ...]
    expr: sympy.Expr
    text: str
    latex: str

    def __str__(self) -> str:
        return self.text


class Formula:
    """An exact formula; make one with `sg.formula`.

    ``str()`` is one line of Unicode, in a notebook it shows as LaTeX. Names are those of the
    moment it was made.
    """

    def __init__(
        self, lowered: Lowered, names: dict[Ref, Name], top: Name, wrt: list[Name], groups: list[int], guards: list[str]
    ):
        self._lowered, self._names, self._words = lowered, names, guards
        self._top, self._wrt, self._groups = top, wrt, groups
        (self._indices, self._term), *_ = lowered.results
        self._shape = tuple(i.args[1] if i.head == "IDX" else 1 for i in self._indices)

    @property
    def guards(self) -> list[str]:
        """The conditions under which the program takes the branches again that it took."""
        printer = self._printer(TextStyle())
        printer.begin(())
        return list(dict.fromkeys([*(printer.print(c) for _, c in self._lowered.results[1:]), *self._words]))

    # ------------------------------------------------------------------ as text
    def _printer(self, style: Any) -> Printer:
        return Printer(style, self._names, [self._top, *self._wrt, *size_names(self._lowered)])

    def _head(self, printer: Printer, letters: list[str]) -> str:
        style: Any = printer.style
        groups: list[list[str]] = []
        at = 0
        for n in self._groups:
            groups.append(letters[at : at + n])
            at += n

        def with_index(name: Name, index: list[str]) -> str:
            return printer.element(name, index) if index else style.name(name)

        top = with_index(self._top, groups[0])
        if not self._wrt:
            return top
        below = [with_index(name, g) for name, g in zip(self._wrt, groups[1:], strict=True)]
        if len(below) > 1 and len(set(below)) == 1:
            below = [style.power(below[0], str(len(below)), integer=True)]
        return style.partial(len(self._wrt), top, below)

    def _line(self, style: Any, printer: Printer) -> str:
        letters = printer.begin(self._indices)
        return f"{self._head(printer, letters)} = {printer.print(self._term)}"

    def _where(self, style: Any, printer: Printer) -> list[str]:
        lines = []
        for d in self._lowered.definitions:
            letters = printer.begin(d.indices)
            name = self._names[d.ref]
            left = printer.element(name, letters) if letters else style.name(name)
            lines.append(f"{left} = {printer.print(d.term)}")
        return lines

    def __str__(self) -> str:
        style = TextStyle()
        printer = self._printer(style)
        line = self._line(style, printer)
        where = self._where(style, printer)
        guards = self.guards
        valid = f"      valid while {' and '.join(guards)}" if guards else ""
        short = "      where " + ", ".join(where) if where else ""
        if not where or (len(where) <= 3 and len(line + short) <= 120):
            return line + short + valid
        indent = "\n          "
        return line + "\n    where " + indent.join(where) + (f"\n    {valid.strip()}" if valid else "")

    __repr__ = __str__

    def latex(self) -> str:
        """The formula in LaTeX for mathematics mode: definitions under *where*, guards under *valid while*."""
        style = LatexStyle()
        printer = self._printer(style)
        line = self._line(style, printer)
        where = self._where(style, printer)
        notes = self._valid_in_latex(printer)
        if len(where) == 1:
            notes.insert(0, rf"\text{{where }} {where[0]}")
        if len(where) < 2:
            return r" \qquad ".join([line, *notes])
        rows = [rf"\text{{where }} {where[0]}", *where[1:]]
        lines = [r.replace(" = ", " &= ", 1) for r in [line, *rows]] + [rf"& {n}" for n in notes]
        return rf"\begin{{aligned}} {(chr(92) * 2 + ' ').join(lines)} \end{{aligned}}"

    def _valid_in_latex(self, printer: Printer) -> list[str]:
        printer.begin(())
        conditions = [printer.print(c) for _, c in self._lowered.results[1:]]
        conditions += [rf"\text{{{escaped(w)}}}" for w in self._words]
        joined = r" \text{ and } ".join(dict.fromkeys(conditions))
        return [rf"\text{{valid while }} {joined}"] if joined else []

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    # ------------------------------------------------------------------ as SymPy
    def _letters(self) -> list[str]:
        return self._printer(TextStyle())._letters

    @property
    def definitions(self) -> list[NamedDefinition]:
        """The named values, in an order in which each uses only earlier ones."""
        texts = self._where(text := TextStyle(), self._printer(text))
        latexes = self._where(latex := LatexStyle(), self._printer(latex))
        convert = ToSymPy(self._names, self._letters())
        out = []
        for d, t, x in zip(self._lowered.definitions, texts, latexes, strict=True):
            indices = convert.begin(d.indices)
            out.append(NamedDefinition(self._names[d.ref].symbol, indices, convert(d.term), t, x))
        return out

    @property
    def indices(self) -> tuple[sympy.Symbol, ...]:
        """The free indices of `expr`."""
        return ToSymPy(self._names, self._letters()).begin(self._indices)

    @property
    def result(self) -> sympy.Expr:
        """The right-hand side in terms of the definitions."""
        convert = ToSymPy(self._names, self._letters())
        convert.begin(self._indices)
        return convert(self._term)

    @property
    def expr(self) -> sympy.Expr:
        """The right-hand side written out down to the leaves.

        Raises
        ------
        BudgetError
            If that would take more than `NODE_BUDGET` nodes; use `definitions` and `result` then.
        """
        t, known = self._inlined()
        convert = ToSymPy(self._names, self._letters(), {r: body for r, (slots, body) in known.items() if not slots})
        convert.begin(self._indices)
        return convert(t)

    def _inlined(self) -> tuple[Term, dict[Ref, tuple[tuple[Term, ...], Term]]]:
        """The result, and every definition, written out down to the leaves."""
        measures: dict[Ref, tuple[int, int]] = {}

        def measure(t: Term) -> tuple[int, int]:
            size, deepest, stack = 0, 0, [(t, 1)]
            while stack:
                here, depth = stack.pop()
                own, below = measures.get(here.args[0], (1, 0)) if here.head in ("REF", "ELEM") else (1, 0)
                size, deepest = size + own, max(deepest, depth + below)
                stack.extend((c, depth + 1) for c in children(here))
            return size, deepest

        for d in self._lowered.definitions:
            measures[d.ref] = measure(d.term)
        size, depth = measure(self._term)
        if size > NODE_BUDGET or depth > DEPTH_BUDGET:
            raise BudgetError(
                f"written out, this formula has {size:,} nodes, {depth} deep; at most {NODE_BUDGET:,} and "
                f"{DEPTH_BUDGET} are written, as SymPy walks trees: use .definitions and .result, which "
                "are linear in the program"
            )
        known: dict[Ref, tuple[tuple[Term, ...], Term]] = {}

        def inline(t: Term) -> Term:
            if t.head in ("REF", "ELEM") and t.args[0] in known:
                slots, body = known[t.args[0]]
                mapping = {s: inline(i) for s, i in zip(slots, t.args[1:], strict=True) if s.head == "IDX"}
                return substitute(body, mapping)
            return rebuild(t, inline) if children(t) else t

        for d in self._lowered.definitions:
            known[d.ref] = (d.indices, inline(d.term))
        return inline(self._term), known

    def entries(self) -> np.ndarray:
        """Every entry written out, as an object array of SymPy scalars."""
        values = {}
        convert = ToSymPy(self._names, self._letters())
        for r in self._leaves():
            base = convert.symbol(r)
            if not r.shape:
                values[r] = base
                continue
            values[r] = np.empty([int(n) for n in r.shape], dtype=object)
            for place in np.ndindex(*map(int, r.shape)):
                values[r][place] = base[place]
        return np.asarray(self._evaluate(Symbols(), values), dtype=object)

    # ------------------------------------------------------------------ as numbers
    def _leaves(self) -> list[Ref]:
        return [r for r in self._names if isinstance(r.record, Atom) and r.record.kind == "leaf"]

    def _evaluate(self, scalars: Any, values: dict[Ref, Any]) -> Any:
        for r, name in self._names.items():
            if unknown(r.record):
                raise FormulaError(
                    f"{name.text} is a user's Function: it has numbers in double precision, and no "
                    "expression to evaluate exactly"
                )
        evaluator = Evaluator(scalars, values)
        evaluator.run(self._lowered)
        return evaluator.array(self._indices, self._term, self._shape)

    def evaluate(self, digits: int = 50) -> Any:
        """The value at the leaves' present values, taken as the exact rationals they are.

        Parameters
        ----------
        digits : int
            How many decimal digits are right: two precisions are compared, and raised until they agree. What
            cancels to less than 10⁻³⁰⁰⁰ of its terms may be 0, unless something in the formula enlarges it.

        Returns
        -------
        mpmath.mpf or object ndarray of them
            Of a context of that many digits, so that they print them all.

        Raises
        ------
        FormulaError
            If a leaf was written since it was used, or no precision within reason settles the digits.
        """
        stale = stale_leaf(self._leaves())
        if stale is not None:
            raise FormulaError(
                f"{self._names[stale].text} was changed after it was used here, so this formula cannot be evaluated "
                "at the values it was recorded with; compute again"
            )
        found = settle(self._numbers, digits)
        if found is None:
            raise FormulaError(
                f"{digits} digits of this value could not be settled: what cancels there lies too far apart in size"
            )
        values, shape = [+_in_digits(digits).make_mpf(v._mpf_) for v in found[0]], found[1]
        if shape is None:
            return values[0]
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out.reshape(shape)

    def _numbers(self, span: Span) -> tuple[list[Any], tuple[int, ...] | None]:
        """The entries in the precision in force, and the shape; None for a scalar."""
        found = self._evaluate(Numbers(span), {r: _exact(r.record.value._data) for r in self._leaves()})
        return list(np.ravel(np.asarray(found, dtype=object))), np.shape(found) if self._indices else None


@cache
def _in_digits(digits: int) -> Any:
    """The mpmath context in which numbers have, and print, that many digits."""
    context = mpmath.MPContext()
    context.dps = digits
    return context


def _exact(data: Any) -> Any:
    if np.ndim(data) == 0:
        return mpmath.mpf(float(data)) if data.dtype.kind == "f" else mpmath.mpf(int(data))
    out = np.empty(data.shape, dtype=object)
    for place in np.ndindex(*data.shape):
        out[place] = mpmath.mpf(float(data[place])) if data.dtype.kind == "f" else mpmath.mpf(int(data[place]))
    return out


class FormulaList(list[Formula]):
    """Several formulas, one a line."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    __repr__ = __str__
