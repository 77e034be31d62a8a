"""Fits against those of an independent program: values to 1e-3 of a standard error, standard
errors to 1 %. By MINPACK with the tolerances of the reference; the native solver goes on to the
optimum itself, which lies up to 0.0011 standard errors from where the reference stopped."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, FitResult, ModelWarning, Project
from pyspec.fit import fit_model
from pyspec.model import Measurement
from tests.packaging.golden_bits import model_of

IDS = (
    "2d_exp_x0",
    "2d_sin",
    "2d_irf_gauss",
    "2d_expr_dynamic_refs",
    "2d_biexp_A",
    "2d_exp_step",
    "2d_subcycle_irf_two",
)


def check(result: FitResult, wanted: dict[str, Any], redchi: float, within: float = 1e-3) -> None:
    """Every free parameter of the other program."""
    free = {name: par for name, par in wanted.items() if par["vary"]}
    assert set(result.free_names) == set(free)
    for name, par in free.items():
        off = abs(result.values[name] - par["value"]) / par["stderr"]
        assert off <= within, f"{name} is {off:.2g} standard errors off"
        assert result.stderr[name] == pytest.approx(par["stderr"], rel=0.01), name
    assert result.redchi == pytest.approx(redchi, rel=1e-6)


@pytest.mark.parametrize("one", IDS)
def test_golden_fits(shared: Path, one: str) -> None:
    golden = shared / "golden"
    cases = {case["id"]: case for case in json.loads((golden / "fits.json").read_text())["cases"]}
    models = {c["id"]: c for c in json.loads((golden / "models.json").read_text())["cases"]}
    assert set(cases) == set(IDS)
    case, arrays = cases[one], np.load(golden / "fits.npz")
    model = model_of(models[one], np.load(golden / "models.npz"))
    parameters = model.parameters
    model.set_values({n: v for n, v in case["start"].items() if parameters[n].formula is None})
    for name in case["fixed_additionally"]:
        parameters[name].vary = False
    data = arrays[case["arrays"]["data"]]
    runs = case["runs"]
    for weight, kind in (
        (None, "leastsq_interpreter"),
        (1.0 / case["sigma"], "leastsq_gaussian_sigma_declared"),
    ):
        run = runs[kind] if kind in runs else runs[f"{kind}_interpreter"]
        measurement = Measurement(data=data, weight=None if weight is None else np.array(weight))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            scaled: Any = {"scale_covar": weight is None}
            result = fit_model(model, measurement, method="leastsq", Dfun=None, **scaled)
            native = fit_model(model, measurement, **scaled)
        check(result, run["params"], run["redchi"])
        check(native, run["params"], run["redchi"], within=2e-3)
        assert native.redchi <= run["redchi"] * (1 + 1e-12)
        metrics = run["slot_metrics"]
        for name in ("chi2_raw", "r2", "aic", "bic"):
            assert result.statistics[name] == pytest.approx(metrics[name], rel=1e-6), name


EXTRA = ("fit2d_poisson", "fit2d_poisson_unweighted", "fit2d_per_point_sigma")


def extra(shared: Path) -> tuple[dict[str, Any], Any]:
    golden = shared / "golden"
    cases = json.loads((golden / "extra.json").read_text())["cases"]
    return {case["id"]: case for case in cases}, np.load(golden / "extra.npz")


def file_of(case: dict[str, Any], arrays: Any, folder: Path, data: str) -> File:
    (folder / "m.yaml").write_text(case["energy_yaml"])
    project = Project(folder, show_output=False)
    file = File(project, data=arrays[data], energy=arrays["energy"], time=arrays["time"])
    file.load_model("m.yaml", "m")
    energy = np.sort(arrays["energy"][[case["e_lim"][0], case["e_lim"][1] - 1]])
    file.set_fit_limits(energy)
    return file


@pytest.mark.parametrize("one", EXTRA)
def test_noise_that_is_declared(shared: Path, tmp_path: Path, one: str) -> None:
    cases, arrays = extra(shared)
    case = cases[one]
    file = file_of(case, arrays, tmp_path, case["data"])
    (tmp_path / "t.yaml").write_text(case["time_yaml"])
    file.add_time_dependence("m", "GLP_01_x0", "t.yaml", "d")
    limits = arrays["energy"][[case["e_lim"][0], case["e_lim"][1] - 1]]
    times = arrays["time"][[case["t_lim"][0], case["t_lim"][1] - 1]]
    file.set_fit_limits(limits, time_limits=times)
    noise = case["noise"]
    if noise is not None:
        sigma = arrays["sigma"] if "sigma" in noise else None
        file.set_noise(noise["noise_type"], sigma=sigma, scale=noise.get("scale"))
    result = file.fit_2d("m")
    check(result, case["result"]["params"], case["result"]["redchi"])
    for name in ("chi2_raw", "r2", "aic", "bic"):
        wanted = case["slot_metrics"][name]
        assert result.statistics[name] == pytest.approx(wanted, rel=1e-6), name


def test_baseline_then_mean_spectrum(shared: Path, tmp_path: Path) -> None:
    cases, arrays = extra(shared)
    case, mean = cases["baseline"], cases["spectrum_mean_5_10"]
    file = file_of(case, arrays, tmp_path, "gauss")
    first, end = case["base_t_ind"]
    file.define_baseline(first, end - 1, time_type="ind")
    np.testing.assert_allclose(file.baseline, arrays["baseline_data"], rtol=1e-13)
    result = file.fit_baseline("m")
    check(result, case["result"]["params"], case["result"]["redchi"])
    first, end = mean["spec_t_ind"]
    result = file.fit_spectrum("m", time_range=(first, end - 1), time_type="ind")
    np.testing.assert_allclose(result.problem.measurement.data, arrays["spectrum_data"], rtol=1e-13)
    check(result, mean["result"]["params"], mean["result"]["redchi"])
