"""A named size of 1 is broadcast like any other 1: entries come from place 0, not from the index of the result."""

from typing import Any

import numpy as np
import pytest

import symgrad as sg


def leaf(shape: tuple[int, ...], name: str, dims: tuple[str, ...] | None) -> sg.Tensor:
    values = np.linspace(-1.3, 1.7, int(np.prod(shape))).reshape(shape)
    return sg.tensor(values, requires_grad=True, name=name, **({"dims": dims} if dims else {}))


PROGRAMS: dict[str, Any] = {
    "product": lambda x, y: ((x * y) ** 2).mean(),
    "choice": lambda x, y: sg.where(x > y, x * y, y - x).sum(),
    "power": lambda x, y: ((x**2 + 1) ** y).sum(),
    "matrix product": lambda x, y: ((x @ y) ** 2).sum() + (x * y).sum(),
    "expansion": lambda x, y: (y.expand(3, 3) * x).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_and_curvatures_do_not_depend_on_names(name: str) -> None:
    found = []
    for dims in ((("n", "one"), ("m", "n")), (None, None)):
        x, y = leaf((3, 1), "x", dims[0]), leaf((1, 3), "y", dims[1])
        out = PROGRAMS[name](x, y)
        found.append([sg.formula(out, wrt=w).evaluate(20) for w in (x, y, (x, y), (y, y))])
        for w, formula in zip((x, y), found[-1], strict=False):
            (numeric,) = sg.autograd.grad(out, w, retain_graph=True)
            np.testing.assert_allclose(formula.astype(float), numeric.numpy(), rtol=1e-12, atol=1e-12)
    for named, plain in zip(*found, strict=True):
        np.testing.assert_array_equal(named, plain)


def test_the_line_says_place_0() -> None:
    x, y = leaf((3, 1), "x", ("n", "one")), leaf((1, 3), "y", ("m", "n"))
    line = str(sg.formula((x * y).sum(), wrt=y))
    assert line.split(" = ")[1].split("      ")[0] == "Σₖ x[k,0]"


def test_rows_of_named_sizes_are_taken_apart_and_put_together() -> None:
    z = leaf((2, 3), "z", ("a", "b"))
    for out in ((z.reshape(6) ** 2).mean() + z.reshape(3, 2)[:, 1].sum(), (z.T.reshape(2, 3) * z).sum()):
        (numeric,) = sg.autograd.grad(out, z)
        np.testing.assert_allclose(sg.formula(out, wrt=z).evaluate(20).astype(float), numeric.numpy(), rtol=1e-14)
