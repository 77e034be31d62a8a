"""Runs a fit with free spectra by pyglotaran, from several starts.

    python bench/peers/pyglotaran_process.py task.npz answer.json

This file imports nothing of pyspec: it runs in an environment of its own, in which pyglotaran is
installed (`pip install pyglotaran`). `task.npz` holds data (n_time, n_energy), time, energy, the
model as YAML, the names of the free parameters as `group.label`, starts (n_starts, n), and `fixed`
parameters with their values.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import warnings
from typing import Any


def parameters_text(names: list[str], start: Any, fixed: dict[str, float]) -> str:
    """Parameters in pyglotaran's YAML, by group."""
    groups: dict[str, list[str]] = {}
    for name, value in zip(names, start, strict=True):
        group, label = name.split(".")
        groups.setdefault(group, []).append(f'  - ["{label}", {float(value)!r}, {{min: 0.0}}]')
    for name, value in fixed.items():
        group, label = name.split(".")
        groups.setdefault(group, []).append(f'  - ["{label}", {value!r}, {{vary: false}}]')
    if "irf" in groups:  # a time zero may be negative
        groups["irf"] = [line.replace(", {min: 0.0}", "") for line in groups["irf"]]
    return "".join(f"{group}:\n" + "\n".join(lines) + "\n" for group, lines in groups.items())


def main() -> None:
    """Reads the task, fits, writes seconds, values, costs and whether each succeeded."""
    import numpy as np
    import xarray as xr
    from glotaran.io import load_model, load_parameters
    from glotaran.optimization.optimize import optimize
    from glotaran.project import Scheme

    task = np.load(sys.argv[1])
    names, fixed = [str(name) for name in task["names"]], json.loads(str(task["fixed"]))
    array = xr.DataArray(
        task["data"],
        dims=("time", "spectral"),
        coords={"time": task["time"], "spectral": task["energy"]},
    )
    answers = []
    for start in task["starts"]:
        text = parameters_text(names, start, fixed)
        begin = time.perf_counter()
        answer: dict[str, Any] = {"success": False, "cost": float("nan"), "values": []}
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scheme = Scheme(
                    model=load_model(str(task["model"]), format_name="yml_str"),
                    parameters=load_parameters(text, format_name="yml_str"),
                    data={"dataset1": array.to_dataset(name="data")},
                )
                found = optimize(scheme)
            answer["success"] = bool(found.success)
            answer["cost"] = float(np.sum(np.asarray(found.data["dataset1"].residual) ** 2))
            answer["values"] = [float(found.optimized_parameters.get(name).value) for name in names]
        except Exception as error:  # what it raises from hard starts is part of the answer
            answer["error"] = f"{type(error).__name__}: {error}"
        answer["seconds"] = time.perf_counter() - begin
        answers.append(answer)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main()
