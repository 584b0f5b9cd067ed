"""Declarations: what they must hold, what they are refused for, and that a user's own op works throughout."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.graph.columns import numeric_namespace, recorded_namespace
from symgrad.ops.declare import Op, Reflected, _recording, catalogue
from symgrad.ops.generate import _OWN_NAMES, compile_function, is_taken, pull_source, recording_source

PREFIX = "declared_in_a_test"


@pytest.fixture(autouse=True)
def leave_no_ops() -> Iterator[None]:
    yield
    for name in [n for n in catalogue if n.startswith(PREFIX)]:
        del catalogue[name]
        for namespace in (numeric_namespace, recorded_namespace):
            vars(namespace).pop(name, None)


def elementwise(forward: Callable[..., Any], suffix: str = "", **facts: Any) -> Callable[..., Any]:
    """The op of an elementwise forward; facts not given are right for one differentiable argument x."""
    forward.__name__ = f"{PREFIX}{suffix}"
    usual: dict[str, Any] = dict(broadcasts=True, expr=lambda m, x: x, vjp=dict(x=lambda g: g))
    return sg.op(**usual | facts)(forward)


# ------------------------------------------------------------------ a user's own op
def cube() -> Callable[..., Any]:
    return elementwise(
        lambda x: x**3, expr=lambda m, x: x**3, floats=True, vjp=dict(x=lambda xp, g, x: g * (3 * (x * x)))
    )


def outer() -> Callable[..., Any]:
    def forward(x, y):
        return np.multiply.outer(x, y)

    forward.__name__ = f"{PREFIX}_outer"
    return sg.op(
        index=lambda m, i, x, y: x((i[0],)) * y((i[1],)),
        shape=lambda x, y: (x[0], y[0]),
        vjp=dict(x=lambda xp, g, y: xp.matmul(g, y), y=lambda xp, g, x: xp.matmul(x, g)),
    )(forward)


def test_a_declared_op_computes_and_has_gradients_of_any_order() -> None:
    f = cube()
    x = sg.tensor([1.0, -2.0], requires_grad=True)
    y = f(x)
    assert y.tolist() == [1, -8]
    assert type(y.grad_fn).__name__ == "".join(part.title() for part in PREFIX.split("_")) + "Backward0"
    (first,) = sg.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = sg.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = sg.autograd.grad(second.sum(), x)
    assert (first.tolist(), second.tolist(), third.tolist()) == ([3, 12], [6, -12], [6, 6])
    f(x).sum().backward()
    assert x.grad.tolist() == [3, 12]


def test_a_declared_op_has_formulas() -> None:
    x = sg.tensor(2.0, requires_grad=True)
    y = cube()(x)
    assert str(y.formula()) == "y = x³"
    assert sympy.diff(y.expr, x.expr).subs(x.expr, 2) == 12
    assert y.formula(wrt=x).expr.subs(x.expr, 2) == 12


def test_a_declared_op_with_an_index_face() -> None:
    f = outer()
    a, b = sg.tensor([1.0, 2.0], requires_grad=True), sg.tensor([3.0, 4.0, 5.0], requires_grad=True)
    y = f(a, b)
    assert y.tolist() == [[3, 4, 5], [6, 8, 10]]
    assert str(y.formula()) == "yᵢⱼ = aᵢ·bⱼ"
    (first,) = sg.autograd.grad(y.sum(), a, create_graph=True)
    (mixed,) = sg.autograd.grad(first.sum(), b)
    assert (first.tolist(), mixed.tolist()) == ([12, 12], [2, 2, 2])


def test_parameters_have_defaults_and_keywords() -> None:
    f = elementwise(
        lambda x, power=2: x**power,
        params=("power",),
        expr=lambda m, x, power: x**power,
        vjp=dict(x=lambda g, x, power: g * power * x ** (power - 1)),
    )
    x = sg.tensor(3.0, requires_grad=True)
    assert (f(x).item(), f(x, 3).item(), f(x, power=3).item()) == (9, 27, 27)
    assert sg.autograd.grad(f(x, power=3), x)[0].item() == 27


def test_a_helper_op_is_recorded_in_the_backward_pass_only_and_stays_as_it_is() -> None:
    def slope(x):
        return 3 * x**2

    helper = elementwise(
        slope, "_slope", public=False, expr=lambda m, x: 3 * x**2, vjp=dict(x=lambda g, x: g * (6 * x))
    )
    assert helper is slope
    assert catalogue[slope.__name__].recorder is None
    f = elementwise(lambda x: x**3, vjp=dict(x=lambda xp, g, x: g * getattr(xp, slope.__name__)(x)))
    x = sg.tensor(2.0, requires_grad=True)
    f(x).backward()
    assert x.grad.item() == 12
    assert catalogue[slope.__name__].recorder is None
    (first,) = sg.autograd.grad(f(x), x, create_graph=True)
    assert catalogue[slope.__name__].recorder is not None
    assert sg.autograd.grad(first, x)[0].item() == 12


@pytest.mark.parametrize("namespace", [numeric_namespace, recorded_namespace])
def test_a_rule_that_calls_an_unknown_function_is_told_so(namespace: Any) -> None:
    with pytest.raises(AttributeError, match="column has no op 'nothing'"):
        _ = namespace.nothing


# ------------------------------------------------------------------ refused at declaration
def test_an_argument_without_a_rule() -> None:
    with pytest.raises(TypeError, match=r"no gradient rule for \['y'\]; add one to vjp, or name it in constants"):
        elementwise(lambda x, y: x * y)
    elementwise(lambda x, y: x * y, constants=("y",))


def test_a_rule_that_takes_an_unknown_name() -> None:
    with pytest.raises(TypeError, match=r"rule of 'x' takes \['z'\]; it may take xp, g, out, x"):
        elementwise(lambda x: x, vjp=dict(x=lambda g, z: g * z))


@pytest.mark.parametrize("face", [dict(), dict(index=lambda m, i, x: x(i)), dict(shape=lambda x: x)])
def test_a_missing_face(face: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="no symbolic face; give expr=, or index= and shape="):
        elementwise(lambda x: x, expr=None, **face)


def test_an_op_declared_twice() -> None:
    first = elementwise(lambda x: x)
    with pytest.raises(TypeError, match=f"op {PREFIX} is declared twice"):
        elementwise(lambda x: 2 * x)
    assert catalogue[PREFIX].record is first


@pytest.mark.parametrize("name", sorted(_OWN_NAMES | {"value_x", "needs_x", "vjp_x", "Tensor", "new"}))
@pytest.mark.parametrize("is_parameter", [False, True])
def test_a_name_that_generated_code_uses(name: str, is_parameter: bool) -> None:
    forward = eval(f"lambda x, {name}: x")
    with pytest.raises(TypeError, match=rf"generated code uses the names \['{name}'\] itself"):
        elementwise(forward, **(dict(params=(name,)) if is_parameter else dict(constants=(name,))))
    assert PREFIX not in catalogue


def test_params_that_the_forward_does_not_have() -> None:
    with pytest.raises(TypeError, match=r"the forward has no parameters \['k'\]"):
        elementwise(lambda x: x, params=("k",))


def test_more_arguments_than_a_record_holds() -> None:
    with pytest.raises(TypeError, match="room for 1, 2 or 3 tensor arguments, and 4 are declared"):
        elementwise(lambda x, y, z, w: x, constants=("y", "z", "w"))


# ------------------------------------------------------------------ the generated code
def every_source() -> list[Any]:
    found = [pytest.param(o, recording_source(o), id=name) for name, o in catalogue.items()]
    return found + [pytest.param(o, pull_source(o), id=f"pull_{name}") for name, o in catalogue.items() if o.rules]


@pytest.mark.parametrize(("op", "source"), every_source())
def test_names_of_the_generated_code_are_refused_as_names_of_arguments(op: Op, source: str) -> None:
    rules = {f"vjp_{a}": None for a in op.rules}
    bindings = dict.fromkeys(("op", "forward", "prepare", "defaults", "usual", "take_named")) | {
        "defaults": op.defaults
    }
    code: CodeType = compile_function("checked", source, **bindings, **rules).__code__
    loaded = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    spelled = {"axis", "keepdims"}  # NumPy's spellings of dim and keepdim, which are arguments as well
    for name in {*code.co_varnames, *code.co_freevars, *loaded} - {*op.args, *op.params} - spelled:
        assert is_taken(name), name


def test_a_reflected_op_puts_itself_in_place_at_the_first_look_up() -> None:
    class Holder:
        __rsub__ = Reflected("sub")

    assert isinstance(vars(Holder)["__rsub__"], Reflected)
    found = Holder.__rsub__
    assert vars(Holder)["__rsub__"] is found
    assert found.__code__.co_varnames[:2] == tuple(reversed(catalogue["sub"].args))


def test_ops_of_the_same_form_have_code_objects_of_their_own() -> None:
    sin, cos = (_recording(catalogue[n], n) for n in ("sin", "cos"))
    assert recording_source(catalogue["sin"]) == recording_source(catalogue["cos"])
    assert sin.__code__ is not cos.__code__
    assert (sin.__name__, cos.__code__.co_filename) == ("sin", "<symgrad op cos>")


# ------------------------------------------------------------------ calls
@pytest.mark.parametrize("name", ["add", "mul", "div", "pow", "maximum", "lt", "eq"])
@pytest.mark.parametrize("values", [(2, 3.0), (2.5, 1)])
def test_plain_numbers_alone_are_refused(name: str, values: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=rf"{name}: the arguments x and \w+ are all plain numbers.*sg\.tensor"):
        getattr(sg, name)(*values)


def test_three_plain_numbers_are_refused_and_two_beside_a_tensor_are_not() -> None:
    with pytest.raises(TypeError, match="where: the arguments condition and x and y are all plain numbers"):
        sg.where(1, 2, 3.0)
    assert sg.where(sg.tensor([True, False]), 2, 3.0).tolist() == [2, 3]


def test_a_member_of_an_enumeration_is_the_number_that_it_is() -> None:
    from http import HTTPStatus

    x = sg.tensor(2.0, requires_grad=True)
    y = x * HTTPStatus.OK
    assert (y.item(), str(y.formula())) == (400, "y = 200·x")
