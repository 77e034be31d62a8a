"""Arrays with labels of their own: axes in another order used to give other numbers in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.later import later

from pyspec import DataError, File, Project, fit_map, load_model

pandas = later("pandas")
xarray = later("xarray")

ENERGY, TIME = np.linspace(80, 88, 20), np.linspace(-1, 18, 20)
DATA = np.random.default_rng(0).normal(10, 1, (20, 20))


def array(energy: Any = ENERGY, time: Any = TIME) -> Any:
    return xarray.DataArray(DATA, dims=("time", "energy"), coords={"time": time, "energy": energy})


def frame(energy: Any = ENERGY, time: Any = TIME) -> Any:
    return pandas.DataFrame(DATA, index=time, columns=energy)


@pytest.mark.parametrize("made", [array, frame])
def test_as_many_energies_as_times_are_told_apart_by_their_labels(made: Any) -> None:
    labelled = made()
    with pytest.raises(DataError, match="its rows are energies and its columns times; pass"):
        File(data=labelled.T, energy=ENERGY, time=TIME)
    assert np.array_equal(File(data=labelled, energy=ENERGY, time=TIME).data, DATA)


@pytest.mark.parametrize("made", [array, frame])
def test_labels_in_another_order_are_refused(made: Any) -> None:
    falling = made(energy=ENERGY[::-1])
    said = (
        "the labels of data run from 88 to 80, the energy axis from 80 to 88, with the same values"
    )
    with pytest.raises(DataError, match=f"^{said}; give both in one order, or drop the labels"):
        File(data=falling, energy=ENERGY, time=TIME)
    assert File(data=falling.to_numpy(), energy=ENERGY, time=TIME).energy[0] == 80
    assert File(data=falling, energy=ENERGY[::-1], time=TIME).energy[0] == 88
    with pytest.raises(DataError, match=r"the labels of data run from .*, the time axis from"):
        File(data=made(time=TIME[::-1]), energy=ENERGY, time=TIME)


def test_other_labels_say_nothing() -> None:
    """Numbers of rows, names, and axes that were converted or calibrated."""
    photon = 1486.6 - ENERGY
    for data in (
        frame(),
        array(),
        array().drop_vars(["energy", "time"]),
        pandas.DataFrame(DATA),
        pandas.DataFrame(DATA, columns=[f"c{i}" for i in range(20)]),
    ):
        assert np.array_equal(File(data=data, energy=photon, time=2 * TIME).data, DATA)
    about_fermi = np.linspace(-1, 1, 20)  # the binding energy is minus that
    data = frame(energy=about_fermi)
    assert File(data=data, energy=-about_fermi, time=TIME).energy[0] == 1
    counted = pandas.DataFrame(DATA)  # 0, 1, 2 ... of which the axis may be any order
    assert File(data=counted, energy=np.arange(20.0)[::-1], time=TIME).data is not None
    assert File(data=frame(time=ENERGY), energy=ENERGY, time=ENERGY).data is not None
    single = array().astype("float32").assign_coords(energy=ENERGY.astype("float32"))
    assert File(data=single, energy=ENERGY, time=TIME).data is not None


MODEL = """
flat:
  Offset: {y0: [9, True, 0, 20]}
  LinBack: {m: [0, False], b: [0, False], xStart: [80, False], xStop: [88, False]}
"""


def test_start_values_by_other_times_are_refused() -> None:
    """A table sorted by a value gave each slice the start, and the fixed values, of another one."""
    file = File(Project(show_output=False), data=DATA, energy=ENERGY, time=TIME)
    file.load_model(MODEL, "flat")
    level = 9.0 + 0.01 * TIME
    table = pandas.DataFrame({"Offset_y0": level}, index=TIME)
    started = file.fit_slice_by_slice("flat", seed_values=table).start["Offset_y0"]
    assert np.array_equal(started, level)
    falling = table.sort_values("Offset_y0", ascending=False)
    column = xarray.DataArray(level, dims="time", coords={"time": TIME})[::-1]
    for given, what in (
        (falling, "seed_values"),
        ({"Offset_y0": falling["Offset_y0"]}, "seed_values of Offset_y0"),
        ({"Offset_y0": column}, "seed_values of Offset_y0"),
    ):
        with pytest.raises(DataError, match=f"the labels of {what} run from 18 to -1, the time"):
            file.fit_slice_by_slice("flat", seed_values=given)
    plain = {"Offset_y0": np.asarray(falling["Offset_y0"])}
    assert file.fit_slice_by_slice("flat", seed_values=plain).start["Offset_y0"][0] == level[-1]
    numbered = table.reset_index(drop=True)
    assert file.fit_slice_by_slice("flat", seed_values=numbered).success.all()


def test_what_lies_beside_the_data_has_their_order() -> None:
    """A mask hid other points, and sigma was that of the other end, without a word."""
    hidden = np.zeros((20, 20), dtype=bool)
    hidden[2, 3] = True
    labels = {"time": TIME, "energy": ENERGY}
    mask = xarray.DataArray(hidden, dims=("time", "energy"), coords=labels)
    sigma = pandas.Series(np.linspace(1, 2, 20), index=ENERGY)
    own = {"energy": ENERGY, "time": TIME}
    assert not File(data=DATA, mask=mask, **own).keep[2, 3]
    for other in (mask[:, ::-1], mask[::-1], mask.to_pandas().iloc[::-1]):
        with pytest.raises(DataError, match=r"the labels of mask run .* give both in one order"):
            File(data=DATA, mask=other, **own)
    with pytest.raises(DataError, match=r"its columns times; pass mask\.T"):
        File(data=DATA, mask=mask.T, **own)
    with pytest.raises(DataError, match=r"the labels of inputs\['ref'\] run from 88 to 80"):
        File(data=DATA, inputs={"ref": sigma[::-1]}, **own)
    file = File(data=DATA[:12], energy=ENERGY, time=TIME[:12])
    for set_it, what in (
        (lambda given: file.set_noise("gaussian", sigma=given), "sigma"),
        (file.subtract_dark, "dark"),
        (file.calibrate_data, "calibration"),
    ):
        with pytest.raises(DataError, match=f"the labels of {what} run from 88 to 80, the energy"):
            set_it(sigma[::-1])
        set_it(sigma)
        set_it(sigma[::-1].to_numpy())
    by_time = pandas.Series(np.linspace(1, 2, 12), index=TIME[:12])
    file.set_noise("gaussian", sigma=by_time)
    with pytest.raises(DataError, match="the labels of sigma run from 10 to -1, the time axis"):
        file.set_noise("gaussian", sigma=by_time[::-1])


def test_what_lies_beside_a_map_has_the_order_of_its_energies(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    pytest.importorskip("dask")
    model = load_model(MODEL, "flat")
    sigma = pandas.Series(np.linspace(1, 2, 20), index=ENERGY)
    for given in ({"sigma": sigma[::-1]}, {"mask": (sigma > 1.9)[::-1]}):
        with pytest.raises(DataError, match="run from 88 to 80, the energy axis from 80 to 88"):
            fit_map(model, array(), tmp_path / "map.zarr", **given)
    assert fit_map(model, array(), tmp_path / "map.zarr", sigma=sigma).status.size == 20
