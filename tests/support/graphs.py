"""A graph with every kind of node and edge, as text."""

from __future__ import annotations

from pyspec.ir import GraphIR

#: A peak whose height moves in a sub-cycle and is tied, whose centre has a profile, over an Offset
#: that a Shirley reads: every kind of node and edge that models have.
WHOLE = """\
graph "m" ENERGY_TIME_2D {
  energy = [1.0, 2.0, 3.0]
  time = [0.0, 1.0]
  aux = [0.0, 0.5]
  aux_weights = [0.5, 0.5]
  %0 = OPT_PARAM "A" @0 {"value": 2.0, "vary": true, "bounds": [0.0, 9.0]}
  %1 = STATIC_PARAM "x0" @1 {"value": 2.0}
  %2 = EXPRESSION "SD" @2 {"expr_string": "A / 2 + x0"}
  %3 = SUBCYCLE_REMAP "local" @3 {"arrays": {"time_norm": [0.0, 0.0]}}
  %4 = DYNAMICS_TRACE "law" @4 {"function_name": "stepFun", "package": "time"}
  %5 = SUBCYCLE_MASK "mask" @5 {"arrays": {"time_n_sub": [0.0, 1.0]}}
  %6 = CONVOLUTION "kernel" @6 {"function_name": "gaussCONV", "package": "convolution"}
  %7 = PARAM_PLUS_TRACE "A_moved" @7
  %8 = PROFILE_SAMPLE "fall" @8 {"function_name": "pLinear", "package": "profile"}
  %9 = PARAM_PLUS_TRACE "x0_sampled" @9
  %10 = COMPONENT_EVAL "Gauss_01" @10 {"function_name": "Gauss", "package": "energy"}
  %11 = PROFILE_AVERAGE "Gauss_01_average" @11
  %12 = COMPONENT_EVAL "Offset" @12 {"function_name": "Offset", "package": "energy"}
  %13 = SUM "before" @13
  %14 = SPECTRUM_FED_OP "Shirley" @14 {"function_name": "Shirley", "package": "energy"}
  %15 = SUM "total" @15
  %0 -> %2 EXPR_REF[0]
  %1 -> %2 EXPR_REF[1]
  %3 -> %4 TRACE_INPUT[0]
  %0 -> %4 PARAM_INPUT[0]
  %1 -> %4 PARAM_INPUT[1]
  %4 -> %5 TRACE_INPUT[0]
  %5 -> %6 TRACE_INPUT[0]
  %1 -> %6 PARAM_INPUT[0]
  %0 -> %7 BASE_INPUT[0]
  %6 -> %7 TRACE_INPUT[0]
  %0 -> %8 PARAM_INPUT[0]
  %1 -> %8 PARAM_INPUT[1]
  %1 -> %9 BASE_INPUT[0]
  %8 -> %9 TRACE_INPUT[0]
  %7 -> %10 PARAM_INPUT[0]
  %9 -> %10 PARAM_INPUT[1]
  %2 -> %10 PARAM_INPUT[2]
  %10 -> %11 ADDEND[0]
  %0 -> %12 PARAM_INPUT[0]
  %12 -> %13 ADDEND[0]
  %0 -> %14 PARAM_INPUT[0]
  %13 -> %14 SPECTRUM_INPUT[0]
  %11 -> %15 ADDEND[0]
  %13 -> %15 ADDEND[1]
  %14 -> %15 ADDEND[2]
}
"""


def node_ids(graph: GraphIR) -> dict[str, int]:
    """Name → id."""
    return {node.name: node.id for node in graph.nodes}
