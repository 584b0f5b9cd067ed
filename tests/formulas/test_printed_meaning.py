"""What is printed can be read in one way only, and means what the term means."""

from typing import Any

import numpy as np
import pytest

import symgrad as sg


def leaf(value: Any, name: str, **options: Any) -> sg.Tensor:
    return sg.tensor(value, requires_grad=True, name=name, **options)


def right(formula: Any) -> str:
    return str(formula).split(" = ", 1)[1].split("      where")[0]


def test_a_root_of_a_power_has_brackets() -> None:
    x = leaf(-2.0, "x")
    assert right(sg.formula((x * x) ** 0.5)) == "√(x²)"  # √x² is x
    assert right(sg.formula(abs(x) ** 0.5)) == "√(|x|)"
    assert right(sg.formula(sg.sqrt(leaf(2.0, "x_1")))) == "√x₁"
    assert sg.formula((x * x) ** 0.5).latex().endswith(r"\sqrt{x^{2}}")


def test_a_long_line_without_definitions_ends_where_it_ends() -> None:
    y = leaf(np.ones((2,) * 7), "y")
    line = str(sg.formula(y * y.permute(6, 5, 4, 3, 2, 1, 0), wrt=y))
    assert len(line) > 120 and "where" not in line and line.endswith("]")


def test_a_power_in_an_exponent_has_brackets() -> None:
    x, y = leaf(2.0, "x"), leaf(3.0, "y_1")
    assert right(sg.formula((x + 1) ** (x * x))) in ("(x + 1)^(x²)", "(1 + x)^(x²)")  # (1 + x)^x² would be a square
    assert right(sg.formula(2**x)) == "2^x"
    assert right(sg.formula(x**y)) == "x^y₁"
    assert right(sg.formula(2 ** (3**x))) == "2^(3^x)"


@pytest.mark.parametrize(
    ("coefficient", "text", "latex"),
    [
        (1e20, "1e+20", r"10^{20}"),
        (-2.5e-30, "−2.5e−30", r"-2.5 \cdot 10^{-30}"),
        (2**60 + 1, "1152921504606846977", "1152921504606846977"),
        (0.0003, "0.0003", "0.0003"),
        (12345.678, "12345.678", "12345.678"),
        (5e-324, "5e−324", r"5 \cdot 10^{-324}"),
    ],
)
def test_coefficients_print_all_their_digits(coefficient: float, text: str, latex: str) -> None:
    x = leaf(2.0, "x")
    formula = sg.formula(x * coefficient, wrt=x)
    assert right(formula) == text
    assert formula.latex().split(" = ")[1] == latex


def test_counts_stay_ratios() -> None:
    w = leaf(np.ones(1500), "w")
    assert right(sg.formula(w.mean())) == "(1/1500)·Σᵢ wᵢ"
    x = leaf(2.0, "x")
    assert right(sg.formula(x / 7 / 11 / 13 / 17, wrt=x)) == "1/17017"


def test_numbers_beyond_doubles_neither_vanish_nor_fail() -> None:
    x = leaf(2.0, "x")
    assert right(sg.formula(1e-200 * (1e-200 * x), wrt=x)) == "1e−400"
    with np.errstate(over="ignore"):
        assert right(sg.formula(1e308 * (1e5 * x), wrt=x)) == "1e+313"


def test_an_element_is_no_name_with_a_number() -> None:
    x, x0 = leaf([2.0, 3.0], "x"), leaf(5.0, "x0")
    formula = sg.formula(x[0] * x0, wrt=x0)
    assert right(formula) == "x[0]"
    assert right(sg.formula(x[0] * x0)) == "x₀·x[0]"
    assert "x_{0} \\, x[0]" in sg.formula(x[0] * x0).latex()
    x_i = leaf(7.0, "x_i")
    assert "x_{i} \\, \\sum_{i} x[i]" in sg.formula((x * x_i).sum()).latex()


def test_variables_that_python_tools_make_name_nothing() -> None:
    x = leaf(2.0, "x")
    assert str(sg.formula(sg.exp(x * x) + sg.sin(sg.exp(x * x)))).startswith("y = ")  # pytest rewrites this line


def test_no_two_values_look_alike() -> None:
    first, second, x1, x_1 = leaf(1.0, "x"), leaf(2.0, "x"), leaf(3.0, "x1"), leaf(4.0, "x_1")
    formula = sg.formula(first * second**2 * x1**3 * x_1**4)
    assert len({factor.rstrip("²³⁴") for factor in right(formula).split("·")}) == 4
    assert len(formula.expr.free_symbols) == 4


def test_a_size_is_no_value_and_no_index() -> None:
    n = leaf(2.0, "n")
    X = leaf(np.ones((2, 3)), "X", dims=("n", "i"))
    formula = sg.formula(((X * n) ** 2).mean(), wrt=X)
    assert right(formula) == "2·n₁²·Xⱼₖ/(n·i)"


def test_a_fraction_or_a_choice_under_a_power_has_brackets_in_latex() -> None:
    x = leaf(2.0, "x")
    assert sg.formula(0.25**x).latex().endswith(r"\left(\frac{1}{4}\right)^{x}")
    assert sg.formula(1e20**x).latex().endswith(r"\left(10^{20}\right)^{x}")
    chosen = sg.formula(sg.where(x > 1, x, 3.0) * x).latex()
    assert r"\left(\begin{cases}" in chosen and r"\end{cases}\right)" in chosen
