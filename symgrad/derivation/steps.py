"""What a derivation consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..formulas import Formula
from .proof import Proof


@dataclass(frozen=True)
class Step:
    """One row of a derivation: one op forward, or one rule backward.

    Attributes
    ----------
    kind : str
        ``"forward"``, ``"seed"``, ``"adjoint"``, ``"fan-out"`` or ``"result"``.
    op : str
        The op whose record this is; empty for a seed or a fan-out.
    rule : str
        The name of the rule, such as ``"product rule"``; empty for forward steps.
    output : str
        What the step computes, with its indices, such as ``r̄ᵢ``.
    inputs : tuple of str
        The names it is computed from.
    expression : str
        Its right-hand side.
    local : str
        The local derivative of the op, such as ``∂rᵢ/∂wⱼ = Xᵢⱼ``; empty where there is none.
    shape : tuple of int
        The shape of the value.
    value : ndarray or number
        The value.
    line : str
        The user's line that recorded the op.
    """

    kind: str
    op: str
    rule: str
    output: str
    inputs: tuple[str, ...]
    expression: str
    local: str
    shape: tuple[int, ...]
    value: Any
    line: str = ""

    @property
    def equation(self) -> str:
        """The step as an equation."""
        return f"{self.output} = {self.expression}"


@dataclass(frozen=True)
class Derivation:
    """A gradient, explained: the steps, the formulas, the proof. Prints as text.

    Attributes
    ----------
    steps : list of Step
        In the order in which they are computed: the records that ``backward()`` runs.
    formulas : list of Formula
        The exact gradient of each variable.
    proofs : list of Proof
        For each variable, how far the numbers are from the exact values.
    title : str
        What is explained.
    notes : list of str
        What was assumed.
    """

    title: str
    steps: list[Step]
    formulas: list[Formula]
    proofs: list[Proof]
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        from .plain import render

        return render(self)

    __repr__ = __str__
