"""The words of a typed formula: names, numbers, signs. What is none of these is refused here, by its place.

Names are the user's own: Greek letters, primes, and words that Python keeps for itself all are.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from typing import NamedTuple

from .refusal import MAX_DEPTH, MAX_NAME, MAX_TEXT, Span, refuse


class Word(NamedTuple):
    """A word: its kind (``name``, ``number``, ``sign`` or ``end``), what it says, and where it stands."""

    kind: str
    says: str
    span: Span


_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAME = re.compile(r"[^\W\d_]\w*['′’]*")
_SIGNS = ("...", "**", "//", "==", "!=", "<=", ">=", "<<", ">>", ":=", "->")
_SINGLE = "+-*/@()[],.<>=:"
_SPELLINGS = {"−": "-", "–": "-", "·": "*", "⋅": "*", "×": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!="}
"""Signs as they are printed, and as they are typed."""
_CLOSING = {"(": ")", "[": "]"}
_MEND = {
    "^": "write ** for a power",
    "//": "a whole quotient has no derivative; write / for a quotient",
    "%": "a remainder is not part of the language; write numbers out, such as 0.05 for 5%",
    "&": "write where(a, where(b, x, y), y) for two conditions",
    "|": "write where(a, x, where(b, x, y)) for either of two conditions; for |x| write abs(x)",
    "~": "write logical_not(c) for the opposite of a condition",
    "!": "write != for 'is not equal'; a factorial is not part of the language",
    "<<": "shifts are not part of the language; write * 2**k",
    ">>": "shifts are not part of the language; write / 2**k",
    ":=": "write the assignment as a statement of its own: z = X@w; then the formula",
    "->": "functions cannot be defined here; write the formula itself",
    '"': "strings are not part of the language; write names and numbers only",
    "'": "strings are not part of the language; a prime follows a name directly, as in x'",
    "`": "quotes are not part of the language; write names and numbers only",
    "{": "braces are not part of the language; write ( and ) to group",
    "}": "braces are not part of the language; write ( and ) to group",
    "\\": "commands of LaTeX are not part of the language; write alpha or α for \\alpha",
    "#": "comments are not part of the language; leave them out",
    "$": "leave the $ out",
    "√": "write sqrt(x) for a root",
    "∑": "write sum(x) for a sum",
    "Σ": "write sum(x) for a sum",
    "ᵀ": "write X.T for a transpose",
    "∞": "infinity is not a number here; leave it out",
    "_": "names start with a letter; write a name such as x or x_1",
}
_WORDS = {
    "if": "write where(condition, a, b) for a choice",
    "else": "write where(condition, a, b) for a choice",
    "and": "write where(a, where(b, x, y), y) for two conditions",
    "or": "write where(a, x, where(b, x, y)) for either of two conditions",
    "not": "write logical_not(c) for the opposite of a condition",
    "for": "loops and comprehensions are not part of the language; write sum(...) or @ over whole arrays",
    "in": "loops and comprehensions are not part of the language; write sum(...) or @ over whole arrays",
    "lambda": "functions cannot be defined here (lambda is an ordinary name); write the formula itself",
    "def": "functions cannot be defined here; write the formula itself",
    "import": "nothing can be imported here; write the formula itself",
}


def scan(text: str) -> list[Word]:
    """The words of the text; ``end`` marks the end of every statement that is not empty.

    Raises
    ------
    TypedFormulaError
        At the first character that is not part of the language, at brackets that do not match, and
        where two values stand side by side without a sign between them.
    """
    if len(text) > MAX_TEXT:
        raise refuse(
            f"the formula has {len(text):,} characters, and at most {MAX_TEXT:,} are read; "
            "split the work, and give values with --at"
        )
    words: list[Word] = []
    open_: list[Word] = []
    at = 0
    while at < len(text):
        c = text[at]
        if c == "\n" or c == ";":
            if c == ";" and open_:
                raise refuse(
                    f"the '{open_[-1].says}' is still open at this ';'; write the closing "
                    f"'{_CLOSING[open_[-1].says]}' first",
                    text, open_[-1].span,
                )  # fmt: skip
            if not open_ and words and words[-1].kind != "end" and (c == ";" or not _goes_on(words[-1])):
                words.append(Word("end", c, (at, at + 1)))
            at += 1
            continue
        if c.isspace():
            at += 1
            continue
        word = _word(text, at)
        _beside(text, words, word)
        if word.says in ("(", "["):
            open_.append(word)
            if len(open_) > MAX_DEPTH:
                raise refuse(
                    f"brackets stand more than {MAX_DEPTH} deep here; give inner parts names: z = ...", text, word.span
                )
        elif word.says in (")", "]"):
            if not open_ or _CLOSING[open_[-1].says] != word.says:
                meant = (
                    f"close '{open_[-1].says}' first"
                    if open_
                    else "nothing is open; leave it out, or write the opening one"
                )
                raise refuse(f"this '{word.says}' closes nothing: {meant}", text, word.span)
            open_.pop()
        words.append(word)
        at = word.span[1]
    if open_:
        raise refuse(
            f"this '{open_[-1].says}' is never closed; write the '{_CLOSING[open_[-1].says]}' that belongs to it",
            text,
            open_[-1].span,
        )
    if words and words[-1].kind != "end":
        words.append(Word("end", "", (len(text), len(text) + 1)))
    return words


def _word(text: str, at: int) -> Word:
    if match := _NUMBER.match(text, at):
        stop = match.end()
        after = text[stop : stop + 1]
        if after == "_":
            raise refuse("digits are written without '_' between them; write 1000", text, (at, stop + 1))
        if after.isalpha():
            raise refuse("a sign is missing after the number; write 2*x for a product", text, (at, stop + 1))
        if len(match[0]) > 1 and match[0][0] == "0" and match[0].isdecimal():
            raise refuse(f"a whole number starts with no 0; write {match[0].lstrip('0') or '0'}", text, (at, stop))
        return Word("number", match[0], (at, stop))
    if match := _NAME.match(text, at):
        if text[at] in "ΣᵀΠ" and text[match.end() : match.end() + 1] == "(" and match.end() == at + 1:
            raise refuse(_MEND.get(text[at], "write the product out with *"), text, match.span())
        for k, c in enumerate(match[0]):
            if unicodedata.decomposition(c).startswith("<super>"):
                plain = unicodedata.normalize("NFKC", c)
                mend = (
                    f"write **{plain} for a power"
                    if plain.isdigit()
                    else _MEND.get(c, f"write ** for a power, not '{c}'")
                )
                raise refuse(mend, text, (at + k, at + k + 1))
            if not (c.isalpha() or c.isdecimal() or c in "_'′’" or unicodedata.decomposition(c).startswith("<sub>")):
                raise refuse(f"'{c}' is not read as a number; write it out, such as 1/2", text, (at + k, at + k + 1))
        if len(match[0]) > MAX_NAME:
            raise refuse(f"a name has at most {MAX_NAME} characters; write a shorter one", text, match.span())
        return Word("name", match[0].replace("′", "'").replace("’", "'"), match.span())
    for sign in _SIGNS:
        if text.startswith(sign, at):
            if sign in _MEND:
                raise refuse(_MEND[sign], text, (at, at + len(sign)))
            return Word("sign", sign, (at, at + len(sign)))
    c = text[at]
    if c in _SPELLINGS:
        return Word("sign", _SPELLINGS[c], (at, at + 1))
    if c in _SINGLE:
        return Word("sign", c, (at, at + 1))
    if unicodedata.decomposition(c).startswith("<super>"):
        raise refuse(f"write **{unicodedata.normalize('NFKC', c)} for a power", text, (at, at + 1))
    shown = f"'{c}'" if c.isprintable() else f"U+{ord(c):04X}"
    raise refuse(_MEND.get(c, f"the character {shown} is not part of the language; leave it out"), text, (at, at + 1))


def _goes_on(word: Word) -> bool:
    """Whether a line that ends with this word goes on in the next."""
    return word.kind == "sign" and word.says not in (")", "]", "...")


def _beside(text: str, words: list[Word], word: Word) -> None:
    """Refuses two values side by side, which no sign joins."""
    if not words:
        return
    last = words[-1]
    ends = last.kind in ("name", "number") or last.says in (")", "]")
    begins = word.kind in ("name", "number")
    if not ends or not begins:
        if last.kind == "number" and word.says == "(":
            raise refuse(
                "a sign is missing after the number; write 2*(x + y) for a product", text, (last.span[0], word.span[1])
            )
        return
    for w in (last, word):
        if w.kind == "name" and w.says in _WORDS:
            raise refuse(_WORDS[w.says], text, w.span)
        if w.kind == "name" and keyword.iskeyword(w.says) and w.says not in ("True", "False", "None"):
            raise refuse(
                f"'{w.says}' has no meaning of its own here; write a formula of names, numbers and signs", text, w.span
            )
    mend = "write ; between statements, or * for a product"
    if "\n" in text[last.span[1] : word.span[0]]:
        mend = "a bracket is still open; write a sign or a comma between them, or close it"
    raise refuse(f"two values stand side by side: {mend}", text, (last.span[0], word.span[1]))
