"""Formulas: the one parser, the one RPN compiler, evaluation and exact derivatives."""

from pyspec.formula.definitions.edges import edges_of
from pyspec.formula.definitions.formulas import DOMAINS, KERNEL, PARTS, SIDES
from pyspec.formula.definitions.function import (
    FORMULAS,
    Definition,
    define,
    find_op,
    free_names,
    op_of,
    rows,
    sums_over_energies,
    write,
)
from pyspec.formula.definitions.kernel import fault_of
from pyspec.formula.definitions.measured import (
    MEASURED_IRF,
    Measured,
    has_pairs,
    instrument_text,
)
from pyspec.formula.definitions.scheme import Scheme, State, scheme_of
from pyspec.formula.definitions.signature import AXES
from pyspec.formula.formula import Formula, parse, parse_given
from pyspec.formula.parser import CONSTANTS, FUNCTIONS
from pyspec.formula.program.machine import disassemble, run_rpn
from pyspec.formula.rules import READS, chain_product
from pyspec.formula.syntax import Apply, Name, Node, Number, postorder

__all__ = [
    "AXES",
    "CONSTANTS",
    "DOMAINS",
    "FORMULAS",
    "FUNCTIONS",
    "KERNEL",
    "MEASURED_IRF",
    "PARTS",
    "READS",
    "SIDES",
    "Apply",
    "Definition",
    "Formula",
    "Measured",
    "Name",
    "Node",
    "Number",
    "Scheme",
    "State",
    "chain_product",
    "define",
    "disassemble",
    "edges_of",
    "fault_of",
    "find_op",
    "free_names",
    "has_pairs",
    "instrument_text",
    "op_of",
    "parse",
    "parse_given",
    "postorder",
    "rows",
    "run_rpn",
    "scheme_of",
    "sums_over_energies",
    "write",
]
