"""Printed LaTeX as the one-line notation that `reader` reads: what the braces mean, and nothing more."""

from __future__ import annotations

PLAIN = {
    "\\left(": "(", "\\right)": ")", "\\left[": "[", "\\right]": "]", "\\left|": "|", "\\right|": "|", "\\cdot": "·",
    "\\,": "·", "\\neq": "≠", "\\leq": "≤", "\\geq": "≥", "\\exp": "exp", "\\log": "log", "\\sin": "sin",
    "\\cos": "cos", "\\tanh": "tanh", "\\max": "max", "\\min": "min", "\\sigma": "σ", "-": "−",
}  # fmt: skip


def group(text: str, at: int) -> tuple[str, int]:
    """The braces that open at `at`: their content, and the place behind them."""
    assert text[at] == "{", text[at:]
    depth, start = 0, at + 1
    while True:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
        if not depth:
            return text[start : at - 1], at


def unicode_of(latex: str) -> str:
    """The same formula in one line."""
    out, at = "", 0
    while at < len(latex):
        rest = latex[at:]
        if rest.startswith("\\frac"):
            above, at = group(latex, at + 5)
            below, at = group(latex, at)
            out += f"(({unicode_of(above)})/({unicode_of(below)}))"
        elif rest.startswith("\\sqrt"):
            inside, at = group(latex, at + 5)
            out += f"√({unicode_of(inside)})"
        elif rest.startswith("\\operatorname"):
            name, at = group(latex, at + 13)
            out += name
        elif rest.startswith("\\sum_"):
            letters, at = group(latex, at + 5)
            out += f"Σ[{letters}] "
        elif rest.startswith("\\begin{cases}"):
            body, _, rest = rest[13:].partition("\\end{cases}")
            assert "\\begin" not in body, "nested cases are not read"
            (a, condition), (b, _) = (row.split("&") for row in body.split("\\\\"))
            out += (
                f"({unicode_of(a)} if {unicode_of(condition.replace(chr(92) + 'text{if }', ''))} else {unicode_of(b)})"
            )
            at = len(latex) - len(rest)
        elif rest[0] == "^":
            exponent, at = group(latex, at + 1)
            out += f"^({unicode_of(exponent)})"
        elif rest[0] == "_":
            below, at = group(latex, at + 1)
            separated = below if "," in below or not below.isalpha() else ",".join(below)
            out += f"[{unicode_of(separated)}]"
        else:
            piece = next((p for p in PLAIN if rest.startswith(p)), rest[0])
            assert piece != "\\", f"unknown command at {rest[:20]!r}"
            out += PLAIN.get(piece, piece)
            at += len(piece)
    return out
