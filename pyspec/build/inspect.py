"""What the compiler makes of a model, as text: the graph, the plan, the classes of derivatives."""

from __future__ import annotations

from pyspec.errors import PyspecError
from pyspec.ir import build_graph
from pyspec.ir.text import print_graph
from pyspec.plan import compile_model
from pyspec.workflow.session.document import Document


def inspected(document: Document) -> dict[str, str]:
    """The texts by name; empty without a model."""
    model = document.model
    if model is None:
        return dict.fromkeys(("graph", "plan", "columns"), "")
    compiled = compile_model(model)
    try:
        plan = str(compiled.plan)
        kinds = zip(compiled.names, compiled.column_kinds, strict=True)
        columns = "\n".join(f"{name}: {kind}" for name, kind in kinds)
    except PyspecError as error:
        plan = columns = str(error)
    return {"graph": print_graph(build_graph(model)), "plan": plan, "columns": columns}
