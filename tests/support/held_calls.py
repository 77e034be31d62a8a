"""The calls whose results no signal may take away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pyspec import File, Project
from pyspec.fit import fit_joint, fit_model, fit_slices, fit_trace
from pyspec.model import Measurement, load_model

MODEL = """
peak:
  Gauss:
    A: [8.0, True, 0, 100]
    x0: [4.5, True, 0, 10]
    SD: [1.5, True, 0.1, 5]
"""
ENERGY = np.linspace(0.0, 10.0, 101)


def peak() -> tuple[Any, Measurement]:
    model = load_model(MODEL, "peak")
    model.set_axes(energy=ENERGY)
    clean = 10.0 * np.exp(-(((ENERGY - 5.0) / 1.2) ** 2) / 2)
    return model, Measurement(data=clean + np.random.default_rng(1).normal(0, 0.1, 101))


def whole_file(tmp_path: Path, n_rows: int = 3) -> File:
    _, measurement = peak()
    (tmp_path / "models.yaml").write_text(MODEL.replace("True, 0, 100", '"project", 0, 100'))
    project = Project(tmp_path, name="run", show_output=False)
    data = np.stack([measurement.data] * n_rows)
    file = File(project, data=data, energy=ENERGY, time=np.arange(float(n_rows)))
    file.load_model("models.yaml", ["peak"])
    return file


LAW = "decay:\n  expFun:\n    A: [1.0, True]\n    tau: [3.0, True, 0.1, 100]\n    t0: [0, False]\n"


def single_fit() -> Any:
    model, measurement = peak()
    return fit_model(model, measurement)


def trace() -> Any:
    time = np.arange(10.0)
    return fit_trace(LAW, "decay", time, 2 * np.exp(-time / 4))


def slices() -> Any:
    model, measurement = peak()
    return fit_slices(model, Measurement(data=np.stack([measurement.data] * 2)))


def project_baselines(tmp_path: Path) -> Any:
    file = whole_file(tmp_path)
    file.define_baseline(0.0, 1.0)
    return file.project.fit_baselines(model_name="peak")


CALLS: dict[str, Callable[[Path], Any]] = {
    "fit_model": lambda folder: single_fit(),
    "fit_slices": lambda folder: slices(),
    "fit_joint": lambda folder: fit_joint([peak(), peak()]),
    "fit_trace": lambda folder: trace(),
    "spectrum": lambda folder: whole_file(folder).fit_spectrum("peak", time_point=0.0),
    "2d": lambda folder: whole_file(folder).fit_2d("peak"),
    "slice by slice": lambda folder: whole_file(folder).fit_slice_by_slice("peak"),
    "baselines": lambda folder: project_baselines(folder),
    "project": lambda folder: whole_file(folder).project.fit_2d(model_name="peak"),
}
