"""A table of broken graphs: each is refused with the node and the rule that it breaks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.graphs import WHOLE

from pyspec.errors import PlanError
from pyspec.ir import EdgeKind, GraphEdge, parse_graph, verify

LAST = "  %14 -> %15 ADDEND[2]\n"

FREE = '  %16 = FREE_VECTOR "level" @16 {"axis": "time", "zero": [[1.0, 2.0]]}\n'

#: A line that ends where it begins, and a resolution of the Offset.
LINE = """\
  %16 = COMPONENT_EVAL "line" @16 {"function_name": "LinBack", "package": "energy"}
  %0 -> %16 PARAM_INPUT[0]
  %0 -> %16 PARAM_INPUT[1]
  %1 -> %16 PARAM_INPUT[2]
  %1 -> %16 PARAM_INPUT[3]
  %16 -> %15 ADDEND[3]
"""
BLUR = """\
  %16 = CONVOLUTION "blur" @16 {"function_name": "resolution", "package": "resolution"}
  %1 -> %16 PARAM_INPUT[0]
  %16 -> %12 KERNEL_INPUT[0]
"""
#: What is replaced (nothing: a line is added), by what, and the node and the rule of the answer.
BROKEN: list[tuple[str, str, str]] = [
    # numbers and names
    ("%15 = SUM", "%16 = SUM", "total: id 16 at position 15"),
    ('"law" @4', '"A" @4', "A: 2 nodes of this name"),
    ('"law" @4', '"" @4', "node 4: has no name"),
    (LAST, LAST + "  %99 -> %15 ADDEND[3]\n", "no node 99"),
    (LAST, LAST + "  %0 -> %99 PARAM_INPUT[0]\n", "no node 99"),
    # payloads
    ('"A" @0 {"value": 2.0,', '"A" @0 {', "A: value None"),
    ('"value": 2.0, "vary"', '"value": NaN, "vary"', "A: value nan"),
    ('"value": 2.0, "vary"', '"value": Infinity, "vary"', "A: value inf"),
    ("[0.0, 9.0]", "[9.0, 0.0]", "A: bounds (9.0, 0.0)"),
    ("[0.0, 9.0]", "[NaN, 9.0]", "A: bounds (nan, 9.0)"),
    ('"vary": true, ', "", "A: a OPT_PARAM with vary=False"),
    ('"x0" @1 {"value": 2.0}', '"x0" @1 {"value": 2.0, "vary": true}', "x0: a STATIC_PARAM with"),
    ('"total" @15', '"total" @15 {"value": 1.0}', "total: a SUM has no value"),
    ('"total" @15', '"total" @15 {"bounds": [0, 1]}', "total: a SUM has no bounds"),
    ('"total" @15', '"total" @15 {"function_name": "Gauss"}', "total: a SUM has no function_name"),
    ('"A_moved" @7', '"A_moved" @7 {"package": "x"}', "a PARAM_PLUS_TRACE has no package"),
    ('"A_moved" @7', '"A_moved" @7 {"expr_string": "A"}', "a PARAM_PLUS_TRACE has no expr_string"),
    ('"A_moved" @7', '"A_moved" @7 {"arrays": {"a": [1]}}', "a PARAM_PLUS_TRACE has no arrays"),
    # edges
    ("%14 -> %15 ADDEND[2]", "%14 -> %15 ADDEND[3]", "total: ADDEND at positions [0, 1, 3]"),
    ("%14 -> %15 ADDEND[2]", "%14 -> %15 ADDEND[1]", "total: ADDEND at positions [0, 1, 1]"),
    ("%6 -> %7 TRACE_INPUT[0]", "%6 -> %7 TRACE_INPUT[1]", "A_moved: TRACE_INPUT at positions [1]"),
    ("%14 -> %15 ADDEND[2]", "%0 -> %15 ADDEND[2]", "total: ADDEND from OPT_PARAM A to SUM"),
    (LAST, LAST + "  %10 -> %0 PARAM_INPUT[0]\n", "A: PARAM_INPUT from COMPONENT_EVAL Gauss_01"),
    ("%13 -> %14 SPECTRUM", "%12 -> %14 SPECTRUM", "Shirley: SPECTRUM_INPUT from COMPONENT_EVAL"),
    ("%0 -> %7 BASE", "%2 -> %7 BASE", "A_moved: BASE_INPUT from EXPRESSION SD"),
    ("%1 -> %2 EXPR_REF", "%12 -> %2 EXPR_REF", "SD: EXPR_REF from COMPONENT_EVAL Offset"),
    # what is free along an axis, and the axis itself
    (LAST, LAST + FREE + "  %16 -> %12 PARAM_INPUT[0]\n", "Offset: parameters at positions [0, 0]"),
    ("%0 -> %12 PARAM_INPUT[0]\n", "%16 -> %12 PARAM_INPUT[0]\n" + FREE.replace("time", "aux"),
     "level: its axis is 'aux'"),
    ("%0 -> %12 PARAM_INPUT[0]\n", "%16 -> %12 PARAM_INPUT[0]\n" + FREE.replace("time", "energy"),
     "Offset: Offset is a function of energy itself, along which level is free"),
    ("%2 -> %10 PARAM_INPUT[2]\n", "%16 -> %10 PARAM_INPUT[2]\n" + FREE,
     "Gauss_01: takes level, which is free, as SD; only an amplitude can be free"),
    ("%0 -> %12 PARAM_INPUT[0]\n", "%16 -> %12 PARAM_INPUT[0]\n" + FREE.replace("1.0, 2", "3.0, 2"),
     "level: 0 in ((3.0, 2.0),); give ranges that rise"),
    ("%0 -> %12 PARAM_INPUT[0]\n", "%16 -> %12 PARAM_INPUT[0]\n" + FREE.replace("1.0, 2", "2.0, 2"),
     "level: 0 in ((2.0, 2.0),); give ranges that rise"),
    (LAST, LAST + '  %16 = AXIS "energy" @16 {"axis": "energy"}\n',
     "energy: no amplitude is free along the energy"),
    ('"total" @15', '"total" @15 {"axis": "time"}', "total: a SUM has no axis"),
    # resolutions and turns
    (LAST, LAST + "  %6 -> %12 KERNEL_INPUT[0]\n", "Offset: has no known convolution with kernel"),
    ('{"arrays": {"time_n_sub"', '{"cycle": [1.0, 2, 1], "arrays": {"time_n_sub"', "and a cycle"),
    ('{"arrays": {"time_n_sub": [0.0, 1.0]}', '{"cycle": [1.0, 2, 3]', "mask: turn 3 of 2"),
    ('{"arrays": {"time_n_sub": [0.0, 1.0]}', '{"cycle": [1.0, 2, 0]', "mask: turn 0 of 2"),
    ('{"arrays": {"time_n_sub": [0.0, 1.0]}', '{"cycle": [0.0, 2, 1]', "turn 1 of 2, 0 times"),
    ('{"arrays": {"time_n_sub": [0.0, 1.0]}', '{"cycle": [Infinity, 2, 1]', "1 of 2, inf times"),
    ('"A" @0 {', '"A" @0 {"scope": "files", ', "A: scope 'files'; it is 'file' or 'project'"),
    ('"total" @15', '"total" @15 {"scope": "project"}', "total: a SUM of scope 'project'"),
    # axes
    ("  energy = [1.0, 2.0, 3.0]\n", "", "axes: ENERGY_TIME_2D needs energy axis"),
    ("ENERGY_TIME_2D", "ENERGY_1D", "axes: ENERGY_1D has no time axis"),
    ("[1.0, 2.0, 3.0]", "[1.0, NaN]", "axes: energy is not a finite 1D axis"),
    ("[1.0, 2.0, 3.0]", "[]", "axes: energy is not a finite 1D axis"),
    ("[1.0, 2.0, 3.0]", "[[1.0], [2.0]]", "axes: energy is not a finite 1D axis"),
    ("aux = [0.0, 0.5]", "aux = [0.0, NaN]", "axes: aux is not a finite 1D axis"),
    ("aux_weights = [0.5, 0.5]", "aux_weights = [1.0]", "axes: aux_weights are not one finite"),
    ("aux_weights = [0.5, 0.5]", "aux_weights = [0, NaN]", "axes: aux_weights are not one finite"),
    ("  aux = [0.0, 0.5]\n", "", "axes: aux_weights are not one finite number"),
    ("energy = [1.0, 2.0, 3.0]", "energy = [3.0, 1.0, 2.0]",
     "axes: energy does not rise, or fall, all the way: 1 and 2 at index 1"),
    ("energy = [1.0, 2.0, 3.0]", "energy = [1.0, 3.0, 2.0]",
     "axes: energy does not rise, or fall, all the way: 3 and 2 at index 1"),
    ("energy = [1.0, 2.0, 3.0]", "energy = [2.0, 2.0]",
     "axes: energy does not rise, or fall, all the way: 2 and 2 at index 0"),
    ("time = [0.0, 1.0]", "time = [3.0, 2.0]", "axes: time does not rise all the way: 3 and 2 at"),
    ("time = [0.0, 1.0]", "time = [2.0, 2.0]", "axes: time does not rise all the way: 2 and 2 at"),
    ("aux = [0.0, 0.5]", "aux = [0.5, 0.5]", "axes: aux does not rise, or fall, all the way: 0.5"),
    ("aux_weights = [0.5, 0.5]", "aux_weights = [-1, 2]", "axes: aux_weights are negative, or all"),
    ("aux_weights = [0.5, 0.5]", "aux_weights = [0, 0]", "axes: aux_weights are negative, or all"),
    ("ENERGY_TIME_2D", "TIME_1D", "axes: TIME_1D has no energy axis"),
    ("  time = [0.0, 1.0]\n", "", "axes: ENERGY_TIME_2D needs time axis"),
    # cycles
    ("%1 -> %2 EXPR_REF[1]", "%2 -> %2 EXPR_REF[1]", "these nodes lie on or behind a cycle"),
    ("%1 -> %9 BASE_INPUT", "%9 -> %9 BASE_INPUT", "x0_sampled, Gauss_01, Gauss_01_average, total"),
    # functions
    ('"Gauss"', '"gauss"', "Gauss_01: no function gauss in energy"),
    ('"Gauss", "package": "energy"', '"Gauss", "package": "time"', "no function Gauss in time"),
    ('"Gauss"', '"Shirley"', "Gauss_01: Shirley is SPECTRUM_FED, not COMPONENT_EVAL"),
    ('"Gauss"', '"energy F(A: A"', "Gauss_01: function: cannot read the function"),
    ("  %2 -> %10 PARAM_INPUT[2]\n", "", "Gauss_01: parameters at positions [0, 1]"),
    ("%2 -> %10 PARAM_INPUT[2]", "%2 -> %10 PARAM_INPUT[1]", "Gauss_01: parameters at positions"),
    (LAST, LAST + "  %0 -> %10 PARAM_INPUT[7]\n", "Gauss_01: parameters at positions [0, 1, 2, 7]"),
    (LAST, LAST + "  %13 -> %14 SPECTRUM_INPUT[1]\n", "Shirley: reads two spectra"),
    ("%0 -> %4 PARAM_INPUT", "%9 -> %4 PARAM_INPUT", "x0_sampled depends on the auxiliary axis"),
    # expressions
    ('"A / 2 + x0"', '"A / (2 + x0"', "SD: expression: "),
    ('"A / 2 + x0"', '"A / 2"', "SD: 1 names, references at positions [0, 1]"),
    ('"A / 2 + x0"', '"A / 2 + x0 * y"', "SD: 3 names, references at positions [0, 1]"),
    ("%1 -> %2 EXPR_REF[1]", "%1 -> %2 EXPR_REF[0]", "SD: 2 names, references at positions [0, 0]"),
    # sub-cycles and traces
    ('{"time_norm": [0.0, 0.0]}', '{"time_norm": [0.0]}', "local: its arrays are not one finite"),
    ('{"time_norm": [0.0, 0.0]}', '{"time": [0.0, 0.0]}', "local: its arrays are not one finite"),
    ('"time_norm": [0.0, 0.0]', '"time_norm": [0.0, NaN]', "local: its arrays are not one finite"),
    ('{"time_n_sub": [0.0, 1.0]}', '{"time_n_sub": [0, 2]}', "mask: masks by other numbers than"),
    ("  %4 -> %5 TRACE_INPUT[0]\n", "", "mask: 0 traces into a SUBCYCLE_MASK"),
    (LAST, LAST + "  %3 -> %4 TRACE_INPUT[1]\n", "law: 2 traces into a DYNAMICS_TRACE"),
    ("%3 -> %4 TRACE", "%8 -> %4 TRACE", "law: takes the trace of fall, a PROFILE_SAMPLE"),
    ("%5 -> %6 TRACE", "%3 -> %6 TRACE", "kernel: takes the trace of local, a SUBCYCLE_REMAP"),
    # where a fit starts
    ('"value": 2.0, "vary"', '"value": 9.5, "vary"', "A: starts at 9.5, outside of its bounds"),
    ('"value": 2.0, "vary"', '"value": -1.0, "vary"', "A: starts at -1, outside of its bounds"),
    ('"x0" @1 {"value": 2.0}', '"x0" @1 {"value": 0.0}', "kernel: SD = 0; gaussCONV needs SD > 0"),
    (LAST, LAST + LINE, "line: xStop = 2; LinBack needs xStop > xStart"),
    # sums and results
    ("  %13 -> %14 SPECTRUM_INPUT[0]\n", "", "Shirley: reads nothing; give it a spectrum"),
    (LAST, LAST + "  %12 -> %11 ADDEND[1]\n", "Gauss_01_average: averages not exactly one"),
    (LAST, LAST + '  %16 = SUM "other" @16\n  %13 -> %16 ADDEND[0]\n',
     "graph: has not exactly one finished spectrum"),
    (LAST, LAST + BLUR + "  %16 -> %12 KERNEL_INPUT[1]\n", "Offset: has two resolutions; give it"),
    ("  %0 -> %7 BASE_INPUT[0]\n", "", "A_moved: needs exactly one base"),
    (LAST, LAST + "  %1 -> %7 BASE_INPUT[1]\n", "A_moved: needs exactly one base"),
    ("  %6 -> %7 TRACE_INPUT[0]\n", "", "A_moved: has no trace"),
    ("  %10 -> %11 ADDEND[0]\n", "", "Gauss_01_average: averages not exactly one component"),
    ("  %12 -> %13 ADDEND[0]\n", "", "before: adds nothing"),
    ("%11 -> %15 ADDEND[0]", "%10 -> %15 ADDEND[0]", "total: adds what differs along"),
    (LAST, "", "graph: has not exactly one finished spectrum"),
    (
        "  aux = [0.0, 0.5]\n  aux_weights = [0.5, 0.5]\n",
        "",
        "fall: has no auxiliary axis",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (LAST, LAST),
        ("%0 -> %12 PARAM_INPUT[0]\n", "%16 -> %12 PARAM_INPUT[0]\n" + FREE),
        ('{"arrays": {"time_n_sub": [0.0, 1.0]}', '{"cycle": [1.0, 2, 2]'),
        ('{"arrays": {"time_n_sub": [0.0, 1.0]}', '{"cycle": [1.0, 2, 1]'),
        (LAST, LAST + BLUR),
        ("energy = [1.0, 2.0, 3.0]", "energy = [3.0, 2.0, 1.0]"),
        ("energy = [1.0, 2.0, 3.0]", "energy = [3.0]"),
        ("aux = [0.0, 0.5]", "aux = [0.5, 0.0]"),
        ("aux_weights = [0.5, 0.5]", "aux_weights = [0.0, 2.0]"),
        ('"value": 2.0, "vary"', '"value": 9.0, "vary"'),
        ('"value": 2.0, "vary": true, "bounds": [0.0, 9.0]', '"value": 2.0, "vary": true'),
        ("[0.0, 9.0]", "[2.0, 2.0]"),
    ],
)
def test_whole_graphs_obey_all_rules(was: str, now: str) -> None:
    verify(parse_graph(WHOLE.replace(was, now, 1)))


def test_each_names_node_and_rule() -> None:
    for was, now, answer in BROKEN:
        assert WHOLE.count(was) >= 1, was
        broken = parse_graph(WHOLE.replace(was, now, 1))
        try:
            verify(broken)
        except PlanError as error:
            lines = str(error).splitlines()
        else:
            lines = ["none"]
        named = [line for line in lines if answer in line]
        assert named, (answer, lines)
        assert ": " in named[0], "node and rule"
        assert "; " in named[0], "what to do"


@pytest.mark.parametrize("number", [-1, 16])
@pytest.mark.parametrize("is_source", [True, False])
def test_edges_end_at_nodes(number: int, is_source: bool) -> None:
    graph = parse_graph(WHOLE)
    ends = (15, number) if is_source else (number, 0)
    edge = GraphEdge(ends[0], EdgeKind.ADDEND, 3, ends[1])
    with pytest.raises(PlanError, match=f"no node {number}; remove the edge"):
        verify(replace(graph, edges=(*graph.edges, edge)))


@pytest.mark.parametrize("was", ['"value": 2.0, "vary"', '"x0" @1 {"value": 2.0'])
def test_a_model_is_evaluated_anywhere(was: str) -> None:
    """Bounds and domains are those of a fit."""
    broken = parse_graph(WHOLE.replace(was, was.replace("2.0", "-1.0"), 1))
    with pytest.raises(PlanError, match=r"outside of its bounds|needs SD > 0"):
        verify(broken)
    verify(broken, given=False)


TRACE = """\
graph "" TIME_1D {
  time = [0.0, 1.0]
  %0 = OPT_PARAM "A" @0 {"value": 2.0, "vary": true}
  %1 = DYNAMICS_TRACE "law" @1 {"function_name": "stepFun", "package": "time"}
  %2 = PARAM_PLUS_TRACE "result" @2
  %0 -> %1 PARAM_INPUT[0]
  %0 -> %1 PARAM_INPUT[1]
  %1 -> %2 TRACE_INPUT[0]
"""


@pytest.mark.parametrize("n_bases", [0, 1, 2])
def test_a_trace_on_its_own_needs_no_base(n_bases: int) -> None:
    bases = "".join(f"  %0 -> %2 BASE_INPUT[{k}]\n" for k in range(n_bases))
    graph = parse_graph(TRACE + bases + "}\n")
    if n_bases < 2:
        verify(graph)
        return
    with pytest.raises(PlanError, match=r"graph \(unnamed\):\n  result: needs exactly one base"):
        verify(graph)


def test_laws_without_a_time_axis_and_spectra_without_energies() -> None:
    text = WHOLE.replace("ENERGY_TIME_2D", "ENERGY_1D").replace("  time = [0.0, 1.0]\n", "")
    with pytest.raises(PlanError, match="law: moves in time without a time axis"):
        verify(parse_graph(text))
    text = WHOLE.replace("ENERGY_TIME_2D", "TIME_1D").replace("  energy = [1.0, 2.0, 3.0]\n", "")
    with pytest.raises(PlanError, match="Offset: a spectrum in a graph without energies"):
        verify(parse_graph(text))


#: Lines that no graph has.
UNREADABLE = [
    "",
    "graph",
    'graph "x" ENERGY_1D {\n  nonsense\n}',
    'graph "x" ENERGY {\n}',
    'graph "\\x" ENERGY_1D {\n}',
    'graph "x" ENERGY_1D {\n  depth = [1.0]\n}',
    'graph "x" ENERGY_1D {\n  energy = [1.0]\n  energy = [1.0]\n}',
    'graph "x" ENERGY_1D {\n  energy = {"a": 1}\n}',
    'graph "x" ENERGY_1D {\n  %0 = SUM "a" @0 {"value": "big"}\n}',
    'graph "x" ENERGY_1D {\n  %0 = SUM "a" @0 {"color": 1}\n}',
    'graph "x" ENERGY_1D {\n  %0 = SUM "a" @0 {"bounds": [1]}\n}',
    'graph "x" ENERGY_1D {\n  %0 = SUM "a" @0 {"bounds": [1, "b"]}\n}',
    'graph "x" ENERGY_1D {\n  %0 = SUM "a" @0 {"arrays": {"t": ["b"]}}\n}',
    'graph "x" ENERGY_1D {\n  %0 = SUMM "a" @0\n}',
    'graph "x" ENERGY_1D {\n  %0 -> %0 ADD[0]\n}',
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_unreadable_text(text: str) -> None:
    with pytest.raises(PlanError, match="graph text"):
        parse_graph(text)
