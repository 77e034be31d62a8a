"""Files of instruments and programs, and what they must agree on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec.errors import DataError
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


@pytest.mark.parametrize("how", [{}, {"format": "text"}])
def test_blocks_of_specs_are_never_to_be_averaged(data: Any, how: dict[str, Any]) -> None:
    path = data("formats/SPECS_three_blocks.xy")
    with pytest.raises(DataError, match=r"3 blocks .*separate spectra; choose one") as told:
        read(path, **how)
    assert "sort" not in str(told.value)
    assert "averag" not in str(told.value)
    sizes = [read(path, block=k, **how).data.size for k in range(3)]
    assert sizes == [3000, 3000, 1351]
