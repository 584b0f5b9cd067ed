"""Typed formulas as data: what ``symgrad explain 'mean(log(1+exp(-y*(X@w))))'`` reads.

refusal     limits, and errors that point at the place
scan        the words of the text
functions   the functions that can be called
program     the checked program: nodes in a list
grammar     from text to a checked program
sizes, inference
            the shapes of variables where nobody says, by unification
folding     exact arithmetic of plain numbers
values      random values
data        values from numbers, lists and files
evaluate    the program, computed with the library's ops

Nothing of the text is ever run as Python.
"""

from .data import read_data
from .evaluate import Typed, evaluate
from .grammar import parse
from .program import Program

__all__ = ["Program", "Typed", "evaluate", "parse", "read_data"]
