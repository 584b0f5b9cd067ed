"""Functions under PyTorch's ``torch.nn.functional`` names."""

from ..ops.elementary import relu, sigmoid, softplus, tanh
from ..ops.reductions import log_softmax, softmax

__all__ = ["log_softmax", "relu", "sigmoid", "softmax", "softplus", "tanh"]
