"""Transient absorption of Ru-dppz in acetonitrile (tutorial of KiMoPack): chirp, coherent artifact
and a sequence of three states. KiMoPack finds 3.85 and 92 ps on its own window of the data."""

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project, read

MODEL = """
parameters:
  onset: [0.1, True, -2, 2]
  chirp: [0.5, True, -5, 5]
  bend: [0.0, True, -10, 10]
  twist: [0.0, True, -20, 20]
  way: ["1 - (500 / energy) ** 2"]
  zero: ["onset + chirp * way + bend * way ** 2 + twist * way ** 3"]
kinetics:
  relaxation: {A -> B: k1, B -> C: k2}
whole:
  gaussFun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD1Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD2Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussIRF: {SD: [0.1, True, 0.02, 1]}
  relaxation: {k1: [0.26, True, 0.001, 10], k2: [0.0108, True, 0.0001, 1], t0: ["zero"],
               spectra: {free: energy}}
"""


@pytest.mark.slow
def test_chirp_artifact_and_a_sequence(shared: Path, tmp_path: Path) -> None:
    found = read(shared / "data/pump_probe/TA_Ru-dppz_400nm_ACN.SIA")
    wavelength, delay = np.asarray(found.energy), np.asarray(found.time)
    seen = (wavelength >= 345) & (wavelength <= 750) & ~((wavelength > 380) & (wavelength < 405))
    columns, rows = np.flatnonzero(seen)[::8], delay >= -3
    path = tmp_path / "models.yaml"
    path.write_text(MODEL)
    file = File(
        Project(tmp_path, show_output=False),
        data=np.asarray(found.data)[np.ix_(rows, columns)],
        energy=wavelength[columns],
        time=delay[rows],
    )
    file.load_model(path, "whole")
    result = file.fit_2d("whole")
    assert result.success
    fast, slow = (1 / result.params[f"relaxation_k{k}"].value for k in (1, 2))
    assert 3.0 < fast < 4.2
    assert 60 < slow < 110
    left = np.linalg.svd(result.data - result.fit, compute_uv=False)
    assert left[0] < 0.03 * np.linalg.svd(result.data, compute_uv=False)[0]
    das = result.linear.das()
    assert np.median(das.stderr) < 0.01 * np.max(np.abs(das.values))
