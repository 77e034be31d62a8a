"""Files of instruments and programs, which nobody here made, and what they must agree on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec.io import read


@pytest.fixture
def data(shared: Path) -> Any:
    """Path of a file in the folder of data; skips where it is absent."""

    def find(name: str) -> Path:
        path = shared / "data" / name
        if not path.exists():
            pytest.skip(f"{path} is absent")
        return path

    return find


#: Shape, energies from first to last, first value, unit and label of energies.
FILES: dict[str, tuple[tuple[int, ...], tuple[float, float], float, str | None, str | None]] = {
    "xps_real/PET_C1s.csv": ((401,), (299.300817131996, 279.300817131996), 324.2826, "eV", "BE"),
    "xps_real/clean_Au_4f.csv": ((294,), (84.0, 95.9984), 9616.0, None, "E_kin"),
    "xps_real/FermiEdge.csv": ((47,), (234.246, 239.897), 409.0, None, None),
    "xps_real/regular.vms": ((1351,), (136.61, 1486.61), 1559.87, "eV", "kinetic energy"),
    "xps_real/irregular.vms": ((1351,), (136.61, 1486.61), 15598.7, "eV", "Kinetic Energy"),
    "pump_probe/TA_Ru-dppz_400nm_ACN.SIA": (
        (183, 446), (335, 780), 0.002350935, None, "wavelength"
    ),
    "spectrotemporal/simData01.ascii": (
        (81, 41), (400, 600), 0.258048030085215, None, "wavelength"
    ),
    "spectrotemporal/simData03.ascii": (
        (326, 24), (661.375661375661, 776.375661375661), 0.203473877139476, None, "wavelength"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_what_is_in_a_file(data: Any, name: str) -> None:
    found: Any = read(data(name))
    shape, ends, first, unit, label = FILES[name]
    assert (found.shape, found.units.get("energy")) == (shape, unit)
    assert found.labels.get("energy") == label
    assert (found.energy[0], found.energy[-1]) == pytest.approx(ends)
    assert found.data.flat[0] == pytest.approx(first, rel=1e-12)
    if "SIA" in name:
        assert found.units["time"] == "ps"
        assert (found.time[0], found.time[-1]) == pytest.approx((-10, 1800), abs=1e-3)
    if "vms" in name:
        binding: Any = read(data(name), energy_scale="binding")
        assert (binding.energy[0], binding.energy[-1]) == pytest.approx((1350.0, 0.0), abs=1e-9)
    if "ascii" in name:
        last = data(name).read_text().splitlines()[-1].split()[1:]
        assert found.data[-1].tolist() == list(map(float, last))


def test_map(data: Any) -> None:
    pytest.importorskip("h5netcdf")
    found: Any = read(data("xps_map/nano_xps.nc"))
    assert found.dims == ("y", "x", "energy")
    assert found.shape == (51, 41, 95)
    assert found.units["energy"] == "eV"
    assert (found.energy[0], found.energy[-1]) == pytest.approx((-37.6949, -29.788), abs=1e-3)
    np.testing.assert_allclose(found.mean().data, found.data.mean(axis=(0, 1)))
    one = found.select(y=0.0825, x=0.095)
    np.testing.assert_array_equal(one.data, found[25, 20].data)
    raw = read(data("xps_map/nano_xps.nc"), format="hdf5")
    np.testing.assert_array_equal(raw.data, found.data)


def test_igor_and_text_of_one_survey(data: Any) -> None:
    wave, text = (read(data(f"formats/Cu-HHTP_0001.{ending}")) for ending in ("ibw", "txt"))
    np.testing.assert_allclose(wave.data[:2], [148.95027161, 146.68656921])
    np.testing.assert_allclose(wave.data, text.data, rtol=1e-14)
    np.testing.assert_array_equal(wave.energy, text.energy)
    np.testing.assert_array_equal(wave.energy, 600 - 0.5 * np.arange(1221))
    for found in (wave, text):
        assert (found.units["energy"], found.labels["energy"]) == ("eV", "Binding Energy")
        assert (found.meta["photon_energy"], found.meta["pass_energy"]) == (700.0, 200.0)
        assert found.meta["Lens Mode"] == "Transmission"
    kinetic = read(data("formats/Cu-HHTP_0001.ibw"), energy_scale="kinetic")
    np.testing.assert_array_equal(kinetic.energy, 100 + 0.5 * np.arange(1221))


def test_phi_and_the_nexus_file_made_from_it(data: Any) -> None:
    phi = read(data("formats/SnO2_10nm.spe"))
    nexus = read(data("formats/SnO2_10nm.spe.nxs"))
    np.testing.assert_array_equal(phi.data, nexus.data)
    np.testing.assert_allclose(phi.energy, nexus.energy, atol=1e-9)
    assert phi.shape == (1751,)
    assert (phi.meta["photon_energy"], phi.meta["pass_energy"]) == (1486.6, 224.0)
    assert nexus.labels["energy"] == "binding energy"
    assert nexus.errors is not None
    for wanted in ("Su1s", "Su1s/data", "/Su1s/data/data"):
        np.testing.assert_array_equal(
            read(data("formats/SnO2_10nm.spe.nxs"), data=wanted).data, nexus.data
        )


def test_vamas_nexus_and_specs_of_one_survey(data: Any) -> None:
    vamas = read(data("xps_real/regular.vms"))
    nexus = read(data("formats/regular.vms.nxs"))
    # The NeXus file has two decimals.
    np.testing.assert_allclose(nexus.data, vamas.data / 0.1, rtol=0, atol=0.00501)
    np.testing.assert_allclose(nexus.energy, vamas.energy, atol=1e-9)
    path = data("formats/SPECS_three_blocks.xy")
    specs = read(path, block="Survey")
    np.testing.assert_allclose(specs.data, vamas.data / 0.1, rtol=5e-6)  # six digits there
    binding = read(data("xps_real/regular.vms"), energy_scale="binding")
    np.testing.assert_allclose(specs.energy, binding.energy, atol=1e-9)
    kinetic = read(path, block=2, energy_scale="kinetic")
    np.testing.assert_allclose(kinetic.energy, vamas.energy, atol=1e-9)
