"""Archives of thousands of fits: what is looked up once, and what is read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fit_cases import data_1d, spectrum

from pyspec import FitResults, fit_many
from pyspec.errors import DataError
from pyspec.fit import FitResult, fit_model
from pyspec.io import load_fit, load_fits, save_fit
from pyspec.io.archive.tree import Reader
from pyspec.model import Measurement


@pytest.fixture(scope="module")
def three() -> list[FitResult]:
    """Of three files, each with its own data."""
    fits = []
    for k in range(3):
        fit = fit_model(spectrum(), Measurement(data=data_1d() + 0.1 * k))
        fit.file_name, fit.fit_type = f"scan_{k}", "spectrum"
        fits.append(fit)
    return fits


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is read of an archive, one word a fit or an array."""
    found = []
    tree, array = Reader.tree, Reader.array

    def of_tree(self: Reader, group: Any) -> Any:
        found.append(group.name)
        return tree(self, group)

    def of_array(self: Reader, item: Any) -> Any:
        found.append("data")
        return array(self, item)

    monkeypatch.setattr(Reader, "tree", of_tree)
    monkeypatch.setattr(Reader, "array", of_array)
    return found


def test_one_fit_is_read_alone(tmp_path: Path, three: list[FitResult], looks: list[str]) -> None:
    """Every fit and all data used to be read for one: 7 s of 1,000 fits."""
    save_fit(tmp_path / "a.h5", three)
    last = load_fit(tmp_path / "a.h5")
    assert looks == ["/fits/0003", "data"]
    np.testing.assert_array_equal(last.data, three[2].problem.measurement.data)
    assert load_fit(tmp_path / "a.h5", file="scan_1", model="spectrum").file_name == "scan_1"
    assert looks[2:] == ["/fits/0002", "data"]
    assert len(load_fits(tmp_path / "a.h5", fit_type="spectrum")) == 3
    assert looks[4:] == ["/fits/0001", "/fits/0002", "/fits/0003", *["data"] * 3]


def test_of_many_fits_whole_ones_are_asked_for(tmp_path: Path) -> None:
    fits = fit_many(spectrum(), [Measurement(data=data_1d()), Measurement(data=data_1d() + 1.0)])
    with pytest.raises(DataError, match=r"not OneFit; of fit_many save \[fits.result\(k\) for k "):
        save_fit(tmp_path / "a.h5", fits)
    save_fit(tmp_path / "a.h5", [fits.result(k) for k in range(len(fits))])
    assert len(load_fits(tmp_path / "a.h5")) == 2


def test_results_of_some_names_are_read_alone(
    tmp_path: Path, three: list[FitResult], looks: list[str]
) -> None:
    save_fit(tmp_path / "a.h5", three)
    found = FitResults.load(tmp_path / "a.h5", file=["scan_0", "scan_2"], fit_type="spectrum")
    assert [fit.file_name for fit in found] == ["scan_0", "scan_2"]
    assert looks == ["/fits/0001", "/fits/0003", "data", "data"]
    with pytest.raises(DataError, match=r"has no such fit; it has: .* to scan_0; .* to scan_1;"):
        FitResults.load(tmp_path / "a.h5", file="scan_7")  # was an empty list
    with pytest.raises(DataError, match="no such fit of file 'scan_7', 'scan_8'; it has: "):
        FitResults.load(tmp_path / "a.h5", file=["scan_7", "scan_0", "scan_8"])
    with pytest.raises(DataError, match="has no such fit; it has: "):
        FitResults.load(tmp_path / "a.h5", file="scan_0", fit_type="sbs")
