"""The example of the README runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import Simulator, load_dynamics, load_model

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_ten_lines_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    text = README.read_text(encoding="utf-8")
    (models,) = re.findall(r"```yaml\n(.*?)```", text, re.S)
    (script,) = re.findall(r"```python\n(.*?)```", text, re.S)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my_folder"
    folder.mkdir()
    (folder / "models.yaml").write_text(models)
    model = load_model(folder / "models.yaml", "doublet")
    position = model.parameters["GLP_01_x0"]
    model.add_dynamics("GLP_01_x0", load_dynamics(folder / "models.yaml", "oscillation", position))
    truth = {
        "Offset_y0": 50.0,
        "Shirley_pShirley": 8e-4,
        "GLP_01_A": 300.0,
        "GLP_01_x0": 84.2,
        "GLP_01_F": 0.9,
        "GLP_01_x0_sinFun_01_A": -0.85,
    }
    model.set_values(truth)
    energy, time = np.linspace(94.0, 78.0, 240), np.linspace(-1.0, 17.0, 90)
    model.set_axes(energy=energy, time=time)
    data = Simulator(model, noise_level=0.01, noise_type="gaussian", seed=1).simulate()[1]
    table = np.vstack([[np.nan, *energy], np.column_stack([time, data])])
    np.savetxt(folder / "scan_7.csv", table, delimiter=",")
    names: dict[str, Any] = {}
    exec(script, names)
    result = names["result"]
    assert result.success
    for name, value in truth.items():
        assert abs(result.values[name] - value) < 4.5 * result.stderr[name], name
    assert (tmp_path / "scan_7.png").is_file()
    assert len(script.strip().splitlines()) <= 11
