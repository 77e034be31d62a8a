"""The benchmarks run: on a small problem here, their numbers are taken elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from support.fit_cases import data_2d, series

from pyspec.model import Measurement

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ablation(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    import bench.ablation

    return bench.ablation


@pytest.mark.slow
def test_ablation_writes_its_keys(
    ablation: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from bench.problems.cases import Case, FilesCase, six_files

    def cases(data: Any) -> list[Case | FilesCase]:
        files = six_files(12, 20)
        files = replace(files, parts=files.parts[:2])
        return [Case("small", series(), Measurement(data=data_2d())), files]

    monkeypatch.setattr(ablation, "all_cases", cases)
    path = tmp_path / "ablation.json"
    assert ablation.main(["--json", str(path), "--rounds", "2", "--fits", "1"]) == 0
    found = json.loads(path.read_text())
    assert {"cpu", "cores", "python", "numpy"} <= set(found["machine"])
    rows = found["problems"]["small"]
    assert set(rows) == {"tree", "interpreted", "compiled"}
    for row in [*rows.values(), *found["problems"]["six_files"].values()]:
        assert {"eval_ms", "ns_per_point", "fit_ms", "nfev", "ratio", "max_diff"} <= set(row)
        assert row["success"]
        assert row["max_diff"] < 1e-10
    for row in rows.values():
        assert row["ns_per_point"] == pytest.approx(1e6 * row["eval_ms"] / data_2d().size)
    assert rows["interpreted"]["ratio"] == 1.0
    assert "small, compiled" in capsys.readouterr().out


@pytest.mark.slow
def test_whole_fits_write_their_keys(
    ablation: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On one small problem, without trspecfit."""
    from bench import whole_fits
    from bench.problems.cases import seed_task

    task = seed_task("seed_amplitude", 4, shape=(15, 40))
    monkeypatch.setattr(whole_fits, "all_tasks", lambda data: [task])
    monkeypatch.setattr(whole_fits, "versions", lambda: {})
    monkeypatch.setattr(whole_fits, "QUICK", np.inf)  # on a busy machine too
    path = tmp_path / "fits.json"
    arguments = ["--json", str(path), "--rounds", "1", "--method", "leastsq"]
    assert whole_fits.main(arguments) == 0
    found = json.loads(path.read_text())
    row = found["problems"]["seed_amplitude_4"]
    assert (row["n_points"], row["n_free"]) == (15 * 40, 4)
    assert row["optimum"]["last_step"] < 1e-8
    for method in ("leastsq", "interpreted"):
        fit = row["fits"][method]
        assert fit["success"]
        assert fit["ms"] >= fit["fastest_ms"] > 0
        assert abs(fit["chisqr_excess"]) < 1e-4
    bar = found["bars"]["seed_amplitude_4"]
    assert (bar["rival"], bar["missing"]) == ("interpreted", ["trspecfit jax"])
    assert bar["ratio"] == row["fits"]["interpreted"]["ms"] / row["fits"]["leastsq"]["ms"]
    assert "trspecfit is not installed" in capsys.readouterr().out


def test_fits_of_wrong_models_are_counted(
    ablation: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench import wrong_models

    path = tmp_path / "wrong.json"
    assert wrong_models.main(["--spectra", "2", "--json", str(path)]) == 0
    found = json.loads(path.read_text())["models"]
    assert set(found) == set(wrong_models.MODELS)
    for row in found.values():
        assert (row["fits"], row["successes"], row["false"]) == (2, 2, 0)
        assert row["median"] <= row["most"] < 100
    assert "Gauss and Lorentz" in capsys.readouterr().out


def test_hard_starts_end_in_the_best_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the twenty, which one start does not find; the bench prints all of them."""
    monkeypatch.syspath_prepend(str(ROOT))
    import bench.starts

    for kind, seed in (("trace", 0), ("doublet", 4)):
        found = bench.starts.case(kind, seed, 10)
        assert not found["one"]
        assert found["several"]
        assert "starts agree on this optimum" in " ".join(found["says"])
