"""Scripts written for trspecfit, run with both packages: the same answers, pictures side by side.

    python -m bench.peers.compare_scripts [--python PYTHON] [--pictures FOLDER] [SCRIPT ...]

PYTHON is an interpreter that has trspecfit 0.20 and what pyspec needs (trspecfit asks for Python
3.12); by default the one that runs this. A script is run twice in a folder of its own with the same
data; for trspecfit its line ``from pyspec.trspecfit import ...`` is replaced, and nothing else.

Parameters inside of their bounds agree within 3e-3 standard errors; those at a bound are at the
same one. Metrics agree to 1e-5, simulated clean data to 1e-10; noise and sweeps are compared as
distributions; samples of a posterior by medians (0.15 standard deviations) and widths (10 %).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.problems.script_data import prepare

SCRIPTS = Path(__file__).parent / "trspecfit_scripts"
NAMES = (
    "basic", "tied", "cycles", "profiles", "comparison", "archive", "sampling", "batch", "shared",
    "simulation",
)  # fmt: skip

#: Where trspecfit keeps names that are not at its top.
PLACES = {
    "MC": "trspecfit.utils.lmfit",
    "ParameterSweep": "trspecfit.utils.sweep",
    "SweepDataset": "trspecfit.utils.sweep",
}

#: Share of a standard error by which parameters may differ, and relative differences of others.
PARAMETERS, NUMBERS = 3e-3, 1e-5
#: Script and answer → relative difference that is allowed, where it is another.
TOLERANCES = {
    ("simulation", "clean"): 1e-10,
    ("simulation", "counting noise"): 0.05,
    ("simulation", "gaussian noise"): 0.02,
    ("simulation", "swept"): 0.2,
    ("basic", "correlation"): 1e-2,
    ("archive", "curves"): 1e-4,
}
#: Columns of tables that name a fit, and differ for every run.
SKIPPED = ("handle", "selection_json", "timestamp")

RUNNER = """
import json, sys, warnings
import numpy as np
source, out, pictures = sys.argv[1:]
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
warnings.simplefilter("ignore")
space = {"__name__": "__main__"}
exec(compile(open(source).read(), source, "exec"), space)

def plain(value):
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return {"table": json.loads(value.to_json(orient="records", double_precision=15))}
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.ravel().tolist())
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (np.floating, np.integer)):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return value

json.dump(plain(space["answers"]), open(out, "w"))
if pictures:
    plt.close = lambda *args: None
    for name, draw in space["pictures"].items():
        figure = draw()
        (plt.gcf() if figure is None else figure).savefig(f"{pictures}_{name}.png", dpi=70)
"""


def with_package(text: str, package: str) -> str:
    """A script with the imports of a package."""
    if package == "pyspec":
        return text

    def imports(match: re.Match[str]) -> str:
        lines = []
        for name in match[1].split(", "):
            lines.append(f"from {PLACES.get(name, 'trspecfit')} import {name}")
        return "\n".join(lines)

    return re.sub(r"^from pyspec\.trspecfit import (.*)$", imports, text, flags=re.MULTILINE)


def run_script(name: str, package: str, python: str, pictures: Path | None = None) -> Any:
    """The answers of a script with a package. Raises RuntimeError with what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        prepare(where, name)
        for path in SCRIPTS.glob("*.yaml"):
            shutil.copy(path, where)
        source = where / f"{name}.py"
        text = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
        source.write_text(with_package(text, package), encoding="utf-8")
        shown = "" if pictures is None else str(pictures / f"{name}_{package}")
        root = str(Path(__file__).parents[2])
        done = subprocess.run(
            [python, "-c", RUNNER, str(source), str(where / "answers.json"), shown],
            cwd=where,
            env={**os.environ, "PYTHONPATH": root, "MPLBACKEND": "Agg"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{name} with {package}: {done.stderr[-2000:]}")
        return json.loads((where / "answers.json").read_text())


def differences(name: str, ours: Any, theirs: Any) -> Iterator[tuple[str, float, str]]:
    """(what, difference in units of what is allowed, in words) of every answer."""
    if set(ours) != set(theirs):
        yield "answers", math.inf, f"{sorted(ours)} and {sorted(theirs)}"
        return
    for key, value in ours.items():
        other = theirs[key]
        allowed = TOLERANCES.get((name, key), NUMBERS)
        if name == "sampling" and key in ("medians", "widths"):
            yield from _samples(key, ours, theirs)
        elif isinstance(value, dict) and "table" in value:
            yield from _tables(key, value["table"], other["table"], allowed)
        else:
            yield key, _number(value, other, allowed), ""


def _samples(key: str, ours: Any, theirs: Any) -> Iterator[tuple[str, float, str]]:
    for name, value in theirs[key].items():
        width = theirs["widths"][name]
        unit = 0.15 * width if key == "medians" else 0.10 * width
        yield f"{key} {name}", abs(ours[key][name] - value) / unit, ""


def _tables(key: str, ours: Any, theirs: Any, allowed: float) -> Iterator[tuple[str, float, str]]:
    if len(ours) != len(theirs) or not ours:
        yield key, math.inf, f"{len(ours)} and {len(theirs)} rows"
        return
    if "stderr" in theirs[0]:
        yield from _parameters(key, ours, theirs)
        return
    keys = [k for k in ("file", "model", "fit_type", "name") if k in theirs[0]]
    rows = {tuple(row[k] for k in keys): row for row in ours}
    for row in theirs:
        own = rows.get(tuple(row[k] for k in keys))
        if own is None:
            yield key, math.inf, f"no row {[row[k] for k in keys]}"
            continue
        for column in (c for c in row if c not in SKIPPED):
            difference = _number(own[column], row[column], allowed)
            yield f"{key} {row.get('model', row.get('name'))} {column}", difference, ""


def _parameters(key: str, ours: Any, theirs: Any) -> Iterator[tuple[str, float, str]]:
    """Differences of best values in standard errors, or of bounds."""
    rows = {row["name"]: row for row in ours}
    for row in theirs:
        own = rows.get(row["name"])
        label = f"{key} {row['name']}"
        if own is None:
            yield label, math.inf, "missing"
        elif not row["vary"] and row["expr"] is None:
            yield label, _number(own["value"], row["value"], 1e-12), "fixed"
        elif own["stderr"]:
            # Of one file of a joint fit trspecfit gives no standard errors.
            distance = abs(own["value"] - row["value"]) / (row["stderr"] or own["stderr"])
            words = f"{distance:.1e} stderr"
            if row["stderr"]:
                words += f"; errors {abs(own['stderr'] / row['stderr'] - 1):.0e}"
            yield label, distance / PARAMETERS, words
        else:
            side = _side(own), _side(row)
            same = side[0] == side[1] != "none"
            yield label, 0.0 if same else math.inf, f"at {side[0]} and {side[1]}"


def _side(row: Any) -> str:
    """The bound that a value is at, within a thousandth of their distance."""
    low, high = row["min"], row["max"]
    span = (high - low) if None not in (low, high) else 1.0
    for side, bound in (("min", low), ("max", high)):
        if bound is not None and abs(row["value"] - bound) < 1e-3 * span:
            return side
    return "none"


def _number(ours: Any, theirs: Any, allowed: float) -> float:
    """The largest relative difference of numbers, over what is allowed; infinite for others."""
    if isinstance(theirs, dict):
        if set(ours) != set(theirs):
            return math.inf
        return max((_number(ours[k], v, allowed) for k, v in theirs.items()), default=0.0)
    if isinstance(theirs, list):
        if len(ours) != len(theirs):
            return math.inf
        if theirs and all(isinstance(one, (int, float)) for one in [*ours, *theirs]):
            a, b = np.array(ours, float), np.array(theirs, float)
            return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300) / allowed)
        return max((_number(a, b, allowed) for a, b in zip(ours, theirs, strict=True)), default=0.0)
    if isinstance(theirs, (int, float)) and isinstance(ours, (int, float)):
        return abs(ours - theirs) / max(abs(theirs), 1e-300) / allowed
    return 0.0 if ours == theirs else math.inf


def compare(name: str, python: str, pictures: Path | None = None) -> list[tuple[str, float, str]]:
    """All differences of a script, the largest first."""
    ours = run_script(name, "pyspec", python, pictures)
    theirs = run_script(name, "trspecfit", python, pictures)
    return sorted(differences(name, ours, theirs), key=lambda found: -found[1])


def has_trspecfit(python: str) -> bool:
    """Whether an interpreter can import trspecfit."""
    done = subprocess.run([python, "-c", "import trspecfit"], capture_output=True, check=False)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scripts", nargs="*", default=NAMES)
    parser.add_argument("--python", default=os.environ.get("PYSPEC_TRSPECFIT", sys.executable))
    parser.add_argument("--pictures", type=Path, help="folder for the pictures of both")
    given = parser.parse_args()
    if not has_trspecfit(given.python):
        print(f"{given.python} has no trspecfit; nothing is compared: --python PYTHON with it")
        return 0
    if given.pictures is not None:
        given.pictures.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in given.scripts:
        try:
            found = compare(name, given.python, given.pictures)
        except RuntimeError as error:
            print(f"{name}: {error}")
            failed += 1
            continue
        worst = found[0]
        bad = [one for one in found if not one[1] <= 1]
        failed += bool(bad)
        verdict = "the same" if not bad else f"{len(bad)} DIFFER"
        shown = f"{worst[0]}{', ' + worst[2] if worst[2] else ''}"
        print(
            f"{name:11} {len(found):4} answers {verdict}; largest difference {worst[1]:.2g} of what"
        )
        print(f"{'':11} is allowed: {shown}")
        for what, size, words in bad[1:8]:
            print(f"{'':11} {what}: {size:.3g} {words}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
