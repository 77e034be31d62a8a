"""basis: the functions that free amplitudes are multiplied with, as results of one walk."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from pyspec import Measurement, ModelError
from pyspec.executor import CompiledExecutor, InterpretedExecutor, make_executor
from pyspec.executor.amplitudes import AmplitudesExecutor
from pyspec.ir import DomainKind, EdgeKind, GraphIR, NodeKind, build_graph, verify
from pyspec.ir.builder import GraphBuilder
from pyspec.model import Model, load_model
from pyspec.passes.basis import axes_of, basis, parts_of, rest_of
from pyspec.plan import CompiledModel, can_lower_1d, compile_graph, compile_model
from pyspec.plan.basis import BasisPlan, slopes_of

ENERGY, TIME = np.linspace(300.0, 700.0, 37), np.linspace(-3.0, 40.0, 91)

CHIRP = """\
parameters:
  early: [0.1, True]
  chirp: [0.4, True]
  zero: ["early + chirp * (500 / energy - 1)"]
"""
MODELS = {
    "still": """\
m:
  gaussIRF: {SD: [0.25, True]}
  expFun: {A: {free: energy}, tau: [1.3, True], t0: [0.1, True]}
  expFun: {A: {free: energy}, tau: [9, True], t0: ["expFun_01_t0"]}
""",
    "kernel": """\
m:
  gaussCONV: {SD: [0.5, True]}
  expFun: {A: {free: energy}, tau: [1.3, True], t0: [0.1, False]}
  stepFun: {A: {free: energy}, t0: [0.5, False]}
""",
    "artifact": CHIRP + """\
m:
  gaussFun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD1Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussIRF: {SD: [0.25, True]}
  erfFun: {A: {free: energy}, SD: [0.3, True], t0: ["zero"]}
  expFun: {A: {free: energy}, tau: [1.3, True], t0: ["zero"], y0: [0.3, True]}
  sinFun: {A: [0.7, True], f: [0.1, True], phi: [0.3, True], t0: ["zero"]}
""",
    "beside a kernel": CHIRP + """\
m:
  expFun: {A: {free: energy}, tau: [1.3, True], t0: ["zero"]}
  gaussCONV: {SD: [0.5, True]}
  expFun: {A: {free: energy}, tau: [3, True], t0: [0, True]}
""",
    "two Gaussians": CHIRP + """\
m:
  gaussIRF: {SD: [0.25, True]}
  gaussIRF: {SD: [0.7, True], share: [0.3, True], shift: [0.4, True]}
  expFun: {A: {free: energy}, tau: [1.3, True], t0: ["zero"]}
  expFun: {A: {free: energy}, tau: [8, True], t0: ["zero"]}
""",
    "scheme": CHIRP + """\
kinetics:
  relax: {A -> B: k1, B -> C: k2, C -> A: k3}
m:
  gaussD2Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussIRF: {SD: [0.2, True]}
  relax: {k1: [1.5, True], k2: [0.2, True], k3: [0.02, True], t0: ["zero"], spectra: {free: energy}}
""",
    "formula": CHIRP + """\
functions:
  Ring: {domain: time, parameters: "A, f, t0", formula: "A * cos(f * (t - t0))"}
m:
  Ring: {A: {free: energy}, f: [0.4, True], t0: ["zero"]}
""",
    "traces": """\
m:
  Offset: {y0: [2, True]}
  Shirley: {pShirley: [0.001, True]}
  Gauss: {A: [3, True], x0: [450, True], SD: [30, False]}
  Gauss: {A: {free: time}, x0: [600, True], SD: [40, True]}
  GLP: {A: {free: time}, x0: ["Gauss_02_x0 - 90"], F: [33, True], m: [0.3, True]}
""",
}  # fmt: skip


def made(name: str) -> Model:
    model = load_model(MODELS[name], "m")
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def executor(model: Model, backend: str = "compiled", window: bool = True) -> AmplitudesExecutor:
    data = np.random.default_rng(3).normal(3.0, 1.0, (TIME.size, ENERGY.size))
    where = {"rows": (5, 80), "columns": (3, 30)} if window else {}
    found = make_executor(model, Measurement(data, **where), backend)  # type: ignore[arg-type]
    assert isinstance(found, AmplitudesExecutor)
    return found


@pytest.mark.parametrize("name", list(MODELS))
def test_compiled_and_interpreted_plans_agree(name: str) -> None:
    model = made(name)
    theta = 1.02 * model.theta()
    exact, other = executor(model), executor(model, "interpreted")
    first, second = exact.at(theta, {}), other.at(theta, {})
    np.testing.assert_allclose(second.basis, first.basis, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(second.rest, first.rest, rtol=1e-11, atol=1e-14)
    amplitudes = np.random.default_rng(5).normal(size=(exact.designer.along.size, len(first.basis)))
    for place in range(theta.size):
        expected, found = (one.change(amplitudes, place) for one in (first, second))
        assert np.abs(expected).max() > 0.0
        np.testing.assert_allclose(found, expected, atol=2e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["artifact", "scheme", "two Gaussians"])
def test_a_row_of_a_turned_plan_is_the_plan_of_its_energy(name: str) -> None:
    """A model with the time zero of one energy, as a number, has the same functions there."""
    model = made(name)
    whole = executor(model, window=False).at(model.theta(), {})
    for k in (0, 17, 36):
        zero = float(0.1 + 0.4 * (500.0 / ENERGY[k] - 1.0))
        one = load_model(MODELS[name].replace('["zero"]', f"[{zero!r}, False]"), "m")
        one.set_axes(energy=ENERGY, time=TIME)
        still = executor(one, window=False).at(one.theta(), {})
        np.testing.assert_allclose(whole.basis[:, k], still.basis[:, 0], rtol=1e-10, atol=1e-13)


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("PYSPEC_NUM_THREADS", threads)
        own = executor(made("scheme"), window=False)
        with own.sums() as sums:
            found.append(np.array(sums(1.01 * own.model.theta(), "gram")).tobytes())
    assert found[0] == found[1]


def plans_of(name: str) -> tuple[BasisPlan, ...]:
    return compile_model(made(name)).basis


def test_what_differs_from_energy_to_energy_is_turned_and_nothing_else() -> None:
    assert [one.along for one in plans_of("kernel")] == [None]
    assert [one.along for one in plans_of("artifact")] == ["energy"]
    still, turned = plans_of("beside a kernel")
    assert (still.of, still.along, turned.of, turned.along) == ((1,), None, (0,), "energy")
    assert still.plan.is_trace
    np.testing.assert_array_equal(turned.plan.energy, TIME)
    np.testing.assert_array_equal(turned.plan.time, ENERGY)


def test_what_is_tied_to_one_time_zero_is_one_column() -> None:
    (one,) = plans_of("artifact")
    names = [one.plan.opt_param_names[t] for s in slopes_of(one.plan) for _, t in s.parts]
    assert {"early", "chirp", "gaussIRF_SD", "expFun_01_tau"} <= set(names)
    by_zero = [slope for slope in slopes_of(one.plan) if len(slope.parts) == 2]
    assert len({slope.by for slope in by_zero}) == 1


def test_models_of_one_structure_share_their_plans() -> None:
    first = compile_model(made("artifact"))
    packed = first.basis[0].packed
    other = made("artifact")
    other.set("gaussIRF_SD", value=0.3)
    second = compile_model(other)
    assert isinstance(second, CompiledModel)
    assert second.basis[0].packed is packed
    place = second.basis[0].plan.opt_param_names.index("gaussIRF_SD")
    assert second.basis[0].plan.theta[place] == 0.3


def test_parts_of_a_graph() -> None:
    graph = build_graph(made("artifact"))
    parts, rest = parts_of(graph), rest_of(graph)
    assert [graph.nodes[min(one.functions)].name for one in parts] == [
        "gaussFun_01", "gaussD1Fun_01", "erfFun_01", "expFun_01"
    ]  # fmt: skip
    assert {graph.nodes[min(one.functions)].name for one in rest} == {"expFun_01", "sinFun_01"}
    split = basis(graph, parts, "energy")
    assert len(split.results) == 4
    assert not split.of_kind(NodeKind.FREE_VECTOR)
    assert {axes_of(graph, one) for one in parts} == {4}
    plan = plans_of("artifact")[0].plan
    assert plan.results.size == 5
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert replace(plan, results=plan.results[:1]).digest != plan.digest


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("m:\n  gaussCONV: {SD: [0.5, True]}\n  expFun: {A: {free: energy}, tau: [1, True], "
         't0: ["zero"]}\n', "expFun_01_t0 depends on the energy, but gaussCONV is a sum over"),
        ('m:\n  Dosed: {A: {free: energy}, t0: ["zero"]}\n',
         "Dosed_01_t0 depends on the energy, but Dosed_01 reads inputs"),
    ],
)  # fmt: skip
def test_what_cannot_be_turned_is_named(text: str, reason: str) -> None:
    formula = (
        'functions:\n  Dosed: {domain: time, parameters: "A, t0", inputs: {dose: time}, '
        'formula: "A * dose * t0"}\n'
    )
    model = load_model(CHIRP + formula * ("inputs" in reason) + text, "m")
    if "inputs" in reason:
        model.inputs = {"dose": np.ones(TIME.size)}
    model.set_axes(energy=ENERGY, time=TIME)
    with pytest.raises(ModelError, match=reason):
        executor(model)


def clock() -> GraphIR:
    """A peak that moves as time goes on: its position is an expression that reads the time."""
    out = GraphBuilder()
    fixed = {"vary": False, "bounds": (-np.inf, np.inf)}
    height = out.node(NodeKind.STATIC_PARAM, "A", value=2.0, **fixed)
    speed = out.node(NodeKind.OPT_PARAM, "v", value=3.0, vary=True, bounds=(-9.0, 9.0))
    width = out.node(NodeKind.STATIC_PARAM, "w", value=30.0, **fixed)
    time = out.node(NodeKind.AXIS, "time", axis="time")
    place = out.node(NodeKind.EXPRESSION, "x0", expr_string="450 + v * time")
    out.edge(speed, place, EdgeKind.EXPR_REF, 0)
    out.edge(time, place, EdgeKind.EXPR_REF, 1)
    peak = out.node(NodeKind.COMPONENT_EVAL, "peak", function_name="Gauss", package="energy")
    for position, number in enumerate((height, place, width)):
        out.edge(number, peak, EdgeKind.PARAM_INPUT, position)
    out.sum("total", [peak])
    return out.build(DomainKind.ENERGY_TIME_2D, ENERGY, TIME, "clock")


def test_the_time_itself_moves_a_parameter() -> None:
    graph = clock()
    verify(graph)
    compiled = compile_graph(graph)
    expected = 2.0 * np.exp(-(((ENERGY - 450.0 - 3.0 * TIME[:, None]) / 30.0) ** 2) / 2.0)
    own = CompiledExecutor(compiled.plan)
    np.testing.assert_allclose(own.run(None), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        InterpretedExecutor(compiled.plan).run(None), expected, rtol=1e-12, atol=1e-15
    )
    (slope,) = own.slopes(None, None)
    steps = [np.array(own.run([3.0 + h])) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(
        slope.reshape(expected.shape), (steps[0] - steps[1]) / 2e-5, atol=1e-6
    )
    assert not can_lower_1d(graph)
