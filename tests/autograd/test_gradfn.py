"""`grad_fn`: names, inputs, saved values, and a backward pass by hand over the nodes."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg


def leaf(values: Any, **named: Any) -> sg.Tensor:
    return sg.tensor(values, requires_grad=True, **named)


X, V, M, B = leaf(2.0), leaf([1.0, 2.0]), leaf([[1.0, 2.0], [3.0, 4.0]]), sg.ones(2, 2, 2, requires_grad=True)
NAMES = {
    "AddBackward0": lambda: [V + V, V + 1, 1 + V],
    "SubBackward0": lambda: [V - V, V - 1],
    "RsubBackward1": lambda: [1 - V],
    "MulBackward0": lambda: [V * V, 2 * V, V * 2],
    "DivBackward0": lambda: [V / V, V / 2],
    "NegBackward0": lambda: [-V],
    "PowBackward0": lambda: [V**2, V**0.5],
    "PowBackward1": lambda: [V**V],
    "PowBackward2": lambda: [2**V, 2.0**V],
    "AbsBackward0": lambda: [abs(V), V.abs()],
    "SignBackward0": lambda: [V.sign()],
    "ExpBackward0": lambda: [V.exp()],
    "LogBackward0": lambda: [V.log()],
    "SqrtBackward0": lambda: [V.sqrt()],
    "SinBackward0": lambda: [V.sin()],
    "CosBackward0": lambda: [V.cos()],
    "TanhBackward0": lambda: [V.tanh()],
    "SigmoidBackward0": lambda: [V.sigmoid()],
    "ReluBackward0": lambda: [V.relu()],
    "SoftplusBackward0": lambda: [sg.softplus(V)],
    "MaximumBackward0": lambda: [sg.maximum(V, V)],
    "MinimumBackward0": lambda: [sg.minimum(V, V)],
    "WhereBackward0": lambda: [sg.where(V > 1, V, 0.0)],
    "SumBackward0": lambda: [V.sum()],
    "SumBackward1": lambda: [V.sum(0), V.sum(dim=(0,))],
    "MeanBackward0": lambda: [V.mean()],
    "MeanBackward1": lambda: [V.mean(0)],
    "LogsumexpBackward0": lambda: [sg.logsumexp(V, 0)],
    "SoftmaxBackward0": lambda: [sg.softmax(V, 0)],
    "LogSoftmaxBackward0": lambda: [sg.log_softmax(V, 0)],
    "DotBackward0": lambda: [V @ V],
    "MvBackward0": lambda: [M @ V],
    "MmBackward0": lambda: [M @ M],
    "BmmBackward0": lambda: [B @ B],
    "TBackward0": lambda: [M.t()],
    "PermuteBackward0": lambda: [M.permute(1, 0), M.T],
    "TransposeBackward0": lambda: [M.transpose(0, 1), M.mT],
    "ViewBackward0": lambda: [M.reshape(4), M.view(4), M.flatten()],
    "SqueezeBackward0": lambda: [V.squeeze()],
    "UnsqueezeBackward0": lambda: [V.unsqueeze(0), V[None], M[0, None]],
    "ExpandBackward0": lambda: [V.expand(3, 2)],
    "SelectBackward0": lambda: [V[0], M[:, 0], M[1:, 0]],
    "SliceBackward0": lambda: [V[:1], M[0, :1], M[:, 1:]],
    "AliasBackward0": lambda: [V[...], V[()], V[:], V[0:2]],
    "CloneBackward0": lambda: [V.clone()],
    "ToCopyBackward0": lambda: [V.float(), V.to(sg.float32)],
}


@pytest.mark.parametrize("name", NAMES)
def test_nodes_bear_pytorchs_names(name: str) -> None:
    for result in NAMES[name]():
        node = result.grad_fn
        assert node.name() == type(node).__name__ == name
        assert repr(node).startswith(f"<{name} object at 0x")
        assert f"grad_fn=<{name}>" in repr(result)


def test_leaves_have_no_node() -> None:
    assert (X.grad_fn, X.is_leaf) == (None, True)
    constant = sg.ones(2) + 1
    assert (constant.grad_fn, constant.is_leaf, constant.requires_grad) == (None, True, False)


def test_a_node_is_the_same_object_each_time() -> None:
    y = V * V
    z = y.sum()
    assert y.grad_fn is y.grad_fn
    assert z.grad_fn.next_functions[0][0] is y.grad_fn


@pytest.mark.parametrize(
    ("make", "pattern"),
    [
        (lambda x: x * 2, "xn"),
        (lambda x: 2 * x, "xn"),
        (lambda x: 2 + x, "xn"),
        (lambda x: x - 2, "xn"),
        (lambda x: 2 - x, "x"),
        (lambda x: x**2, "x"),
        (lambda x: 2**x, "x"),
        (lambda x: x**x, "xx"),
        (lambda x: x / 2, "xn"),
        (lambda x: x * sg.tensor(2.0), "xn"),
        (lambda x: sg.tensor(2.0) * x, "nx"),
        (lambda x: sg.where(x > 1, x, 0.0), "xn"),
        (lambda x: sg.where(x > 1, 0.0, x), "nx"),
        (lambda x: x * x, "xx"),
    ],
)
def test_inputs_are_listed_as_pytorch_lists_them(make: Any, pattern: str) -> None:
    """x stands for the leaf, n for an input without gradient."""
    x = leaf(2.0)
    listed = make(x).grad_fn.next_functions
    assert isinstance(listed, tuple)
    assert len(listed) == len(pattern)
    for (node, number), kind in zip(listed, pattern, strict=True):
        assert number == 0
        assert node is None if kind == "n" else node.variable is x


def test_a_graph_ends_in_accumulators_of_its_leaves() -> None:
    x, y = leaf(2.0), leaf(3.0)
    z = x**2 + y**3
    xg, yg = (f for f, _ in z.grad_fn.next_functions)
    accumulate = xg.next_functions[0][0]
    assert type(accumulate).__name__ == "AccumulateGrad"
    assert accumulate.name().endswith("::AccumulateGrad")
    assert accumulate.next_functions == ()
    assert accumulate.variable is x
    assert yg.next_functions[0][0].variable is y
    z.backward()
    assert accumulate.variable.grad is x.grad


def test_a_leaf_has_one_accumulator() -> None:
    x = leaf(2.0)
    first, second = (f for f, _ in (x * x).grad_fn.next_functions)
    assert first is second


# ------------------------------------------------------------------ saved values
def test_a_product_saves_what_the_gradients_need_and_no_more() -> None:
    a, b = leaf(2.0), sg.tensor(3.0)
    node = (a * b).grad_fn
    assert node._saved_other.item() == 3.0
    assert node._saved_self is None
    node = (b * a).grad_fn
    assert node._saved_self.item() == 3.0
    assert node._saved_other is None


def test_saved_values_are_the_very_tensors() -> None:
    a, b, d = leaf(2.0), leaf(3.0), leaf(4.0)
    c = a * b
    e = c * d
    assert e.grad_fn._saved_other is d
    assert e.grad_fn._saved_self.grad_fn is c.grad_fn
    assert c.grad_fn._saved_self is a


def test_a_power_saves_its_base_and_shows_its_exponent() -> None:
    x = leaf(2.0)
    node = (x**3).grad_fn
    assert node._saved_self is x
    assert node._saved_exponent == 3


def test_a_number_in_front_stands_second() -> None:
    x = leaf(2.0)
    node = (3 * x).grad_fn
    assert node._saved_self is None
    assert node._saved_other == 3


def test_results_are_saved_under_their_name() -> None:
    y = V.exp()
    assert y.grad_fn._saved_result.tolist() == y.tolist()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn


def test_saved_values_are_gone_after_backward() -> None:
    x = leaf(2.0)
    y = x * x
    node = y.grad_fn
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        _ = node._saved_self


def test_nodes_show_what_pytorchs_do() -> None:
    node = (leaf(2.0) ** 2).grad_fn
    for name in ("name", "metadata", "next_functions", "register_hook", "_saved_self", "_saved_exponent"):
        assert name in dir(node)
    assert node.metadata == {}


# ------------------------------------------------------------------ the graph by hand
def by_hand(node: Any, *gradients: Any) -> None:
    """Backward for a graph that is a tree: call each node, pass its results on."""
    with sg.no_grad():
        results = node(*gradients)
    results = results if isinstance(results, tuple) else (results,)
    for (child, _), g in zip(node.next_functions, results, strict=False):
        if child is not None:
            by_hand(child, g)


def tree(node: Any, depth: int = 0) -> list[tuple[int, str]]:
    children = [line for child, _ in node.next_functions if child is not None for line in tree(child, depth + 1)]
    return [(depth, node.name().split("::")[-1]), *children]


@pytest.mark.parametrize(
    "make",
    [
        lambda x, m: x**2 + x**3,
        lambda x, m: ((m + 2) * (m + 2) * 3).mean() * x,
        lambda x, m: (2 - 3 * m).sum() / x,
        lambda x, m: (m @ m.t()).exp().sum() + x,
        lambda x, m: sg.where(m > 2, 0.5, m * x).sum(),
        lambda x, m: (m.sum(0) * x).logsumexp(0),
    ],
)
def test_calling_the_nodes_by_hand_gives_what_backward_gives(make: Any) -> None:
    x, m = leaf(2.0), leaf([[1.0, 2.5], [3.0, 4.0]])
    result = make(x, m)
    by_hand(result.grad_fn, sg.tensor(1.0))
    hand = [None if t.grad is None else t.grad.clone() for t in (x, m)]
    x.grad = m.grad = None
    result.backward()
    for t, g in zip((x, m), hand, strict=True):
        assert (t.grad is None) == (g is None)
        assert g is None or sg.allclose(t.grad, g, rtol=1e-14)


def test_the_tree_of_a_sum_of_powers() -> None:
    x, y = leaf(2.0), leaf(3.0)
    assert tree((x**2 + y**3).grad_fn) == [
        (0, "AddBackward0"),
        (1, "PowBackward0"),
        (2, "AccumulateGrad"),
        (1, "PowBackward0"),
        (2, "AccumulateGrad"),
    ]
    w = leaf([1.0, 2.0])
    assert [name for _, name in tree((w / 2 - w.exp() * 3).sum().grad_fn)] == [
        "SumBackward0",
        "SubBackward0",
        "DivBackward0",
        "AccumulateGrad",
        "MulBackward0",
        "ExpBackward0",
        "AccumulateGrad",
    ]


def test_a_node_called_with_recording_on_gives_tracked_gradients() -> None:
    x = leaf(2.0)
    g = (x**3).grad_fn(sg.tensor(1.0))
    assert g.item() == 12.0
    (h,) = sg.autograd.grad(g, x)
    assert h.item() == 12.0


def test_a_node_gives_none_where_no_gradient_is_needed() -> None:
    x = leaf(2.0)
    assert (x * sg.tensor(3.0)).grad_fn(sg.tensor(1.0))[1] is None
