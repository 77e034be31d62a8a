"""Whether two builds give the same bits: python golden_bits.py PYTHON OTHER_PYTHON

Each is an interpreter that has a pyspec. On each instruction set both evaluate the golden models
and repeat the golden fits, in ../shared/golden beside the source tree or in the folder
PYSPEC_SHARED. Needs nothing of the source tree.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

BESIDE = Path(__file__).resolve().parents[3] / "shared"


def model_of(case: dict[str, Any], arrays: Any) -> Any:
    """The model of a case on its axes."""
    from pyspec.model import load_dynamics, load_model, load_profile

    model = load_model(case["energy_yaml"], "m")
    for profile in case["profiles"]:
        target = profile["parameter"]
        model.add_profile(target, load_profile(case["profile_yaml"], profile["model"], target))
    for dynamics in case["dynamics"]:
        target = dynamics["parameter"]
        loaded = load_dynamics(case["time_yaml"], dynamics["models"], target, dynamics["frequency"])
        model.add_dynamics(target, loaded)
    names = {"energy"} | ({"time"} if case["dim"] == 2 else set())
    names |= {"aux"} if case["profiles"] else set()
    model.set_axes(**{name: arrays[case["arrays"][name]] for name in names})
    return model


def numbers(golden: Path) -> dict[str, Any]:
    """The values of each golden model; of each golden fit, with and without weights, the parameters
    with their standard errors."""
    import numpy as np

    from pyspec.executor import make_executor
    from pyspec.fit import fit_model
    from pyspec.model import Measurement

    warnings.simplefilter("ignore")
    cases = {c["id"]: c for c in json.loads((golden / "models.json").read_text())["cases"]}
    arrays, found = np.load(golden / "models.npz"), {}
    for name, case in cases.items():
        model = model_of(case, arrays)
        values = make_executor(model, None, "compiled").run(model.theta())
        found[f"model {name}"] = values.ravel().tolist()
    data = np.load(golden / "fits.npz")
    for fit in json.loads((golden / "fits.json").read_text())["cases"]:
        for weight in (None, 1.0 / fit["sigma"]):
            model = model_of(cases[fit["id"]], arrays)
            free = {n: v for n, v in fit["start"].items() if model.parameters[n].formula is None}
            model.set_values(free)
            for name in fit["fixed_additionally"]:
                model.parameters[name].vary = False
            measured = Measurement(
                data=data[fit["arrays"]["data"]],
                weight=None if weight is None else np.array(weight),
            )
            result = fit_model(model, measured, scale_covar=weight is None)
            name = f"fit {fit['id']}" + ("" if weight is None else " with weights")
            found[name] = {n: [result.values[n], result.stderr[n]] for n in result.free_names}
    return found


def of_build(python: str, isa: str) -> dict[str, Any]:
    """The numbers of one build on one instruction set."""
    command = [python, "-I", __file__, "--numbers"]
    environment = {**os.environ, "PYSPEC_ISA": isa}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Compares; prints what differs, and by how much at most."""
    golden = Path(os.environ.get("PYSPEC_SHARED", BESIDE)) / "golden"
    if sys.argv[1:] == ["--numbers"]:
        print(json.dumps(numbers(golden)))
        return
    ask = "from pyspec._library import supported_isas; print(*supported_isas())"
    one, other = sys.argv[1:]
    isas = subprocess.run([one, "-I", "-c", ask], capture_output=True, text=True, check=True).stdout
    for isa in isas.split():
        ours, theirs = of_build(one, isa), of_build(other, isa)
        differing = [name for name in ours if ours[name] != theirs[name]]
        print(f"{isa}: {len(ours)} models and fits, {len(differing)} differ", flush=True)
        for name in differing:
            a, b = ours[name], theirs[name]
            if name.startswith("fit"):
                by, of = max(abs(a[n][0] - b[n][0]) / a[n][1] for n in a), "standard errors"
            else:
                by, of = max(map(lambda x, y: abs(x - y), a, b)) / max(map(abs, a)), "of the peak"
            print(f"  {name}: by {by:.1g} {of}")


if __name__ == "__main__":
    main()
