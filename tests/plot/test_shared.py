"""Pictures of measured data of many instruments: all drawn lies inside, labels carry units."""

from __future__ import annotations

import numpy as np
import pytest
from support.drawn import outside
from support.shared import SHARED

import pyspec
from pyspec import components
from pyspec.fit import fit_model
from pyspec.model import Measurement, load_model
from pyspec.plot import plot_components, plot_data, plot_fit, plot_overview, plot_waterfall

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
SERIES = ("01_basic_fitting", "02_dependent_parameters", "03_multi_cycle_dynamics")
PLACES = [(5, 5), (10, 30), (20, 20), (25, 10), (30, 35), (45, 15)]


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


#: File → functions of its fit, and how many peaks; `guess` gives the start.
FITTED = {
    "xps_real/PET_C1s.csv": ("Offset", "Shirley", "Gauss", "Gauss", "Gauss"),
    "xps_real/clean_Au_4f.csv": ("Offset", "Shirley", "GLP", "GLP"),
    "xps_real/FermiEdge.csv": ("Offset", "FermiEdge"),
}
START = {
    "Offset": components.Offset((0, 0, None)),
    "Shirley": components.Shirley((1e-5, 0, 1)),
    "Gauss": components.Gauss((1, 0, None), 0, (1, 0.1, 5)),
    "GLP": components.GLP((1, 0, None), 0, (1, 0.1, 5), (0.3, 0, 1)),
    "FermiEdge": components.FermiEdge(250, 236.2, components.fixed(300), (0.1, 0, 2), 0, 0),
}


@pytest.mark.parametrize("name", FITTED)
def test_fits_of_spectra_of_instruments(name: str) -> None:
    dataset = pyspec.read(DATA / name)
    file = pyspec.File.from_dataset(dataset)
    model = pyspec.Model("m", [START[one] for one in FITTED[name]])
    model.set_axes(energy=dataset.energy)
    if len(FITTED[name]) > 2:
        model.guess(dataset.data)
    file.add_model(model)
    result = file.fit_spectrum("m")
    assert result.statistics["r2"] > 0.98
    for figure in (plot_fit(result), plot_components(result)):
        assert outside(figure) == []
        assert figure.axes[-1].get_xlabel() == plot_overview(dataset).axes[0].get_xlabel()


@pytest.mark.parametrize("name", SERIES)
def test_series_of_spectra(name: str) -> None:
    folder = DATA / "trspecfit_examples" / name
    dataset = pyspec.read(folder / "data.csv", energy="energy.csv", time="time.csv")
    assert outside(plot_overview(dataset)) == []
    assert outside(plot_data(dataset.data[0], dataset.energy)) == []


@pytest.mark.parametrize("place", PLACES)
def test_fits_of_a_map(place: tuple[int, int]) -> None:
    pytest.importorskip("xarray")
    dataset = pyspec.read(DATA / "xps_map" / "nano_xps.nc")[place]
    text = """
m:
  LinBack: {m: [0, True], b: [0.1, True], xStart: [-40, False], xStop: [0, False]}
  GLP: {A: [0.5, True, 0, 1e6], x0: [0, True], F: [0.5, True, 0.1, 3], m: [0.3, False]}
  GLP: {A: ["0.7 * GLP_01_A"], x0: ["GLP_01_x0 - 2.08"], F: ["GLP_01_F"], m: [0.3, False]}
"""
    model = load_model(text, "m")
    assert dataset.energy is not None
    model.set_axes(energy=dataset.energy)
    peak = float(dataset.energy[np.argmax(dataset.data)])
    height = float(np.max(dataset.data))
    model.set_values({"GLP_01_x0": peak, "GLP_01_A": height, "LinBack_b": 0.1 * height})
    data = np.asarray(dataset.data, dtype=np.float64)
    named = {"labels": dataset.labels, "units": dataset.units}
    figure = plot_fit(fit_model(model, Measurement(data, **named)))
    assert outside(figure) == []
    assert figure.axes[1].get_xlabel() == plot_overview(dataset).axes[0].get_xlabel()
