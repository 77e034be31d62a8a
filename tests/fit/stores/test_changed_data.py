"""Data are kept by reference: what an acquisition that uses its buffer again writes there is not
what was fitted. Residuals, pictures, intervals and samples of a fit were those of the new data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fit_cases import data_2d, spectrum

from pyspec import (
    DataError,
    FitResult,
    Measurement,
    fit_joint,
    fit_model,
    load_fit,
    save_fit,
)
from pyspec.fit import bootstrap, fit_slices
from pyspec.fit.findings.kinds import Kind
from tests.support.findings import kinds

ASKED: dict[str, Callable[[Any], object]] = {
    "data": lambda fit: fit.data,
    "residual": lambda fit: fit.residual,
    "weighted_residual": lambda fit: fit.weighted_residual,
    "statistics": lambda fit: fit.statistics,
    "to_dict": lambda fit: fit.to_dict(),
    "to_xarray": lambda fit: fit.to_xarray(),
    "plot": lambda fit: fit.plot(),
    "plot of all": lambda fit: fit.plot(full_range=True),
    "conf_interval": lambda fit: fit.conf_interval("GLP_01_A"),
    "sample": lambda fit: fit.sample(steps=20),
    "minimizer": lambda fit: fit.minimizer,
    "bootstrap": lambda fit: bootstrap(fit, 2, kind="residuals"),
}
SAID = r"its data were changed after it was fitted.*would be those of other data.*fit a copy"


@pytest.fixture
def buffer() -> np.ndarray:
    return data_2d().copy()


def series_fit(buffer: np.ndarray) -> FitResult:
    return fit_model(spectrum(), Measurement(data=buffer[4], columns=(5, 70)))


@pytest.mark.parametrize("asked", ASKED)
def test_what_needs_the_data_is_refused(buffer: np.ndarray, asked: str) -> None:
    result = series_fit(buffer)
    shown, fit = str(result), result.fit.copy()
    buffer[...] = buffer[::-1] * 2.0
    with pytest.raises(DataError, match=SAID):
        ASKED[asked](result)
    assert str(result) == shown, "values, standard errors and χ² are those of the fit"
    np.testing.assert_array_equal(result.fit, fit)


@pytest.mark.parametrize("what", ["data", "weight"])
def test_cautions_are_not_worked_out_from_what_changed(what: str) -> None:
    """Asked for only later, they spoke of the scatter of other data about this fit."""
    buffer, weight = data_2d()[4].copy(), np.full(81, 2.0)
    result = fit_model(spectrum(), Measurement(data=buffer, weight=weight, columns=(5, 70)))
    joint = fit_joint([(spectrum(), Measurement(data=buffer, weight=weight))] * 2)
    if what == "data":
        buffer += np.linspace(0.0, 500.0, 81)
    else:
        weight[40:] = 2e3
    both = joint.diagnose()
    for one in (result.diagnose(), both.joint, both[0]):
        assert Kind.DATA_CHANGED in kinds(one)
        assert not {Kind.NOISE_VARIES, Kind.RESIDUAL_STRUCTURED} & {*kinds(one)}


def test_slices_and_joint_fits(buffer: np.ndarray, tmp_path: Path) -> None:
    other = data_2d().copy()
    slices = fit_slices(spectrum(), Measurement(data=buffer, rows=(0, 3)))
    parts = [(spectrum(), Measurement(data=one[2])) for one in (other, buffer)]
    joint = fit_joint(parts)
    save_fit(tmp_path / "fits.h5", slices)
    restored = load_fit(tmp_path / "fits.h5")
    np.testing.assert_array_equal(restored.residual, slices.residual)
    save_fit(tmp_path / "again.h5", restored)
    first = joint[0].residual
    buffer[2, 3] += 1.0
    for asked in ("residual", "to_xarray"):
        with pytest.raises(DataError, match=f"the slices of spectrum: {SAID}"):
            ASKED[asked](slices)
    for asked in ("residual", "conf_interval", "sample"):
        with pytest.raises(DataError, match=SAID):
            ASKED[asked](joint.joint)
    with pytest.raises(DataError, match=SAID):
        joint[1].residual  # noqa: B018
    np.testing.assert_array_equal(joint[0].residual, first)


@pytest.mark.parametrize("what", ["weight", "keep"])
@pytest.mark.parametrize("loss", ["squares", "poisson"])
def test_weights_and_masks_that_changed(what: str, loss: str) -> None:
    """Their intervals were those of other noise, or infinite and narrow at once; no checksum of
    them is taken, but χ² at the values of the fit tells."""
    given: dict[str, Any] = {
        "weight": np.full(81, 1.5),
        "keep": np.arange(81) != 4,
    }
    data = np.abs(data_2d()[4])
    result = fit_model(spectrum(), Measurement(data=data, loss=loss, **given))  # type: ignore[arg-type]
    before = result.weighted_residual
    assert result.chisqr == pytest.approx(float((before**2).sum()), rel=1e-9)
    result.conf_interval("Offset_y0")
    if what == "weight":
        given["weight"] *= 2.0
    else:
        given["keep"][30:50] = False
    for asked in ("weighted_residual", "conf_interval", "sample"):
        with pytest.raises(DataError, match="its weights or mask were changed after it was fitted"):
            ASKED[asked](result)
