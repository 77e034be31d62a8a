"""``pyspec ops``: the op table as the library exports it."""

from __future__ import annotations

import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable

from pyspec._library import OPS, OpDef
from pyspec.errors import ModelError, suggest
from pyspec.fit.results.table import text_table

#: What the letters of the units mean.
UNITS = "  (x: that of the axis, y: that of what it adds to)"


def run(args: Namespace) -> int:
    """Prints all rows of the table, or one of them in full."""
    name = args.name
    ops = {op.name: op for op in OPS.values() if not op.derived}
    wanted = ops.values() if name is None else [op for op in OPS.values() if op.name == name]
    args.facts["functions"] = [_facts(op) for op in wanted]
    if name is None:
        print(_cut(text_table(ops_cells(ops.values()), align="<<<<<")))
        return 0
    if name not in OPS:
        raise ModelError(f"no function {name!r}{suggest(name, list(ops))}; see 'pyspec ops'")
    op = OPS[name]
    print(f"{op.name}: {op.formula}")
    for label, value in (
        ("kind", op.kind.lower().replace("_", "-")),
        ("axis", op.domain.lower()),
        ("parameters", _params(op)),
        ("units", ", ".join(op.units) + UNITS if op.params else ""),
        ("linear in", ", ".join(op.linear) or "none"),
        ("error", f"{op.tolerance:g} × 2⁻⁵² of the peak, at most"),
    ):
        print(f"  {label + ':':12} {value}")
    return 0


def _facts(op: OpDef) -> dict[str, object]:
    """One row for programs."""
    return {
        "name": op.name,
        "kind": op.kind.lower(),
        "axis": op.domain.lower(),
        "parameters": op.params,
        "n_required": op.n_required,
        "units": op.units,
        "linear": op.linear,
        "formula": op.formula,
        "tolerance": op.tolerance,
    }


def _cut(table: str) -> str:
    """Lines that fit the terminal; whole ones where the output is none."""
    if not sys.stdout.isatty():
        return table
    width = shutil.get_terminal_size().columns
    lines = (line if len(line) <= width else f"{line[: width - 1]}…" for line in table.split("\n"))
    return "\n".join(lines)


def ops_cells(ops: Iterable[OpDef]) -> list[list[str]]:
    """Head and rows of the table."""
    head = ["function", "kind", "axis", "parameters", "formula"]
    rows = [
        [op.name, op.kind.lower().replace("_", "-"), op.domain.lower(), _params(op), op.formula]
        for op in ops
    ]
    return [head, *rows]


def _params(op: OpDef) -> str:
    """The parameters with their bounds and which may be left out: ``A, tau > 0, [y0]``."""
    shown = []
    for index, param in enumerate(op.params):
        text = param
        for guard in op.guards:
            if guard.param == index:
                other = op.params[int(guard.other)] if guard.relative else f"{guard.other:g}"
                text += f" {guard.comparison} {other}"
        shown.append(text if index < op.n_required else f"[{text}]")
    return ", ".join(shown)
