"""`chunks=`: rows that are summed some at a time, with the bits of all at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.clusters import assert_same
from support.native_cases import CASES

from pyspec import File, Project
from pyspec.errors import DataError, FitError
from pyspec.fit import fit_joint, fit_model
from pyspec.io import load_fit, save_fit
from pyspec.model import Measurement
from pyspec.model.data.digest import digest


def test_files_take_them_too(tmp_path: Path) -> None:
    parts = CASES["three files"]()
    expected, found = fit_joint(parts), fit_joint(parts, chunks=11)
    assert_same(found.joint, expected.joint)
    assert [one.measurement for one in found] == [measured for _, measured in parts]
    model, measurement = CASES["a series"]()[0]
    (tmp_path / "models.yaml").write_text(model.to_yaml())
    data = np.asarray(measurement.data)
    file = File(Project(tmp_path), data=data, energy=model.energy, time=model.time)
    file.load_model("models.yaml", model.name)
    result = file.fit_2d(model.name, chunks=9)
    save_fit(tmp_path / "fit.h5", result)  # whose data are those that were fitted
    assert load_fit(tmp_path / "fit.h5").data_sha256 == digest(data)


def test_what_has_no_chunks_is_refused() -> None:
    model, measurement = CASES["a series"]()[0]
    with pytest.raises(DataError, match="chunks is 0; give the number of rows of a chunk"):
        fit_model(model, measurement, chunks=0)
    with pytest.raises(FitError, match="leave it out, or client= and n_workers="):
        fit_model(model, measurement, chunks=9, n_workers=2)
    one = model.copy()
    one.set_axes(energy=model.energy)
    with pytest.raises(DataError, match="leave it out for one spectrum"):
        fit_model(one, Measurement(data=np.asarray(measurement.data)[0]), chunks=9)
