"""The public surface of trspecfit as JSON: classes, calls with their arguments, attributes.

    PYTHON docs/pages/peer_surface.py > docs/pages/trspecfit_surface.json

PYTHON is an interpreter with trspecfit. `docs/pages/peer_page.py` compares this list with pyspec.
The JSON is kept in the repository: the page can then be made without trspecfit.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import tempfile
from importlib import import_module
from typing import Any

#: Name → where trspecfit keeps it.
CLASSES = {
    "Project": "trspecfit",
    "File": "trspecfit",
    "FitResults": "trspecfit",
    "PlotConfig": "trspecfit",
    "Simulator": "trspecfit",
    "ParameterSweep": "trspecfit.utils.sweep",
    "SweepDataset": "trspecfit.utils.sweep",
    "MC": "trspecfit.utils.lmfit",
    "MCMCResult": "trspecfit.utils.lmfit",
    "Model": "trspecfit.mcp",
    "Component": "trspecfit.mcp",
}
FUNCTIONS = {
    "sensitivity": ("crb", "counts_required", "fisher_matrix", "sensitivity_report"),
}


def arguments(call: Any) -> list[str]:
    """The names of what a call takes, without `self`."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = inspect.signature(call).parameters.values()
    return [one.name for one in found if one.kind not in kinds and one.name not in ("self", "cls")]


def surface_of(kind: type, instance: Any) -> dict[str, Any]:
    """Public calls with their arguments, and public attributes, of a class and an instance."""
    calls: dict[str, list[str]] = {"__init__": arguments(kind.__init__)}
    attributes: set[str] = set()
    for name in dir(kind):
        if name.startswith("_"):
            continue
        held = inspect.getattr_static(kind, name)
        if isinstance(held, (staticmethod, classmethod)) or inspect.isfunction(held):
            calls[name] = arguments(getattr(kind, name))
        else:
            attributes.add(name)
    if instance is not None:
        attributes |= {name for name in vars(instance) if not name.startswith("_")}
    return {"calls": calls, "attributes": sorted(attributes - set(calls))}


def instances() -> dict[str, Any]:
    """One object of each class that tells its attributes only when it is there."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as quiet:
        path = os.path.join(folder, "m.yaml")
        with open(path, "w") as stream:
            stream.write("m:\n  Offset: {y0: [1, True, 0, 5]}\n")
            stream.write(
                "  Gauss: {A: [1, True, 0, 5], x0: [5, True, 0, 9], SD: [1, True, 0, 5]}\n"
            )
        shown, sys.stdout = sys.stdout, quiet
        try:
            trspecfit = import_module("trspecfit")
            project = trspecfit.Project(path=folder, config_file=None)
            project.show_output = 0
            axes = {"energy": np.arange(9.0), "time": np.arange(4.0)}
            file = trspecfit.File(project, data=np.ones((4, 9)), **axes)
            model = file.load_model("m.yaml", ["m"])
            sweeps, lmfit = (
                import_module(name) for name in ("trspecfit.utils.sweep", "trspecfit.utils.lmfit")
            )
            return {
                "Project": project,
                "File": file,
                "FitResults": project.results,
                "PlotConfig": trspecfit.PlotConfig(),
                "Simulator": trspecfit.Simulator(model),
                "ParameterSweep": sweeps.ParameterSweep(),
                "MC": lmfit.MC(),
                "Model": model,
                "Component": model.components[1],
            }
        finally:
            sys.stdout = shown


def main() -> None:
    held = instances()
    found: dict[str, Any] = {
        name: surface_of(getattr(import_module(module), name), held.get(name))
        for name, module in CLASSES.items()
    }
    for module, names in FUNCTIONS.items():
        home = import_module(f"trspecfit.{module}")
        calls = {name: arguments(getattr(home, name)) for name in names}
        found[module] = {"calls": calls, "attributes": []}
    version = import_module("importlib.metadata").version("trspecfit")
    print(json.dumps({"version": version, "surface": found}, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
