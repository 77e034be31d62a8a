"""The op table and the table of instructions, as the library exports them."""

from __future__ import annotations

from pyspec._library import OPS, RPN, OpDef
from pyspec.functions.slopes import arguments, interacting

LEAD = """
What Python and C know of each function: one row of `csrc/ops.def`, exported by the library.
`pyspec ops NAME` prints a row, [Functions](index.md) explains each with its source. Classification,
plans, kernels, tests and these pages follow from the rows.

- *domain*: where a parameter may lie; outside of it the value is NaN.
- *units* of the parameters, in their order: x that of the axis, y that of what the function adds to
  (the data, or the parameter that moves), ? one that depends on the values.
- *linear*: what the value is proportional to, all of it together.
- *jumps*: parameters that move a jump over the samples, and its height.
- *slopes read*: for each parameter the others that the derivative by it depends on. One that reads
  nothing free is computed once a fit.
- *error*: the largest of the compiled value, in 2⁻⁵² of the peak.
"""

INSTRUCTIONS = """
Formulas and expressions are made of these instructions (`csrc/rpn.def`). The partial derivatives
are formulas of the same language in the operands a, b, c and the result v: C, NumPy and the
symbolic derivatives take them from one text. An instruction without a symbol occurs in derivatives
only.
"""


def pages() -> dict[str, str]:
    """functions/table.md."""
    head = (
        "function",
        "kind",
        "axis",
        "units",
        "domain",
        "linear",
        "jumps",
        "slopes read",
        "error",
    )
    ops = [_row(op) for op in OPS.values() if not op.external]
    parts = ["# The op table", LEAD.strip(), _table(head, ops)]
    rows = [_instruction(name) for name, row in RPN.items() if row.arity]
    parts += ["## Instructions", INSTRUCTIONS.strip()]
    parts.append(_table(("instruction", "written", "by a", "by b", "by c"), rows))
    return {"functions/table.md": "\n\n".join(parts)}


def _row(op: OpDef) -> tuple[str, ...]:
    bounds = []
    for guard in op.guards:
        other = op.params[int(guard.other)] if guard.relative else f"{guard.other:g}"
        bounds.append(f"{op.params[guard.param]} {guard.comparison} {other}")
    names, slopes = arguments(op), interacting(op)
    read = [", ".join(names[k] for k in sorted(slope)) or "none" for slope in slopes]
    return (
        op.name,
        op.kind.lower().replace("_", "-"),
        op.domain.lower(),
        ", ".join(op.units),
        ", ".join(bounds),
        ", ".join(op.linear),
        ", ".join(f"{name} by `{height}`" for name, height in op.jumps),
        "; ".join(f"{name}: {others}" for name, others in zip(names, read, strict=True)),
        f"{op.tolerance:g}",
    )


def _instruction(name: str) -> tuple[str, ...]:
    row = RPN[name]
    written = " ".join(f"`{one}`" for one in (row.symbol, *row.aliases) if one)
    partials = [*(f"`{text}`" for text in row.partials[: row.arity]), "", ""]
    return (name, written, *partials[:3])


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
