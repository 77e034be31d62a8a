"""From a graph back to a model, and from its YAML to an equal graph."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.golden import golden_models
from support.random_models import accepted, generate
from support.random_models.check import REFUSALS

from pyspec.cli.commands.models import give_axes
from pyspec.errors import ModelError, PlanError
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.ir import GraphIR, build_graph, diff, model_of, parse_graph
from pyspec.model import Model, load_model, load_models, load_time_model
from pyspec.model.yaml.reader import SECTIONS
from pyspec.plan import schedule_1d, schedule_2d

ROOT = Path(__file__).parents[2]


def assert_leads_back(model: Model) -> None:
    """Its graph gives a model, and the YAML of that an equal graph."""
    graph = build_graph(model)
    back = model_of(graph)
    assert diff(graph, build_graph(back)) == []
    load = load_time_model if back.is_time_model else load_model
    again = load(back.to_yaml(), back.name)
    again.set_axes(back.energy, back.time, back.aux, inputs=back.inputs or None)
    again.aux_weights = back.aux_weights
    assert diff(graph, build_graph(again)) == []


def test_golden_models(shared: Path) -> None:
    for _, model, _ in golden_models(shared):
        assert_leads_back(model)


@pytest.mark.parametrize("count", [20, pytest.param(2000, marks=pytest.mark.slow)])
def test_random_models(count: int) -> None:
    models = [model for _, model in accepted(range(count))]
    for model in models:
        assert_leads_back(model)
    assert len(models) > count // 2


def written() -> Iterator[str]:
    """The model files of the pages and of the examples."""
    pages = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
    for page in pages:
        yield from re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for path in sorted((ROOT / "examples").glob("*/models.yaml")):
        yield path.read_text(encoding="utf-8")


def models_of(text: str) -> list[Model]:
    """The models of a file on axes of a few points: of spectra, or of laws of time."""
    try:
        found = list(load_models(text).values())
    except ModelError:  # it has laws of time alone
        names = [key for key in re.findall(r"^(\w+):", text, re.M) if key not in SECTIONS]
        found = [load_time_model(text, name) for name in names if not is_profile(text, name)]
    for model in found:
        give_axes(model)
    return found


def is_profile(text: str, name: str) -> bool:
    return re.search(rf"^{name}:\n  p[A-Z]", text, re.M) is not None


def test_the_models_of_the_pages_and_the_examples() -> None:
    made = 0
    for text in written():
        for model in models_of(text):
            try:
                build_graph(model)
            except ModelError as error:
                if "reads what stands below it" not in str(error):
                    raise
            else:
                assert_leads_back(model)
                made += 1
    assert made > 80


HAND = """\
graph "m" ENERGY_TIME_2D {
  energy = [1.0, 2.0, 3.0, 4.0]
  time = [0.0, 1.0, 2.0]
  %0 = OPT_PARAM "height" @0 {"value": 2.0, "vary": true, "bounds": [0.0, 9.0]}
  %1 = OPT_PARAM "width" @1 {"value": 0.5, "vary": true, "bounds": [0.1, 9.0]}
  %2 = STATIC_PARAM "Gauss_01_x0" @2 {"value": 2.0}
  %3 = STATIC_PARAM "Gauss_02_x0" @3 {"value": 3.0}
  %4 = OPT_PARAM "height_expFun_01_A" @4 {"value": 1.0, "vary": true}
  %5 = OPT_PARAM "height_expFun_01_tau" @5 {"value": 1.0, "vary": true}
  %6 = STATIC_PARAM "height_expFun_01_t0" @6 {"value": 0.0}
  %7 = DYNAMICS_TRACE "height_expFun_01" @7 {"function_name": "expFun", "package": "time"}
  %8 = PARAM_PLUS_TRACE "height_resolved" @8
  %9 = COMPONENT_EVAL "Gauss_02" @9 {"function_name": "Gauss", "package": "energy"}
  %10 = COMPONENT_EVAL "Gauss_01" @10 {"function_name": "Gauss", "package": "energy"}
  %11 = SUM "total" @11
  %4 -> %7 PARAM_INPUT[0]
  %5 -> %7 PARAM_INPUT[1]
  %6 -> %7 PARAM_INPUT[2]
  %0 -> %8 BASE_INPUT[0]
  %7 -> %8 TRACE_INPUT[0]
  %8 -> %9 PARAM_INPUT[0]
  %3 -> %9 PARAM_INPUT[1]
  %1 -> %9 PARAM_INPUT[2]
  %8 -> %10 PARAM_INPUT[0]
  %2 -> %10 PARAM_INPUT[1]
  %1 -> %10 PARAM_INPUT[2]
  %9 -> %11 ADDEND[0]
  %10 -> %11 ADDEND[1]
}
"""


def test_parameters_that_functions_share_become_quantities() -> None:
    graph = parse_graph(HAND)
    model = model_of(graph)
    assert [par.name for par in model.quantities] == ["height", "width"]
    assert model.parameters["Gauss_02_SD"].expr == "width"
    assert sorted(model.opt_param_names) == sorted(node.name for node in graph.free)
    values = {node.name: node.value for node in graph.free}
    theta = [values[name] for name in model.opt_param_names]
    whole, own = CompiledExecutor(schedule_2d(graph)), CompiledExecutor(make_plan(model))
    assert np.array_equal(whole.run([*values.values()]), own.run(theta))
    assert_leads_back(model)


TWICE = """\
  %12 = EXPRESSION "twice" @12 {"expr_string": "2*height"}
  %0 -> %12 EXPR_REF[0]
"""

REFUSED = {
    "a sum of one component twice": (
        HAND.replace("%10 -> %11 ADDEND[1]", "%9 -> %11 ADDEND[1]"), "not exactly one finished"
    ),
    "a value of the parameter without its motion": (
        HAND.replace("  %4 -> %7", TWICE + "  %4 -> %7", 1),
        "no model file says this graph; one that comes near differs in - height -> twice",
    ),
    "a name of another": (
        HAND.replace('"width"', '"Gauss_01_A"'),
        "Gauss_01 takes height as A, and Gauss_01_A is another node; rename that one",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_model_file_says_is_refused(case: str) -> None:
    text, message = REFUSED[case]
    with pytest.raises(PlanError, match=message):
        model_of(parse_graph(text))


def changed(graph: GraphIR, draw: random.Random) -> GraphIR:
    """The graph with one edge that comes from elsewhere, two that change places, another name, or
    another order."""
    nodes, edges = list(graph.nodes), list(graph.edges)
    k, j = draw.randrange(len(edges)), draw.randrange(len(edges))
    a, b = draw.sample(range(len(nodes)), 2)
    how = draw.choice(["source", "places", "name", "order", "bounds"])
    if how == "source":
        edges[k] = edges[k]._replace(source=a)
    elif how == "places":
        edges[k], edges[j] = (
            edges[k]._replace(source=edges[j].source),
            edges[j]._replace(source=edges[k].source),
        )
    elif how == "name":
        nodes[a] = replace(nodes[a], name=draw.choice(["other", "two words", "energy"]))
    elif how == "order":
        nodes[a] = replace(nodes[a], source_order=nodes[b].source_order)
    elif nodes[a].value is not None:
        nodes[a] = replace(nodes[a], bounds=None)
    return replace(graph, nodes=tuple(nodes), edges=tuple(sorted(edges)))


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_graph_leads_to_a_model_of_its_numbers_or_is_refused(count: int) -> None:
    """No slip in a graph gives another model in silence, or an error of Python's own."""
    made = 0
    for seed in range(count):
        draw = random.Random(seed)
        try:
            graph = changed(build_graph(generate(seed).model()), draw)
            model = model_of(graph)
            whole = (schedule_2d if model.dimension == 2 else schedule_1d)(graph)
        except REFUSALS:
            continue
        own = make_plan(model)
        values = dict(zip(whole.opt_param_names, whole.theta, strict=True))
        theta = [values[name] for name in own.opt_param_names]
        found, wanted = CompiledExecutor(own).run(theta), CompiledExecutor(whole).run(whole.theta)
        size = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))
        assert np.allclose(found, wanted, rtol=1e-9, atol=1e-12 * size, equal_nan=True), seed
        made += 1
    assert made >= count // 4
