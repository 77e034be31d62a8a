"""Columns of a table that are no data: row numbers, text, standard errors by their names."""

from pathlib import Path

import numpy as np

from pyspec import read
from pyspec.io.units import guess_kind, holds_errors

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
