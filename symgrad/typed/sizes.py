"""Sizes of dimensions: a union-find, and the numbers and names for those that nothing fixes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count

Shape = tuple[int, ...]
"""The shape of a node: numbers of cells."""

_LETTERS = ("n", "d", "k", "m", "p", "q", "r", "s")
_SMALL = (5, 3, 4, 2, 6, 7, 8, 9)


@dataclass
class Sizes:
    """Union-find over sizes. A cell has perhaps a number, and remembers where that came from."""

    parent: list[int] = field(default_factory=list)
    value: list[int | None] = field(default_factory=list)
    origin: list[str] = field(default_factory=list)
    least: list[int] = field(default_factory=list)
    slices: list[tuple[int, int, slice]] = field(default_factory=list)

    def new(self, value: int | None, origin: str) -> int:
        """A new cell."""
        self.parent.append(len(self.parent))
        self.value.append(value)
        self.origin.append(origin)
        self.least.append(1)
        return len(self.parent) - 1

    def find(self, cell: int) -> int:
        """The cell that stands for all that are one with this."""
        while self.parent[cell] != cell:
            self.parent[cell] = self.parent[self.parent[cell]]
            cell = self.parent[cell]
        return cell

    def number(self, cell: int) -> int | None:
        """The number in a cell, if it is known."""
        return self.value[self.find(cell)]

    def join(self, a: int, b: int) -> str | None:
        """Makes two cells one; says which two numbers meet, if they cannot be."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return None
        va, vb = self.value[a], self.value[b]
        if va is not None and vb is not None and va != vb:
            return f"{va} ({self.origin[a]}) and {vb} ({self.origin[b]})"
        if va is None and vb is not None:
            a, b = b, a
        self.parent[b] = a
        self.least[a] = max(self.least[a], self.least[b])
        return None

    def need(self, cell: int, least: int) -> None:
        """Asks for a size of at least so much."""
        root = self.find(cell)
        self.least[root] = max(self.least[root], least)

    def sliced(self, cell: int, part: slice) -> int:
        """The size of a slice; where the size of the whole is not known yet, it is left for later."""
        whole = self.number(cell)
        if whole is not None:
            return self.new(len(range(*part.indices(whole))), "the size of a slice")
        out = self.new(None, "the size of a slice")
        self.slices.append((cell, out, part))
        for bound in (part.start, part.stop):
            if bound is not None:
                self.need(cell, min(bound + 1 if bound >= 0 else 1 - bound, 1_000))
        return out

    def follow_slices(self) -> None:
        """Numbers that slices pass on, from the whole to the part and back."""
        for _ in self.slices:
            for whole, part, index in self.slices:
                n, m = self.find(whole), self.find(part)
                vn, vm = self.value[n], self.value[m]
                if vn is not None and vm is None:
                    self.value[m] = len(range(*index.indices(vn)))
                elif vn is None and vm is not None:
                    fits = (k for k in range(self.least[n], 20_000) if len(range(*index.indices(k))) == vm)
                    self.value[n] = next(fits, None)


@dataclass
class Settled:
    """The sizes that were chosen.

    Attributes
    ----------
    names : dict of int to str
        Names of the cells (roots) that nothing fixed.
    symbolic : set of int
        Those of them that formulas can show by name.
    """

    names: dict[int, str]
    symbolic: set[int]


def settle(sizes: Sizes, shapes: Mapping[str, Shape], taken: Iterable[str]) -> Settled:
    """Gives every size a number, and those that nothing fixes a name.

    A size is symbolic if it meets only such sizes in the tensors that have it: the dimensions of a
    tensor are all named or all numbers. Sizes that slices are taken of are numbers.

    Parameters
    ----------
    sizes : Sizes
        The cells; their numbers are filled in.
    shapes : mapping of str to tuple of int
        The cells of each variable.
    taken : iterable of str
        Names that sizes cannot have.
    """
    sizes.follow_slices()
    taken, used = set(taken), {v for v in sizes.value if v is not None}
    letters = (x for x in chain(_LETTERS, (f"n{k}" for k in count(1))) if x not in taken)
    of_slices = {sizes.find(c) for whole, part, _ in sizes.slices for c in (whole, part)}
    parts = {sizes.find(part) for _, part, _ in sizes.slices}
    settled = Settled({}, set())
    cells = [sizes.find(c) for shape in shapes.values() for c in shape]
    for root in sorted(cells, key=lambda c: c in parts):
        if sizes.value[root] is None:
            least = sizes.least[root]
            sizes.value[root] = value = next(v for v in chain(_SMALL, count(10)) if v >= least and v not in used)
            used.add(value)
            settled.names[root] = next(letters)
            sizes.follow_slices()
    settled.symbolic = set(settled.names) - of_slices
    while True:
        mixed = {
            sizes.find(c) for s in shapes.values() if not all(sizes.find(c) in settled.symbolic for c in s) for c in s
        }
        if not settled.symbolic & mixed:
            return settled
        settled.symbolic -= mixed
