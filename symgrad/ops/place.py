"""Where an op was called from, for functions of the library that call an op on the user's behalf."""

from __future__ import annotations

import sys
from typing import Any

__symgrad_internal__ = True


def at_caller(result: Any, own: Any = None) -> Any:
    """The result, with its record placed where the library was called from outside.

    An op notes the frame that called it. Where that frame is the library's own, names and source lines
    would lead into it, and the user's line would be lost.

    Parameters
    ----------
    result : Tensor
        What an op has just returned.
    own : Tensor, optional
        The tensor that was asked; a result that is this very tensor keeps its place.
    """
    node = result._node
    if node is not None and result is not own:
        frame = sys._getframe(1)
        while frame.f_back is not None and "__symgrad_internal__" in frame.f_globals:
            frame = frame.f_back
        node.code, node.lasti = frame.f_code, frame.f_lasti
    return result
