"""SymPy symbols for leaves: identity is the tensor, not the name.

The first leaf of a name gets the plain real symbol of that name. Another leaf of the same name,
while the first is alive, gets one that prints like it and is not equal to it: two leaves are
never one because their names agree, in one expression or across several.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import sympy

_owners: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_uids = itertools.count(1)


class LeafSymbol(sympy.Symbol):
    """A real symbol that is equal only to the symbols of the same leaf, however they print."""

    __slots__ = ("uid",)

    uid: int

    def __new__(cls, name: str, uid: int) -> LeafSymbol:
        made = sympy.Symbol.__xnew__(cls, name, real=True)
        made.uid = uid
        return made

    def __getnewargs_ex__(self) -> Any:
        return (self.name, self.uid), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return ("leaf", self.uid, *sorted(self.assumptions0.items()))


def leaf_symbol(t: Any, name: str) -> sympy.Symbol:
    """The symbol that stands for the leaf, always equal to itself; `name` is how it prints in this formula."""
    extra = t._get_extra()
    if extra.symbol is None:
        owner = _owners.get(name)
        if owner is None:
            _owners[name] = t
            extra.symbol = name
        else:
            extra.symbol = name if owner is t else next(_uids)
    if isinstance(extra.symbol, str):
        return sympy.Symbol(extra.symbol, real=True)
    return LeafSymbol(name, extra.symbol)
