"""The proof says what is so: agreement, disagreement, kinks, values that are not there."""

import pytest

import symgrad as sg


def proof(make, at):
    x = sg.tensor(at, requires_grad=True, name="x")
    return str(sg.explain(make(x), x).proofs[0])


@pytest.mark.parametrize(
    ("make", "at", "said"),
    [
        (lambda x: sg.sin(x) * x, 0.3, "agree to"),
        (lambda x: sg.sqrt(x), 0.0, "there is no finite derivative here (numeric inf)"),
        (lambda x: 1 / x, 0.0, "there is no finite derivative here (numeric -inf)"),
        (lambda x: sg.exp(x), 1000.0, "the number is inf where the exact value is 1.97007e+434: it overflows"),
        (lambda x: sg.abs(x), 0.0, "kink inside abs: the convention holds there"),
        (lambda x: sg.relu(x) - sg.relu(-x), 0.0, "smooth there, and 1 of its slopes differ"),
        (lambda x: sg.abs(x) * x, 0.0, "smooth there, and has this slope"),
        (lambda x: (x * 2).sum(), [], "x: nothing to compare"),
    ],
)
def test_what_is_said(make, at, said):
    assert said in proof(make, at)


def test_a_wrong_rule_is_called_so(monkeypatch):
    from symgrad.ops import catalogue

    x = sg.tensor(0.7, requires_grad=True)
    y = sg.sin(x)
    monkeypatch.setattr(catalogue["sin"], "pull", lambda xp, g, node, needs: ((node.a0, g * 2),))
    assert "DISAGREE" in str(sg.explain(y).proofs[0])


def test_cancelling_terms_are_measured_by_their_size():
    x = sg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    text = str(sg.explain((sg.softmax(x, 0) * 3).sum()).proofs[0])
    assert "agree" in text


def test_past_the_budget_nothing_is_claimed():
    x = sg.ones(300, 300, requires_grad=True)
    assert "more than the budget" in str(sg.explain((sg.sin(x) * x).sum()).proofs[0])
