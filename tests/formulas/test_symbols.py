"""Two leaves are never one because their names agree, in one expression or across several."""

import pickle

import sympy

import symgrad as sg


def test_the_only_leaf_of_a_name_has_the_plain_real_symbol():
    x = sg.tensor(2.0, requires_grad=True)
    assert x.expr == sympy.Symbol("x", real=True)


def test_two_leaves_of_one_name():
    p = sg.tensor(2.0, requires_grad=True, name="x")
    q = sg.tensor(3.0, requires_grad=True, name="x")
    product = (p * q).expr
    assert p.expr != q.expr
    assert sympy.diff(product, q.expr) == p.expr
    assert sympy.diff(product, p.expr) == q.expr
    assert pickle.loads(pickle.dumps(q.expr)) == q.expr


def test_a_leaf_keeps_its_symbol_whatever_it_is_called_later():
    a = sg.tensor(2.0, requires_grad=True)
    square = (a * a).expr
    b = a
    del a
    assert sympy.diff(square, b.expr) == 2 * b.expr


def test_arrays_too():
    X = sg.ones(2, requires_grad=True, name="X")
    Y = sg.ones(2, requires_grad=True, name="X")
    assert X.expr != Y.expr
    assert (X * Y).expr.free_symbols >= {X.expr, Y.expr} or (X * Y).expr == X.expr * Y.expr


def test_leaves_without_a_name():
    leaves = [sg.tensor(float(k), requires_grad=True) for k in (2, 3)]
    product = (leaves[0] * leaves[1] ** 2).expr
    assert sympy.diff(product, leaves[1].expr) == 2 * leaves[0].expr * leaves[1].expr
