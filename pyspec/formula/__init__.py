"""Formulas: the one parser, the one RPN compiler, evaluation and exact derivatives."""

from pyspec.formula.definition import (
    DOMAINS,
    Definition,
    define,
    find_op,
    free_names,
    op_of,
    write,
)
from pyspec.formula.formula import Formula, parse
from pyspec.formula.machine import disassemble, run_rpn
from pyspec.formula.nodes import Apply, Name, Node, Number, postorder
from pyspec.formula.parser import CONSTANTS, FUNCTIONS
from pyspec.formula.rules import READS, chain_product

__all__ = [
    "CONSTANTS",
    "DOMAINS",
    "FUNCTIONS",
    "READS",
    "Apply",
    "Definition",
    "Formula",
    "Name",
    "Node",
    "Number",
    "chain_product",
    "define",
    "disassemble",
    "find_op",
    "free_names",
    "op_of",
    "parse",
    "postorder",
    "run_rpn",
    "write",
]
