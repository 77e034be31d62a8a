"""The passes one by one, on graphs as text, and all of them off in every combination."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.column_models import DECAY, OFFSET, PEAK, SHAPED, SHIRLEY, energy_model
from support.fit_cases import data_2d, series, spectrum
from support.graphs import node_ids

from pyspec import Measurement, Simulator, fit_model
from pyspec.cli.commands.explain import plan_text
from pyspec.errors import PassError, PlanError
from pyspec.fit import fit_joint, fit_slices
from pyspec.ir import build_graph, parse_graph, print_graph
from pyspec.model import Model
from pyspec.passes import PASSES, after, neutral, run
from pyspec.plan import schedule_2d


def before_and_after(name: str, text: str) -> tuple[str, tuple[str, ...]]:
    """The text of a graph after one pass, and the notes of the pass."""
    graph = parse_graph(text.lstrip("\n"))
    found, _, notes = PASSES[name](graph, neutral(graph))
    return "\n" + print_graph(found), notes


AXES = """  energy = [1.0, 2.0, 3.0]
"""

UNFOLDED = f"""
graph "m" ENERGY_1D {{
{AXES}  %0 = OPT_PARAM "A" @0 {{"value": 2.0, "vary": true}}
  %1 = STATIC_PARAM "x0" @1 {{"value": 2.0}}
  %2 = EXPRESSION "two" @2 {{"expr_string": "3 - 1"}}
  %3 = EXPRESSION "SD" @3 {{"expr_string": "-(two / 4) ** two * A + 2 * x0"}}
  %4 = COMPONENT_EVAL "Gauss_01" @4 {{"function_name": "Gauss", "package": "energy"}}
  %5 = SUM "total" @5
  %2 -> %3 EXPR_REF[0]
  %0 -> %3 EXPR_REF[1]
  %1 -> %3 EXPR_REF[2]
  %0 -> %4 PARAM_INPUT[0]
  %1 -> %4 PARAM_INPUT[1]
  %3 -> %4 PARAM_INPUT[2]
  %4 -> %5 ADDEND[0]
}}
"""

FOLDED = f"""
graph "m" ENERGY_1D {{
{AXES}  %0 = OPT_PARAM "A" @0 {{"value": 2.0, "vary": true}}
  %1 = STATIC_PARAM "x0" @1 {{"value": 2.0}}
  %2 = EXPRESSION "two" @2 {{"expr_string": "2.0"}}
  %3 = EXPRESSION "SD" @3 {{"expr_string": "-0.25 * A + 2.0 * x0"}}
  %4 = COMPONENT_EVAL "Gauss_01" @4 {{"function_name": "Gauss", "package": "energy"}}
  %5 = SUM "total" @5
  %0 -> %3 EXPR_REF[0]
  %1 -> %3 EXPR_REF[1]
  %0 -> %4 PARAM_INPUT[0]
  %1 -> %4 PARAM_INPUT[1]
  %3 -> %4 PARAM_INPUT[2]
  %4 -> %5 ADDEND[0]
}}
"""

DROPPED = f"""
graph "m" ENERGY_1D {{
{AXES}  %0 = OPT_PARAM "A" @0 {{"value": 2.0, "vary": true}}
  %1 = STATIC_PARAM "x0" @1 {{"value": 2.0}}
  %2 = EXPRESSION "SD" @3 {{"expr_string": "-0.25 * A + 2.0 * x0"}}
  %3 = COMPONENT_EVAL "Gauss_01" @4 {{"function_name": "Gauss", "package": "energy"}}
  %4 = SUM "total" @5
  %0 -> %2 EXPR_REF[0]
  %1 -> %2 EXPR_REF[1]
  %0 -> %3 PARAM_INPUT[0]
  %1 -> %3 PARAM_INPUT[1]
  %2 -> %3 PARAM_INPUT[2]
  %3 -> %4 ADDEND[0]
}}
"""

UNSHARED = f"""
graph "m" ENERGY_1D {{
{AXES}  %0 = OPT_PARAM "A" @0 {{"value": 2.0, "vary": true}}
  %1 = EXPRESSION "same" @1 {{"expr_string": "A"}}
  %2 = EXPRESSION "half" @2 {{"expr_string": "A / 2"}}
  %3 = EXPRESSION "other" @3 {{"expr_string": "same / 2"}}
  %4 = COMPONENT_EVAL "Gauss_01" @4 {{"function_name": "Gauss", "package": "energy"}}
  %5 = COMPONENT_EVAL "Gauss_02" @5 {{"function_name": "Gauss", "package": "energy"}}
  %6 = SUM "total" @6
  %0 -> %1 EXPR_REF[0]
  %0 -> %2 EXPR_REF[0]
  %1 -> %3 EXPR_REF[0]
  %0 -> %4 PARAM_INPUT[0]
  %0 -> %4 PARAM_INPUT[1]
  %2 -> %4 PARAM_INPUT[2]
  %1 -> %5 PARAM_INPUT[0]
  %0 -> %5 PARAM_INPUT[1]
  %3 -> %5 PARAM_INPUT[2]
  %4 -> %6 ADDEND[0]
  %5 -> %6 ADDEND[1]
}}
"""

SHARED = f"""
graph "m" ENERGY_1D {{
{AXES}  %0 = OPT_PARAM "A" @0 {{"value": 2.0, "vary": true}}
  %1 = EXPRESSION "half" @2 {{"expr_string": "A / 2"}}
  %2 = COMPONENT_EVAL "Gauss_01" @4 {{"function_name": "Gauss", "package": "energy"}}
  %3 = SUM "total" @6
  %0 -> %1 EXPR_REF[0]
  %0 -> %2 PARAM_INPUT[0]
  %0 -> %2 PARAM_INPUT[1]
  %1 -> %2 PARAM_INPUT[2]
  %2 -> %3 ADDEND[0]
  %2 -> %3 ADDEND[1]
}}
"""


def test_fold_computes_what_consists_of_numbers() -> None:
    text, notes = before_and_after("fold", UNFOLDED)
    assert text == FOLDED
    assert notes == (
        "two: 3 - 1 = 2.0",
        "SD: -(two / 4) ** two * A + 2 * x0 = -0.25 * A + 2.0 * x0",
    )


def test_drop_leaves_out_what_the_result_does_not_need() -> None:
    text, notes = before_and_after("drop", FOLDED)
    assert text == DROPPED
    assert notes == ("two: the result does not need it",)


def test_share_makes_equal_nodes_one() -> None:
    text, notes = before_and_after("share", UNSHARED)
    assert text == SHARED
    assert notes == ("same: is A", "other: is half", "Gauss_02: is Gauss_01")


@pytest.mark.parametrize(
    "text",
    [
        "-A ** (2 * 3)",
        "(-2 * 1.5) ** A",
        "A - (2 + 3 - A)",
        "A / (2 * A) / (1 + 1)",
        "-(-A) - -(1 + 1)",
        "max(A, 1 - 4) ** -(2 - 1)",
        "2 ** -A ** (1 + 2)",
        "(A + 1 * 2) * (A - 3 * 1) ** (A * (4 - 2))",
        "sqrt(4 + 5) * exp(-(A ** 2) / (2 * 3))",
        "A * 1e-300 / 1e300 * (1e-200 * 1e-200)",
        "where(A < 1 + 1, 2 * 3, A)",
        "(A < 2) * (A >= 1 / 2) * (2 + 3)",
        "A * (2 + 3) - (1 + (A != 4) <= 1 * 2)",
        "-(A > 2 * 1) ** (A == 0.3) + (1 + 1)",
        "((A < 1) == (A > 2 / 1)) < A - 1 * 2",
    ],
)
def test_a_folded_formula_means_what_it_meant(text: str) -> None:
    model = energy_model(
        PEAK.replace("[9, true]", f'["{text}"]').replace("GLP_01_A", "r"),
        quantities="parameters: {A: [1.7, true, 0.1, 9]}\n",
    )
    graph = build_graph(model)
    node = graph.nodes[node_ids(graph)["GLP_01_A"]]
    folded, _, notes = PASSES["fold"](graph, neutral(graph))
    after_it = folded.nodes[node_ids(folded)["GLP_01_A"]]
    assert notes
    for value in (1.7, 0.3, 4.0):
        env = {"A": value}
        np.testing.assert_array_equal(after_it.formula.evaluate(env), node.formula.evaluate(env))


@pytest.mark.parametrize(
    "laws",
    [
        f"gaussIRF: {{SD: [0.4, true]}}\n{DECAY}",
        f"gaussCONV: {{SD: [0.4, true]}}\n{DECAY}",
        "erfFun: {A: [2, true], SD: [3, true], t0: [0, false]}",
        [DECAY, "none: {}"],
    ],
)
def test_what_reaches_ahead_of_the_onset_does_not_rest(laws: str | list[str]) -> None:
    graph, facts, _ = run(build_graph(energy_model(PEAK, moves={"GLP_01_A": laws})))
    assert facts.onsets[graph.node_by_name["GLP_01"]] is None


# ---- the sequence -------------------------------------------------------------------------

#: Models in which every pass has something to do.
RICH: dict[str, Model] = {
    "2d": energy_model(
        OFFSET,
        SHIRLEY,
        PEAK,
        SHAPED.replace("[9, true]", '["3 / 4 * GLP_01_A"]').replace("[1, true]", '["GLP_01_F"]'),
        SHAPED.replace("[9, true]", '["(6 / 8) * GLP_01_A"]')
        .replace("[84, true]", '["GLP_02_x0"]')
        .replace("[1, true]", '["GLP_02_F"]')
        .replace("[0.3, true]", '["GLP_02_m"]'),
        moves={"GLP_01_A": DECAY, "GLP_02_x0": f"gaussCONV: {{SD: [1, true]}}\n{DECAY}"},
        quantities="parameters:\n  area: ['GLP_01_A * GLP_01_F * 2 / 3']\n",
    ),
    "aux": energy_model(
        OFFSET,
        PEAK,
        PEAK.replace("[84, false]", '["GLP_01_x0"]').replace("[9, true]", '["GLP_01_A"]'),
        moves={"GLP_01_A": DECAY},
        profiles={"GLP_01_x0": "pLinear: {m: [1, true], b: [0.5, false]}"},
    ),
    "1d": energy_model(
        PEAK,
        PEAK.replace("[9, true]", '["GLP_01_A"]'),
        SHIRLEY,
        PEAK.replace("[9, true]", '["(1 + 2) * GLP_01_A / 3"]'),
        time=False,
    ),
}


def test_the_verifier_runs_after_each_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(graph, facts):  # type: ignore[no-untyped-def]
        from pyspec.ir.rewrite import renumbered

        made = renumbered(graph, graph.nodes, graph.edges[:-1])
        return made, neutral(made), ()

    monkeypatch.setitem(PASSES, "share", broken)
    with pytest.raises(PlanError, match="graph m:"):
        run(build_graph(RICH["1d"]))


def test_unknown_names_are_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = build_graph(RICH["1d"])
    with pytest.raises(PassError, match="without: 'flod' is no pass; did you mean 'fold'"):
        run(graph, ["flod"])
    with pytest.raises(PassError, match="there are fold, drop, share, classify"):
        after("last")
    monkeypatch.setenv("PYSPEC_PASSES", "fold,shaer")
    with pytest.raises(PassError, match="PYSPEC_PASSES: 'shaer' is no pass"):
        run(graph)
    monkeypatch.setenv("PYSPEC_PASSES", "fold,-share")
    with pytest.raises(PassError, match="either 'fold,share' or '-fold,-share'"):
        run(graph)


@pytest.mark.parametrize(
    ("text", "ran"),
    [
        ("", ["fold", "drop", "share", "classify", "separable"]),
        ("none", []),
        ("share, fold", ["fold", "share"]),
        ("-share,-drop", ["fold", "classify", "separable"]),
    ],
)
def test_the_environment_chooses(
    text: str, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPEC_PASSES", text)
    _, _, report = run(build_graph(RICH["1d"]))
    assert [step.name for step in report if step.ran] == ["expand", *ran]
    _, _, report = run(build_graph(RICH["1d"]), "fold")
    left = [name for name in ran if name != "fold"]
    assert [step.name for step in report if step.ran] == ["expand", *left]


ENTRIES: dict[str, Callable[[], object]] = {
    "evaluate": lambda: series().evaluate(),
    "evaluate, interpreted": lambda: series().evaluate(backend="interpreted"),
    "fit": lambda: fit_model(series(), Measurement(data=data_2d())),
    "joint fit": lambda: fit_joint([(series(), Measurement(data=data_2d()))] * 2),
    "slices": lambda: fit_slices(spectrum(), Measurement(data=data_2d())),
    "simulate": lambda: Simulator(series(), seed=1).simulate_2d(),
    "schedule": lambda: schedule_2d(build_graph(series())),
    "explain": lambda: plan_text(series()),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_model_that_is_lowered_goes_through_the_passes(
    entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is no pass stops them all: none goes another way, and none falls back."""
    ENTRIES[entry]()
    monkeypatch.setenv("PYSPEC_PASSES", "-fole")
    with pytest.raises(PassError, match="PYSPEC_PASSES: 'fole' is no pass; did you mean 'fold'"):
        ENTRIES[entry]()
    series().evaluate(backend="tree")
