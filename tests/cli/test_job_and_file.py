"""A job and the same calls of a File give the same fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, Project, read
from pyspec.cli import main
from pyspec.cli.commands.new import JOB

pytestmark = pytest.mark.usefixtures("numbers_alone")

SIGMA = "noise: {sigma: sigma.csv}\nlimits:"
KINDS: dict[str, tuple[tuple[tuple[str, str], ...], Callable[[File], Any]]] = {
    "2d": ((), lambda file: (file.fit_baseline("doublet"), file.fit_2d("doublet"))[1]),
    "without a baseline": ((("baseline: [", "# ["),), lambda file: file.fit_2d("doublet")),
    "slices": (
        (("type: 2d", "type: slices"),),
        lambda file: (file.fit_baseline("doublet"), file.fit_slice_by_slice("doublet"))[1],
    ),
    "a time": (
        (("type: 2d", "spectrum: 0.0"), ("limits:", SIGMA)),
        lambda file: file.fit_spectrum("doublet", time_point=0.0),
    ),
    "a range": (
        (
            ("type: 2d", "spectrum: [1, 5]"),
            ("method: native", "method: [nelder, native]"),
            ("limits:", SIGMA),
        ),
        lambda file: file.fit_spectrum("doublet", time_range=(1, 5), method=("nelder", "native")),
    ),
    "a profile": (
        (
            ("baseline: [", "# ["),
            (
                "limits:",
                "profiles: {parameter: GLP_01_x0, model: depth}\n"
                "auxiliary: {values: [0, 1, 2], weights: [0.1, 0.7, 0.3]}\nlimits:",
            ),
        ),
        lambda file: file.fit_2d("doublet"),
    ),
    "with noise": (
        (("type: 2d", "type: 2d\n  options: {linear: eliminate}"), ("limits:", SIGMA)),
        lambda file: (
            file.fit_baseline("doublet", linear="eliminate"),
            file.fit_2d("doublet", linear="eliminate"),
        )[1],
    ),
}


def numbers(found: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values and standard errors of a fit, or of slices, as a job writes them."""
    if "values" in found:
        return found["values"], found["stderr"]
    parameters = {one["name"]: one for one in found["parameters"]}
    values = {name: one["value"] for name, one in parameters.items()}
    errors = {name: one["stderr"] for name, one in parameters.items()}
    return values, {name: error for name, error in errors.items() if error is not None}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_values_and_errors_are_the_same_to_the_last_digit(folder: Path, kind: str) -> None:
    """Slices of a job started without the shift by the maximum of each."""
    pairs, fitted = KINDS[kind]
    text = JOB.replace("  # exclude: [[4.0, 4.5], [18, null]]", "  exclude: [[4.0, 4.5]]")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (folder / "job.yaml").write_text(text, encoding="utf-8")
    dataset = read(folder / "data.csv")
    sigma = 0.3 + 0.2 * np.random.default_rng(0).random(dataset.shape)
    np.savetxt(folder / "sigma.csv", sigma, delimiter=",", fmt="%.17g")
    law = "depth: {pLinear: {m: [0.1, True, -1, 1], b: [0, False]}}\n"
    (folder / "models.yaml").write_text((folder / "models.yaml").read_text() + law)
    assert main(["fit", str(folder / "job.yaml"), "-q"]) == 0
    found = json.loads((folder / "results" / "parameters.json").read_text())

    axis = {"aux_axis": [0, 1, 2], "aux_weights": [0.1, 0.7, 0.3]} if "profile" in kind else {}
    file = File.from_dataset(dataset, Project(folder, show_output=False), **axis)
    file.load_model("models.yaml", "doublet")
    if axis:
        file.add_par_profile("doublet", "GLP_01_x0", "models.yaml", "depth")
    file.add_time_dependence("doublet", "GLP_01_A", "models.yaml", "fade")
    file.set_fit_limits((1, 19), exclude=[(4, 4.5)])
    file.define_baseline(-10, -1)
    if SIGMA in text:
        file.set_noise("gaussian", sigma=sigma)
    result = fitted(file)
    assert found["started_from"] == result.started_from
    values, stderr = numbers(found)
    assert len(values) > 9
    for name, value in values.items():
        np.testing.assert_array_equal(value, result.values[name])
    for name, error in stderr.items():
        np.testing.assert_array_equal(np.array(error, float), result.stderr[name])


def test_a_job_of_another_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert main(["fit", f"{folder.name}/job.yaml", "--check"]) == 0
    text = JOB.replace("model: fade}", "model: fade, path: laws.yaml}")
    (folder / "job.yaml").write_text(text, encoding="utf-8")
    (folder / "laws.yaml").write_text((folder / "models.yaml").read_text())
    assert main(["fit", f"{folder.name}/job.yaml", "--check"]) == 0


DECAY = "decay: {expFun: {A: [1, True, 0, 9], tau: [2, True, 0.1, 50], t0: [0, False]}}\n"
PEAK = "peak: {Gauss: {A: [1, True], x0: [5, True], SD: [1, True, 0.1, 9]}}\n"
TRACE = "data: {path: t.csv}\nmodels: m.yaml\n"


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A decay of a file with an axis of times, from within its folder."""
    time = np.linspace(-2, 20, 111)
    decay = 3 * np.exp(-time / 4) * (time >= 0)
    values = decay + np.random.default_rng(1).normal(0, 0.05, time.size)
    names = {"header": "delay (ps),signal,err", "comments": ""}
    table = np.c_[time, values, np.full(time.size, 0.05)]
    np.savetxt(tmp_path / "t.csv", table[:, :2], delimiter=",", **{**names, "header": "delay,s"})
    np.savetxt(tmp_path / "e.csv", table, delimiter=",", **names)
    (tmp_path / "m.yaml").write_text(DECAY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("axis", "n"), [([], 111), (["--time", "0:9:5"], 5)])
def test_a_trace_is_simulated_at_the_times_of_its_job(
    trace: Path, axis: list[str], n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """It used to be refused: "simulated data are spectra"."""
    Path("job.yaml").write_text(TRACE)
    assert main(["simulate", "job.yaml", "-o", "s.csv", *axis]) == 0
    assert f"{n} points" in capsys.readouterr().out
    found = read("s.csv")
    assert (found.dims, found.shape) == (("time",), (n,))
    assert main(["simulate", "job.yaml", "--energy", "0:9:5"]) == 1
    assert "has laws of time alone and makes a trace; leave --energy" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("job", "known"),
    [
        (TRACE, False),
        (TRACE + "fit: {type: trace, method: [nelder, native]}\nnoise: {sigma: 0.05}\n", True),
        (TRACE.replace("t.csv", "e.csv, columns: [0, 1], errors: err"), True),
        (TRACE + "limits: {time: [-1, 15], exclude: [[-0.1, 0.1]]}\n", False),
    ],
)
def test_a_job_fits_a_trace(trace: Path, job: str, known: bool) -> None:
    """That took Python."""
    Path("job.yaml").write_text(job)
    assert main(["fit", "job.yaml", "--check"]) == 0
    assert main(["explain", "job.yaml"]) == 0
    assert main(["fit", "job.yaml", "-q"]) == 0
    found = json.loads(Path("results/parameters.json").read_text())
    values, stderr = numbers(found)
    assert found["fit_type"] == "trace"
    assert abs(values["expFun_01_tau"] - 4) < 4 * stderr["expFun_01_tau"]
    if "limits" not in job:
        dataset = read("e.csv", columns=(0, 1), errors="err")
        file = File.from_dataset(dataset, Project(trace, show_output=False), errors=known)
        again = file.fit_trace(
            "m.yaml", "decay", method=("nelder", "native") if "nelder" in job else None
        )
        assert values == again.values


def test_the_first_column_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """'errors: 0' and 'block: 0' were taken for none, in silence."""
    energy = np.linspace(80, 90, 101)
    values = 9 * np.exp(-((energy - 85) ** 2) / 2) + np.random.default_rng(0).normal(0, 0.1, 101)
    np.savetxt(tmp_path / "s.csv", np.c_[np.full(101, 0.1), energy, values], delimiter=",")
    (tmp_path / "m.yaml").write_text(PEAK.replace("[5,", "[85.3,"))
    (tmp_path / "job.yaml").write_text(
        "data: {path: s.csv, columns: [1, 2], errors: 0}\nmodels: m.yaml\n"
    )
    assert main(["fit", str(tmp_path / "job.yaml"), "-q"]) == 0
    found = json.loads((tmp_path / "results" / "parameters.json").read_text())
    assert 0.6 < found["redchi"] < 1.5  # 0.009 without the errors
    assert main(["show", str(tmp_path / "s.csv"), "--block", "0", "--no-picture"]) == 1
    assert "--block needs" in capsys.readouterr().err
    (tmp_path / "job.yaml").write_text("data: {path: s.csv, block: 0}\nmodels: m.yaml\n")
    assert main(["fit", str(tmp_path / "job.yaml"), "-q"]) == 1
    assert "block" in capsys.readouterr().err
