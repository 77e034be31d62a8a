"""What fits take under the names of trspecfit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, fit_model, fit_slices, load_model
from pyspec.errors import CallError, FitError
from pyspec.trspecfit import MC, File, Project
from pyspec.workflow import File as _File

ENERGY = np.linspace(80.0, 90.0, 51)
LINE = """
line:
  Offset: {y0: [1.0, True, -10, 10]}
  LinBack: {m: [0.1, True, -5, 5], b: [0, False], xStart: [80, False], xStop: [90, False]}
"""
DATA = 2.0 + 0.3 * (ENERGY - 80.0) + np.random.default_rng(3).normal(0, 0.2, 51)


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "models.yaml").write_text(LINE)
    made = File(Project(tmp_path, show_output=0), "a", data=DATA, energy=ENERGY)
    made.load_model("models.yaml", "line")
    return made


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({}, "native"),
        ({"stages": 1, "fit_alg_1": "leastsq"}, "leastsq"),
        ({"stages": 2}, "nelder then native"),
        ({"stages": 2, "fit_alg_1": "powell"}, "powell then native"),
        ({"stages": 2, "fit_alg_2": "leastsq"}, "nelder then leastsq"),
        ({"method": "leastsq"}, "leastsq"),
    ],
)
def test_stages_are_methods_in_turn(file: File, options: dict[str, Any], method: str) -> None:
    assert file.fit_spectrum("line", **options).method == method


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"stages": 3}, "stages must be 1, or 2 for fit_alg_1 then fit_alg_2; not 3"),
        ({"fit_alg_2": "nelder"}, "fit_alg_2='nelder' is the method of a second stage"),
        ({"method": "leastsq", "fit_alg_1": "nelder"}, "'leastsq' and .* 'nelder' contradict"),
    ],
)
def test_stages_that_contradict(file: File, options: dict[str, Any], says: str) -> None:
    with pytest.raises(FitError, match=says):
        file.fit_spectrum("line", **options)


@pytest.mark.filterwarnings("ignore:.*steps:pyspec.errors.ModelWarning")
def test_samples_follow_a_fit(file: File) -> None:
    pytest.importorskip("emcee")
    file.set_noise("gaussian", sigma=0.2)
    settings = MC(use_mc=1, steps=60, seed=1, is_weighted=True)
    result = file.fit_spectrum("line", mc_settings=settings, try_ci=0)
    assert file.get_mcmc() is result.mcmc
    alone = _File.fit_spectrum(file, "line", seed_source="model").sample(steps=60, seed=1)
    assert result.mcmc.settings == alone.settings
    assert file.fit_spectrum("line", mc_settings=MC()).mcmc is None
    # Intervals are found here, so "only where there are none" samples nothing.
    assert file.fit_spectrum("line", mc_settings=MC(use_mc=2, steps=60)).mcmc is None
    file.set_noise("unknown")
    with pytest.raises(FitError, match="is_weighted=True needs the noise"):
        file.fit_spectrum("line", mc_settings=settings)
    assert len(file.results) == 5


@pytest.mark.parametrize(
    ("slip", "says"),
    [
        (lambda file: MC(use_mc=3), "use_mc is 0, 1 or 2"),
        (lambda file: MC(use_mc=np.array([])), "use_mc is 0, 1 or 2"),
        (lambda file: MC(ntemps=2), "ntemps must be 1"),
        (lambda file: MC(steps=0), "steps is a whole number from 1 on"),
        (lambda file: file.fit_spectrum("line", mc_settings="yes"), "mc_settings is 'yes'"),
        (lambda file: file.fit_slice_by_slice("line", mc_settings=MC(use_mc=1)), "sample one"),
    ],
)
def test_settings_that_are_refused(file: File, slip: Callable[[File], Any], says: str) -> None:
    with pytest.raises(FitError, match=says):
        slip(file)


def test_a_fit_without_a_model(file: File) -> None:
    for fit in (file.fit_2d, file.fit_baseline, file.fit_spectrum, file.project.fit_2d):
        with pytest.raises(CallError, match="needs model_name"):
            fit()


def test_data_and_metrics_of_a_fit_and_of_slices() -> None:
    model = load_model("line: {Offset: {y0: [1.0, True, 0, 10]}}", "line")
    energy = np.linspace(0.0, 1.0, 20)
    data = 3.0 + np.random.default_rng(1).normal(0.0, 0.1, (4, 20))
    model.set_axes(energy=energy)
    single: Any = fit_model(model, Measurement(data=data[0], weight=10.0))
    assert np.array_equal(single.observed, single.data)
    assert single.metrics == single.statistics
    slices: Any = fit_slices(model, Measurement(data=data, weight=10.0))
    assert np.allclose(slices.metrics["chi2"], slices.chisqr)
    assert slices.metrics["chi2"].shape == (4,)
