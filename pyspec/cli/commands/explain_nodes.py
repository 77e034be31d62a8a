"""``pyspec explain --nodes``: the plan as the C library sees it, field by field."""

from __future__ import annotations

from textwrap import indent

from pyspec._library import DTYPES
from pyspec.executor import make_plan
from pyspec.fit.results.table import text_table
from pyspec.formula import Definition, op_of
from pyspec.formula.program.listing import listing
from pyspec.formula.program.machine import disassemble
from pyspec.model import Model
from pyspec.plan import pack


def nodes_text(model: Model) -> str:
    """Every field of every node, then the programs of expressions for the stack machine, and those
    of functions by formula over registers; of kernels their shapes."""
    plan = make_plan(model)
    packed = pack(plan)
    fields = [name for name in DTYPES["pyspec_node"].names or () if name != "label"]
    rows = [["node", *fields, "of"]]
    for k, node in enumerate(packed.nodes()):
        values = [str(int(node[name])) for name in fields]
        rows.append([str(k), *values, packed.labels[int(node["label"])]])
    head = packed.header
    lead = (
        f"Nodes: {len(rows) - 1} of {DTYPES['pyspec_node'].itemsize} bytes"
        f" (struct pyspec_node in csrc/pyspec.h), the first {int(head['n_resolve'])} resolve"
        f" parameters; behind them {int(head['n_words'])} words"
    )
    table = text_table(rows, ">" * (len(rows[0]) - 1) + "<")
    programs = [f"{lead}\n{table}"]
    for k, row in enumerate(plan.expr_target_rows.tolist()):
        code = plan.expr_code[plan.expr_indptr[k] : plan.expr_indptr[k + 1]]
        text = disassemble(code, plan.row_names)
        programs.append(f"Program of {plan.row_names[row]}\n{indent(text, '  ')}")
    for op in map(op_of, plan.formulas):
        if isinstance(op.own, Definition):
            words = op.own.program(op.own.value)
            text = listing(words, op.own.params, (op.own.axis, *op.own.inputs))
            programs.append(f"Program of {op.name}\n{indent(text, '  ')}")
    return "\n\n".join(programs)
