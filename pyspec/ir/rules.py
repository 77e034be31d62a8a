"""What the verifier knows of each kind of node and edge."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from pyspec.ir.graph import PARAMETER_KINDS, SPECTRUM_KINDS, TRACE_KINDS, EdgeKind, NodeKind


@dataclass(frozen=True)
class Violation:
    """A rule that a node breaks, and what to do about it."""

    node: str
    rule: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.node}: {self.rule}; {self.remedy}"


#: Nodes that call a function, and the kinds of op that they may call.
FUNCTIONS: dict[NodeKind, tuple[str, ...]] = {
    NodeKind.COMPONENT_EVAL: ("PEAK", "BACKGROUND", "RESOLVED", "DYNAMICS", "RESPONSE"),
    NodeKind.SPECTRUM_FED_OP: ("SPECTRUM_FED", "ROW_FED"),
    NodeKind.DYNAMICS_TRACE: ("DYNAMICS",),
    NodeKind.CONVOLUTION: ("KERNEL", "IRF", "RESOLUTION"),
    NodeKind.PROFILE_SAMPLE: ("PROFILE",),
    NodeKind.EXTERNAL: ("PEAK", "DYNAMICS"),
}
FUNCTION_KINDS = frozenset(FUNCTIONS)

#: For each edge kind: the kinds of node it may leave and enter.
EDGE_RULES: dict[EdgeKind, tuple[frozenset[NodeKind], frozenset[NodeKind]]] = {
    EdgeKind.PARAM_INPUT: (PARAMETER_KINDS | {NodeKind.FREE_VECTOR}, FUNCTION_KINDS),
    EdgeKind.TRACE_INPUT: (
        TRACE_KINDS | {NodeKind.SUBCYCLE_REMAP},
        frozenset(
            {
                NodeKind.PARAM_PLUS_TRACE,
                NodeKind.CONVOLUTION,
                NodeKind.SUBCYCLE_MASK,
                NodeKind.DYNAMICS_TRACE,
            }
        ),
    ),
    EdgeKind.BASE_INPUT: (
        frozenset({NodeKind.STATIC_PARAM, NodeKind.OPT_PARAM, NodeKind.PARAM_PLUS_TRACE}),
        frozenset({NodeKind.PARAM_PLUS_TRACE}),
    ),
    EdgeKind.ADDEND: (SPECTRUM_KINDS, frozenset({NodeKind.SUM, NodeKind.PROFILE_AVERAGE})),
    EdgeKind.SPECTRUM_INPUT: (frozenset({NodeKind.SUM}), frozenset({NodeKind.SPECTRUM_FED_OP})),
    EdgeKind.EXPR_REF: (
        PARAMETER_KINDS | {NodeKind.AXIS, NodeKind.FREE_VECTOR},
        frozenset({NodeKind.EXPRESSION}),
    ),
    EdgeKind.KERNEL_INPUT: (
        frozenset({NodeKind.CONVOLUTION}),
        frozenset({NodeKind.COMPONENT_EVAL}),
    ),
    EdgeKind.RESULT: (
        frozenset({NodeKind.SUM, NodeKind.PARAM_PLUS_TRACE}),
        frozenset({NodeKind.RESULTS}),
    ),
}

#: Kinds of an edge and of its two ends.
JOINS = {
    (kind, source, target)
    for kind, (sources, targets) in EDGE_RULES.items()
    for source in sources
    for target in targets
}

#: The fields of a node that its kind uses; `vary` is that of an OPT_PARAM.
PAYLOAD: dict[NodeKind, tuple[str, ...]] = {
    NodeKind.STATIC_PARAM: ("value", "bounds"),
    NodeKind.OPT_PARAM: ("value", "bounds"),
    NodeKind.EXPRESSION: ("expr_string",),
    NodeKind.FREE_VECTOR: ("axis", "positive", "zero"),
    NodeKind.AXIS: ("axis",),
    NodeKind.SUBCYCLE_MASK: ("arrays", "cycle"),
    NodeKind.SUBCYCLE_REMAP: ("arrays", "cycle"),
    **dict.fromkeys(FUNCTIONS, ("function_name", "package")),
    NodeKind.CONVOLUTION: ("function_name", "package", "cycle"),
}


#: The fields of a node that some kinds use, and what they are where they are not used.
_FIELDS: dict[str, object] = {
    **dict.fromkeys(("value", "bounds", "function_name", "package", "expr_string"), None),
    **{"arrays": {}, "cycle": None, "axis": None, "positive": False, "zero": ()},
}


#: The fields that a kind does not use, what reads them all, and what it then gives.
UNUSED = {
    kind: (own, attrgetter(*own), tuple([_FIELDS[field] for field in own]))
    for kind in NodeKind
    for own in [tuple([field for field in _FIELDS if field not in PAYLOAD.get(kind, ())])]
}

#: Edges whose positions count from 0 without gaps.
IN_SEQUENCE = (EdgeKind.TRACE_INPUT, EdgeKind.ADDEND, EdgeKind.RESULT)

#: The array of a node of a sub-cycle.
ARRAYS = {NodeKind.SUBCYCLE_MASK: "time_n_sub", NodeKind.SUBCYCLE_REMAP: "time_norm"}

#: How many traces a node may take, and what to do where it takes another number.
TRACES_OF: dict[NodeKind, tuple[tuple[int, ...], str]] = {
    NodeKind.DYNAMICS_TRACE: ((0, 1), "give it one at most"),
    NodeKind.SUBCYCLE_MASK: ((1,), "give it one"),
}
