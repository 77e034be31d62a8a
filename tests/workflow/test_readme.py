"""The example of the README runs as it stands there, with the files of the repository."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"

#: What scan_7.csv was simulated with.
TRUTH = {
    "Offset_y0": 50.0,
    "Shirley_pShirley": 8e-4,
    "GLP_01_A": 300.0,
    "GLP_01_x0": 84.2,
    "GLP_01_F": 0.9,
    "GLP_01_x0_sinFun_01_A": -0.85,
}


def test_the_ten_lines_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their file was nowhere: who pasted them had an error."""
    pytest.importorskip("matplotlib")
    text = README.read_text(encoding="utf-8")
    (models,) = re.findall(r"```yaml\n(.*?)```", text, re.S)
    (script,) = re.findall(r"```python\n(.*?)```", text, re.S)
    folder = ROOT / "examples" / "ten_lines"
    assert (folder / "models.yaml").read_text(encoding="utf-8") == models
    shutil.copytree(folder, tmp_path / "examples" / "ten_lines")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(script, names)
    result = names["result"]
    assert result.success
    for name, value in TRUTH.items():
        assert abs(result.values[name] - value) < 4.5 * result.stderr[name], name
    assert (tmp_path / "scan_7.png").is_file()
    assert len(script.strip().splitlines()) <= 11
