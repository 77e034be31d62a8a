"""Arrays with labels of their own: axes in another order used to give other numbers in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyspec import DataError, File

pandas = pytest.importorskip("pandas")
xarray = pytest.importorskip("xarray")

ENERGY, TIME = np.linspace(80, 88, 20), np.linspace(-1, 18, 20)
DATA = np.random.default_rng(0).normal(10, 1, (20, 20))


def array(energy: Any = ENERGY, time: Any = TIME) -> Any:
    return xarray.DataArray(DATA, dims=("time", "energy"), coords={"time": time, "energy": energy})


def frame(energy: Any = ENERGY, time: Any = TIME) -> Any:
    return pandas.DataFrame(DATA, index=time, columns=energy)


@pytest.mark.parametrize("made", [array, frame])
def test_as_many_energies_as_times_are_told_apart_by_their_labels(made: Any) -> None:
    labelled = made()
    with pytest.raises(
        DataError, match=r"its rows are energies and its columns times; pass data\.T"
    ):
        File(data=labelled.T, energy=ENERGY, time=TIME)
    assert np.array_equal(File(data=labelled, energy=ENERGY, time=TIME).data, DATA)


@pytest.mark.parametrize(
    ("made", "energies", "times"),
    [(array, r"data\['energy'\]", r"data\['time'\]"), (frame, r"data\.columns", r"data\.index")],
)
def test_labels_in_another_order_are_refused(made: Any, energies: str, times: str) -> None:
    falling = made(energy=ENERGY[::-1])
    said = (
        "the labels of data run from 88 to 80, the energy axis from 80 to 88, with the same values"
    )
    other = r"or if the labels mean something else pass data\.to_numpy\(\)"
    with pytest.raises(DataError, match=f"^{said}; write energy={energies}, {other}$"):
        File(data=falling, energy=ENERGY, time=TIME)
    assert File(data=falling.to_numpy(), energy=ENERGY, time=TIME).energy[0] == 80
    assert File(data=falling, energy=ENERGY[::-1], time=TIME).energy[0] == 88
    with pytest.raises(DataError, match=f"write time={times}"):
        File(data=made(time=TIME[::-1]), energy=ENERGY, time=TIME)


def test_one_spectrum_and_one_trace() -> None:
    with pytest.raises(DataError, match=r"write energy=data\.index"):
        File(data=pandas.Series(DATA[0], index=ENERGY[::-1]), energy=ENERGY)
    with pytest.raises(DataError, match=r"write energy=data\['energy'\]"):
        File(data=array()[0, ::-1], energy=ENERGY)
    with pytest.raises(DataError, match=r"write time=data\.index"):
        File(data=pandas.Series(DATA[0], index=TIME[::-1]), time=TIME)


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
