"""Exceptions: the message names the op, the argument, the shapes, and the mend.

Where PyTorch raises, symgrad raises PyTorch's own built-in type, so code written for PyTorch
catches what it expects, to the letter; the names below say what kind of refusal it is. What
only symgrad does has exceptions of its own, under `SymgradError`.
"""

from __future__ import annotations

GradientError = RuntimeError
"""A backward pass, or a change of gradient state, that cannot be carried out."""
ShapeError = RuntimeError
"""Operands whose shapes do not fit together."""
DTypeError = RuntimeError
"""An operand whose dtype the op does not accept."""
ArgumentError = RuntimeError
"""A parameter whose value the op does not accept."""
ArgumentTypeError = TypeError
"""A parameter of the wrong type."""
ArgumentValueError = ValueError
"""A parameter of the right type and an impossible value."""
DimensionError = IndexError
"""A dimension or an index outside its range."""


class SymgradError(Exception):
    """Base of the errors that only symgrad has."""


class FormulaError(SymgradError, RuntimeError):
    """A formula that cannot be had, with the reason."""


class BudgetError(FormulaError):
    """An expansion that would pass its node budget."""


class TypedFormulaError(SymgradError, ValueError):
    """A typed formula that is refused; `str()` shows the place with a caret.

    Parameters
    ----------
    reason : str
        One sentence, ending with what to write instead.
    text : str
        The formula as typed.
    start, stop : int
        The columns that the caret underlines.
    """

    def __init__(self, reason: str, text: str = "", start: int = 0, stop: int | None = None):
        self.reason, self.text, self.start = reason, text, start
        self.stop = start + 1 if stop is None else stop
        super().__init__(self._render())

    def _render(self) -> str:
        if not self.text:
            return self.reason
        lines = self.text.splitlines() or [""]
        offset, line = self.start, lines[0]
        for line in lines:
            if offset <= len(line):
                break
            offset -= len(line) + 1
        width = max(1, min(self.stop - self.start, len(line) - offset))
        return f"{line}\n{' ' * offset}{'^' * width}\n{self.reason}"
