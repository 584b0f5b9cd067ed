"""`op`: the decorator that makes an op of a forward function. One op, one declaration.

A declaration holds the forward (the function itself, on arrays), one gradient rule an
argument, and the symbolic face: `expr` for an elementwise op, `index` and `entries` for the
others. From these the decorator generates the recording function, the pull of the loop,
and the entries of every column's namespace. Declarations are complete at import or refused.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from ..array import broadcast_shapes
from ..errors import ArgumentTypeError
from ..graph.columns import numeric_namespace, recorded_namespace
from ..graph.node import Node
from .generate import UNSET, compile_function, is_taken, pull_source, recording_source
from .inline import called

catalogue: dict[str, Op] = {}
"""Every declared op, by name."""

_SHAPE_ONLY = {"shape", "dtype", "ndim"}


class Rule(NamedTuple):
    """A gradient rule: the function, the names it takes, and the names whose values it reads."""

    function: Callable[..., Any]
    takes: tuple[str, ...]
    reads: frozenset[str]


class Op:
    """A declared op. See `op` for the meaning of the attributes."""

    name: str
    forward: Callable[..., Any]
    args: tuple[str, ...]
    params: tuple[str, ...]
    defaults: dict[str, Any]
    rules: dict[str, Rule | None]
    constants: tuple[str, ...]
    broadcasts: bool
    promotes: bool
    floats: bool
    fits: bool
    selects: bool
    linear: tuple[str, ...]
    structural: bool
    variadic: bool
    star: str | None
    prepare: Callable[..., tuple[Any, ...]] | None
    expr: Callable[..., Any] | None
    index: Callable[..., Any] | None
    entries: Callable[..., Any] | None
    shape: Callable[..., tuple[int, ...]] | None
    kink: Callable[..., Any] | None
    repeats: int
    torch_name: str | Callable[[Node], str]
    saved_names: Mapping[str, str]
    rule_name: str
    public: bool
    differentiable: bool
    saves: bool
    readers: dict[str, tuple[str, ...]]
    recorder: Callable[..., Any] | None
    pull: Callable[..., Any]

    __slots__ = tuple(__annotations__)

    def __init__(self, **facts: Any):
        self.saves, self.readers, self.recorder = True, {}, None
        for name, fact in facts.items():
            setattr(self, name, fact)

    @property
    def arity(self) -> int:
        """The number of tensor arguments."""
        return len(self.args)

    @property
    def record(self) -> Callable[..., Any]:
        """The function that records, generated when it is first asked for."""
        if self.recorder is None:
            self.recorder = _recording(self, self.name)
            self.recorder.__doc__, self.recorder.__module__ = self.forward.__doc__, self.forward.__module__
        return self.recorder

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def grad_name(self, node: Node) -> str:
        """The name of the node as PyTorch has it, for example ``MulBackward0``."""
        name = self.torch_name(node) if callable(self.torch_name) else self.torch_name
        return name if "Backward" in name else f"{name}Backward0"

    def operand_names(self, node: Node) -> tuple[str, ...]:
        """PyTorch's names of the operands, as in ``_saved_self``."""
        if self.variadic:
            return tuple(f"input{k}" for k in range(len(node.a0)))
        return tuple(self.saved_names[a] for a in self.args)

    def result_shape(self, shapes: tuple[tuple[int, ...], ...], params: tuple[Any, ...] | None) -> tuple[int, ...]:
        """The shape of the result from those of the operands, without any data."""
        if self.shape is not None:
            return tuple(self.shape(*shapes, *(params or ())))
        return broadcast_shapes(*shapes)


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _reads(function: Callable[..., Any], names: tuple[str, ...]) -> frozenset[str]:
    """The parameters whose values the function's code uses, beyond their shape and dtype."""
    if _SHAPE_ONLY.isdisjoint(function.__code__.co_names):
        return frozenset(names)
    found: set[str] = set()
    for here, following in pairwise(dis.get_instructions(function)):
        if not here.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
            continue
        # One instruction may load two names; what follows it acts on the last.
        loaded = here.argval if isinstance(here.argval, tuple) else (here.argval,)
        of_shape = following.opname in ("LOAD_ATTR", "LOAD_METHOD") and following.argval in _SHAPE_ONLY
        found.update(n for n in (loaded[:-1] if of_shape else loaded) if n in names)
    return frozenset(found)


def _rule(op_name: str, argument: str, function: Callable[..., Any], known: tuple[str, ...]) -> Rule:
    takes = _parameters(function)
    unknown = [t for t in takes if t not in ("xp", "g", "out", *known)]
    if unknown:
        raise TypeError(
            f"op {op_name}: the rule of {argument!r} takes {unknown}; it may take xp, g, out, {', '.join(known)}"
        )
    return Rule(function, takes, _reads(function, takes))


def op(
    *,
    vjp: Mapping[str, Callable[..., Any] | None],
    constants: tuple[str, ...] = (),
    params: tuple[str, ...] = (),
    expr: Callable[..., Any] | None = None,
    index: Callable[..., Any] | None = None,
    entries: Callable[..., Any] | None = None,
    shape: Callable[..., Any] | None = None,
    prepare: Callable[..., tuple[Any, ...]] | None = None,
    star: str | None = None,
    broadcasts: bool = False,
    floats: bool = False,
    fits: bool = False,
    selects: bool = False,
    linear: tuple[str, ...] = (),
    structural: bool = False,
    kink: Callable[..., Any] | None = None,
    repeats: int = 1,
    torch_name: str | Callable[[Node], str] | None = None,
    saved_names: Mapping[str, str] | None = None,
    rule_name: str = "chain rule",
    public: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares an op: decorates its forward function and returns the function that records.

    Parameters
    ----------
    vjp : mapping of argument to rule
        For each differentiable argument a pure function of ``xp`` (the column's functions), ``g``
        (the cotangent of the result) and whichever of ``out``, the arguments and the parameters it
        names; it returns the argument's cotangent. None declares a derivative that is zero. Use
        ``xp.where`` where a branch was not selected: that zero is strong.
    constants : tuple of str
        Tensor arguments that have no derivative, such as a condition.
    params : tuple of str
        Arguments that are no tensors. Rules and forward get them as `prepare` returns them.
    expr : callable, optional
        The symbolic face of an elementwise op: ``expr(m, x, …)`` with ``m`` a namespace of scalar
        functions; it serves index terms, SymPy and mpmath alike.
    index : callable, optional
        The face of any other op: ``index(m, i, x, …, params)`` is the entry at the indices ``i``; an
        operand is called with indices and has a shape.
    entries : callable, optional
        Forward on object arrays of scalars; the forward itself where NumPy can do it.
    shape : callable, optional
        The result's shape from the operands' shapes and the parameters; elementwise ops broadcast.
    prepare : callable, optional
        Parameters as given, after the operands' values, to a tuple in normal form; it checks them.
    star : str, optional
        A parameter that is given as separate arguments or as one tuple.
    broadcasts, floats, fits, selects, structural : bool
        Elementwise with broadcasting · integers become floats first · rules may return cotangents of a
        broadcast shape · some inputs are not selected, so their zero is strong · moves entries only.
    linear : tuple of str
        Arguments in which the op is linear while the others are fixed.
    kink : callable, optional
        Where the op has no derivative, as a condition ``kink(m, x, …)`` on scalars.
    repeats : int
        How often the face writes its operand.
    torch_name, saved_names, rule_name
        PyTorch's name of the node, its names of saved values; the rule's name in a derivation.
    public : bool
        Whether users see it. A helper op of rules is not public: rules find it in ``xp``, and the
        decorator returns its forward as it is.

    Raises
    ------
    TypeError
        If an argument has neither a rule nor is declared constant, a rule takes a name that is
        unknown, the symbolic face is missing, the name of an argument is one that generated code
        uses, or an op of that name exists.
    """

    def declare(forward: Callable[..., Any]) -> Callable[..., Any]:
        name = forward.__name__.rstrip("_")
        if name in catalogue:
            raise TypeError(f"op {name} is declared twice")
        names = _parameters(forward)
        args = tuple(n for n in names if n not in params)
        if taken := [n for n in names if is_taken(n)]:
            raise TypeError(
                f"op {name}: generated code uses the names {taken} itself; call the arguments something else"
            )
        if unknown := [p for p in params if p not in names]:
            raise TypeError(f"op {name}: the forward has no parameters {unknown}, which params names; it has {names}")
        if not 1 <= len(args) <= 3:
            raise TypeError(
                f"op {name}: a record has room for 1, 2 or 3 tensor arguments, and {len(args)} are declared"
            )
        missing = [a for a in args if a not in vjp and a not in constants and vjp]
        if missing:
            raise TypeError(f"op {name}: no gradient rule for {missing}; add one to vjp, or name it in constants")
        if expr is None and (index is None or shape is None):
            raise TypeError(f"op {name}: no symbolic face; give expr=, or index= and shape=")
        given = forward.__defaults__ or ()
        given = dict(zip(names[len(names) - len(given) :], given, strict=True)) | (forward.__kwdefaults__ or {})
        defaults = {p: given.get(p, UNSET) for p in params}
        saved = dict(zip(args, ("self", "other", "third"), strict=False)) | dict(saved_names or {})
        declared = Op(
            name=name,
            forward=forward,
            args=args,
            params=params,
            defaults=defaults,
            rules={a: r if r is None else _rule(name, a, r, names) for a, r in vjp.items()},
            constants=constants,
            broadcasts=broadcasts,
            promotes=broadcasts or floats,
            floats=floats,
            fits=fits,
            selects=selects,
            linear=linear,
            structural=structural,
            variadic=False,
            star=star,
            prepare=prepare,
            expr=expr,
            index=index,
            entries=entries,
            shape=shape,
            kink=kink,
            repeats=repeats,
            torch_name=torch_name or name.title().replace("_", ""),
            saved_names=saved,
            rule_name=rule_name,
            public=public,
            differentiable=bool(vjp),
        )
        for a in (*args, "out"):
            declared.readers[a] = tuple(r for r, rule in declared.rules.items() if rule and a in rule.reads)
        declared.saves = any(declared.readers.values())
        declared.pull = _pull_when_needed(declared)
        catalogue[name] = declared
        setattr(numeric_namespace, name, called(forward))
        return declared.record if public else forward

    return declare


def _recorded(name: str) -> Callable[..., Any]:
    """Puts an op's recording function in the recorded column when a rule first asks for it."""
    if name not in catalogue:
        raise AttributeError(f"the recorded column has no op {name!r}")
    setattr(recorded_namespace, name, record := catalogue[name].record)
    return record


recorded_namespace.__getattr__ = _recorded


class Reflected:
    """A two-argument op with its arguments swapped, for ``__rsub__`` and its kin.

    The recording function is generated, and put in this place, when it is first looked up.
    """

    def __init__(self, name: str):
        self.op = catalogue[name]

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.owner, self.attribute = owner, attribute

    def __get__(self, instance: Any, owner: type) -> Callable[..., Any]:
        first, second = self.op.args
        record = _recording(self.op, f"{self.op.name}_reflected", (second, first))
        setattr(self.owner, self.attribute, record)
        return record.__get__(instance, owner)


def _recording(declared: Op, name: str, order: tuple[str, ...] | None = None) -> Callable[..., Any]:
    return compile_function(
        name,
        recording_source(declared, order),
        op=declared,
        forward=called(declared.forward),
        prepare=declared.prepare,
        defaults=declared.defaults,
        usual=tuple(declared.defaults.values()),
        take_named=_take_named(declared.name, declared.star),
    )


def _pull_when_needed(declared: Op) -> Callable[..., Any]:
    """Puts the generated pull in its own place when it is first called: most programs run few ops backward."""

    def pull(xp: Any, g: Any, node: Any, needs: int) -> Any:
        rules = {f"vjp_{a}": r.function for a, r in declared.rules.items() if r}
        declared.pull = compile_function(f"pull_{declared.name}", pull_source(declared), **rules)
        return declared.pull(xp, g, node, needs)

    return pull


def _take_named(op_name: str, star: str | None) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]:
    def take(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        if set(named) != {star} or given:
            raise ArgumentTypeError(
                f"{op_name}: unexpected keyword {', '.join(named)}; write {op_name}(x, ...) or {star}=(...)"
            )
        value = named[star or ""]
        return value if isinstance(value, tuple) else (value,)

    return take


def public_ops() -> Iterator[Op]:
    """The ops that users see, in the order of their declaration."""
    return (o for o in catalogue.values() if o.public)
