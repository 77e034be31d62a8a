"""Units of the energy axis, the Jacobian of intensities, binding and kinetic energies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import constants
from scipy.integrate import trapezoid

from pyspec.errors import DataError
from pyspec.io import read
from pyspec.model.data.energy_scale import scale_of_label

WAVELENGTH = np.linspace(400.0, 700.0, 601)
BAND = np.exp(-(((WAVELENGTH - 520.0) / 30.0) ** 2))


def write(folder: Path, head: str = "wavelength (nm),counts,sigma") -> Path:
    path = folder / "a.csv"
    rows = [f"{x!r},{y!r},{0.1 * y!r}" for x, y in zip(map(float, WAVELENGTH), map(float, BAND))]  # noqa: B905
    path.write_text(head + "\n" + "\n".join(rows) + "\n")
    return path


#: One wavelength in all units, from the constants of SciPy.
HC = constants.h * constants.c / constants.e * 1e9
IN_UNITS = {
    "eV": HC / WAVELENGTH,
    "meV": 1e3 * HC / WAVELENGTH,
    "cm-1": 1e7 / WAVELENGTH,
    "nm": WAVELENGTH,
    "um": WAVELENGTH / 1000,
    "THz": constants.c / WAVELENGTH * 1e-3,
}


@pytest.mark.parametrize("to", IN_UNITS)
def test_units_of_the_axis_and_the_jacobian(tmp_path: Path, to: str) -> None:
    """The Jacobian keeps areas and relative errors."""
    found = read(write(tmp_path), errors="sigma", to=to)
    np.testing.assert_allclose(found.energy, IN_UNITS[to], rtol=1e-13)
    np.testing.assert_array_equal(found.data, BAND)
    shown = {"cm-1": "cm⁻¹", "um": "µm"}.get(to, to)
    assert found.units["energy"] == shown
    names = {"nm": "wavelength", "um": "wavelength", "cm-1": "wavenumber"}
    assert found.labels["energy"] == names.get(to, "photon energy")
    found = read(tmp_path / "a.csv", errors="sigma", to=to, jacobian=True)
    area = abs(trapezoid(found.data, found.energy))
    assert area == pytest.approx(trapezoid(BAND, WAVELENGTH), rel=2e-5)
    np.testing.assert_allclose(found.errors, 0.1 * found.data, rtol=1e-12)
    factor, slope = found.data / BAND, np.abs(np.gradient(WAVELENGTH, IN_UNITS[to]))
    np.testing.assert_allclose(factor[5:-5], slope[5:-5], rtol=1e-4)


def test_a_series_and_a_map_are_converted_along_their_energy(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    data = np.arange(24.0).reshape(2, 3, 4)
    np.savez(path, data=data, x=[0.0, 1], energy=[1.0, 2, 4, 5], time=[0.0, 1, 2])
    found = read(path, units={"energy": "eV"}, to="nm", jacobian=True)
    np.testing.assert_allclose(found.energy, HC / np.array([1.0, 2, 4, 5]))
    np.testing.assert_allclose(found.data, data * np.array([1.0, 4, 16, 25]) / HC)


@pytest.mark.parametrize(
    ("head", "options", "message"),
    [
        ("x,counts,sigma", {"to": "eV"}, r"say units=\{'energy': 'eV'\} or another of"),
        ("E (Ry),counts,sigma", {"to": "eV"}, "has the unit 'Ry'"),
        ("E (eV),counts,sigma", {"to": "furlong"}, r"to= is one of eV, meV, .*not 'furlong'"),
        ("BE (eV),counts,sigma", {"to": "nm"}, "binding energy of electrons, which has no wave"),
        ("time (ps),counts,sigma", {"to": "eV"}, "to= needs an energy axis; the data have time"),
        ("E (eV),counts,sigma", {"jacobian": True}, "jacobian=True belongs to a change of unit"),
        ("nm,counts,sigma", {"energy_scale": "binding"}, "the axis .* is in nm"),
        (
            "wavelength (nm),counts,sigma",
            {"energy_scale": "binding", "photon_energy": 21.2},
            "is in nm; leave energy_scale= out",
        ),
        ("BE (eV),counts,sigma", {"energy_scale": "kinetic"}, "does not say the photon energy"),
        ("BE (eV),counts,sigma", {"photon_energy": 21.2}, "belong to energy_scale='binding'"),
        (
            "BE (eV),counts,sigma",
            {"energy_scale": "kinetic", "photon_energy": -1},
            "photon_energy= is a positive number in eV, not -1",
        ),
        (
            "BE (eV),counts,sigma",
            {"energy_scale": "kinetic", "photon_energy": "Al"},
            "photon_energy= is a positive number in eV, not 'Al'",
        ),
        ("BE (eV),counts,sigma", {"energy_scale": "bind"}, "did you mean 'binding'"),
    ],
)
def test_what_cannot_be_converted_is_said(
    tmp_path: Path, head: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read(write(tmp_path, head), errors="sigma", **options)  # type: ignore[arg-type]


def test_an_axis_with_zero_has_no_wavelength(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Energy (eV),I\n0,1\n1,2\n2,3\n")
    with pytest.raises(DataError, match="begins at 0 eV; only positive values"):
        read(path, to="nm")
    np.testing.assert_allclose(read(path, to="meV").energy, [0, 1000, 2000])


@pytest.mark.parametrize(
    ("label", "now"),
    [("BE/eV", "binding"), ("E_kin (eV)", "kinetic"), ("Kinetic Energy (eV)", "kinetic")],
)
def test_the_other_scale_of_a_table(tmp_path: Path, label: str, now: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{label},I\n10,1\n11,2\n12,4\n")
    other = "kinetic" if now == "binding" else "binding"
    found = read(path, energy_scale=other, photon_energy=21.2, work_function=4.2)
    np.testing.assert_allclose(found.energy, [7, 6, 5])
    assert found.labels["energy"] == f"{other} energy"
    np.testing.assert_array_equal(found.data, [1, 2, 4])
    assert f"{other} energy = 21.2 eV - 4.2 eV - {now} energy" in found.notes[-1]
    same = read(path, energy_scale=now, photon_energy=21.2)
    np.testing.assert_array_equal(same.energy, [10, 11, 12])


def test_a_table_that_does_not_say_and_one_in_meV(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,I\n10,1\n11,2\n12,4\n")
    with pytest.raises(DataError, match=r"if these are kinetic energies, say photon_energy="):
        read(path, energy_scale="binding")
    found = read(path, energy_scale="binding", photon_energy=21.2)
    np.testing.assert_allclose(found.energy, [11.2, 10.2, 9.2])
    path.write_text("KE (meV),I\n10,1\n11,2\n12,4\n")
    found = read(path, energy_scale="binding", photon_energy=6.0, to="eV")
    np.testing.assert_allclose(found.energy, [5.99, 5.989, 5.988])
    assert found.units["energy"] == "eV"


@pytest.mark.parametrize(
    ("said", "photon"),
    [("21.2", 21.2), ("21.2 eV", 21.2), ("21.2eV", 21.2), ("21200 [meV]", 21.2),
     ("0.0212 keV", 21.2), ("2.12e1 (eV)", 21.2), ("He I", None), ("21,2", None), ("-1 eV", None),
     ("1.2.3", None), ("58 nm", None)],
)  # fmt: skip
def test_energies_that_a_comment_says(tmp_path: Path, said: str, photon: float | None) -> None:
    """They were text, on which reading the file ended in "Unknown format code 'g'"."""
    path = tmp_path / "a.csv"
    comments = f"# photon_energy: {said}\n# work_function: {said}\n"
    path.write_text(comments + "kinetic energy (eV),I\n10,1\n11,2\n12,4\n")
    found = read(path)
    assert any("source 21.2 eV" in note for note in found.notes) == (photon is not None)
    for what in ("photon_energy", "work_function"):
        assert found.meta[what] == (said if photon is None else pytest.approx(photon))
    if photon is None:
        with pytest.raises(DataError, match="the file does not say the photon energy"):
            read(path, energy_scale="binding")
    else:
        turned = read(path, energy_scale="binding")
        np.testing.assert_allclose(turned.energy, [11.2, 10.2, 9.2])
        assert "work function of the file, not subtracted: 21.2 eV" in turned.notes[-1]
    given = read(path, energy_scale="binding", photon_energy=40.0)
    np.testing.assert_allclose(given.energy, [30, 29, 28])


@pytest.mark.parametrize("to", [None, "eV"])
def test_delays_along_the_first_row_are_no_wavelengths(tmp_path: Path, to: str | None) -> None:
    # Programs of transient absorption write wavelengths downwards. Their delays were read as
    # energies of -1 to 500 nm, with nothing but a note that axes may be exchanged.
    delays = [-1.0, -0.5, 0.0, 0.5, 2.0, 50.0, 500.0]
    rows = [[0.0, *delays], *([at, *np.sqrt(range(7))] for at in (420.0, 500.0, 640.0))]
    path = tmp_path / "surface.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    units = {"energy": "nm", "time": "ps"}
    said = r"-1 to 500, and no wavelength is negative.*transpose=True"
    with pytest.raises(DataError, match=said):
        read(path, units=units, to=to)
    scan = read(path, units=units, transpose=True)
    assert list(scan.axes["time"]) == delays
    assert list(scan.axes["energy"]) == [420.0, 500.0, 640.0]
    assert read(path, units={"time": "ps"}).axes["energy"][0] == -1.0  # of energies it may be


@pytest.mark.parametrize(
    ("label", "scale"),
    [
        ("BE", "binding"),
        ("B.E.", "binding"),  # as CasaXPS exports it
        ("B. E. (eV)", "binding"),
        ("E_bind", "binding"),
        ("BindingEnergy_eV", "binding"),
        ("Bindungsenergie", "binding"),
        ("Energie de liaison", "binding"),
        ("K.E.", "kinetic"),
        ("E_k", "kinetic"),
        ("kinetische Energie", "kinetic"),
        ("énergie cinétique", "kinetic"),
        ("binding and kinetic", ""),
        ("photon energy", ""),
        ("kinetics", ""),
    ],
)
def test_what_a_label_says_of_the_scale(label: str, scale: str) -> None:
    assert scale_of_label(label) == scale
