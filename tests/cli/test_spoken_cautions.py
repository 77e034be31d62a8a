"""Cautions of a fit in the words of a job."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, fit_model, fit_slices, load_fit, load_model
from pyspec.cli import main
from pyspec.cli.syntax_hints import for_fields, in_fields

LINE = """
m:
  Offset: {y0: [20, True]}
  GLP: {A: [250, True], x0: [83, True], F: [1.2, True], m: [0.3, False]}
"""


def test_files_of_a_job_speak_as_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report and the parameters still told of a mask and of set_fit_limits."""
    monkeypatch.chdir(tmp_path)
    energy = np.linspace(78, 90, 401)
    model = load_model(LINE, "m")
    model.set_axes(energy=energy)
    counts = np.asarray(model.evaluate()) + np.random.default_rng(1).normal(size=401)
    counts[40] += 90
    counts[9] = np.nan
    np.savetxt("s.csv", np.c_[energy, counts], delimiter=",")
    Path("m.yaml").write_text(LINE)
    Path("job.yaml").write_text("data: {path: s.csv, mask: nan}\nmodels: m.yaml\n")
    assert main(["fit", "job.yaml", "-q"]) == 0
    for name in ("report.html", "parameters.json"):
        text = Path("results", name).read_text(encoding="utf-8")
        found = re.search(r"leave outliers out, (.*?nan)", html.unescape(text))
        assert found is not None  # of a series limits would leave out more than the spike
        said = "limits: {exclude: [[79.185, 79.215]]}, or NaN in the data, and mask: nan"
        assert found[1] == said
        assert "mask=" not in text
    assert "1 of 401 values are NaN or infinite; mask: nan leaves them out of fits" in (
        Path("results/report.html").read_text(encoding="utf-8")
    )
    kept = load_fit("results/fits.h5").findings
    assert any("set_fit_limits(exclude=[(79.185, 79.215)])" in str(one) for one in kept)


def test_cautions_of_declared_noise_name_fields() -> None:
    """A job was told of set_noise, scale= and scale_covar=, which it does not have."""
    energy = np.linspace(78, 90, 401)
    model = load_model(LINE, "m")
    model.set_axes(energy=energy)
    counts = np.random.default_rng(1).poisson(model.evaluate()) + 1.0

    def said(data: np.ndarray, **noise: Any) -> str:
        return for_fields(" ".join(map(str, fit_model(model, Measurement(data, **noise)).findings)))

    assert "declare counts, noise: {type: poisson}" in said(counts, weight=counts**-0.5)
    per_unit = said(counts / 4, weight=4 * counts**-0.5)
    assert "declare counts, noise: {type: poisson, scale: 4}" in per_unit
    assert "or scale: if a unit of the data" in said(counts / 9, loss="poisson")
    model.set_axes(energy=energy[180:184])
    few = said(counts[180:184])
    assert "declare the noise, noise: {type: gaussian, sigma: ...}" in few


@pytest.mark.parametrize(
    ("python", "fields"),
    [
        ("several starts (n_starts=10) or", "several starts (options: {n_starts: 10}) or"),
        ('linear="eliminate" has', "options: {linear: eliminate} has"),
        ("linear='eliminat' is unknown", "linear='eliminat' is unknown"),
        ('need method="leastsq"', "need method: leastsq"),
        ("fit the series, fit_2d, or", "fit the series, type: 2d, or"),
        ("see result.conf_interval('a')", "see load_fit(path).conf_interval('a')"),
        ("leave it out: set_fit_limits(exclude=[(79, 80)]), or mask=, True there",
         "leave it out: limits: {exclude: [[79, 80]]}, or NaN in the data, and mask: nan below "
         "data:"),
        ("leave them out: set_fit_limits(exclude=...)",
         "leave them out: limits: {exclude: [[from, to]]}"),
        ("load them with load_dynamics, or", "name them below dynamics:, or"),
        ("model with add_time_dependence; it", "model below dynamics:; it"),
        # was "choose one with block:: a"
        ("choose one with block=: a", "choose one with block: a"),
        ("one trace is fitted with fit_trace", "one trace is fitted by type: trace"),
        ("declare it, file.set_noise('gaussian',\n sigma=...), or Measurement(weight=1 /\n sigma)",
         "declare it, noise: {type: gaussian,\n sigma: ...}"),
    ],
)  # fmt: skip
def test_calls_are_fields(python: str, fields: str) -> None:
    """'linear: eliminate' was to be written where a job has no such field."""
    assert for_fields(python) == fields


def test_cautions_of_slices_name_fields_in_a_copy() -> None:
    """The cautions of a fit were exchanged while its files were written."""
    model = load_model(LINE, "m")
    model.set_axes(energy=np.linspace(78, 90, 401))
    data = np.tile(np.asarray(model.evaluate()), (3, 1))
    data += np.random.default_rng(1).normal(size=data.shape)
    data[1, 40] += 90
    slices = fit_slices(model, Measurement(data), times=np.arange(3.0)).diagnose()
    told = in_fields(slices)
    assert "set_fit_limits(exclude=" in str(slices)
    assert "limits: {exclude: [[" in str(told)
    assert "set_fit_limits" not in str(told)
    assert told.values["GLP_01_A"].tolist() == slices.values["GLP_01_A"].tolist()
