"""Steps, formula, number and proof agree where an unselected branch has no value."""

import symgrad as sg


def test_an_unselected_root():
    x = sg.tensor(-1.0, requires_grad=True)
    y = sg.where(x > 0, sg.sqrt(x), 0)
    d = sg.explain(y)
    assert d.steps[-1].output == "x̄"
    assert d.steps[-1].value == 0
    assert d.proofs[0].numeric == 0
    assert str(d.proofs[0]).startswith("x: numeric and exact agree to 0.0 ulp")


def test_outside_of_its_domain_a_power_has_no_slope():
    x = sg.tensor(2.5, requires_grad=True)
    y = sg.tensor(-1.0) ** x
    assert "there is no finite derivative here" in str(sg.explain(y).proofs[0])
