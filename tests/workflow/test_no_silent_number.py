"""What used to give a number that looked right: hidden pixels, data that changed, odd words."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import Any

import lmfit
import numpy as np
import pytest
from support.fit_cases import ENERGY, START, STATIC, TIME, data_1d, data_2d, spectrum

from pyspec import DataError, File, ModelError, Project, load_fits, save_fit
from pyspec.fit import fit_slices
from pyspec.model import Measurement, load_model
from pyspec.model.data.digest import digest


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "models.yaml").write_text(STATIC.format(**START))
    return Project(tmp_path, show_output=False)


def loaded(file: File) -> File:
    file.load_model("models.yaml", "spectrum")
    return file


def test_the_mask_of_an_array_and_another_combine(project: Project) -> None:
    """mask= used to replace the mask of the array, whose hidden pixels were then fitted."""
    data = np.ma.MaskedArray(data_1d(), mask=np.arange(81) == 40)
    data.data[40] = 1e6
    file = File(project, data=data, energy=ENERGY, mask=np.arange(81) == 3)
    assert file.keep is not None
    assert np.flatnonzero(~file.keep).tolist() == [3, 40]
    assert loaded(file).fit_spectrum("spectrum").values["GLP_01_A"] == pytest.approx(12, rel=0.02)
    with pytest.raises(DataError, match="mask has shape"):
        File(project, data=data, energy=ENERGY, mask=np.zeros(7, dtype=bool))


@pytest.mark.parametrize("axis", ["energy", "time"])
def test_a_masked_axis_is_refused(project: Project, axis: str) -> None:
    axes: dict[str, Any] = {"energy": ENERGY, "time": TIME}
    axes[axis] = np.ma.MaskedArray(axes[axis], mask=np.arange(axes[axis].size) == 2)
    with pytest.raises(DataError, match=f"the {axis} axis is a masked array and hides points"):
        File(project, data=data_2d(), **axes)
    axes[axis] = np.ma.MaskedArray(axes[axis].data, mask=False)
    assert File(project, data=data_2d(), **axes).data is not None


def test_a_measurement_refuses_masked_arrays() -> None:
    hidden = np.ma.MaskedArray(data_1d(), mask=ENERGY < 80)
    with pytest.raises(DataError, match="data is a masked array, whose mask would be lost"):
        Measurement(data=hidden)
    with pytest.raises(DataError, match="weight is a masked array, whose mask would be lost"):
        Measurement(data=data_1d(), weight=hidden)


def test_data_that_changed_after_the_fit_are_not_saved(project: Project, tmp_path: Path) -> None:
    """A buffer that an acquisition used again was saved with the digest of what it held then."""
    buffer = data_2d()
    file = loaded(File(project, data=buffer, energy=ENERGY, time=TIME, name="scan"))
    file.fit_spectrum("spectrum", time_point=0)
    file.fit_2d("spectrum")
    whole = file.get_result(fit_type="2d")
    slices = fit_slices(spectrum(), Measurement(data=buffer, rows=(0, 2)))
    save_fit(tmp_path / "before.h5", [whole, slices])
    buffer[5, 5] += 1.0
    for fit in (whole, slices):
        with pytest.raises(DataError, match=r"its data were changed after it was fitted.*a copy"):
            save_fit(tmp_path / "after.h5", fit)
    with pytest.raises(DataError, match="the spectrum fit of spectrum: its data were changed"):
        file.save_fit("after.h5")
    assert not (tmp_path / "after.h5").exists()
    save_fit(tmp_path / "after.h5", whole, with_data=False)
    before, after = load_fits(tmp_path / "before.h5")[0], load_fits(tmp_path / "after.h5")[0]
    assert before.data_sha256 == digest(data_2d())
    assert after.data_sha256 == "", "what is there now are not the data that were fitted"
    buffer[5, 5] -= 1.0
    buffer[...] = data_2d()
    save_fit(tmp_path / "after.h5", whole)


def test_every_name_that_loads_is_one_of_lmfit() -> None:
    for word in [*keyword.kwlist, *keyword.softkwlist, "self", "np", "fcn", "__import__"]:
        text = f"parameters:\n  {word}: [2, True]\n" + STATIC.format(**START)
        try:
            load_model(text, "spectrum")
        except ModelError:
            continue
        lmfit.Parameters().add(word, 1.0)
