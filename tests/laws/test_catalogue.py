"""Completeness: what is declared is exported, documented and law-tested; local derivatives are SymPy's own."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.ops.declare import Op, public_ops

from .checks import flat
from .inputs import DIFFERENTIABLE, EVERY, HELPERS, Case, cases, named


def exported(op: Op) -> Any:
    return getattr(sg, op.name, None) or getattr(sg.nn.functional, op.name, None)


@pytest.mark.parametrize("op", public_ops(), ids=named)
def test_public_ops_are_exported(op: Op) -> None:
    assert exported(op) is op.record


def test_every_exported_op_is_declared_public() -> None:
    known = {id(o.record) for o in public_ops()}
    recording = {
        n: f for n, f in vars(sg).items() if getattr(f, "__code__", None) and "<symgrad op" in f.__code__.co_filename
    }
    assert {n for n, f in recording.items() if id(f) not in known} == set()
    assert len(recording) >= 40


@pytest.mark.parametrize("op", EVERY, ids=named)
def test_every_op_is_documented(op: Op) -> None:
    first = (op.record.__doc__ or "").strip().splitlines()[:1]
    assert first
    assert first[0][0].isupper() or first[0].startswith("`")
    assert first[0].endswith((".", ";"))


@pytest.mark.parametrize("op", EVERY, ids=named)
def test_rules_take_known_names(op: Op) -> None:
    known = {"xp", "g", "out", *op.args, *op.params}
    for argument, rule in op.rules.items():
        assert argument in op.args
        assert rule is None or set(rule.takes) <= known


@pytest.mark.parametrize("op", EVERY, ids=named)
@settings(max_examples=5)
@given(data=st.data())
def test_every_op_has_inputs(op: Op, data: Any) -> None:
    case = data.draw(cases(op))
    with np.errstate(all="ignore"):
        assert case.run(*case.leaves()) is not None


def test_an_op_that_cannot_be_guessed_says_where_to_add_a_line() -> None:
    unknown = EVERY[0]
    facts = {name: getattr(unknown, name) for name in ("args", "broadcasts", "name")}
    strange: Any = type("Strange", (), facts | {"name": "strange", "params": ("flavour",), "arity": 2})()
    with pytest.raises(LookupError, match=r"flavour.*strange.*PARAMETERS in tests/laws/inputs.py"):
        _draw(cases(strange))
    strange.params, strange.broadcasts = (), False
    with pytest.raises(LookupError, match=r"strange.*SHAPES in tests/laws/inputs.py"):
        _draw(cases(strange))


def _draw(strategy: Any) -> Any:
    @settings(max_examples=1)
    @given(strategy)
    def run(case: Case) -> None: ...

    return run()


ELEMENTWISE = [o for o in DIFFERENTIABLE if o.expr is not None and o.name not in HELPERS]


@pytest.mark.parametrize("op", ELEMENTWISE, ids=named)
@settings(max_examples=10)
@given(data=st.data())
def test_local_derivatives_are_sympys_own(op: Op, data: Any) -> None:
    """The rule, read as a formula, against SymPy's derivative of the op's expression."""
    points = data.draw(st.lists(st.sampled_from([0.5, 1.25, 2.0, 3.0, 0.3]), min_size=3, max_size=3, unique=True))
    case = data.draw(cases(op, tame=True))
    leaves = [
        sg.tensor(p if d else p > 1, requires_grad=d, name=f"v{k}")
        for k, (p, d) in enumerate(zip(points, case.differentiable, strict=False))
    ]
    out = op.record(*leaves, *case.params)
    if not out.requires_grad:
        return
    node = out.grad_fn
    at = {t.expr: sympy.Rational(float(t._data)) for t in leaves if t.requires_grad}
    at |= {t.expr: sympy.Integer(int(t._data)) for t in leaves if not t.requires_grad}
    assert set(node.local_derivatives) == {t.expr for t in leaves if t.requires_grad}
    for symbol, derivative in node.local_derivatives.items():
        own = sympy.diff(node.expr, symbol).subs(at)
        found, wanted = sympy.sympify(derivative).subs(at).evalf(30), own.doit().evalf(30)
        with mpmath.workdps(30):
            (a, b) = flat([mpmath.mpf(str(found)), mpmath.mpf(str(wanted))])
            assert abs(a - b) <= mpmath.mpf(10) ** -25 * max(abs(b), 1), (derivative, own)
