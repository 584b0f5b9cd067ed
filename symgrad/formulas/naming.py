"""Names: what the user calls a value.

In order: the ``name=`` it was given; a variable of the calling frame that holds it; the
variable that the recorded line assigned it to. A formula freezes its names when it is made.
"""

from __future__ import annotations

import dis
import re
import sys
import types
import unicodedata
from functools import lru_cache
from typing import Any

_SKIPPED = re.compile(r"^(_+|_\d+|_i+\d*|Out|In|_oh|_dh|_ih|__.*|\W.*)$")  # \W: what pytest and comprehensions add
_INTERNAL = ("symgrad", "numpy", "sympy")


def frame_names(frame: types.FrameType | None) -> dict[int, str]:
    """From the identity of nodes and leaves to the variables that hold them in a frame."""
    found: dict[int, str] = {}
    if frame is None:
        return found
    for scope in (frame.f_locals, frame.f_globals):
        for name, value in list(scope.items()):
            if hasattr(value, "_requires_grad") and isinstance(name, str) and not _SKIPPED.match(name):
                key = id(value._node) if value._node is not None else id(value)
                found.setdefault(key, name)
    return found


def calling_frame(depth: int) -> types.FrameType | None:
    """The frame that many calls above the function that asks, outside of the library."""
    frame: types.FrameType | None = sys._getframe(depth + 1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] in _INTERNAL:
        frame = frame.f_back
    return frame


@lru_cache(maxsize=4096)
def assigned_name(code: types.CodeType, lasti: int) -> str | None:
    """What the instruction at the offset assigns its result to, if it does so directly.

    A variable, an attribute (``self.w = …`` is w), or an item with a name (``p["w"] = …`` is w).
    """
    if code.co_filename.startswith("<symgrad"):
        return None
    place: dis.Instruction | None = None
    for instruction in _instructions(code):
        if instruction.offset <= lasti or instruction.opname in ("CACHE", "NOP", "COPY", "EXTENDED_ARG"):
            continue
        if instruction.opname in ("STORE_ATTR", "STORE_SUBSCR"):
            name = instruction.argval if instruction.opname == "STORE_ATTR" else place and place.argval
        elif instruction.opname.startswith("STORE_") and place is None:
            name = instruction.argval
        elif instruction.opname.startswith("LOAD_") and instruction.opname != "LOAD_METHOD":
            place = instruction  # the object whose attribute or item is about to be assigned
            continue
        else:
            return None
        return name if isinstance(name, str) and name.isidentifier() and not _SKIPPED.match(name) else None
    return None


@lru_cache(maxsize=256)
def _instructions(code: types.CodeType) -> tuple[dis.Instruction, ...]:
    return tuple(dis.get_instructions(code))


def source_line(code: types.CodeType | None, lasti: int) -> tuple[str, int, str]:
    """(file, line number, text of the line) where something was recorded."""
    import linecache

    if code is None:
        return "", 0, ""
    line = code.co_firstlineno
    for start, stop, number in code.co_lines():
        if start <= lasti < stop and number:
            line = number
            break
    return code.co_filename, line, linecache.getline(code.co_filename, line).strip()


def name_of(source: Any, frame: dict[int, str]) -> str | None:
    """The user's name for a node or a leaf tensor; None if there is none."""
    if getattr(source, "_node", None) is not None:
        source = source._node
    extra = source._extra if hasattr(source, "_extra") else source.extra
    if extra is not None and extra.name:
        return extra.name
    if id(source) in frame:
        return frame[id(source)]
    if hasattr(source, "_extra"):
        place = extra.place if extra is not None else None
        return assigned_name(*place) if place else None
    return assigned_name(source.code, source.lasti) if source.code is not None else None


# ------------------------------------------------------------------ how a name looks
_SMALL = dict(alpha="α", beta="β", gamma="γ", delta="δ", epsilon="ε", zeta="ζ", eta="η", theta="θ", iota="ι")
_SMALL |= dict(kappa="κ", mu="μ", nu="ν", xi="ξ", pi="π", rho="ρ", sigma="σ", tau="τ", phi="φ", chi="χ", psi="ψ")
_SMALL |= {"lambda": "λ", "omega": "ω", "upsilon": "υ"}
_CAPITALS = {"Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ"}
_CAPITALS |= {"Phi": "Φ", "Psi": "Ψ", "Omega": "Ω"}
GREEK = {name: (letter, "\\" + name) for name, letter in (_SMALL | _CAPITALS).items()}
GREEK["lam"] = GREEK["lambda"]  # as lambda is no name in Python
_BY_CHARACTER = dict(GREEK.values())
_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
BAR, OVERLINE = "\u0304", "\u0305"


class Name:
    """A name in every notation.

    Attributes
    ----------
    symbol : str
        For SymPy: plain, such as ``l_bar3``.
    text : str
        For Unicode, such as ``l̄₃``.
    latex, below : str
        For LaTeX: the letter, such as ``\\bar{l}``, and what stands below it, such as ``3``.
    numbered : bool
        Whether it ends in a number, so that an index needs brackets.
    """

    __slots__ = ("_parts", "below", "latex", "numbered", "symbol", "text")

    def __init__(self, base: str, number: int | None = None, bars: int = 0):
        self._parts = base, number, bars
        match = re.fullmatch(r"(.*?[^\d_])_?(\d+)", base)
        stem, own = (match[1], match[2]) if match else (base, "")
        digits = own + ("" if number is None else ("," if own else "") + str(number))
        root, *rest = stem.split("_") if not stem.startswith("_") else [stem]
        greek, command = GREEK.get(root, (root, None))
        self.symbol = base + "_bar" * bars + ("" if number is None else (f"_{number}" if own else str(number)))
        self.numbered = bool(digits)
        barred = greek + BAR * bars if len(greek) == 1 else "".join(c + OVERLINE * bars for c in greek)
        tail = "_" + "_".join(rest) if rest else ""
        self.text = unicodedata.normalize("NFC", barred) + tail + digits.replace(",", "₋").translate(_DIGITS)
        if command is None:
            command = _BY_CHARACTER.get(root) or (root if len(root) == 1 else rf"\mathrm{{{escaped(root)}}}")
        for _ in range(bars):
            command = rf"\bar{{{command}}}"
        below = [rf"\mathrm{{{escaped(r)}}}" if len(r) > 1 else r for r in rest if r] + ([digits] if digits else [])
        self.latex = command
        self.below = ",".join(below)

    @classmethod
    def call(cls, function: str, arguments: list[Name]) -> Name:
        """The name of a call of a custom Function."""
        made = cls(function)
        made.text = f"{function}({', '.join(a.text for a in arguments)})"
        made.symbol = f"{function}({', '.join(a.symbol for a in arguments)})"
        below = [f"{a.latex}_{{{a.below}}}" if a.below else a.latex for a in arguments]
        made.latex, made.below, made.numbered = rf"\operatorname{{{function}}}\left({', '.join(below)}\right)", "", True
        return made

    @classmethod
    def literal(cls, text: str) -> Name:
        """An argument of a call that is no tensor."""
        made = cls("x")
        made.text = made.symbol = text
        made.latex = text if text.replace(".", "").lstrip("-").isdigit() else rf"\mathrm{{{escaped(text)}}}"
        return made

    @classmethod
    def partial(cls, call: Name, argument: Name) -> Name:
        """The name of the unknown derivative of a call."""
        made = cls("partial")
        made.text, made.symbol = f"∂{call.text}/∂{argument.text}", f"d {call.symbol}/d {argument.symbol}"
        made.latex, made.below, made.numbered = (
            rf"\frac{{\partial {call.latex}}}{{\partial {argument.latex}}}",
            "",
            True,
        )
        return made

    @property
    def is_barred(self) -> bool:
        """Whether it is the name of a cotangent."""
        return self._parts[2] > 0

    def barred(self) -> Name:
        """The name of its cotangent."""
        base, number, bars = self._parts
        return Name(base, number, bars + 1)


def escaped(text: str) -> str:
    """The text with what LaTeX would take for commands made plain."""
    return re.sub(r"([_#$%&{}])", r"\\\1", text)
