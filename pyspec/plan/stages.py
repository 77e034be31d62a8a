"""When each node that resolves parameters runs: once for all rows, over the whole row axis, or row
by row (``PYSPEC_STAGE_*`` in pyspec.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspec._library import CONSTANTS, RPN

PROBLEM = CONSTANTS["STAGE_PROBLEM"]
AXIS = CONSTANTS["STAGE_AXIS"]
ROW = CONSTANTS["STAGE_ROW"]

_LAW, _BASE = CONSTANTS["STEP_LAW"], CONSTANTS["STEP_BASE"]
_EXPRESSION, _CONVOLVE = CONSTANTS["STEP_EXPRESSION"], CONSTANTS["STEP_CONVOLVE"]


def _reads(node: Mapping[str, int], words: Sequence[int]) -> list[int]:
    """The trace rows that a node reads beside its own."""
    if node["step"] == _BASE:
        return [node["source"]]
    if node["step"] == _EXPRESSION:
        code = words[node["code"] : node["code"] + 2 * node["n_code"]]
        return [
            row
            for instruction, row in zip(code[::2], code[1::2], strict=True)
            if instruction == RPN["PARAM"].index
        ]
    return [row for row in words[node["params"] :][: node["n_params"]] if row >= 0]


def find_stages(
    nodes: Sequence[Mapping[str, int]], words: Sequence[int], external: range
) -> list[int]:
    """The stage of each resolving node; nodes of one target share theirs.

    A trace that a law or an external trace moves is resolved row by row. A kernel reads its
    trace along the whole axis, and so needs what that is made of along the whole axis too.
    """
    moving = set(external)
    along: set[int] = set()
    inputs: dict[int, list[int]] = {}
    for node in nodes:
        target, rows = node["target"], _reads(node, words)
        inputs.setdefault(target, []).extend(rows)
        if node["step"] == _LAW or not moving.isdisjoint(rows):
            moving.add(target)
        if node["step"] == _CONVOLVE:
            along.add(target)
    pending = list(along)
    while pending:
        for row in inputs.get(pending.pop(), ()):
            if row in moving and row not in along:
                along.add(row)
                pending.append(row)
    moving |= along
    return [
        AXIS if node["target"] in along else ROW if node["target"] in moving else PROBLEM
        for node in nodes
    ]
