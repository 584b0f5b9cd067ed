"""Guards: the branches that were taken stand beside the formula."""

import symgrad as sg


def test_the_branch_of_a_function():
    def f(a):
        if a > 0:
            return a * a
        return -a

    x = sg.tensor(3.0, requires_grad=True)
    y = f(x)
    assert str(sg.formula(y, wrt=x)) == "∂y/∂x = 2·x      valid while x > 0"
    x = sg.tensor(-3.0, requires_grad=True)
    y = f(x)
    assert sg.formula(y, wrt=x).guards == ["x ≤ 0"]


def test_every_test_of_a_loop_counts_the_last_one_too():
    b = sg.tensor(3.0, requires_grad=True)
    while b < 10:
        b = b * 2
    assert sg.formula(b).guards == ["b < 10", "b₁ < 10", "2·b₁ ≥ 10"]


def test_truth_of_a_leaf():
    x = sg.tensor(3.0, requires_grad=True)
    y = x * 2 if x else x
    assert sg.formula(y).guards == ["x ≠ 0"]


def test_a_position_that_was_searched_is_a_constant_of_this_run():
    x = sg.tensor([1.0, 3.0, 2.0], requires_grad=True)
    y = 2 * x[x.argmax()]
    assert str(sg.formula(y, wrt=x)) == "∂y/∂xᵢ = 2·[i = 1]      valid while argmax(x) = 1"


def test_none_under_no_grad():
    x = sg.tensor(3.0, requires_grad=True)
    with sg.no_grad():
        taken = bool(x > 0)
    y = x * taken
    assert sg.formula(y).guards == []


def test_a_test_of_values_that_are_gone_is_told_by_its_line():
    x = sg.tensor(3.0, requires_grad=True)
    y = x * x if x * 2 > 1 else x
    (guard,) = sg.formula(y).guards
    assert "y = x * x if x * 2 > 1 else x" in guard
    assert guard.endswith("is taken")


def test_a_test_of_all_entries():
    x = sg.tensor([1.0, 3.0], requires_grad=True)
    positive = x > 0
    y = sg.log(x).sum() if positive.all() else x.sum()
    assert sg.formula(y).guards == ["all(positive)"]


def test_latex_has_them_too():
    x = sg.tensor(3.0, requires_grad=True)
    y = x * x if x > 0 else x
    assert sg.formula(y, wrt=x).latex() == r"\frac{\partial y}{\partial x} = 2 \, x \qquad \text{valid while } x > 0"


def test_two_tests_in_a_row_both_count():
    z = sg.tensor(2.0, requires_grad=True)
    w = z
    if z > 0 and not z > 5:
        w = z * z
    assert str(sg.formula(w)).endswith("valid while z > 0 and z ≤ 5")


def test_a_test_of_entries_that_nobody_keeps_is_told():
    a = sg.tensor([1.0, -2.0], requires_grad=True)
    y = a.sum()
    if (a > -5).all():
        y = y * 2
    assert "valid while the branch in line" in str(sg.formula(y))
