"""The tape: what an op records, and the one loop that runs it backward.

node       the record of one op, and the guards it carries
modes      whether recording is on, per thread and task
versions   when an array was last written in place
pull       the order of the records and the loop over them, in any column
columns    the numeric and the recorded column: who supplies values and functions
masked     the column whose cotangents carry a support, so that structural zeros are strong
"""

from .modes import is_grad_enabled
from .node import Guard, Node
from .pull import pull, reached

__all__ = ["Guard", "Node", "is_grad_enabled", "pull", "reached"]
