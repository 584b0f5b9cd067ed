"""Formulas: exact readings of the tape.

structure   the column of records without data; rules run on it give derivatives as graphs
terms, conditions, sums, division, dims
            index notation as a small algebra, and what is known about sums, indices and named sizes
build       the namespace in which the symbolic faces of ops make terms
scalars     the scalar functions, one row each for all notations
lower       from records to definitions and terms
naming, freezing
            what the user calls things; names frozen into a formula
printing, text, latex, symbolic
            terms on paper: the common walk, and one notation a file
evaluate, settling
            terms as numbers of any precision; when digits are certain
formula     `Formula`
making      `formula`, which makes one
local       one op's own expression and derivatives
guards      the branches that were taken
"""

from .formula import Formula, FormulaList, NamedDefinition
from .making import formula

__all__ = ["Formula", "FormulaList", "NamedDefinition", "formula"]
