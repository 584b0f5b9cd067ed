"""A checked formula as data: a list of nodes, each of which uses only earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .refusal import Span


@dataclass(frozen=True, slots=True)
class Number:
    """A number as typed: whole ones are ints, others the double that is nearest."""

    value: int | float
    span: Span


@dataclass(frozen=True, slots=True)
class Name:
    """A name that the formula does not assign: a variable, or ``pi`` or ``e``."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of earlier nodes; signs are functions too: ``+`` is ``add``, ``x[0]`` is ``getitem``."""

    function: str
    args: tuple[int, ...]
    params: Mapping[str, Any]
    span: Span


Node = Number | Name | Apply


@dataclass(frozen=True)
class Program:
    """A checked formula.

    Attributes
    ----------
    text : str
        As typed.
    nodes : tuple of Number, Name and Apply
        Each uses only earlier ones.
    assigned : dict of str to int
        The names that statements gave, with the node each stands for.
    names : dict of str to int
        The names that nothing assigned, in order of appearance, with their nodes.
    result : int
        The node of the last statement.
    """

    text: str
    nodes: tuple[Node, ...]
    assigned: dict[str, int]
    names: dict[str, int]
    result: int

    def source(self, node: int) -> str:
        """The part of the text that the node was read from."""
        start, stop = self.nodes[node].span
        return self.text[start:stop]
