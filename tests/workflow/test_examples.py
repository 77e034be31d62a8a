"""The scripts in examples/: on simulated data, and on measured data where these are at hand. The
example of the README runs as it stands there, with the files of the repository."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

#: Value, standard error, half of the last printed digit, by an independent program.
SERIES_02 = {
    "GLP_01_x0": (84.2099108, 2255e-7, 0),
    "GLP_01_x0_sinFun_01_A": (-0.8437998, 3191e-7, 0),
    "GLP_01_x0_sinFun_01_f": (0.25016566, 1267e-8, 0),
    "GLP_01_x0_sinFun_01_phi": (0.3985178, 7693e-7, 0),
}
SERIES_01 = {
    "GLP_01_x0": (9.00019, 149e-5, 5e-6),
    "GLP_01_x0_gaussCONV_SD": (3.00405, 671e-5, 5e-6),
    "GLP_01_x0_expFun_01_A": (5.0004, 27e-4, 5e-5),
    "GLP_01_x0_expFun_01_tau": (49.9873, 453e-4, 5e-5),
}
SERIES_03 = {
    "GLP_01_x0": (9.00155, 125e-5, 5e-6),
    "GLP_01_x0_gaussCONV_SD": (0.147552, 622e-6, 5e-7),
    "GLP_01_x0_expFun_01_A": (-1.97909, 385e-5, 5e-6),
    "GLP_01_x0_expFun_01_tau": (0.406768, 173e-5, 5e-7),
    "GLP_01_x0_expFun_02_tau": (0.805706, 253e-5, 5e-7),
}
#: Data set, values, redchi and its last digit, windows of rows, columns and baseline.
MEASURED: dict[str, tuple[str, dict[str, Any], float, float, Any]] = {
    "position_decay": (
        "01_basic_fitting", SERIES_01, 1.0598802, 6e-8, ((0, 481), (100, 361), (0, 41))
    ),
    "oscillating_doublet": (
        "02_dependent_parameters", SERIES_02, 197.2707, 2e-4, ((1, 206), (245, 870), (0, 4))
    ),
    "two_cycles": (
        "03_multi_cycle_dynamics", SERIES_03, 1.0778859, 6e-8, ((0, 396), (80, 281), (0, 71))
    ),
}  # fmt: skip


def script(name: str) -> ModuleType:
    """An example as a module."""
    specification = importlib.util.spec_from_file_location("example", EXAMPLES / name / "fit.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "backend", [pytest.param("interpreted", marks=pytest.mark.slow), "compiled"]
)
@pytest.mark.parametrize("name", MEASURED)
def test_examples_on_measured_data(shared: Path, name: str, backend: str) -> None:
    """Every reference value within 1 % of its standard error or to the last printed digit, standard
    errors within 1 %."""
    folder, wanted, redchi, digit, windows = MEASURED[name]
    place = shared / "data" / "trspecfit_examples" / folder
    if not place.is_dir():
        pytest.skip(f"no data set in {place}")
    example = script(name)
    file, result = example.fit(example.read(place), backend=backend)
    assert (file.rows, file.columns, file.baseline_rows) == windows
    assert result.success
    assert set(result.free_names) == set(wanted)
    for parameter, (value, error, last) in wanted.items():
        assert abs(result.values[parameter] - value) <= max(0.01 * error, last), parameter
        assert result.stderr[parameter] == pytest.approx(error, rel=0.01), parameter
    assert result.redchi == pytest.approx(redchi, abs=digit)
    assert result.backend == backend


@pytest.mark.parametrize("name", ["position_decay", "two_cycles"])
def test_moving_peaks_on_simulated_data(name: str) -> None:
    example = script(name)
    _, result = example.fit(example.simulate())
    assert result.success
    for parameter, true in example.MOTION.items():
        full = f"GLP_01_x0_{parameter}"
        assert abs(result.values[full] - true) < 4 * result.stderr[full], full


#: What scan_7.csv was simulated with.
TEN_LINES = {
    "Offset_y0": 50.0,
    "Shirley_pShirley": 8e-4,
    "GLP_01_A": 300.0,
    "GLP_01_x0": 84.2,
    "GLP_01_F": 0.9,
    "GLP_01_x0_sinFun_01_A": -0.85,
}


@pytest.mark.usefixtures("quick_figures")
def test_the_ten_lines_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their file was nowhere: who pasted them had an error."""
    pytest.importorskip("matplotlib")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (models,) = re.findall(r"```yaml\n(.*?)```", text, re.S)
    (script,) = re.findall(r"```python\n(.*?)```", text, re.S)
    folder = EXAMPLES / "ten_lines"
    assert (folder / "models.yaml").read_text(encoding="utf-8") == models
    shutil.copytree(folder, tmp_path / "examples" / "ten_lines")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(script, names)
    result = names["result"]
    assert result.success
    for name, value in TEN_LINES.items():
        assert abs(result.values[name] - value) < 4.5 * result.stderr[name], name
    assert (tmp_path / "scan_7.png").is_file()
    assert len(script.strip().splitlines()) <= 11
