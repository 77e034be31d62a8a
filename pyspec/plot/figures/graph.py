"""A picture of the graph of a model: inputs on the left, the spectrum on the right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pyspec.errors import DataError
from pyspec.ir import GraphIR, to_dot
from pyspec.ir.dot import LOOKS, node_details
from pyspec.plot.figure import check_folder, matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Formats of a picture besides the text for Graphviz.
FORMATS = (".svg", ".pdf", ".png")

#: Inches between columns, between nodes of a column, and above and below all.
WIDTH, HEIGHT, MARGIN = 2.3, 0.5, 0.2

#: Width and height of a node.
BOX = (1.75, 0.36)

#: A label is cut behind so many characters.
LONGEST = 26


def save_picture(graph: GraphIR, path: Path) -> Path:
    """Draws a graph into a file: .svg, .pdf, .png, or .dot for Graphviz.

    Raises :class:`DataError` for another ending.
    """
    check_picture(path)
    if path.suffix == ".dot":
        path.write_text(to_dot(graph), encoding="utf-8")
        return path
    draw_graph(graph).savefig(path)
    return path


def check_picture(path: Path) -> None:
    """Raises :class:`DataError` for an ending that is none of a picture of a graph."""
    if path.suffix not in (*FORMATS, ".dot"):
        raise DataError(f"{path}: end the name of a picture in {', '.join(FORMATS)} or .dot")
    check_folder(path)


def draw_graph(graph: GraphIR) -> Figure:
    """The figure. A node stands right of all that feeds it, near the middle of these."""
    drawing = matplotlib()
    columns = columns_of(graph)
    places = _places(graph, columns)
    tallest = max((len(column) for column in columns), default=1)
    size = (max(len(columns), 1) * WIDTH, tallest * HEIGHT + 2 * MARGIN)
    figure: Figure = drawing.figure.Figure(figsize=size)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-WIDTH / 2, size[0] - WIDTH / 2)
    axes.set_ylim(-size[1] / 2, size[1] / 2)
    axes.axis("off")
    for edge in graph.edges:
        (x0, y0), (x1, y1) = places[edge.source], places[edge.target]
        ends = (x1 - BOX[0] / 2, y1), (x0 + BOX[0] / 2, y0)
        axes.annotate(
            "", *ends, arrowprops={"arrowstyle": "-|>", "color": "#9aa0a6", "lw": 0.7}, zorder=0
        )
    for node in graph.nodes:
        x, y = places[node.id]
        shape, colour = LOOKS.get(node.kind, ("box", "#ffffff"))
        rounding = BOX[1] / 2 if shape == "ellipse" else 0.03
        style = f"round,pad=0,rounding_size={rounding}"
        axes.add_patch(
            drawing.patches.FancyBboxPatch(
                (x - BOX[0] / 2, y - BOX[1] / 2), *BOX,
                boxstyle=style, facecolor=colour, edgecolor="#5f6368", linewidth=0.6,
            )
        )  # fmt: skip
        text = "\n".join(_cut(line) for line in (node.name, node_details(node)) if line)
        axes.text(x, y, text, ha="center", va="center", fontsize=7, parse_math=False)
    return figure


def columns_of(graph: GraphIR) -> list[list[int]]:
    """Ids of the nodes of each column: one behind the last of what feeds a node. A node without
    inputs stands one column before its first reader."""
    level: dict[int, int] = {}
    for number in graph.order:
        level[number] = 1 + max((level[source] for source in graph.sources(number)), default=-1)
    for number in graph.order:
        readers = [level[edge.target] for edge in graph.outputs(number)]
        if readers and not graph.sources(number):
            level[number] = min(readers) - 1
    columns: list[list[int]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
    for number in graph.order:
        columns[level[number]].append(number)
    return columns


def _places(graph: GraphIR, columns: list[list[int]]) -> Mapping[int, tuple[float, float]]:
    """Places the nodes of each column beside the nodes that they feed, from right to left, then
    beside their inputs: two sweeps untangle most crossings."""
    height: dict[int, float] = {}
    for column in columns:
        _spread(column, dict.fromkeys(column, 0.0), height)
    for _ in range(4):
        for k in range(len(columns) - 2, -1, -1):
            users = {n: [height[e.target] for e in graph.outputs(n)] for n in columns[k]}
            _spread(columns[k], {n: _mean(users[n], height[n]) for n in columns[k]}, height)
        for column in columns[1:]:
            fed = {n: [height[source] for source in graph.sources(n)] for n in column}
            _spread(column, {n: _mean(fed[n], height[n]) for n in column}, height)
    return {
        number: (k * WIDTH, -height[number] * HEIGHT)
        for k, column in enumerate(columns)
        for number in column
    }


def _spread(column: list[int], wanted: Mapping[int, float], height: dict[int, float]) -> None:
    column.sort(key=lambda number: wanted[number])
    for place, number in enumerate(column):
        height[number] = place - (len(column) - 1) / 2


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
