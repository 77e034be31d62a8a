"""Axes and data of files are shown as arrays that say what to write where they are changed."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from pyspec import File, Measurement, load_model, show_config
from pyspec.errors import CallError, DataError, NoSuchNameError
from pyspec.io import Dataset

ENERGY = np.linspace(80.0, 90.0, 101)


@pytest.fixture
def file() -> File:
    return File(data=np.ones((3, 101)), energy=ENERGY, time=np.arange(3.0))


def test_a_change_in_place_says_how_axes_are_calibrated(file: File) -> None:
    """It used to be "ValueError: output array is read-only"."""
    with pytest.raises(DataError, match=r"calibrate them .*scan\.shift\(energy=-0\.32\)"):
        file.energy -= 0.3
    with pytest.raises(DataError, match=r"calibrate them .*scan\.shift\(time=-0\.32\)"):
        file.time[0] = 1.0  # type: ignore[index]
    with pytest.raises(DataError, match="correct them by subtract_dark"):
        file.data[1:] *= 2.0  # type: ignore[index]
    scan = Dataset(np.ones((3, 101)), ("time", "energy"), {"time": range(3), "energy": ENERGY})
    with pytest.raises(DataError, match=r"scan = scan\.shift\(energy=-0\.3\) calibrates"):
        scan.energy -= 0.3  # type: ignore[misc]
    np.testing.assert_array_equal(file.energy, ENERGY)
    moved = scan.shift(energy=-0.3)
    np.testing.assert_allclose(File.from_dataset(moved).energy, ENERGY - 0.3, rtol=1e-15)


def test_what_is_computed_from_them_is_plain(file: File) -> None:
    axis = file.energy
    assert axis is not None
    for found in (axis - 0.3, np.sin(axis), np.asarray(axis), pickle.loads(pickle.dumps(axis))):
        assert type(found) is np.ndarray
    assert type(axis.mean()) is type(axis[3]) is np.float64
    assert repr(axis) == repr(ENERGY)
    for own in (axis.copy(), copy.deepcopy(axis), axis.astype(np.float32)):
        own -= 0.3
        own[0] = 7.0
        assert own[0] == 7.0
    assert axis[0] == 80.0
    assert file.data is not None
    assert np.shares_memory(file.data, file.data)


def test_an_attribute_that_cannot_be_set_says_what_to_write() -> None:
    """It used to be "FrozenInstanceError: cannot assign to field 'energy'"."""
    scan = Dataset(np.ones((3, 101)), ("time", "energy"), {"time": range(3), "energy": ENERGY})
    with pytest.raises(NoSuchNameError, match=r"scan = scan\.shift\(energy=-0\.3\) calib") as told:
        scan.energy = ENERGY - 0.3  # type: ignore[misc]
    energy = ENERGY - 0.3
    told_code = str(told.value).split("other values: ")[1]
    other = eval(told_code, {"dataclasses": dataclasses, "scan": scan, "energy": energy})
    np.testing.assert_array_equal(other.energy, energy)
    with pytest.raises(NoSuchNameError, match=r"dataclasses\.replace\(dataset, data=\.\.\.\)"):
        scan.data = np.zeros((3, 101))  # type: ignore[misc]
    with pytest.raises(NoSuchNameError, match="'nam' cannot be set; did you mean 'name'"):
        scan.nam = "a"
    with pytest.raises(NoSuchNameError, match=r"dataclasses\.replace\(measurement, weight="):
        Measurement(np.ones(101)).weight = 2.0  # type: ignore[misc]
    assert isinstance(told.value, AttributeError)


def test_a_property_that_cannot_be_set_says_what_to_write(file: File) -> None:
    """It used to be "AttributeError: property 'name' of 'File' object has no setter"."""
    with pytest.raises(NoSuchNameError, match=r"File\.name cannot be set; .*File\(project, name="):
        file.name = "scan 2"  # type: ignore[misc]
    with pytest.raises(NoSuchNameError, match=r"File\.noise cannot be set; call set_noise\("):
        file.noise = 0.3  # type: ignore[misc, assignment]
    with pytest.raises(NoSuchNameError, match=r"File\.results cannot be set; see help\(File\)"):
        file.results = []  # type: ignore[misc]
    model = load_model("peak: {Offset: {y0: [1, True]}}", "peak")
    with pytest.raises(NoSuchNameError, match=r"Model\.values cannot be set; call set_values\("):
        model.values = {"Offset_y0": 2.0}  # type: ignore[misc]


def test_show_config_answers_what_it_does_not_take() -> None:
    with pytest.raises(CallError, match="show_config: 1 value was given by position"):
        show_config(1)  # type: ignore[call-arg]
