"""What shapes the variables have where nobody says: unification of symbolic shapes over the program.

Every size is a cell of a union-find; ``@`` and broadcasting make cells one, shapes that were given
put numbers into them. A node's shape is a tuple of cells, or None as long as its number of
dimensions is not known. Each step only adds knowledge, so the loop ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..array import normal_axes, normal_axis
from ..ops.indexing import normal_index
from .functions import op_of
from .program import Apply, Name, Number, Program
from .refusal import abbreviated, refuse
from .sizes import Shape, Sizes


@dataclass
class Inferred:
    """The shapes of the variables, and why.

    Attributes
    ----------
    sizes : Sizes
        The cells.
    shapes : list of (tuple of int) or None
        For each node its cells; None where no rule knows the op's shape.
    reasons : dict of str to str
        For each variable what its number of dimensions was inferred from; absent if it was given.
    """

    sizes: Sizes
    shapes: list[Shape | None]
    reasons: dict[str, str]


def infer(program: Program, known: Mapping[str, Sequence[int]], constants: Sequence[str] = ()) -> Inferred:
    """Shapes of everything in the program.

    Parameters
    ----------
    program : Program
        The formula.
    known : mapping of str to shape
        The shapes that were given.
    constants : sequence of str
        Names that are numbers such as ``pi``.

    Raises
    ------
    TypedFormulaError
        If two sizes that must agree do not; the message names both places.
    """
    return _Inference(program, known, constants).run()


def beside_products(program: Program) -> set[str]:
    """The names that stand directly beside ``@``, transposed or not."""
    found = set()
    for node in program.nodes:
        if isinstance(node, Apply) and _is(node, "matmul"):
            for k in node.args:
                base = program.nodes[_base(program, k)]
                if isinstance(base, Name):
                    found.add(base.name)
    return found


def _is(node: object, op: str) -> bool:
    return isinstance(node, Apply) and (found := op_of(node.function)) is not None and found.name == op


def _base(program: Program, k: int) -> int:
    """The node under signs and transposes."""
    while isinstance(node := program.nodes[k], Apply) and node.function in ("T", "mT", "t", "neg"):
        k = node.args[0]
    return k


def _elementwise(node: object) -> bool:
    return isinstance(node, Apply) and (op := op_of(node.function)) is not None and op.broadcasts


class _Inference:
    def __init__(self, program: Program, known: Mapping[str, Sequence[int]], constants: Sequence[str]):
        self.program, self.sizes, self.reasons = program, Sizes(), {}
        self.shapes: list[Shape | None] = [None] * len(program.nodes)
        self.taken: dict[int, Shape] = {}
        self.companions: dict[int, int] = {}
        self.changed = False
        for k, node in enumerate(program.nodes):
            if isinstance(node, Number) or (isinstance(node, Name) and node.name in constants):
                self.shapes[k] = ()
            elif isinstance(node, Name) and node.name in known:
                shape = known[node.name]
                self.shapes[k] = tuple(
                    self.sizes.new(int(n), self._origin(node.name, d, len(shape))) for d, n in enumerate(shape)
                )

    def run(self) -> Inferred:
        products = [n for n in self.program.nodes if isinstance(n, Apply) and _is(n, "matmul")]
        sides = [side for node in products for side in node.args]
        for node in self.program.nodes:
            if isinstance(node, Apply):
                self._usage(node)
        for side in sides:
            self._by_case(_base(self.program, side), "beside @")
        self._settle()
        for upper in (True, False):
            for side in sides:
                self._below(side, upper)
            self._settle()
        for k in self.program.names.values():
            self._give(k, 0, "nothing asks for more")
        self._settle()
        return Inferred(self.sizes, self.shapes, self.reasons)

    # ------------------------------------------------------------------ what the use of a name says
    def _origin(self, name: str, d: int, ndim: int) -> str:
        return f"the size of {name}" if ndim == 1 else f"size {d + 1} of {name}"

    def _give(self, k: int, ndim: int, reason: str) -> None:
        """Gives a bare variable its number of dimensions, if it has none yet."""
        node = self.program.nodes[k]
        if isinstance(node, Name) and self.shapes[k] is None:
            self.shapes[k] = tuple(self.sizes.new(None, self._origin(node.name, d, ndim)) for d in range(ndim))
            self.reasons[node.name] = reason
            self.changed = True

    def _by_case(self, k: int, reason: str) -> None:
        node = self.program.nodes[k]
        if isinstance(node, Name):
            upper = node.name[0].isupper()
            self._give(k, 2 if upper else 1, f"{'upper' if upper else 'lower'} case {reason}")

    def _below(self, k: int, upper: bool) -> None:
        """Names that are joined elementwise to something beside ``@``, those of one case."""
        stack, seen = [k], set()
        while stack:
            k = stack.pop()
            node = self.program.nodes[k]
            if self.shapes[k] is not None or k in seen:
                continue
            seen.add(k)
            if isinstance(node, Name) and node.name[0].isupper() == upper:
                self._by_case(k, "beside @")
            elif isinstance(node, Apply) and (_elementwise(node) or node.function in ("T", "mT", "t")):
                stack.extend(reversed(node.args))

    def _usage(self, node: Apply) -> None:
        """Indices and ``dim=`` say how many dimensions a bare name has at least."""
        k = _base(self.program, node.args[0]) if node.args else -1
        if node.function == "getitem":
            items = node.params["index"]
            needed = sum(1 for i in items if i is not None and i is not ...)
            if needed:
                self._give(node.args[0], needed, f"{needed} {'index' if needed == 1 else 'indices'} in brackets")
                self._least(node.args[0], items)
        elif (
            node.function in ("T", "mT", "t")
            and isinstance(base := self.program.nodes[k], Name)
            and base.name[0].isupper()
        ):
            self._by_case(k, "and transposed")
        elif _is(node, "permute"):
            self._give(k, len(node.params["dims"]), "its dimensions are permuted")
        elif _is(node, "transpose"):
            self._by_case(k, "and transposed")
        elif "dim" in node.params and not _is(node, "unsqueeze") and not _is(node, "squeeze"):
            dims = node.params["dim"]
            dims = dims if isinstance(dims, tuple) else (dims,)
            whole = [d for d in dims if isinstance(d, int) and not isinstance(d, bool) and abs(d) < 8]
            if whole:
                base = self.program.nodes[node.args[0]]
                usual = 2 if isinstance(base, Name) and base.name[0].isupper() else 1
                self._give(
                    node.args[0], max(usual, *(d + 1 if d >= 0 else -d for d in whole)), f"dim={whole[0]} is asked for"
                )

    def _least(self, k: int, items: tuple[object, ...]) -> None:
        """An index that is a number needs a size that it fits in."""
        shape = self.shapes[k]
        places = [i for i in items if i is not None]
        if shape is None or ... in places or len(places) > len(shape):
            return
        for cell, i in zip(shape, places, strict=False):
            if isinstance(i, int):
                root = self.sizes.find(cell)
                self.sizes.least[root] = max(self.sizes.least[root], i + 1 if i >= 0 else -i)

    # ------------------------------------------------------------------ the rules, until nothing changes
    def _settle(self) -> None:
        self.changed = True
        while self.changed:
            self.changed = False
            for k, node in enumerate(self.program.nodes):
                if isinstance(node, Apply):
                    self._rule(k, node)
            for k, node in reversed(list(enumerate(self.program.nodes))):
                if isinstance(node, Apply):
                    self._down(k, node)

    def _set(self, k: int, shape: Shape | None) -> None:
        if shape is not None and self.shapes[k] is None:
            self.shapes[k] = shape
            self.changed = True

    def _rule(self, k: int, node: Apply) -> None:
        """The shape of a node from those of what it is made of."""
        shapes = [s for a in node.args if (s := self.shapes[a]) is not None]
        if len(shapes) < len(node.args):
            return
        found: Shape | None = None
        if _elementwise(node):
            found = self._broadcast(k, shapes)
        elif _is(node, "matmul"):
            found = self._product(k, *shapes) if all(shapes) else None
        elif self.shapes[k] is None or k in self.taken:
            try:
                found = self._structural(node, shapes[0])
            except (IndexError, ValueError, TypeError, RuntimeError) as error:
                raise refuse(str(error), self.program.text, node.span) from None
        self._set(k, found)
        taken = self.taken.pop(k, None)
        if taken is not None and found is not None:
            self._broadcast(k, [taken, found])

    def _down(self, k: int, node: Apply) -> None:
        """A partner whose shape is not known takes that of its companions, or of the result."""
        open_ = [a for a in node.args if self.shapes[a] is None]
        if not open_:
            return
        if node.function in ("T", "mT", "t") and (shape := self.shapes[k]) is not None:
            self._take(open_[0], tuple(reversed(shape)), k)
        elif _elementwise(node):
            partners = [a for a in node.args if self.shapes[a]]
            shape = self.shapes[k] or max((self.shapes[a] or () for a in partners), key=len, default=())
            if shape:
                companion = (
                    k if k in self.companions else max(partners, key=lambda a: len(self.shapes[a] or ()), default=k)
                )
                for a in open_:
                    self._take(a, shape, companion)

    def _take(self, k: int, shape: Shape, companion: int) -> None:
        node = self.program.nodes[k]
        companion = self.companions.get(companion, companion)
        if isinstance(node, Name):
            beside = abbreviated(self.program.source(companion), 30)
            self.reasons[node.name] = f"it takes the shape of {beside} beside it"
            self._set(k, shape)
        elif _elementwise(node) or (isinstance(node, Apply) and node.function in ("T", "mT", "t")):
            self.taken[k], self.companions[k] = shape, companion
            self._set(k, shape)

    # ------------------------------------------------------------------ shapes of results
    def _join(self, k: int, a: int, b: int, what: str) -> None:
        conflict = self.sizes.join(a, b)
        if conflict:
            raise refuse(
                f"{what} must be equal, and are {conflict}; give both one size, or transpose with .T",
                self.program.text, self.program.nodes[k].span,
            )  # fmt: skip

    def _broadcast(self, k: int, shapes: list[Shape]) -> Shape:
        """Sizes are matched from the right; 1 fits everything."""
        out: list[int] = []
        for place in range(1, max(map(len, shapes)) + 1):
            cells = [s[-place] for s in shapes if len(s) >= place]
            wide = [c for c in cells if self.sizes.number(c) != 1]
            for other in wide[1:]:
                self._join(k, wide[0], other, "sizes that meet elementwise")
            out.append((wide or cells)[0])
        return tuple(reversed(out))

    def _product(self, k: int, x: Shape, y: Shape) -> Shape:
        self._join(k, x[-1], y[-2 if len(y) > 1 else 0], "the inner sizes of @")
        lead = self._broadcast(k, [s for s in (x[:-2], y[:-2]) if s] or [()]) if len(x) > 2 or len(y) > 2 else ()
        return (*lead, *x[-2:-1], *(y[-1:] if len(y) > 1 else ()))

    def _structural(self, node: Apply, x: Shape) -> Shape | None:
        op = op_of(node.function)
        params, name = node.params, node.function if op is None else op.name
        if name in ("T", "t"):
            return tuple(reversed(x))
        if name == "mT":
            return (*x[:-2], *reversed(x[-2:]))
        if name in ("sum", "mean", "logsumexp"):
            dims = normal_axes(params.get("dim"), len(x), name)
            kept = params.get("keepdim", False)
            return tuple(self._one() if k in dims else c for k, c in enumerate(x) if kept or k not in dims)
        if name in ("softmax", "log_softmax"):
            return x
        if name == "transpose":
            a, b = (normal_axis(params[p], len(x), name) for p in ("dim0", "dim1"))
            out = list(x)
            out[a], out[b] = out[b], out[a]
            return tuple(out)
        if name == "permute":
            return tuple(x[normal_axis(d, len(x), name)] for d in params["dims"])
        if name == "unsqueeze":
            given = params["dim"] if isinstance(params["dim"], tuple) else (params["dim"],)
            new = {normal_axis(d, len(x) + len(given), name) for d in given}
            rest = iter(x)
            return tuple(self._one() if k in new else next(rest) for k in range(len(x) + len(given)))
        if name == "expand":
            return self._expanded(params["shape"], x)
        if name == "reshape" and all(isinstance(n, int) and n >= 0 for n in params["shape"]):
            return tuple(self.sizes.new(n, "as reshaped") for n in params["shape"])
        if name == "getitem":
            return self._taken(params["index"], x)
        return None

    def _one(self) -> int:
        return self.sizes.new(1, "as kept")

    def _expanded(self, wanted: Sequence[object], x: Shape) -> Shape:
        lead = len(wanted) - len(x)
        return tuple(
            x[k - lead] if n == -1 and k >= lead else self.sizes.new(n if isinstance(n, int) else None, "as expanded")
            for k, n in enumerate(wanted)
        )

    def _taken(self, index: tuple[object, ...], x: Shape) -> Shape:
        """Whole dimensions keep their cell; of a slice the size follows when that of its dimension is known."""
        used = sum(1 for i in index if i is not None and i is not ...)
        big = tuple(self.sizes.number(c) or max(64, self.sizes.least[self.sizes.find(c)]) for c in x)
        normal_index(big, index)  # refuses what is no index
        items = list(index) if ... in index else [*index, ...]
        out, d = [], 0
        for i in items:
            if i is None:
                out.append(self._one())
            elif i is ...:
                out += x[d : d + len(x) - used]
                d += len(x) - used
            else:
                if i == slice(None):
                    out.append(x[d])
                elif isinstance(i, slice):
                    out.append(self.sizes.sliced(x[d], i))
                d += 1
        return tuple(out)
