"""A graph in the DOT language of Graphviz."""

from __future__ import annotations

from pyspec.ir.graph import GraphIR, GraphNode, NodeKind

#: Kind of a node → (shape, colour); others are plain boxes.
LOOKS = {
    NodeKind.OPT_PARAM: ("ellipse", "#cfe3f5"),
    NodeKind.STATIC_PARAM: ("ellipse", "#eeeeee"),
    NodeKind.EXPRESSION: ("ellipse", "#f6e2bd"),
    NodeKind.DYNAMICS_TRACE: ("box", "#d7ecd2"),
    NodeKind.CONVOLUTION: ("box", "#d7ecd2"),
    NodeKind.PROFILE_SAMPLE: ("box", "#e6d8ee"),
    NodeKind.COMPONENT_EVAL: ("box", "#f3c9c4"),
    NodeKind.SPECTRUM_FED_OP: ("box", "#f3c9c4"),
    NodeKind.SUM: ("diamond", "#ffffff"),
}


def to_dot(graph: GraphIR) -> str:
    """Nodes with their values and functions, and edges from what feeds to what is fed."""
    lines = [f"digraph {_quoted(graph.name or 'model')} {{", "  rankdir=LR;"]
    for node in graph.nodes:
        shape, colour = LOOKS.get(node.kind, ("box", "#ffffff"))
        more = node_details(node)
        label = _quoted(f"{node.name}\\n{more}" if more else node.name)
        look = f'shape={shape}, style=filled, fillcolor="{colour}"'
        lines.append(f"  n{node.id} [label={label}, {look}];")
    lines += [f"  n{edge.source} -> n{edge.target};" for edge in graph.edges]
    return "\n".join([*lines, "}"])


def node_details(node: GraphNode) -> str:
    """What a picture says of a node besides its name: expression, function or value. Of a function
    by formula its name."""
    if node.value is not None:
        return f"{node.value:.6g}"
    function = (node.function_name or "").partition("(")[0]
    return node.expr_string or function


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
