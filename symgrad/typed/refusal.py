"""How a typed formula is refused: the place under a caret, and one sentence that says what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from ..errors import TypedFormulaError

MAX_TEXT = 10_000
"""Characters in a formula."""
MAX_DEPTH = 100
"""Brackets, signs, powers and indices inside one another."""
MAX_NAME = 60
"""Characters in a name."""
MAX_EXPONENT = 10_000
"""The largest number that may be typed as an exponent."""
MAX_BITS = 1_000
"""Binary digits of a whole number: about as many as a double can reach."""
MAX_ENTRIES = 10_000_000
"""Entries of one value."""
MAX_WORK = 200_000_000
"""Entries of all values of one formula together."""

Span = tuple[int, int]
"""Where something stands in the text: first column, and the one after the last."""

_WINDOW = 160


def visible(text: str) -> str:
    """The text with each character that does not print replaced, so that columns stay and terminals are safe."""
    return "".join(c if c.isprintable() or c == "\n" else " " if c == "\t" else "\ufffd" for c in text)


def refuse(reason: str, text: str = "", span: Span | None = None) -> TypedFormulaError:
    """The error for a formula, with the part of a long line that matters.

    Parameters
    ----------
    reason : str
        One sentence, ending with what to write instead.
    text : str
        The formula as typed.
    span : (int, int), optional
        The columns to underline; without them no text is shown.
    """
    reason = visible(reason)
    if span is None:
        return TypedFormulaError(reason)
    start = min(span[0], len(text))
    stop = min(max(span[1], start + 1), start + _WINDOW // 2, len(text) + 1)
    begin = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if len(text) <= _WINDOW:
        return TypedFormulaError(reason, visible(text), start, stop)
    first, last = max(begin, start - _WINDOW // 2), min(end, start + _WINDOW // 2)
    before, after = "…" * (first > begin), "…" * (last < end)
    shown = before + visible(text[first:last]) + after
    at = start - first + len(before)
    return TypedFormulaError(reason, shown, at, min(at + stop - start, len(shown) + 1))


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that looks most like this one, if one does."""
    known = list(known)
    by_case = {k.lower(): k for k in known}
    if word.lower() in by_case:
        return by_case[word.lower()]
    found = get_close_matches(word, known, n=1, cutoff=0.6)
    return found[0] if found else None


def abbreviated(text: str, most: int = 40) -> str:
    """A piece of the formula, short enough to stand in a sentence."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
