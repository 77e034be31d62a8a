"""Models that read inputs beside their axes: values, derivatives, fits, windows and archives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.agreement import agreed, check_slopes

from pyspec import File, Project, load_dynamics, load_fit, load_model, load_profile, save_fit
from pyspec.errors import DataError
from pyspec.executor import evaluate_2d, make_executor
from pyspec.fit import fit_model
from pyspec.ir import build_graph
from pyspec.model import Measurement, Model
from pyspec.plan import schedule_2d

Array = npt.NDArray[np.float64]

TEXT = """
functions:
  Reference:
    formula: A * ref * (1 + s * (x - 84))
    inputs: ref
  Share:
    formula: A * ref * x / sum(ref * x)
    inputs: ref
  Pump:
    domain: time
    parameters: A, tau > 0, t0
    formula: where(t >= t0, A * flux * exp(-(t - t0) / tau), 0)
    inputs: {flux: time}
  Gate:
    domain: time
    formula: where(flux > low, A, 0)
    inputs: flux
  Depth:
    domain: profile
    formula: A * dose + B * x
    inputs: dose
seen:
  Offset: {y0: [3, True]}
  Reference: {A: [2, True], s: [0.02, True]}
  Gauss: {A: [9, True], x0: [84, True], SD: [1.1, True, 0.1, 5]}
read:
  Shirley: {pShirley: [0.002, True]}
  Share: {A: [40, True]}
  Gauss: {A: [9, True], x0: [84, True], SD: [1.1, True, 0.1, 5]}
pumped:
  Pump: {A: [3, True], tau: [2, True, 0.1, 20], t0: [0.033, False]}
smeared:
  gaussCONV: {SD: [0.4, True, 0.1, 2]}
  Pump: {A: [3, True], tau: [2, True, 0.1, 20], t0: [0.033, False]}
gated:
  Gate: {A: [2, True], low: [1.04, True, 0.8, 1.2]}
deep:
  Depth: {A: [2, True], B: [0.3, True]}
free:
  Pump: {A: {free: energy}, tau: [2, True, 0.1, 20], t0: [0.033, False]}
  constFun: {A: {free: energy}}
"""
ENERGY, TIME, AUX = np.linspace(80, 88, 83), np.linspace(-2, 8, 53), np.linspace(0, 2, 5)
rng = np.random.default_rng(7)
INPUTS = {
    "ref": 1 + np.cos(3 * ENERGY) + 0.3 * np.sin(11 * ENERGY),
    "flux": rng.uniform(0.7, 1.3, TIME.size),
    "dose": rng.uniform(0.5, 2.0, AUX.size),
}


def made(
    name: str = "seen", law: str = "pumped", target: str = "Reference_01_A", **given: Any
) -> Model:
    """A model with a law on one parameter, and a profile on another."""
    model = load_model(TEXT, name)
    if law:
        model.add_dynamics(target, load_dynamics(TEXT, law, model.parameters[target]))
    if given.get("deep"):
        model.add_profile("Gauss_01_A", load_profile(TEXT, "deep", "Gauss_01_A"))
    model.set_axes(
        energy=ENERGY, time=TIME if law else None, aux=AUX if given.get("deep") else None
    )
    needed = {"ref"} | ({"flux"} if law else set()) | ({"dose"} if given.get("deep") else set())
    inputs = given.get("inputs", INPUTS)
    model.set_axes(inputs={one: inputs[one] for one in sorted(needed)})
    return model


MODELS: dict[str, Any] = {
    "one spectrum": lambda: made(law=""),
    "height moves": made,
    "shape moves": lambda: made(target="Gauss_01_x0"),
    "smeared": lambda: made(law="smeared"),
    "profile": lambda: made(deep=True),
    "threshold": lambda: made(law="gated", target="Offset_y0"),
    "sums, read by Shirley": lambda: made("read", target="Gauss_01_A"),
}


@pytest.mark.parametrize("window", [None, ((11, 40), (7, 70))], ids=["whole", "window"])
@pytest.mark.parametrize("which", MODELS)
def test_values_and_derivatives_agree(which: str, window: Any) -> None:
    model: Model = MODELS[which]()
    for name in model.opt_param_names:
        if name.endswith("low"):  # a threshold, which has no derivative
            model.parameters[name].vary = False
    whole = agreed(model, model.theta() * 1.01, 5e-13)
    data = np.random.default_rng(2).normal(10, 1, whole.shape)
    rows, columns = window or (None, None)
    given = {"data": data, "rows": None if model.time is None else rows, "columns": columns}
    measurement, theta = Measurement(**given), model.theta() * 1.01
    compiled = make_executor(model, measurement)
    if not compiled.capabilities.unknown_columns:
        check_slopes(model, **given)
    np.testing.assert_allclose(compiled.run(theta), measurement.window(whole), rtol=1e-12)
    if compiled.capabilities.in_c:
        chi2 = compiled.normal(theta, form="value")[0]
        assert np.isclose(chi2, np.sum(compiled.residual(theta) ** 2), rtol=1e-12)


def noisy(model: Model, seed: int = 3, sd: float = 0.1) -> Array:
    clean = model.evaluate()
    return clean + np.random.default_rng(seed).normal(0, sd, clean.shape)


def test_windows_slices_baselines_and_archives_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(TEXT)
    truth = made()
    truth.set_values({"Reference_01_A": 2.0, "Gauss_01_x0": 84.2})
    inputs = {name: INPUTS[name] for name in ("ref", "flux")}
    whole = Project(path=tmp_path, show_output=False)
    file = File(whole, data=noisy(truth, 0), energy=ENERGY, time=TIME, inputs=inputs)
    file.load_model("m.yaml", "seen")
    file.add_time_dependence("seen", "Reference_01_A", "m.yaml", "pumped")
    file.set_fit_limits([81, 87], time_limits=[-1, 6])
    result = file.fit_2d("seen")
    file.define_baseline(-2, -0.5)
    for one in (file.fit_baseline("seen"), file.fit_spectrum("seen", time_point=-1.0)):
        assert abs(one.values["Reference_01_A"] - 2.0) < 4 * one.stderr["Reference_01_A"]
    slices = file.fit_slice_by_slice("seen")
    on = TIME[(TIME >= -1) & (TIME <= 6)]
    height = 2 + 3 * np.where(on >= 0.033, np.exp(-(on - 0.033) / 2), 0) * np.interp(
        on, TIME, INPUTS["flux"]
    )
    pulls = (slices.values["Reference_01_A"] - height) / slices.stderr["Reference_01_A"]
    assert 0.5 < pulls.std() < 1.6
    parts = result.eval_components()
    assert np.allclose(sum(parts.values()), result.best_fit, rtol=1e-12)
    path = tmp_path / "fits.pyspec.h5"
    save_fit(path, result)
    stored: Any = load_fit(path)
    assert {name: list(one) for name, one in stored.model.inputs.items()} == {
        name: list(INPUTS[name]) for name in ("ref", "flux")
    }
    assert stored.refit().chisqr == result.chisqr
    shown = result.predict(time=TIME[5:9])
    assert np.allclose(shown.value, stored.predict(time=TIME[5:9]).value, rtol=1e-14)


def test_a_plan_takes_them_apart_from_the_graph() -> None:
    model = made()
    graph = build_graph(model)
    other = made(inputs={name: one + 1 for name, one in INPUTS.items()})
    assert build_graph(other).structure == graph.structure
    assert build_graph(other) != graph
    plan = schedule_2d(graph)
    own = {name: INPUTS[name] for name in ("ref", "flux")}
    assert np.array_equal(evaluate_2d(plan, model.theta(), inputs=own), model.evaluate())
    with pytest.raises(DataError, match="Reference reads the input 'ref'"):
        evaluate_2d(plan, model.theta())
    with pytest.raises(DataError, match="no formula of the plan reads an input 'fluxx'"):
        evaluate_2d(plan, model.theta(), inputs={**own, "fluxx": TIME})
    with pytest.raises(DataError, match="have 4 values, their axis 83 points"):
        evaluate_2d(plan, model.theta(), inputs={**own, "ref": ENERGY[:4]})


def test_a_file_refuses_values_that_match_no_axis() -> None:
    whole = Project(show_output=False)
    with pytest.raises(DataError, match="'ref' has 3 values, the axes have 53 and 83 points"):
        File(whole, data=np.ones((53, 83)), energy=ENERGY, time=TIME, inputs={"ref": [1, 2, 3]})
    assert not whole.files


def test_a_threshold_is_searched_for_between_the_values_of_the_input() -> None:
    truth = made(law="gated", target="Offset_y0")
    truth.set_values({"Offset_y0_Gate_01_low": 0.93})
    model = made(law="gated", target="Offset_y0")
    result = fit_model(model, Measurement(noisy(truth, sd=0.02)))
    flux = np.sort(INPUTS["flux"])
    found = result.values["Offset_y0_Gate_01_low"]
    assert np.searchsorted(flux, found) == np.searchsorted(flux, 0.93)
