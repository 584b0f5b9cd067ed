"""The reference of ops, made from the catalogue when the pages are built.

The directive ``catalogue`` takes the name of a module of `symgrad.ops` and describes each of
its public ops: signature, docstring, PyTorch's name of the node, and value and gradient as the
library itself prints them, for tensors made here. An op that is elementwise needs nothing more
than its declaration; any other needs a line in `SAMPLES`, and the build fails until it has one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

import symgrad as sg
from symgrad.ops.declare import Op, public_ops
from symgrad.ops.generate import UNSET

FILLED_IN = {"everything"}
"""Parameters that an op's `prepare` fills in; nobody passes them."""


def leaf(name: str, *shape: int, dims: tuple[str, ...] | None = None) -> sg.Tensor:
    """A leaf of that name: a number, or an array of different entries."""
    if not shape:
        return sg.tensor(1.5, requires_grad=True, name=name)
    size = 1
    for n in shape:
        size *= n
    values = sg.linspace(0.5, 1.5, size).reshape(*shape).numpy()
    return sg.tensor(values, requires_grad=True, name=name, dims=dims)


Sample = tuple[str, list[sg.Tensor], Callable[..., sg.Tensor]]

SAMPLES: dict[str, Callable[[], Sample]] = {
    "where": lambda: (
        "where(x > 0, x, y)",
        [leaf("x"), leaf("y")],
        lambda x, y: sg.where(x > 0, x, y),
    ),
    "cast": lambda: ("cast(x, sg.float32)", [leaf("x")], lambda x: sg.cast(x, sg.float32)),
    "matmul": lambda: (
        "matmul(x, y), for matrices",
        [leaf("x", 2, 3, dims=("m", "k")), leaf("y", 3, 2, dims=("k", "n"))],
        sg.matmul,
    ),
    "getitem": lambda: ("x[1:3], for a vector", [leaf("x", 4)], lambda x: x[1:3]),
    "sum": lambda: ("sum(x), for a vector", [leaf("x", 3, dims=("n",))], sg.sum),
    "mean": lambda: ("mean(x), for a vector", [leaf("x", 3, dims=("n",))], sg.mean),
    "logsumexp": lambda: ("logsumexp(x), for a vector", [leaf("x", 3, dims=("n",))], sg.logsumexp),
    "softmax": lambda: ("softmax(x, 0), for a vector", [leaf("x", 3, dims=("n",))], lambda x: sg.softmax(x, 0)),
    "log_softmax": lambda: (
        "log_softmax(x, 0), for a vector",
        [leaf("x", 3, dims=("n",))],
        lambda x: sg.log_softmax(x, 0),
    ),
    "permute": lambda: ("permute(x, 2, 0, 1)", [leaf("x", 2, 3, 4)], lambda x: sg.permute(x, 2, 0, 1)),
    "reshape": lambda: ("reshape(x, 6), for a 2×3 matrix", [leaf("x", 2, 3)], lambda x: sg.reshape(x, 6)),
    "squeeze": lambda: ("squeeze(x, 0), for a 1×3 matrix", [leaf("x", 1, 3)], lambda x: sg.squeeze(x, 0)),
    "unsqueeze": lambda: ("unsqueeze(x, 0), for a vector", [leaf("x", 3)], lambda x: sg.unsqueeze(x, 0)),
    "expand": lambda: ("expand(x, 2, 3), for a vector of 3", [leaf("x", 3)], lambda x: sg.expand(x, 2, 3)),
    "transpose": lambda: ("transpose(x, 0, 1), for a matrix", [leaf("x", 2, 3)], lambda x: sg.transpose(x, 0, 1)),
    "t": lambda: ("t(x), for a matrix", [leaf("x", 2, 3)], sg.t),
}
"""For each op that cannot be called on numbers alone: how it is called, on what, and the call."""


def sample(op: Op) -> Sample:
    """The op called on small tensors."""
    if op.name in SAMPLES:
        return SAMPLES[op.name]()
    required = [p for p in op.params if op.defaults[p] is UNSET]
    if op.expr is None or op.constants or required:
        raise ExtensionError(
            f"the op {op.name} is not elementwise, or needs more than tensors; say in SAMPLES of "
            "docs/_extensions/catalogue.py how the reference calls it"
        )
    return f"{op.name}({', '.join(op.args)})", [leaf(a) for a in op.args], op.record


def formulas(op: Op) -> tuple[str, str, list[str]]:
    """(the call, PyTorch's name of its node, its value and gradients as the library prints them)."""
    call, leaves, function = sample(op)
    f = function(*leaves)
    if f.grad_fn is None:
        raise ExtensionError(f"the op {op.name} has gradient rules, and its sample records nothing")
    lines = [str(sg.formula(f))]
    for x in leaves:
        lines.append(str(sg.formula(f, wrt=x)))
        if f.ndim:
            lines.append(str(sg.explain(f, wrt=x).formulas[0]))
    return call, f.grad_fn.name(), lines


def signature(op: Op) -> str:
    """The signature as a user calls it."""
    parts = list(op.args)
    for p in op.params:
        if p in FILLED_IN:
            continue
        default = op.defaults[p]
        parts.append(f"*{p}" if p == op.star else p if default is UNSET else f"{p}={default!r}")
    return f"({', '.join(parts)})"


OPERATORS = {
    "__add__": "x + y", "__sub__": "x - y", "__mul__": "x * y", "__truediv__": "x / y", "__pow__": "x ** y",
    "__matmul__": "x @ y", "__neg__": "-x", "__abs__": "abs(x)", "__getitem__": "x[…]", "__lt__": "x < y",
    "__le__": "x <= y", "__gt__": "x > y", "__ge__": "x >= y", "__eq__": "x == y", "__ne__": "x != y",
}  # fmt: skip


def spellings(op: Op) -> list[str]:
    """Other ways to call the op: operators, methods, further names."""
    record, found = op.record, []
    for name, shown in OPERATORS.items():
        wrapped = name in ("__eq__", "__ne__") and op.name == name.strip("_")
        if wrapped or vars(sg.Tensor).get(name) is record:
            found.append(shown)
    methods = [name for name, value in vars(sg.Tensor).items() if value is record and not name.startswith("__")]
    aliases = [name for name, value in vars(sg).items() if value is record and name != op.name]
    return found + [f"x.{name}(…)" for name in methods] + [f"sg.{name}" for name in aliases]


def entry(op: Op) -> str:
    """One op, in MyST."""
    if getattr(sg, op.name, None) is not op.record:
        raise ExtensionError(f"the public op {op.name} is not exported by symgrad/__init__.py")
    doc = (op.record.__doc__ or "").strip()
    if not doc:
        raise ExtensionError(f"the public op {op.name} has no docstring")
    lines = [f"````{{py:function}} {op.name}{signature(op)}", "", *[line.strip() for line in doc.splitlines()], ""]
    if also := spellings(op):
        lines += ["Also " + ", ".join(f"`{s}`" for s in also) + ".", ""]
    if op.differentiable:
        call, node, printed = formulas(op)
        lines += [f"`f = {call.partition(', for')[0]}`{''.join(call.partition(', for')[1:])}:", ""]
        lines += ["```{code-block} text", ":class: formula", *printed, "```", ""]
        facts = f"Node `{node}`; {op.rule_name}"
        facts += "; has points without a derivative, where its convention holds" if op.kink else ""
        lines += [facts + ".", ""]
    else:
        lines += ["The result has no gradient.", ""]
    return "\n".join([*lines, "````", ""])


class Catalogue(SphinxDirective):
    """The public ops of one module."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Every op of the module, in the order of declaration."""
        module = f"symgrad.ops.{self.arguments[0]}"
        ops = [o for o in public_ops() if o.forward.__module__ == module]
        if not ops:
            raise ExtensionError(f"{module} declares no public op")
        shown = self.env.metadata[self.env.docname].setdefault("ops_shown", [])
        shown += [o.name for o in ops]
        return self.parse_text_to_nodes("```{py:currentmodule} symgrad\n```\n\n" + "\n".join(map(entry, ops)))


def every_op_is_shown(app: Sphinx, env: Any) -> None:
    """Fails the build if a public op of the library is on no page, or a field of its declaration is not explained."""
    shown = {name for page in env.metadata.values() for name in page.get("ops_shown", [])}
    missing = {o.name for o in public_ops()} - shown
    if missing:
        names = ", ".join(sorted(missing))
        raise ExtensionError(f"no page shows these ops: {names}; add their module to docs/reference/ops.md")
    guide = Path(app.srcdir, "adding-an-op.md").read_text(encoding="utf-8")
    unsaid = [p for p in inspect.signature(sg.op).parameters if f"`{p}`" not in guide]
    if unsaid:
        raise ExtensionError(f"docs/adding-an-op.md does not say what {', '.join(unsaid)} of sg.op is")


def skip_ops(app: Sphinx, what: str, name: str, found: Any, skip: bool, options: Any) -> bool | None:
    """Methods that are ops are described once, with the ops."""
    return True if any(found is o.record for o in public_ops()) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("catalogue", Catalogue)
    app.connect("env-check-consistency", every_op_is_shown)
    app.connect("autodoc-skip-member", skip_ops)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
