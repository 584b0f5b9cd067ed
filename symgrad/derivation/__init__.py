"""The derivation explainer: how a gradient comes about, step by step, and why it is right.

steps       `Step` and `Derivation`: what a derivation consists of, and how it prints
numbers     the values of records, by the ops' own forwards
explain     `explain`, which reads the steps off the records that backward() runs
proof       numeric against exact
plain       the text renderer
"""

from .explain import explain
from .steps import Derivation, Step

__all__ = ["Derivation", "Step", "explain"]
