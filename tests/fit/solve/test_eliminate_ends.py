"""Limits and signals of fits that solve for linear parameters, and where these may be asked for."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.eliminated import DOUBLET, ENERGY, agree, counts, doublet, seen

from bench.problems.cases import seed_case
from pyspec import (
    File,
    FitError,
    Measurement,
    Project,
    fit_model,
    fit_slices,
)
from pyspec.errors import PyspecError
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.io.sources.arrays import ArraySource

Array = npt.NDArray[np.float64]


# limits, signals


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7, 8])
def test_max_nfev_keeps_the_best_point(most: int) -> None:
    start, measurement = doublet(0, -1e5, 3e4), Measurement(data=seen(doublet()))
    model = start.copy()
    model.set("GLP_01_x0", 84.6)
    result = fit_model(model, measurement, max_nfev=most, linear="eliminate")
    assert not result.success
    assert result.nfev == most
    assert f"max_nfev = {most}" in result.message
    executor = CompiledExecutor(make_plan(model), measurement)
    residual = executor.residual(result.theta)
    assert result.chisqr == pytest.approx(float(residual @ residual), rel=1e-9)
    first = executor.residual(None)
    if most > 1:
        assert result.chisqr < 1e-3 * float(first @ first)


def pressed(at: int) -> Callable[[int, float, float], None]:
    def press(nfev: int, chisqr: float, best: float) -> None:
        if nfev == at:
            signal.raise_signal(signal.SIGINT)

    return press


@pytest.mark.parametrize("at", [1, 4, 6])
@pytest.mark.parametrize("loss", ["squares", "counts"])
def test_ctrl_c_keeps_the_best_point(at: int, loss: str) -> None:
    measurement = counts() if loss == "counts" else Measurement(data=seen(doublet()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = fit_model(doublet(0, 1, 1), measurement, progress=pressed(at), linear="eliminate")
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.interrupted
    assert not result.success
    assert result.nfev <= at + 1
    executor = CompiledExecutor(make_plan(doublet()), measurement)
    residual = executor.residual(result.theta)
    assert result.chisqr == pytest.approx(float(residual @ residual), rel=1e-9)


# where it may be asked for


def test_of_slices_and_files(tmp_path: Path) -> None:
    model = doublet()
    data = np.array([seen(model, seed) for seed in range(3)])
    path = tmp_path / "models.yaml"
    path.write_text(DOUBLET.format(y0=0, a=-1e5, b=1e4))
    file = File(Project("."), name="f", data=data, energy=ENERGY, time=np.arange(3.0))
    file.load_model(path, "m")
    slices = fit_slices(doublet(0, 1, 1), Measurement(data=data), linear="eliminate")
    assert all(slices.success)
    mean = file.fit_spectrum("m", time_range=(0, 2), linear="eliminate")
    assert mean.success
    assert mean.settings["linear"] == "eliminate"
    whole = file.fit_2d("m", seed_source="model", linear="eliminate")
    assert whole.success
    for row in slices:
        known = fit_model(model, Measurement(data=data[row.row]))
        assert row.result is not None
        agree(row.result, known)


def test_after_another_method_and_from_several_starts() -> None:
    measurement = Measurement(data=seen(doublet()))
    known = fit_model(doublet(), measurement)
    staged = fit_model(doublet(4, 90, 25), measurement, stages=2, max_nfev=4000, linear="eliminate")
    agree(staged, known)
    several = fit_model(doublet(0, 1, 1), measurement, n_starts=3, linear="eliminate")
    assert len(several.starts) == 3
    assert several.chisqr <= known.chisqr * (1 + 1e-9)


def test_of_data_by_reference() -> None:
    case = seed_case("seed_amplitude")
    assert case.measurement.data is not None
    known = fit_model(case.model, case.measurement)
    source = Measurement(data=ArraySource(np.asarray(case.measurement.data), "data", 16))
    agree(fit_model(case.model, source, linear="eliminate"), known)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"linear": "eliminat"}, r"m: linear='eliminat' is unknown; did you mean 'eliminate'\?"),
        ({"linear": "varpro"}, "linear='varpro' is unknown; it may be 'eliminate', or left out"),
        ({"linear": True}, "linear"),
        (
            {"linear": "eliminate", "method": "leastsq"},
            "is an option of method 'native', and leastsq searches all .* stages=2",
        ),
        ({"liner": "eliminate"}, "fits have no argument 'liner'; did you mean 'linear'"),
    ],
)
def test_what_is_refused(options: dict[str, Any], says: str) -> None:
    data = np.array([seen(doublet())] * 2)
    with pytest.raises(PyspecError, match=says):
        fit_model(doublet(), Measurement(data=data[0]), **options)
    with pytest.raises(PyspecError, match=says):
        fit_slices(doublet(), Measurement(data=data), **options)


def test_a_start_outside_of_the_domain_is_an_error_that_names_it() -> None:
    model = doublet()
    model.set("LinBack_m", 1e308)
    with pytest.raises(FitError, match="not finite at the start"):
        fit_model(model, Measurement(data=seen(doublet())), linear="eliminate")
