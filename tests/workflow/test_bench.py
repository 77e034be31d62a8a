"""The benchmarks run: on a small problem here, their numbers are taken elsewhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from fit_cases import data_2d, series

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
    from bench.cases import Case, FilesCase, six_files

    def cases(data: Any) -> list[Case | FilesCase]:
        return [Case("small", series(), Measurement(data=data_2d())), six_files(12, 20)]

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


def test_cases_are_the_ones_described(ablation: ModuleType, tmp_path: Path) -> None:
    from bench.cases import all_cases

    points = {case.name: case.n_points for case in all_cases(tmp_path)}
    assert points == {
        "seed_amplitude": 440 * 400,
        "seed_position": 440 * 400,
        "six_files": 6 * 98 * 200,
    }


def test_data_set_02_is_found(ablation: ModuleType, shared: Path) -> None:
    from bench.cases import data_folder, doublet_case

    folder = data_folder(shared)
    if folder is None:
        pytest.skip("data set 02 is not at hand")
    case = doublet_case(folder)
    assert case.n_points == 205 * 625
    assert len(case.model.opt_param_names) == 4


def test_peer_benchmark_says_when_it_skips(
    ablation: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench import peer_trspecfit

    monkeypatch.setitem(sys.modules, "trspecfit", None)
    assert peer_trspecfit.main([]) == 0
    assert "skipped: trspecfit is not installed" in capsys.readouterr().out


def test_values_change_from_call_to_call(ablation: ModuleType) -> None:
    from bench.measure import jitter

    theta = np.array([1.0, 2.0])
    draw = jitter(theta)
    first, second = draw(), draw()
    assert not np.array_equal(first, second)
    np.testing.assert_allclose(first, theta, rtol=2e-6)
