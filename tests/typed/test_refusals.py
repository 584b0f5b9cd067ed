"""Everything that is refused: the place, and the sentence that says what to write instead."""

from __future__ import annotations

import pytest

from symgrad import typed
from symgrad.errors import TypedFormulaError

REFUSED = [
    # text, the part under the caret, a piece of the sentence
    ("x^2", "^", "write ** for a power"),
    ("x²", "²", "write **2"),
    ("√x", "√", "write sqrt(x)"),
    ("Σ(x)", "Σ", "write sum(x)"),
    ("x // 2", "//", "write /"),
    ("x % 2", "%", "remainder"),
    ("x!", "!", "factorial"),
    ("~x", "~", "logical_not"),
    ("x & y", "&", "where"),
    ("x # note", "#", "comments"),
    ("\\alpha", "\\", "LaTeX"),
    ("{x}", "{", "write ( and )"),
    ("'os'", "'", "strings"),
    ('f("x")', '"', "strings"),
    ("f'{x}'", "{", "braces"),
    ("__import__('os').system('ls')", "_", "names start with a letter"),
    ("_x", "_", "names start with a letter"),
    ("(z := 3)", ":=", "statement of its own"),
    ("lambda x: x", "lambda", "functions cannot be defined"),
    ("[i for i in x]", "for", "comprehensions"),
    ("sum(i for i in x)", "for", "comprehensions"),
    ("x if y else z", "if", "where(condition, a, b)"),
    ("x and y", "and", "where"),
    ("not x", "not", "logical_not"),
    ("import os", "import", "nothing can be imported"),
    ("x is y", "is", "no meaning"),
    ("x.real", "x.real", "only x.T and x.t()"),
    ("x.__class__", "_", "names start with a letter"),
    ("x.sum()", "x.sum()", "write sum(x)"),
    ("X.t(1)", "X.t(1)", "methods with arguments"),
    ("x.t", "x.t", "write t(x)"),
    ("sigmod(x)", "sigmod", "the closest is sigmoid(x)"),
    ("Exp(x)", "Exp", "the closest is exp(x)"),
    ("cross_entropy(x)", "cross_entropy", "log_softmax"),
    ("eval(x)", "eval", "there is no function 'eval'"),
    ("x + x(y + 1)", "x", "write x*(...) for a product"),
    ("(x + 1)(y)", "(x + 1)(y)", "write * for a product"),
    ("2x", "2x", "write 2*x"),
    ("2(x + y)", "2(", "write 2*(x + y)"),
    ("a b", "a b", "side by side"),
    ("(a\nb)", "a\nb", "bracket is still open"),
    ("012", "012", "write 12"),
    ("1_000", "1_", "write 1000"),
    ("1j", "1j", "a sign is missing"),
    ("½*x", "½", "1/2"),
    ("x +", "+", "nothing on its right"),
    ("x + * y", "*", "nothing on its left"),
    ("(x + ) * 2", "+", "nothing on its right"),
    ("sum(, x)", ",", "nothing on its left"),
    ("(x", "(", "never closed"),
    ("x)", ")", "closes nothing"),
    ("(x]", "]", "close '(' first"),
    ("(x; y)", "(", "still open at this ';'"),
    ("0 < x < 1", "0 < x < 1", "cannot be chained"),
    ("x, y", "x, y", "list of values"),
    ("[1, 2]@w", "[1, 2]", "--at name=[1,2,3]"),
    ("x:y", ":", "belongs between brackets"),
    ("True + 1", "True", "not a value"),
    ("x + None", "None", "not a value"),
    ("x[y]", "y", "known beforehand"),
    ("x[1.5]", "1.5", "known beforehand"),
    ("x[True]", "True", "known beforehand"),
    ("X[::-1]", "X[::-1]", "greater than zero"),
    ("x; x = 2", "x", "has a meaning already"),
    ("z = x + 1; z = 2", "z", "has a meaning already"),
    ("a = b = c", "=", "write == to compare"),
    ("x + 1 = y", "=", "write == to compare"),
    ("2 = x", "2", "only a name"),
    ("y = x; y", "y", "use the one name"),
    ("z =", "z", "nothing follows"),
    ("sum()", "sum()", "argument 'x' is missing"),
    ("exp(x, y)", "exp(x, y)", "too many arguments"),
    ("sum(x, foo=1)", "sum(x, foo=1)", "no argument 'foo'"),
    ("sum(x, 0, dim=0)", "sum(x, 0, dim=0)", "given twice"),
    ("sum(x, dim=0, dim=1)", "dim", "given twice"),
    ("sum(x, dim=0, axis=0)", "sum(x, dim=0, axis=0)", "one thing"),
    ("sum(x, dim=y)", "y", "must be a plain number"),
    ("sum(*x)", "*x", "write the arguments out"),
    ("sum(**x)", "sum(**x)", "write the arguments out"),
    ("softmax(x)", "softmax(x)", "'dim' is missing"),
    ("1/0", "1/0", "divides by zero"),
    ("0**-1", "0**-1", "negative power of zero"),
    ("(-8)**0.5", "(-8)**0.5", "not real"),
    ("9**9**9", "9**9**9", "exponent is too large"),
    ("x**9**9", "x**9**9", "exponent is too large"),
    ("x**1e300", "x**1e300", "exponent is too large"),
    ("10**400", "10**400", "larger than a double"),
    ("1e999", "1e999", "larger than a double"),
    ("1e200*1e200", "1e200*1e200", "larger than a double"),
    ("expand(x, 100000, 100000)", "expand(x, 100000, 100000)", "10,000,000,000 entries"),
    ("X@2", "X@2", "use * for numbers"),
    ("where(x, 1, 2)", "where(x, 1, 2)", "must be bool"),
    ("x\0", "\0", "U+0000"),
    ("x\x1b[31m", "\x1b", "U+001B"),
    ("a\u2028b", "a\u2028b", "side by side"),
    ("x $ y", "$", "leave the $ out"),
    ("a" * 61, "a" * 61, "at most 60 characters"),
]


@pytest.mark.parametrize(("text", "under", "says"), REFUSED, ids=[repr(r[0][:30]) for r in REFUSED])
def test_refused(text, under, says):
    with pytest.raises(TypedFormulaError) as caught:
        typed.evaluate(text, seed=0)
    error = caught.value
    assert says in error.reason
    assert text[error.start : error.stop] == under
    assert str(error).endswith(error.reason)
    assert "^" in str(error)
    assert not {"\0", "\x1b"} & set(str(error))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no formula here"),
        (" \n ;", "there is no formula here"),
        ("x" * 10_001, "at most 10,000 are read"),
        ("(" * 101 + "x" + ")" * 101, "more than 100 deep"),
        ("x**" * 150 + "x", "more than 100 levels deep"),
        ("-" * 150 + "x", "more than 100 levels deep"),
        ("-" * 9_000 + "x", "too deep or too long"),
        ("sum(x, " + "-" * 1_000 + "1)", "too deep"),
        ("x" + "[0]" * 150, "more than 100 levels deep"),
        ("x" + ".T" * 150, "more than 100 levels deep"),
        ("+".join(["x"] * 4_900), "too deep or too long"),
        ("[" * 90 + "]" * 90, "list of values"),
        ("x" + "[None]" * 70, "dimensions"),
    ],
)
def test_refused_for_its_size(text, says):
    with pytest.raises(TypedFormulaError) as caught:
        typed.evaluate(text, seed=0)
    assert says in caught.value.reason
    assert max(map(len, str(caught.value).splitlines())) < 200


def test_a_hundred_brackets_are_fine():
    assert typed.evaluate("(" * 99 + "x" + ")" * 99, at={"x": 2.0}).result.item() == 2


def test_the_caret_stands_in_the_right_line():
    with pytest.raises(TypedFormulaError) as caught:
        typed.parse("z = X@w\nsum(z^2)")
    assert str(caught.value).splitlines()[:2] == ["sum(z^2)", "     ^"]


def test_a_long_line_is_shown_around_the_place():
    with pytest.raises(TypedFormulaError) as caught:
        typed.parse("+".join(["x"] * 300) + "^2 + " + "+".join(["x"] * 300))
    line, caret, _ = str(caught.value).splitlines()
    assert line[caret.index("^")] == "^"
    assert (line[0], line[-1]) == ("…", "…")
    assert len(line) < 170


def test_what_grows_too_large_is_refused_before_it_is_made():
    doubling = ";".join(
        ["z0 = X[:, None]*Y[None, :]"] + [f"z{k} = z{k - 1}[:, None]*z{k - 1}[None, :]" for k in range(1, 30)]
    )
    with pytest.raises(TypedFormulaError, match="entries"):
        typed.evaluate(doubling, seed=0)
    with pytest.raises(TypedFormulaError, match="entries"):
        typed.evaluate("x[:, None]*y[None, :]", shapes={"x": (10_000,), "y": (10_000,)})
    with pytest.raises(TypedFormulaError, match="entries"):
        typed.evaluate("a[:, None]@b[None, :]", shapes={"a": (10_000,), "b": (10_000,)})
    with pytest.raises(TypedFormulaError, match="together"):
        typed.evaluate("x" + "+x" * 30, shapes={"x": (10_000_000,)})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (dict(at={"Q": 1}), "--at gives Q, but the formula has no such variable (it has x, q); did you mean q?"),
        (dict(shapes={"k": (1,)}), "--shape gives k, but the formula has no such variable"),
        (dict(at={"z": 1}), "which the formula assigns itself"),
        (dict(at={"x": [1, 2]}, shapes={"x": (3,)}), "x is 2 with --at and 3 with --shape"),
        (dict(at={"x": [[1], [2, 3]]}), "rows of equal lengths"),
        (dict(at={"x": ["a"]}), "no real numbers"),
        (dict(at={"x": 1j}), "no real numbers"),
        (dict(at={"x": None}), "no real numbers"),
        (dict(shapes={"x": (-1,)}), "whole numbers"),
        (dict(shapes={"x": "20,3"}), "whole numbers"),
        (dict(shapes={"x": (10**5, 10**5)}), "10,000,000,000 entries"),
        (dict(seed=-1), "the seed must be a whole number"),
        (dict(seed="a"), "the seed must be a whole number"),
    ],
)
def test_options_that_do_not_fit(options, says):
    with pytest.raises(TypedFormulaError) as caught:
        typed.evaluate("z = x + q; z*2", **options)
    assert says in caught.value.reason
