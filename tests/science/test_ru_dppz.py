"""Transient absorption of Ru-dppz in acetonitrile (tutorial of KiMoPack): chirp, coherent artifact
and a sequence of four states. KiMoPack finds 3.85 and 92 ps on its own window of the data."""

from pathlib import Path

import numpy as np
import pytest

from bench.transient import OURS, measured
from pyspec import File, Project


@pytest.mark.slow
def test_chirp_artifact_and_a_sequence(shared: Path, tmp_path: Path) -> None:
    wavelength, delay, data = measured(shared, every=8)
    path = tmp_path / "models.yaml"
    path.write_text(OURS)
    file = File(Project(tmp_path, show_output=False), data=data, energy=wavelength, time=delay)
    file.load_model(path, "whole")
    result = file.fit_2d("whole")
    assert result.success
    fast, slow = (1 / result.params[f"relaxation_k{k}"].value for k in (2, 3))
    assert 3.5 < fast < 4.2
    assert 80 < slow < 120
    left, singular, _ = np.linalg.svd(result.data - result.fit, full_matrices=False)
    assert singular[0] < 0.03 * np.linalg.svd(result.data, compute_uv=False)[0]
    # What remains has no shape in time: neighbours of the left vectors are next to independent.
    assert np.all(np.abs(np.einsum("tk,tk->k", left[1:, :3], left[:-1, :3])) < 0.4)
    das = result.amplitudes.das()
    assert np.median(das.stderr) < 0.01 * np.max(np.abs(das.values))
