"""The benchmarks run: on a small problem here, their numbers are taken elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ablation(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    import bench.ablation

    return bench.ablation


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
