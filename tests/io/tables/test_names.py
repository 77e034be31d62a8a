"""What the names of columns say: errors, axes and units; text beside the numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyspec import read
from pyspec.io.units import guess_kind, holds_errors, split_unit
from pyspec.plot.elements.labels import axis_label

ENERGY = np.arange(80, 90, 0.5)
PEAK = np.round(100 * np.exp(-((ENERGY - 84) ** 2)) + 10, 3)
FALLING = np.round(100 * np.exp(-np.arange(20) / 5), 4)


def table(path: Path, head: str, *columns: object, sep: str = ",") -> Path:
    """A file with these columns; a text is the same in each row."""
    lists = [[one] * 20 if isinstance(one, str) else list(one) for one in columns]  # type: ignore
    rows = "".join(sep.join(map(str, row)) + "\n" for row in zip(*lists, strict=True))
    path.write_text(f"{head}\n{rows}" if head else rows, encoding="utf-8")
    return path


def test_errors_by_their_names_in_other_languages(tmp_path: Path) -> None:
    for name in (
        "Fehler", "Messfehler", "Standardabweichung", "Stabw.", "Unsicherheit", "I_Fehler",
        "Fehler (counts)", "erreur", "écart-type", "ecart type", "incertitude", "errore",
        "Std. Dev.", "Std Err", "yerr", "Y-Error", "error bars", "u_sigma", "s.d.",
    ):  # fmt: skip
        assert holds_errors(name, "u" if name == "u_sigma" else "I"), name
    assert not holds_errors("error (%)", "I (counts)")  # 1 % of 10,000 was taken for one count
    assert holds_errors("error (%)", "R (%)")
    for name in ("Se", "SE", "ΔA", "delta", "dI", "I2", "reference", "y", "stdref", "weight"):
        assert not holds_errors(name, "I"), name
    found = read(table(tmp_path / "a.csv", "Energie (eV),I,Fehler", ENERGY, PEAK, FALLING))
    np.testing.assert_array_equal(found.errors, FALLING)  # they were a second spectrum
    # So were those of several spectra, always.
    head = "energy,a,a_err,b,b_err"
    found = read(table(tmp_path / "b.csv", head, ENERGY, PEAK, FALLING, 2 * PEAK, 2 * FALLING))
    np.testing.assert_array_equal(found.data, [PEAK, 2 * PEAK])
    np.testing.assert_array_equal(found.errors, [FALLING, 2 * FALLING])
    assert read(table(tmp_path / "c.csv", "x,a,a_err,b,c", *[ENERGY] * 5)).errors is None


def test_axes_by_their_names_in_other_languages(tmp_path: Path) -> None:
    for name in ("Zeit", "Verzögerung", "temps", "Délai", "retard_2", "tempo"):
        assert guess_kind(name) == "time", name
    for name in ("Bindungsenergie", "énergie de liaison", "Wellenlänge", "Longueur d'onde"):
        assert guess_kind(name) == "energy", name
    found = read(table(tmp_path / "a.csv", "Zeit;Intensität", ENERGY, PEAK, sep=";"))
    assert found.dims == ("time",)  # these were energies


def test_units_of_names() -> None:
    for name, label, unit in (
        ("counts/s", "", "counts/s"),  # "counts" in "s"
        ("Counts/s", "", "counts/s"),
        ("c/s", "", "counts/s"),
        ("Counts / s", "", "counts/s"),  # counts in seconds, which stood at the axis of a picture
        ("Intensity, counts / s", "Intensity", "counts/s"),
        ("I (counts per second)", "I", "counts/s"),
        ("kcts/min", "", "kcounts/min"),
        ("Time / s", "Time", "s"),
        ("Counts, 1/s", "Counts", "1/s"),  # "Counts, 1" in "s"
        ("rate in 1/s", "rate", "1/s"),
        ("k / 1/cm", "k", "cm⁻¹"),
        ("Energy, keV", "Energy", "keV"),
        ("run 1/2", "run 1/2", ""),
        ("x, y, z", "x, y, z", ""),
        ("BE/eV", "BE", "eV"),
        ("delay_fs", "delay", "fs"),
        ("delay in picoseconds", "delay", "ps"),
        ("delay (microseconds)", "delay", "µs"),  # no unit of time, as those before and after it
        ("delay / millisecond", "delay", "ms"),
        ("delay, seconds", "delay", "s"),
    ):
        assert split_unit(name) == (label, unit), name
    assert guess_kind("counts/s") is None
    assert guess_kind("pump", "microseconds") == guess_kind("pump", "nanoseconds") == "time"


def test_a_temperature_is_no_time(tmp_path: Path) -> None:
    # "T / °C" was a time by its letter, so that a first model had laws of time.
    for name in ("T / °C", "T (K)", "T [mK]", "T, degC", "T in Kelvin"):
        assert guess_kind(name) is None, name
    assert guess_kind("T", "°C") is guess_kind("t", "K") is None
    assert guess_kind("T") == guess_kind("t / ps") == guess_kind("T (s)") == "time"
    assert guess_kind("delay (K)") == "time"
    path = tmp_path / "a.csv"
    path.write_text("T / °C, signal\n20, 3\n22, 4\n24, 6\n26, 7\n", encoding="utf-8")
    assert read(path).dims == ("energy",)


def test_a_row_of_units_is_that_of_data_too(tmp_path: Path) -> None:
    # Thermo Avantage: the last row was taken for the names, and its unit of the data for seconds.
    text = "Binding Energy (E),Counts / s (Residuals x 0.5)\neV,Counts / s\n291,5\n290,6\n289,7\n"
    (tmp_path / "a.csv").write_text(text)
    found = read(tmp_path / "a.csv")
    assert found.labels["energy"] == "Binding Energy"
    assert dict(found.units) == {"energy": "eV", "data": "counts/s"}
    assert axis_label(found, "data") == "intensity (counts/s)"
    assert axis_label(found, "energy") == "binding energy (eV)"
