"""Formulas: the one parser, the one RPN compiler, evaluation and exact derivatives."""

from pyspec.formula.formula import Formula, parse
from pyspec.formula.machine import disassemble, run_rpn
from pyspec.formula.nodes import Apply, Name, Node, Number, postorder
from pyspec.formula.parser import CONSTANTS, FUNCTIONS

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "Apply",
    "Formula",
    "Name",
    "Node",
    "Number",
    "disassemble",
    "parse",
    "postorder",
    "run_rpn",
]
