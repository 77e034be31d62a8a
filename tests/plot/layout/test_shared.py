"""Pictures of measured data of many instruments: all drawn lies inside, labels carry units."""

from __future__ import annotations

import pytest
from support.drawn import outside
from support.shared import SHARED

import pyspec
from pyspec.plot import plot_overview, plot_waterfall

pytest.importorskip("matplotlib")

DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the shared data sets are not here; PYSPEC_SHARED names their folder"
)

#: File → what stands at the energy axis of its picture, "" where the file does not say.
FILES = {
    "formats/Cu-HHTP_0001.ibw": "binding energy (eV)",
    "formats/Cu-HHTP_0001.txt": "binding energy (eV)",
    "formats/SnO2_10nm.spe": "binding energy (eV)",
    "formats/SnO2_10nm.spe.nxs": "binding energy (eV)",
    "formats/regular.vms.nxs": "kinetic energy (eV)",
    "spectrotemporal/simData01.ascii": "wavelength",
    "spectrotemporal/simData02.ascii": "wavelength",
    "spectrotemporal/simData03.ascii": "wavelength",
    "pump_probe/TA_Ru-dppz_400nm_ACN.SIA": "wavelength",
    "xps_real/FermiEdge.csv": "",
    "xps_real/PET_C1s.csv": "binding energy (eV)",
    "xps_real/clean_Au_4f.csv": "kinetic energy",
    "xps_real/irregular.vms": "kinetic energy (eV)",
    "xps_real/regular.vms": "kinetic energy (eV)",
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", FILES)
def test_files_of_instruments(name: str) -> None:
    dataset = pyspec.read(DATA / name)
    figure = plot_overview(dataset)
    assert outside(figure) == []
    if FILES[name]:
        assert figure.axes[0].get_xlabel() == FILES[name]
    if dataset.time is not None:
        picture = plot_waterfall(dataset.data, dataset.energy, dataset.time, n=6, source=dataset)
        assert outside(picture) == []
