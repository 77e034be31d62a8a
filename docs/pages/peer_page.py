"""The page that sets every public name of trspecfit beside that of pyspec.

`trspecfit_surface.json` holds the names of trspecfit (see `peer_surface.py`); pyspec is asked
here and now. Every difference and every missing name needs a reason in `trspecfit_reasons.yaml`;
an unused reason is an error too.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import pyspec
from docs.pages.markdown import table
from pyspec import trspecfit

HERE = Path(__file__).resolve().parent

LEAD = """
Every public name of trspecfit {version} beside `pyspec.trspecfit`, made from both packages. The
word **same** means: pyspec has it, and a call takes the same arguments. The other rows,
**differs** and **not there**, give the difference or the reason beside it. Arguments and
attributes that pyspec has on top are not listed. What scripts do with these names is compared by
`python -m bench.peers.compare_scripts`: ten scripts, run with both packages, give the same answers.
"""

MODEL = """
m:
  Offset: {y0: [1, True, 0, 5]}
  Gauss: {A: [1, True, 0, 5], x0: [5, True, 0, 9], SD: [1, True, 0.1, 5]}
"""


def ours() -> dict[str, Any]:
    """What answers in pyspec for each class: an object where there can be one."""
    axes = {"energy": np.arange(9.0), "time": np.arange(4.0)}
    project = trspecfit.Project(show_output=0)
    file = trspecfit.File(project, data=np.ones((4, 9)), **axes)
    model = file.add_model(pyspec.load_model(MODEL, "m"))
    samples = trspecfit.MCMCResult(["a"], np.zeros((1, 2, 1)), np.ones(2), trspecfit.MC())
    return {
        "Project": project,
        "File": file,
        "FitResults": project.results,
        "PlotConfig": trspecfit.PlotConfig(),
        "Simulator": trspecfit.Simulator(model, noise_type="gaussian"),
        "ParameterSweep": trspecfit.ParameterSweep(),
        "SweepDataset": trspecfit.SweepDataset,
        "MC": trspecfit.MC(),
        "MCMCResult": samples,
        "Model": model,
        "Component": next(one for one in model.components if isinstance(one, trspecfit.Component)),
        "sensitivity": trspecfit.sensitivity,
    }


def not_taken(call: Any, wanted: list[str]) -> list[str]:
    """The arguments that a call of ours does not take."""
    parameters = inspect.signature(call).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return []
    return [name for name in wanted if name not in parameters]


def row(
    label: str, thing: Any, name: str, wanted: list[str] | None, reason: str | None
) -> tuple[str, str]:
    """("same", "differs" or "not there", what is said of it). Raises LookupError where a reason is
    missing, or not needed."""
    held = thing if inspect.isclass(thing) or inspect.ismodule(thing) else type(thing)
    there = name == "__init__" or hasattr(thing, name)
    lost: list[str] = []
    if there and wanted is not None:
        lost = not_taken(held if name == "__init__" else getattr(thing, name), wanted)
    if not there:
        if reason is None:
            raise LookupError(f"{label}.{name} is not there; say why in trspecfit_reasons.yaml")
        return "not there", reason
    if lost and reason is None:
        raise LookupError(f"{label}.{name} does not take {lost}; say why in trspecfit_reasons.yaml")
    return ("differs", str(reason)) if reason is not None else ("same", "")


def pages() -> dict[str, str]:
    """trspecfit_surface.md."""
    held = json.loads((HERE / "trspecfit_surface.json").read_text(encoding="utf-8"))
    reasons = yaml.safe_load((HERE / "trspecfit_reasons.yaml").read_text(encoding="utf-8"))
    unused = {f"{label}.{name}" for label, names in reasons.items() for name in names}
    parts, counts = [], {"same": 0, "differs": 0, "not there": 0}
    for label, thing in ours().items():
        surface = held["surface"][label]
        rows = []
        names: list[tuple[str, list[str] | None]] = sorted(surface["calls"].items())
        names += [(name, None) for name in surface["attributes"]]
        for name, wanted in names:
            reason = reasons.get(label, {}).get(name)
            unused.discard(f"{label}.{name}")
            status, words = row(label, thing, name, wanted, reason)
            counts[status] += 1
            shown = label if name == "__init__" else name
            call = f"`{shown}`" if wanted is None else f"`{shown}({', '.join(wanted)})`"
            rows.append((call, status, words))
        parts.append(f"## {label}\n\n{table(('name', '', ''), rows)}")
    if unused:
        raise LookupError(f"reasons that nothing needs: {', '.join(sorted(unused))}")
    total = ", ".join(f"{number} {status}" for status, number in counts.items())
    lead = LEAD.strip().format(version=held["version"])
    head = ["# Every public name of trspecfit", lead, f"Of these names: {total}."]
    return {"trspecfit_surface.md": "\n\n".join([*head, *parts])}
