"""Division of indices, as reshaping needs it: carried out where the ranges of the indices settle it."""

from __future__ import annotations

from .terms import ONE, ZERO, Term, add, fn, mul, num, split, term


def mod(a: Term, b: Term) -> Term:
    """a mod b; what is certainly a multiple of b leaves it, and what certainly lies below b needs none."""
    a = rejoined(a)
    multiple, rest = _divided(a, b)
    return rest if multiple is not None else fn("mod", a, b)


def floordiv(a: Term, b: Term) -> Term:
    """a div b, rounded down; see `mod`."""
    a = rejoined(a)
    multiple, _ = _divided(a, b)
    return fn("floordiv", a, b) if multiple is None else multiple


def rejoined(t: Term) -> Term:
    """The index term with ``b·(a div b) + (a mod b)`` written as a."""
    if t.head != "ADD":
        return t
    if any(m.head == "ADD" for m, _ in t.args[1]):
        t = add(t.args[0], *(mul(c, rejoined(m)) for m, c in t.args[1]))
        if t.head != "ADD":
            return t
    for quotient, c in t.args[1]:
        if quotient.head == "FN" and quotient.args[0] == "floordiv":
            a, b = quotient.args[1:]
            for rest, one in t.args[1]:
                if rest == fn("mod", a, b) and c == mul(one, b):
                    return rejoined(add(t, mul(c, num(-1), quotient), mul(one, num(-1), rest), mul(one, a)))
    return t


def _divided(a: Term, b: Term) -> tuple[Term | None, Term]:
    """(q, r) with a = q·b + r and 0 ≤ r < b for all values of the indices; q is None where that is not plain."""
    if b == ONE:
        return a, ZERO
    if a.head in ("IDX", "BOUND") and term(a.args[1]) == b:
        return ZERO, a
    if b.head != "NUM":
        return None, a
    size = int(b.args[1])
    constant, pairs = a.args if a.head == "ADD" else (a, ()) if a.head == "NUM" else (ZERO, (split(a),))
    multiples: list[Term] = [num(int(constant.args[1]) // size)]
    rest: list[Term] = [num(int(constant.args[1]) % size)]
    least = most = int(constant.args[1]) % size
    for monomial, coefficient in pairs:
        c = coefficient.args[1]
        if c.denominator == 1 and c % size == 0:
            multiples.append(mul(num(int(c) // size), monomial))
            continue
        if monomial.head not in ("IDX", "BOUND") or c.denominator != 1:
            return None, a
        span = int(c) * (int(monomial.args[1]) - 1)
        least, most = least + min(span, 0), most + max(span, 0)
        rest.append(mul(coefficient, monomial))
    return (add(*multiples), add(*rest)) if least >= 0 and most < size else (None, a)
