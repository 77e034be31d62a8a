"""The benchmarks run: on a small problem here, their numbers are taken elsewhere."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
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


@pytest.fixture
def whole_fits(ablation: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """On one small problem, without trspecfit. What the process holds by now is left out of the
    collections before each fit, which would take half a second each after thousands of tests."""
    from bench import whole_fits
    from bench.problems.cases import seed_task

    def tasks(data: Any) -> list[Any]:
        return [seed_task("seed_amplitude", 4, shape=(15, 40))]

    monkeypatch.setattr(whole_fits, "all_tasks", tasks)
    monkeypatch.setattr(whole_fits, "versions", lambda: {})
    gc.freeze()
    yield whole_fits
    gc.unfreeze()


@pytest.mark.slow
def test_whole_fits_write_their_keys(
    whole_fits: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(whole_fits, "QUICK", np.inf)  # on a busy machine too
    path = tmp_path / "fits.json"
    arguments = ["--json", str(path), "--rounds", "1", "--method", "leastsq"]
    assert whole_fits.main(arguments) == 0
    found = json.loads(path.read_text())
    row = found["problems"]["seed_amplitude_4"]
    assert (row["n_points"], row["n_free"]) == (15 * 40, 4)
    assert row["optimum"]["last_step"] < 1e-8
    assert set(row["fits"]) == {"leastsq", "interpreted"}
    for fit in row["fits"].values():
        assert fit["success"]
        assert fit["ms"] >= fit["fastest_ms"] > 0
        assert fit["next_ms"] > 0
        assert fit["distance"] < 1e-2
        assert abs(fit["chisqr_excess"]) < 1e-4
        assert fit["chisqr_differs"] < 1e-12
    variants = ("two_traces", "columns_left_out", "sigma_by_row")
    names = ["seed_amplitude_4", *(f"seed_amplitude_4_{what}" for what in variants)]
    assert list(found["problems"]) == list(found["bars"]) == names
    assert {bar["bar"] for bar in found["bars"].values()} == {150.0}
    bar = found["bars"]["seed_amplitude_4"]
    assert (bar["rival"], bar["missing"]) == ("interpreted", ["trspecfit jax"])
    theirs, own = row["fits"]["interpreted"]["ms"], row["fits"]["leastsq"]
    assert bar["ratio"] == theirs / own["ms"]
    assert bar["next_ratio"] == theirs / own["next_ms"]
    text = capsys.readouterr().out
    assert "trspecfit is not installed" in text
    assert "data sets 01, 02, 03 are not at hand" in text


def test_a_variant_is_compared_with_fits_of_the_plain_problem(whole_fits: ModuleType) -> None:
    def fit(ms: float, loop: float | None = None) -> dict[str, Any]:
        return {"ms": ms, "next_ms": None, "loop_ms": loop, "distance": 0.0, "success": True}

    theirs = fit(300.0, 200.0)
    plain = {"fits": {"native": fit(1.0), "interpreted": fit(500.0), "trspecfit jax": theirs}}
    own = {"fits": {"native": fit(3.0, 2.5), "interpreted": fit(400.0)}}
    problems = {"seed_amplitude_4": plain, "seed_amplitude_4_sigma_by_row": own}
    name = "seed_amplitude_4_sigma_by_row"
    bar = whole_fits.judge(name, problems, "native", "seed_amplitude_4")
    assert (bar["rival"], bar["missing"]) == ("trspecfit jax on seed_amplitude_4", [])
    assert (bar["ratio"], bar["loop_ratio"], bar["met"]) == (100.0, 80.0, False)
    assert whole_fits.judge("seed_amplitude_4", problems, "native")["met"]


@pytest.mark.slow
def test_whole_fits_leave_out_a_method_that_is_not_there(
    whole_fits: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert whole_fits.main(["--rounds", "1", "--method", "newer"]) == 0
    text = capsys.readouterr().out
    assert "pyspec has no method 'newer' yet" in text
    assert "seed_amplitude_4: no bar" in text


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
    """Four of the twenty, which one start does not find; the bench prints all of them."""
    monkeypatch.syspath_prepend(str(ROOT))
    import bench.starts

    for kind, seed in (("trace", 0), ("trace", 6), ("doublet", 4), ("doublet", 8)):
        found = bench.starts.case(kind, seed, 10)
        assert not found["one"]
        assert found["several"]
        assert "starts agree on this optimum" in " ".join(found["says"])


@pytest.mark.slow
def test_ten_starts_find_the_best_optimum_of_twenty(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least 18 of 20; where starts disagree the result says so."""
    monkeypatch.syspath_prepend(str(ROOT))
    import bench.starts

    rows = bench.starts.run(10)
    assert len(rows) == 20
    assert sum(row["several"] for row in rows) >= 18
    for row in rows:
        told = f"{row['agree']} of 10 starts agree on this optimum" in " ".join(row["says"])
        assert told == (row["agree"] < 10)
