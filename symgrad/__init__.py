"""symgrad: numbers and exact formulas on one tape.

Tensors and gradients as PyTorch has them; of anything computed, the exact formula of its
value and of its gradient, and the proof that the numbers are right.
"""

from typing import TYPE_CHECKING, Any

from . import autograd, errors, nn
from .array import DTYPES, DType, set_default_dtype
from .autograd import Variable, enable_grad, no_grad, set_grad_enabled
from .comparing import allclose, equal, is_tensor, numel
from .creation import (
    arange,
    as_tensor,
    empty,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from .graph import is_grad_enabled
from .nn.functional import softplus
from .ops import op
from .ops.arithmetic import add, div, maximum, minimum, mul, neg, sub, where
from .ops.arithmetic import pow_ as pow
from .ops.comparison import eq, ge, gt, le, logical_not, lt, ne
from .ops.elementary import abs_ as abs
from .ops.elementary import cos, exp, log, relu, sigmoid, sign, sin, sqrt, tanh
from .ops.indexing import getitem
from .ops.logic import all_ as all
from .ops.logic import any_ as any
from .ops.logic import argmax
from .ops.products import bmm, dot, matmul, mm, mv
from .ops.reductions import log_softmax, logsumexp, mean, softmax
from .ops.reductions import sum_ as sum
from .ops.shaping import cast, clone, expand, permute, reshape, squeeze, t, transpose, unsqueeze
from .sampling import manual_seed, rand, rand_like, randn, randn_like
from .tensor import Size, Tensor

float64, float32, float16 = DTYPES["float64"], DTYPES["float32"], DTYPES["float16"]
int64, int32, int16, int8, uint8 = (DTYPES[n] for n in ("int64", "int32", "int16", "int8", "uint8"))
bool = DTYPES["bool"]
double, float, half, long, int = float64, float32, float16, int64, int32
subtract, multiply, divide, true_divide, negative, absolute = sub, mul, div, div, neg, abs
greater, greater_equal, less, less_equal, not_equal = gt, ge, lt, le, ne

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .derivation import explain
    from .formulas import Formula, formula

_LAZY = {"formula": "formulas", "Formula": "formulas", "explain": "derivation", "verify": "verify", "typed": "typed"}


def __getattr__(name: str) -> Any:
    """The parts that need SymPy come when they are first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module 'symgrad' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f".{_LAZY[name]}", __name__)
    found = getattr(module, name, module)
    globals()[name] = found
    return found
