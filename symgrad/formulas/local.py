"""One op alone: its own expression, and its partial derivatives, in the names of its inputs."""

from __future__ import annotations

from typing import Any

import sympy

from ..errors import FormulaError
from ..graph import Node
from .lower import Lowered, Lowering
from .naming import Name, calling_frame, frame_names, name_of
from .structure import Atom, Record, StructureColumn, apply, number, seed
from .symbolic import ToSymPy
from .terms import ZERO, Ref, Term, index


class _Local:
    """A node read as one record on atoms, with names for them."""

    def __init__(self, node: Node, frame_depth: int):
        if node.op.expr is None and node.op.index is None:
            raise FormulaError(f"{node.op.grad_name(node)} is a user's Function: it has no expression of its own")
        frame = frame_names(calling_frame(frame_depth + 1))
        self.node = node
        found: dict[int, Any] = {}
        self.atoms: list[Any] = []
        names: dict[Any, Name] = {}
        taken: set[str] = set()
        for operand in node.operands:
            if isinstance(operand, (int, float)):
                self.atoms.append(number(operand))
                continue
            if id(operand) not in found:
                shape = operand.shape if isinstance(operand, Node) else operand._data.shape
                atom = found[id(operand)] = Atom("leaf", operand, shape, node.dtype, True)
                own = name_of(operand, frame)
                base, count = (own, None) if own else ("t", 1)
                while (name := Name(base, count)).symbol in taken:
                    count = (count or 0) + 1
                taken.add(name.symbol)
                names[atom] = name
            self.atoms.append(found[id(operand)])
        self.record = apply(node.op, *self.atoms, params=node.params, source=node)
        self.lowering = Lowering(set(), set(names))
        self._names = names

    def convert(self, i: tuple[Term, ...], t: Term, more: tuple[Term, ...] = ()) -> sympy.Expr:
        """The term in SymPy, with the letters i, j, … for the indices in order."""
        names: dict[Ref, Name] = {ref: self._names[atom] for atom, ref in self.lowering.refs.items()}
        from .printing import Printer
        from .text import TextStyle

        convert = ToSymPy(names, Printer(TextStyle(), names)._letters)
        convert.begin(i + more)
        return convert(t)


def _free(shape: tuple[int, ...]) -> tuple[Term, ...]:
    return tuple(ZERO if n == 1 else index(n) for n in shape)


def local_expr(node: Node, frame_depth: int = 1) -> sympy.Expr:
    """The op's own SymPy expression in the names of its inputs; an entry of it for arrays."""
    local = _Local(node, frame_depth)
    i = _free(node.shape)
    return local.convert(i, local.lowering.entry(local.record, i))


def local_derivatives(node: Node, frame_depth: int = 1) -> dict[sympy.Expr, sympy.Expr]:
    """The partial derivatives of `local_expr` by each input that needs a gradient.

    For an elementwise op the derivative of an entry by the input's entry of the same place; for
    others by any entry, with Kronecker deltas where entries only move.
    """
    local = _Local(node, frame_depth)
    record: Record = local.record
    elementwise = node.op.expr is not None
    i = _free(node.shape)
    flow = number(1, node.shape) if elementwise else seed(node.shape, node.dtype, i)
    out: dict[sympy.Expr, sympy.Expr] = {}
    needs = record.needs & 7 & node.needs
    for operand, c in record.op.pull(StructureColumn().xp, flow, record, needs):
        if elementwise:
            j = tuple(
                ZERO if n == 1 else k for n, k in zip(operand.shape, i[len(i) - len(operand.shape) :], strict=True)
            )
            t = local.lowering.entry(c, i if c.shape == record.shape else i[len(i) - len(c.shape) :])
            key = local.convert(i, local.lowering.entry(operand, j))
            value = local.convert(i, t)
        else:
            c = StructureColumn().fit(c, operand)
            j = _free(operand.shape)
            key = local.convert(i, local.lowering.entry(operand, j), j)
            value = local.convert(i, local.lowering.entry(c, j), j)
        out[key] = out[key] + value if key in out else value
    return out


__all__ = ["Lowered", "local_derivatives", "local_expr"]
