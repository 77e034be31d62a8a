"""How fits ended comes back from an archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import (
    FitError,
    Measurement,
    Model,
    ModelWarning,
    fit_joint,
    fit_model,
    fit_slices,
    load_dynamics,
    load_fit,
    load_fits,
    load_model,
    save_fit,
)
from pyspec.components import Gauss, Offset
from pyspec.fit import FitResult, SliceResults
from pyspec.fit.findings.kinds import Kind

ENERGY, TIME = np.linspace(80, 90, 41), np.linspace(-5, 20, 60)
DECAY = """
decay:
  expFun: {A: [5, True, 0, 50], tau: [4, True, 0.5, 20], t0: [0.1, True, -3, 3]}
"""
SHARED = """
m:
  Offset: {y0: [1, True, 0, 5]}
  Gauss: {A: [8, True, 0, 20], x0: [84, project, 82, 86], SD: [1, True, 0.1, 3]}
"""


def spectrum() -> Model:
    model = Model("au", [Offset(10), Gauss(A=20, x0=(84, 82, 86), SD=(1.0, 0.2, 3))])
    model.set_axes(energy=ENERGY)
    return model


def with_noise(clean: np.ndarray, seed: int = 0) -> Measurement:
    return Measurement(data=clean + np.random.default_rng(seed).normal(0, 0.5, clean.shape))


def with_onset() -> FitResult:
    model = spectrum()
    model.set_axes(energy=ENERGY, time=TIME)
    model.add_dynamics("Gauss_01_A", load_dynamics(DECAY, "decay", "Gauss_01_A"))
    return fit_model(model, with_noise(model.evaluate()))


def twice() -> Model:
    """Two offsets: the data do not determine either."""
    model = Model("twice", [Offset(10), Offset(3)])
    model.set_axes(energy=ENERGY)
    return model


def flat(n: int) -> Measurement:
    return with_noise(np.full((n, ENERGY.size), 13.0))


def at_a_bound() -> SliceResults:
    model = spectrum()
    series = with_noise(np.array([model.evaluate()] * 3))
    model.set("Gauss_01_A", 5, min=0, max=10)
    return fit_slices(model, series)


def ends(result: Any) -> tuple[Any, ...]:
    return result.at_bound, result.without_effect, result.intervals


def again(path: Path, fit: Any) -> Any:
    save_fit(path, [fit], mode="replace")
    return load_fit(path)


def test_ends_of_a_fit_come_back(tmp_path: Path) -> None:
    """Intervals were lost."""
    onset = with_onset()
    assert onset.intervals
    lost = fit_model(twice(), Measurement(data=flat(1).data[0]))
    assert lost.without_effect
    for result in (onset, lost):
        found = again(tmp_path / "fit.h5", result)
        assert ends(found) == ends(result)
        assert ends(again(tmp_path / "fit.h5", found)) == ends(result)
        assert found.lmfit.aic == pytest.approx(result.statistics["aic"])


@pytest.mark.parametrize("kind", ["at a bound", "not determined"])
def test_ends_of_slices_come_back(tmp_path: Path, kind: str) -> None:
    """Nothing was at a bound, and all had an effect."""
    slices = at_a_bound() if kind == "at a bound" else fit_slices(twice(), flat(2))
    found = again(tmp_path / "fit.h5", slices)
    some = [ends(one.result) for one in slices]
    assert some != [({}, (), {})] * len(slices)
    assert [ends(one.result) for one in found] == some
    table = load_fit(tmp_path / "fit.h5")[-1].result.table
    assert [row.at_bound for row in table] == [row.at_bound for row in slices[-1].result.table]


def test_a_time_that_is_not_known_is_left_out(tmp_path: Path) -> None:
    """It was "nan s"."""
    found = again(tmp_path / "fit.h5", at_a_bound())
    for one in (found, found[0].result):
        assert "nan" not in str(one).split("\n")[0] + str(one).split("\n")[2]
    assert found[0].result.to_dict()["seconds"] is None
    assert "evaluations;" in str(found[0].result)


def members() -> list[tuple[Model, Measurement]]:
    found = []
    for seed, x0 in enumerate((84.0, 84.3)):
        model = load_model(SHARED, "m")
        model.set_axes(energy=ENERGY)
        model.set("Gauss_01_x0", x0)
        found.append((model, with_noise(model.evaluate(), seed)))
    return found


def test_a_file_of_a_joint_fit_says_that_it_is_fitted_alone(tmp_path: Path) -> None:
    """It silently had other values of what files share."""
    joint = fit_joint(members())
    save_fit(tmp_path / "fits.h5", joint.files)
    stored = load_fits(tmp_path / "fits.h5")
    with pytest.warns(ModelWarning, match="fitted together with other files, and now alone: Gauss"):
        alone = stored[0].refit()
    (told,) = [one for one in alone.findings if one.kind is Kind.REFITTED_ALONE]
    moved = f"{joint.values['Gauss_01_x0']:.6g} → {alone.values['Gauss_01_x0']:.6g}"
    assert moved in told.numbers["what"]
    together = fit_joint([(one.model, one.measurement) for one in stored])
    assert together.values["Gauss_01_x0"] == pytest.approx(joint.values["Gauss_01_x0"], rel=1e-6)
    with pytest.raises(FitError, match="one file of a joint fit"):
        stored[0].conf_interval()


def test_a_file_that_was_fitted_alone_says_nothing(tmp_path: Path) -> None:
    model, measurement = members()[0]
    save_fit(tmp_path / "fit.h5", fit_model(model, measurement))
    assert not load_fit(tmp_path / "fit.h5").refit().findings


@pytest.mark.parametrize("scale_covar", [True, False])
@pytest.mark.parametrize("method", ["native", "leastsq"])
def test_what_lmfit_says_comes_back(tmp_path: Path, method: str, scale_covar: bool) -> None:
    """With weights its AIC and BIC were others, unlike those of `statistics`, and the report of a
    restored fit was an AttributeError."""
    model, measurement = members()[0]
    weighted = Measurement(data=measurement.data, weight=np.full(ENERGY.size, 7.0))
    fit = fit_model(model, weighted, method=method, scale_covar=scale_covar)
    save_fit(tmp_path / "fit.h5", fit)
    restored = load_fit(tmp_path / "fit.h5")
    for one in (fit, restored):
        assert one.lmfit.aic == pytest.approx(one.statistics["aic"], rel=1e-12)
        assert one.lmfit.bic == pytest.approx(one.statistics["bic"], rel=1e-12)
    assert restored.fit_report() == fit.fit_report()


def test_a_slice_that_did_not_converge_says_so_to_lmfit_too(tmp_path: Path) -> None:
    """It came back as a success there."""
    model = spectrum()
    series = with_noise(np.tile(model.evaluate(), (2, 1)))
    model.set_values({"Gauss_01_x0": 82.5})
    slices = fit_slices(model, series, max_nfev=2)
    save_fit(tmp_path / "fit.h5", slices)
    for one in (slices[0].result, load_fit(tmp_path / "fit.h5")[0].result):
        assert one is not None
        assert (one.success, one.lmfit.success) == (False, False)
