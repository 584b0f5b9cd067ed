"""Any text at all: it is computed, or refused with a sentence, in bounded time."""

from __future__ import annotations

import time

from hypothesis import example, given
from hypothesis import strategies as st

from symgrad import typed
from symgrad.errors import TypedFormulaError

WORDS = [
    "x", "y", "w", "X", "A", "lambda", "pi", "e", "β", "x'", "_", "if", "for", "in", "not", "None", "True",
    "exp", "log", "sum", "mean", "where", "softmax", "reshape", "expand", "permute", "squeeze", "logsumexp", "foo",
    "max", "dim", "keepdim", "0", "1", "2", "3.5", "1e5", "-1", "9", "99999",
    "+", "-", "*", "/", "**", "@", "(", ")", "[", "]", ",", ":", ";", "=", "==", "<", ">", "!=", ".T", ".t()", ".",
    "...", "^", "'", '"', "\n", " ", "\0", "²", "√", "²", "−", "//", "%", "#", "{", "\\", "$", "\u2028", "\ufeff",
]  # fmt: skip


def bounded(text: str) -> None:
    """Computes the text or has it refused; nothing else may come out."""
    start, refusal = time.perf_counter(), None
    try:
        typed.evaluate(text, seed=0)
    except TypedFormulaError as error:
        refusal = error
    if refusal is not None:
        assert refusal.reason
        assert "\0" not in str(refusal)
        assert max(map(len, refusal.text.split("\n")), default=0) <= 200
    assert time.perf_counter() - start < 20


@given(st.lists(st.sampled_from(WORDS), max_size=25).map("".join))
@example("9**9**9**9")
@example("x[9" + "9" * 300 + "]")
@example("expand(x," + "9" * 300 + ")")
@example("sum(x, dim=" + "9" * 300 + ")")
@example("1/" + "9" * 290 + "/" + "9" * 290)
def test_words_of_the_language(text):
    bounded(text)


@given(st.text(alphabet="xyzXAw01.9eE+-*/@()[],:;=<>!^'\"\n _²Σ{}\\#%&|~", max_size=60))
def test_letters_of_the_language(text):
    bounded(text)


@given(st.text(max_size=60))
def test_any_characters(text):
    bounded(text)


ATOMS = st.sampled_from(["x", "y", "w", "X", "A", "B", "2", "0", "1/3", "0.5", "pi", "lambda"])


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.tuples(parts, st.sampled_from(["+", "-", "*", "/", "**", "@", "<", "=="]), parts).map(
        "({0[0]}{0[1]}{0[2]})".format
    )
    unary = st.tuples(
        st.sampled_from(["-", "exp", "log", "sum", "mean", "tanh", "relu", "t", "logical_not", "squeeze"]), parts
    )
    index = st.tuples(parts, st.sampled_from(["[0]", "[:,None]", "[1:]", "[...,0]", "[None]", ".T", "[0,:2]", "[-3:]"]))
    params = st.tuples(st.sampled_from(["sum", "softmax", "logsumexp", "unsqueeze", "mean"]), parts, st.integers(-3, 3))
    choice = st.tuples(parts, parts, parts).map("where({0[0]}>0,{0[1]},{0[2]})".format)
    return st.one_of(
        binary,
        unary.map("{0[0]}({0[1]})".format),
        index.map("({0[0]}){0[1]}".format),
        params.map("{0[0]}({0[1]},{0[2]})".format),
        choice,
    )


@given(st.recursive(ATOMS, _joined, max_leaves=12))
def test_formulas(text):
    bounded(text)


@given(st.recursive(ATOMS, _joined, max_leaves=8), st.recursive(ATOMS, _joined, max_leaves=8))
def test_formulas_with_an_assignment(first, second):
    bounded(f"z = {first}; {second.replace('y', 'z')}")


def test_long_formulas_take_little_time():
    bounded(";".join(f"z{k}=x{k}+x{k + 1}" for k in range(600, -1, -1)) + ";X@x0")
    bounded(";".join(["z0=X@w"] + [f"z{k}=z{k - 1}@A" for k in range(1, 700)]))
    bounded("@".join(f"(a{k}+b{k})" for k in range(800)))
    bounded("+".join(f"log(x{k})" for k in range(900)))
