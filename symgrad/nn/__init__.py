"""What PyTorch keeps under ``torch.nn``, as far as it is functions."""

from . import functional

__all__ = ["functional"]
