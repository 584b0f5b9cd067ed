"""`explain`: the steps of a gradient, read off the records that backward() runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..autograd import grad
from ..autograd.gradfn import tensor_of
from ..errors import ArgumentTypeError, FormulaError, GradientError
from ..formulas.calls import is_call
from ..formulas.formula import FormulaList
from ..formulas.freezing import call_name, freeze_names, stale_leaf
from ..formulas.lower import Definition, Lowered, Lowering
from ..formulas.making import LOOKED_AT, derive, free_indices
from ..formulas.naming import Name, calling_frame, frame_names, name_of, source_line
from ..formulas.printing import Printer
from ..formulas.reading import read
from ..formulas.structure import Atom, Record, StructureColumn, apply, number, seed
from ..formulas.terms import Ref, Term, term
from ..formulas.text import TextStyle
from ..graph import pull, reached
from ..tensor import Tensor
from .numbers import Numbers
from .proof import prove
from .steps import Derivation, Step

__symgrad_internal__ = True


def explain(
    out: Tensor, wrt: Any = None, *, title: str = "", notes: Sequence[str] = (), frame_depth: int = 1
) -> Derivation:
    """How the gradient of `out` comes about: forward steps, backward steps, formulas, proof.

    Parameters
    ----------
    out : Tensor
        The result. If it is no scalar, its cotangent ȳ is a variable whose values are ones.
    wrt : Tensor or sequence of Tensor, optional
        The variables; all leaves that require grad by default.
    title : str
        A heading; the formula of `out` by default.
    notes : sequence of str
        What was assumed; shown as it is.

    Returns
    -------
    Derivation
        ``print()`` it.

    Raises
    ------
    GradientError
        If `out` depends on none of the variables.

    Examples
    --------
    >>> import symgrad as sg
    >>> x = sg.tensor(3.0, requires_grad=True, name="x")
    >>> y = x**2
    >>> d = sg.explain(y)
    >>> [step.equation for step in d.steps]
    ['y = x²', 'ȳ = 1', 'x̄ = 2·x·ȳ']
    >>> print(d.formulas[0])
    ∂y/∂x = 2·x
    """
    if not isinstance(out, Tensor):
        raise ArgumentTypeError(f"explain: expected a Tensor, not {type(out).__name__}")
    variables = _variables(out, wrt)
    return _Explanation(out, variables, frame_names(calling_frame(frame_depth))).derivation(title, list(notes))


def _variables(out: Tensor, wrt: Any) -> list[Tensor]:
    if wrt is not None:
        found = [wrt] if isinstance(wrt, Tensor) else list(wrt)
        for t in found:
            if not isinstance(t, Tensor):
                raise ArgumentTypeError(f"explain: wrt must be Tensors, not {type(t).__name__}")
        return found
    if out._node is None and out._requires_grad:
        return [out]
    if out._node is None or not out._requires_grad:
        raise GradientError(
            "explain: nothing was recorded for this tensor: nothing that it was computed from requires grad, or "
            "that was under no_grad; set requires_grad=True on the variables"
        )
    leaves: dict[Tensor, None] = {}
    for node in reached([out._node]):
        for k, o in enumerate(node.operands):
            if isinstance(o, Tensor) and node.needs >> k & 1:
                leaves.setdefault(o)
    if not leaves:
        raise GradientError(
            "explain: nothing that this was computed from requires grad; set requires_grad=True, or pass wrt="
        )
    return list(leaves)


class _Cotangents(dict[Any, Any]):
    """The cotangents of the loop, remembering each contribution."""

    def __init__(self, first: dict[Any, Any]):
        super().__init__(first)
        self.contributions: dict[Any, list[tuple[Any, Any]]] = {}
        self.current: Any = None

    def __setitem__(self, operand: Any, total: Any) -> None:
        parts = self.contributions.setdefault(operand, [])
        before = self.get(operand)
        part = total
        if before is not None and parts:
            part = total.a0 if total.a1 is before else total.a1
        parts.append((self.current, part))
        super().__setitem__(operand, total)


class _Explanation:
    """One derivation in the making."""

    def __init__(self, out: Tensor, variables: list[Tensor], frame: dict[int, str]):
        self.out, self.variables, self.frame = out, variables, frame
        key = out if out._node is None else out._node
        self.targets = [t if t._node is None else t._node for t in variables]
        self.records = read([key], self.targets, lambda t: name_of(t, frame) is not None)
        self._check_unchanged()
        self.root = self.records[key]
        self.users = {r: n for source, r in self.records.items() if (n := name_of(source, frame))}
        self.forward = [r for r in self.records.values() if isinstance(r, Record)]
        self.values = Numbers()
        self.adjoints: dict[Any, Any] = {}
        self.scalar = out._data.ndim == 0
        self.seed = self._seed()
        named = [*self.users, self.seed, *(self.records[t] for t in self.targets)]
        self.lowering = Lowering(set(), {r for r in named if isinstance(r, Atom)})
        self.backward: list[tuple[Any, list[tuple[Any, Any]], Any]] = []
        self._run_backward()
        self._name()

    def _check_unchanged(self) -> None:
        """Steps show the values that were recorded, so they must still be there to be computed again."""
        atoms = [Ref(r, r.shape) for r in self.records.values() if isinstance(r, Atom) and r.kind == "leaf"]
        stale = stale_leaf(atoms)
        if stale is not None:
            name = name_of(stale.record.value, self.frame) or "a tensor"
            raise FormulaError(
                f"explain: {name} was changed after it was used here, so the steps cannot be shown; compute again"
            )

    def _seed(self) -> Atom:
        """The cotangent of the result: a variable with a name, whose values are ones."""
        return Atom("leaf", Tensor.constant(self._ones()), self.root.shape, self.root.dtype)

    # ------------------------------------------------------------------ the loop
    def _run_backward(self) -> None:
        """Runs the one loop in the structure column, and notes what arrives where."""
        order = reached([self.root]) if isinstance(self.root, Record) else []
        for node in order:
            node.extra = LOOKED_AT
        flow = _Cotangents({self.root: self.seed})

        def on_cotangent(node: Any, g: Any) -> Any:
            alias = g if node is self.root else self._adjoint(node, g)
            if node is not self.root:
                self.backward.append((node, flow.contributions.get(node, []), alias))
            flow.current = node
            return alias if node.needs else None

        left = pull(list(order), flow, StructureColumn(), on_cotangent=on_cotangent)
        for target in self.targets:
            record = self.records[target]
            if record in left and record is not self.root:
                self.backward.append((record, flow.contributions.get(record, []), self._adjoint(record, left[record])))

    def _adjoint(self, record: Any, g: Any) -> Record:
        """The cotangent as a value of its own, so that it has a name."""
        alias = apply("clone", g)
        self.adjoints[alias] = record
        return alias

    # ------------------------------------------------------------------ names
    def _name(self) -> None:
        """Every value and every cotangent gets a reference and a name."""
        line = Lowered()
        for r in [*self.forward, *(a for _, _, a in self.backward)]:
            ref = self.lowering.refs[r] = Ref(r, r.shape)
            line.definitions.append(Definition(ref, (), term(0), True))
        for r in self.records.values():
            if isinstance(r, Atom):
                line.definitions.append(Definition(self.lowering.ref(r), (), term(0), True))
        users = dict(self.users)
        if self.root not in users:
            taken = set(users.values())
            users[self.root] = next(n for n in ("y", "f", "out", "result_") if n not in taken)
        names, (self.top,) = freeze_names(
            line, self.records.values(), users, self.adjoints, [self.root], set(self.forward)
        )
        self.names: dict[Ref, Name] = names
        self.seed_text = self.top.barred()
        self.names[self.lowering.ref(self.seed)] = self.seed_text
        self.printer = Printer(TextStyle(), self.names)

    def _named(self, record: Any, letters: list[str]) -> str:
        name = self.seed_text if record is self.seed else self.names[self.lowering.refs[record]]
        return TextStyle().element(name, letters) if letters else name.text

    def _equation(self, record: Any, make: Any) -> tuple[str, str]:
        i = free_indices(record.shape)
        letters = self.printer.begin(i)
        return self._named(record, letters), self.printer.print(make(i))

    # ------------------------------------------------------------------ steps
    def derivation(self, title: str, notes: list[str]) -> Derivation:
        """The finished derivation."""
        steps = [self._forward_step(r) for r in self.forward]
        steps.append(self._seed_step())
        for record, parts, alias in self.backward:
            steps += self._backward_steps(record, parts, alias)
        cotangent = None if self.scalar else (self.seed.value, self.seed_text)
        settled = {source: self.names[self.lowering.refs[r]] for source, r in self.records.items() if not is_call(r)}
        formulas = FormulaList(
            derive(self.out, (v,), self.frame, cotangent=cotangent, top=self.top.text, fixed=settled)
            for v in self.variables
        )
        names = [self._variable_name(v) for v in self.variables]
        numeric = self._numeric()
        seed_values = np.ones(self.out._data.shape)
        proofs = prove(self.out, self.variables, names, numeric, seed_values, self._work())
        if not np.isfinite(self.out._data).all():
            notes = [*notes, f"{self.top.text} is not finite at these values"]
        if not self.scalar:
            notes = [
                *notes,
                f"{self.top.text} is no scalar: its cotangent {self.seed_text.text} is a variable, "
                "and its values are ones",
            ]
        return Derivation(title or f"{self.top.text}, differentiated", steps, formulas, proofs, notes)

    def _variable_name(self, v: Tensor) -> str:
        return self.names[self.lowering.refs[self.records[v if v._node is None else v._node]]].text

    def _forward_step(self, record: Record) -> Step:
        left, right = self._equation(record, lambda i: self.lowering._face(record, i))
        if is_call(record):
            right = call_name(record, {r.record: name for r, name in self.names.items()}).text
        line = "" if record.source is None else source_line(record.source.code, record.source.lasti)[2]
        return Step(
            "forward", record.op.name, "", left, self._inputs(record), right, "", tuple(map(int, record.shape)),
            self.values(record), line,
        )  # fmt: skip

    def _inputs(self, record: Any) -> tuple[str, ...]:
        return tuple(self._named(o, []) for o in record.operands if o in self.lowering.refs)

    def _seed_step(self) -> Step:
        letters = self.printer.begin(free_indices(self.root.shape))
        left = self._named(self.seed, letters)
        return Step("seed", "", "", left, (), "1", "", self.out._data.shape, np.ones(self.out._data.shape)[()])

    def _backward_steps(self, record: Any, parts: list[tuple[Any, Any]], alias: Record) -> list[Step]:
        total = alias.a0
        shape = tuple(map(int, record.shape))

        def adjoint(producer: Record, part: Any, prefix: str = "") -> Step:
            left, right = self._equation(alias, lambda i: self._entry(part, i))
            rule, local = self._rule(producer, record, part), self._local(producer, record)
            inputs, value = self._inputs(producer), self.values(part) if prefix else self._adjoint_value(record, part)
            return Step("adjoint", producer.op.name, rule, prefix + left, inputs, right, local, shape, value)

        if len(parts) == 1:
            return [adjoint(*parts[0])]
        steps = [adjoint(producer, part, "contribution to ") for producer, part in parts]
        left, right = self._equation(alias, lambda i: self._entry(total, i))
        value = self._adjoint_value(record, total)
        steps.append(Step("fan-out", "", "fan-out sum", left, (), right, "", shape, value))
        return steps

    def _adjoint_value(self, record: Any, total: Any) -> Any:
        """The complete cotangent as the engine has it, whose structural zeros are strong, or as its rule has it."""
        return self._engine[record] if record in self._engine else self.values(total)

    @cached_property
    def _engine(self) -> dict[Any, Any]:
        """What the engine gives for every cotangent, where something was selected and its values are still there."""
        if not any(r.op.selects for r in self.forward) or not self.out._requires_grad:
            return {}
        asked: dict[Any, Tensor] = {}
        for record, _, _ in self.backward:
            if isinstance(record, Record) and record.source is not None:
                asked[record] = tensor_of(self.values(record), record.source)
            elif isinstance(record, Atom) and record.value._requires_grad:
                asked[record] = record.value
        try:
            found = grad(
                self.out, list(asked.values()), Tensor.constant(self._ones()), retain_graph=True, allow_unused=True
            )
        except GradientError:
            return {}
        return {record: g._data for record, g in zip(asked, found, strict=True) if g is not None}

    def _entry(self, part: Any, i: tuple[Term, ...]) -> Term:
        return self.lowering.entry(part, i)

    @staticmethod
    def _rule(producer: Record, record: Any, part: Any) -> str:
        rule = producer.op.rule_name
        if producer.op.broadcasts and producer.shape != record.shape:
            rule += ", broadcasting sums"
        return rule

    def _local(self, producer: Record, operand: Any) -> str:
        """The local derivative by the operand, in letters of its own."""
        k = next(k for k, o in enumerate(producer.operands) if o is operand)
        elementwise = producer.op.expr is not None
        i = free_indices(producer.shape)
        flow = number(1, producer.shape) if elementwise else seed(producer.shape, producer.dtype, i)
        column = StructureColumn()
        total: Term | None = None
        j = free_indices(operand.shape)
        for o, c in producer.op.pull(column.xp, flow, producer, producer.needs & 7):
            if o is not operand:
                continue
            if elementwise:
                t = self.lowering.entry(c, i if c.shape == producer.shape else i[len(i) - len(c.shape) :])
            else:
                t = self.lowering.entry(column.fit(c, o), j)
            total = t if total is None else total + t
        if total is None:
            return ""
        if elementwise:
            j = tuple(
                term(0) if n == 1 else x for n, x in zip(operand.shape, i[len(i) - len(operand.shape) :], strict=True)
            )
        letters = self.printer.begin((*i, *(x for x in j if x not in i)))
        table = dict(zip((*i, *(x for x in j if x not in i)), letters, strict=True))
        top = (
            self._named(producer, [table[x] for x in i])
            if producer is not self.root
            else self._root_text([table[x] for x in i])
        )
        below = self._named(operand, [table.get(x, "0") for x in j])
        assert k >= 0
        return f"∂{top}/∂{below} = {self.printer.print(total)}"

    def _root_text(self, letters: list[str]) -> str:
        return TextStyle().element(self.top, letters) if letters else self.top.text

    # ------------------------------------------------------------------ numbers
    def _numeric(self) -> list[Any]:
        """The gradients that backward() gives: by running it, or, once it has freed its values, as recomputed."""
        tracked = [v for v in self.variables if v._requires_grad]
        if self.out._requires_grad and len(tracked) == len(self.variables):
            try:
                found = grad(
                    self.out,
                    self.variables,
                    Tensor.constant(self._ones()),
                    retain_graph=True,
                    allow_unused=True,
                    materialize_grads=True,
                )
                return [g._data for g in found if g is not None]
            except GradientError:
                pass
        by_record = {record: alias for record, _, alias in self.backward}
        out = []
        for target in self.targets:
            record = self.records[target]
            zeros = np.zeros([int(n) for n in record.shape], record.dtype)
            out.append(
                self._ones()
                if record is self.root
                else self.values(by_record[record])
                if record in by_record
                else zeros
            )
        return out

    def _ones(self) -> Any:
        shape, dtype = self.out._data.shape, self.out._data.dtype
        return np.ones(shape, dtype) if shape else dtype.type(1)

    def _work(self) -> int:
        """Scalar operations that the oracle needs, roughly."""
        work = 0
        for r in self.forward:
            size = int(np.prod(r.shape, dtype=int))
            inner = max((int(np.prod(o.shape, dtype=int)) for o in r.operands if o is not None), default=1)
            if r.op.name == "matmul":
                size *= int(r.operands[0].shape[-1])
            work += max(size, inner if r.op.expr is None else 0)
        return 6 * work
