"""Exported folders and archives after full disks, kills and pictures that fail."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from support.fit_cases import LINE

import pyspec.workflow.results.export as exported
from pyspec import File, Project
from pyspec.errors import DataError, FitError


@pytest.fixture
def file(tmp_path: Path) -> File:
    energy = np.linspace(0.0, 10.0, 60)
    data = 1.0 + 10.0 * np.exp(-(((energy - 5.0) / 0.8) ** 2))
    made = File(Project(tmp_path, show_output=0), "scan", data=data, energy=energy)
    made.load_model(LINE, "peak")
    made.fit_spectrum("peak")
    return made


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def broken(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def test_tables_stay_where_the_picture_fails(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """No table was left where matplotlib, LaTeX or a font failed."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(exported, "plot_fit", broken)
    with pytest.warns(UserWarning, match="no picture: .*No space left"):
        folder = file.export_fit()
    assert {"params.csv", "metrics.csv", "fit_info.csv", "fit_1d.csv"} <= contents(folder).keys()


def test_a_window_that_cannot_open_keeps_the_fit(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspec.workflow.fitting.fits.plot_fit", broken)
    with pytest.warns(UserWarning, match="no picture"):
        assert file.fit_spectrum("peak", show_plot=True).success


def test_an_earlier_folder_stays_where_the_disk_is_full(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = file.export_fit(pictures=False)
    before = contents(folder)
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(DataError, match=r"cannot be written \(No space left"):
        file.export_fit(pictures=False, overwrite=True)
    assert contents(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_kill_between_two_folders_loses_none(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """With overwrite=True the folder of before was deleted before the new one was in its place."""
    folder = file.export_fit(pictures=False)
    before = contents(folder)

    def killed(self: Path, target: Path) -> None:
        os.rename(self, target)
        if self == folder:
            raise SystemExit(9)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        patch.setattr(exported.shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(SystemExit):
            file.export_fit(pictures=False, overwrite=True)
    assert not folder.exists()
    with pytest.raises(DataError, match="exists already"):
        file.export_fit(pictures=False)
    assert contents(folder) == before
    file.export_fit(pictures=False, overwrite=True)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_slices_are_written_as_one_table(tmp_path: Path) -> None:
    energy, time = np.linspace(0.0, 10.0, 60), np.arange(4.0)
    data = 1.0 + (2.0 + time[:, None]) * np.exp(-(((energy - 5.0) / 0.8) ** 2))
    file = File(Project(tmp_path, show_output=0), "scan", data=data, energy=energy, time=time)
    file.load_model(LINE, "peak")
    slices = file.fit_slice_by_slice("peak")
    head, *rows = file.export_fit("sbs", filepath="slices.csv").read_text().splitlines()
    assert (head.split(",")[0], len(rows)) == ("time", 4)
    path = file.export_fit("sbs", filepath="slices.json")
    assert json.loads(path.read_text()) == json.loads(json.dumps(slices.to_dict()))
    before = path.read_bytes()
    with pytest.raises(DataError, match="exists already"):
        file.export_fit("sbs", filepath="slices.json")
    with pytest.raises(FitError, match=r"written as \.csv or \.json"):
        file.export_fit("sbs", filepath="slices.txt")
    assert path.read_bytes() == before
