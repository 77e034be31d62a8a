"""What a formula costs beside the function of the table that says the same.

    python -m bench.formulas [--only NAME] [--json FILE]

Each row: value with all partials of one component over 440 × 400 points, one thread, all parameters
moving in time, as a function of the table and as a formula, in turns (PYSPEC_NUM_THREADS=1), and
the sums of the normal equations. Ratios are medians of processor time; differences are relative to
the largest value and, of each slope, to its largest one.

Where numexpr or Numba are installed (`pip install numexpr numba`), their time over that of the
normal equations of the formula: they evaluate the same text on one thread, once for the value and
once more for each parameter, as forward differences need. "-" is what they lack.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from typing import Any

import numpy as np

try:
    import numexpr
except ImportError:
    numexpr = None
try:
    import numba
except ImportError:
    numba = None

from pyspec._library import OPS
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.model import Measurement, load_model

ENERGY = np.linspace(75.0, 93.0, 400)
TIME = np.linspace(-1.0, 10.0, 440)

#: Built-in: the same as a formula, values, and whether it is arithmetic alone.
FORMULAS: dict[str, tuple[str, dict[str, float], bool]] = {
    "Gauss": ("A * exp(-0.5 * ((x - x0) / SD) ** 2)", {"A": 9, "x0": 84, "SD": 1.2}, False),
    "Lorentz": ("A / (1 + 4 * ((x - x0) / W) ** 2)", {"A": 9, "x0": 84, "W": 1.2}, True),
    "GLP": (
        "A * exp(-4 * log(2) * (1 - m) * u ** 2) / (1 + 4 * m * u ** 2) | u = (x - x0) / F",
        {"A": 9, "x0": 84, "F": 1.2, "m": 0.3},
        False,
    ),
    "GLS": (
        "A * ((1 - m) * exp(-4 * log(2) * u ** 2) + m / (1 + 4 * u ** 2)) | u = (x - x0) / F",
        {"A": 9, "x0": 84, "F": 1.2, "m": 0.3},
        False,
    ),
    "Voigt": (
        "A * wofz_real((x - x0) * s, W / 2 * s) / wofz_real(0, W / 2 * s) | s = sqrt(0.5) / SD",
        {"A": 9, "x0": 84, "SD": 0.8, "W": 0.7},
        False,
    ),
    "DS": (
        "A * cos(pi * alpha / 2 + (1 - alpha) * arctan(d / F)) / (F ** 2 + d ** 2)"
        " ** ((1 - alpha) / 2) | d = x - x0",
        {"A": 9, "x0": 84, "F": 0.6, "alpha": 0.1},
        False,
    ),
    "ErfStep": (
        "A / 2 * erfc(-(x - x0) / (SD * sqrt(2)))",
        {"A": 9, "x0": 84, "SD": 1.2},
        False,
    ),
    "AtanStep": ("A * (0.5 + arctan(2 * (x - x0) / W) / pi)", {"A": 9, "x0": 84, "W": 1.2}, False),
    "PolyBack": (
        "c1 * d + c2 * d ** 2 + c3 * d ** 3 | d = x - x0",
        {"c1": 0.3, "c2": 0.02, "c3": 0.001, "x0": 84},
        True,
    ),
    "ExpBack": ("A * exp(-k * (x - x0))", {"A": 9, "x0": 84, "k": 0.1}, False),
    "PowerBack": ("A * (x / x0) ** -r", {"A": 9, "x0": 84, "r": 1.5}, False),
}


def source(name: str, by_formula: bool) -> str:
    """A model file with one component whose first parameters all move."""
    text, values, _ = FORMULAS[name]
    formula, _, line = text.partition(" | ")
    params = ", ".join(
        param + next((f" {g.comparison} {g.other:g}" for g in OPS[name].guards if g.param == k), "")
        for k, param in enumerate(OPS[name].params)
    )
    called = f"My{name}" if by_formula else name
    lines = [f"    lines: {{{line.replace(' = ', ': ')}}}"] if line else []
    head = [
        "functions:", f"  {called}:", f"    parameters: {params}", f"    formula: {formula}", *lines
    ]  # fmt: skip
    body = [f"    {key}: [{value}, True]" for key, value in values.items()]
    law = ["law:", "  expFun: {A: [0.01, True], tau: [4, True], t0: [0, False]}"]
    numbered = f"{called}_01" if by_formula or OPS[name].numbered else called
    attached = [f"    {numbered}_{key}: {{dynamics: [law]}}" for key in values]
    text_lines = [*(head if by_formula else []), "m:", f"  {called}:", *body, *law]
    return "\n".join([*text_lines, "attached:", "  m:", *attached, ""])


def executor(name: str, by_formula: bool) -> CompiledExecutor:
    """The compiled model."""
    model = load_model(source(name, by_formula), "m")
    model.set_axes(energy=ENERGY, time=TIME)
    data = np.zeros((TIME.size, ENERGY.size))
    return CompiledExecutor(make_plan(model), Measurement(data=data))


def traces(built: CompiledExecutor, name: str) -> list[Any]:
    """The parameters of the component, (n_time, 1) each."""
    rows = dict(zip(built.plan.row_names, built.traces(None), strict=True))
    called = next(iter(built.plan.op_names))
    return [rows[f"{called}_{key}_resolved"][:, np.newaxis] for key in FORMULAS[name][1]]


def in_one_text(name: str) -> str:
    """The formula with its line in place."""
    formula, _, line = FORMULAS[name][0].partition(" | ")
    key, _, text = line.partition(" = ")
    return re.sub(rf"\b{key}\b", f"({text})", formula) if line else formula


def peers(name: str, params: list[Any]) -> dict[str, Any]:
    """Calls that evaluate the formula with each peer, value and differences; without those that
    lack a function."""
    text = in_one_text(name)
    if re.search("erf|wofz", text):
        return {}
    keys = list(FORMULAS[name][1])
    count = len(keys) + 1
    found: dict[str, Any] = {}
    if numexpr is not None:
        numexpr.set_num_threads(1)
        env = {"x": ENERGY, "pi": np.pi, **dict(zip(keys, params, strict=True))}
        out = np.empty((TIME.size, ENERGY.size))
        found["numexpr"] = lambda: [numexpr.evaluate(text, env, out=out) for _ in range(count)]
    if numba is not None:
        code = (
            f"def run(x, out, {', '.join(keys)}):\n  for i in range(out.shape[0]):\n"
            f"    for j in range(out.shape[1]):\n      out[i, j] = one(x[j], "
            f"{', '.join(f'{key}[i, 0]' for key in keys)})\n"
        )
        space: dict[str, Any] = {
            one: getattr(np, one) for one in ("exp", "log", "sqrt", "cos", "arctan", "pi")
        }
        exec(f"def one(x, {', '.join(keys)}):\n  return {text}\n", space)
        space["one"] = numba.njit(space["one"])
        exec(code, space)
        run = numba.njit(space["run"])
        filled = np.empty((TIME.size, ENERGY.size))
        found["numba"] = lambda: [run(ENERGY, filled, *params) for _ in range(count)]
    return found


def timed(call: Any) -> float:
    """Seconds of the processor that one call takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(name: str, repeats: int) -> dict[str, Any]:
    """One row of the table."""
    built, own = executor(name, False), executor(name, True)
    theta = np.array(built.plan.theta)
    calls = {
        "columns": (lambda: built.jacobian(theta), lambda: own.jacobian(theta)),
        "value": (lambda: built.run(theta), lambda: own.run(theta)),
        "normal": (lambda: built.normal(theta), lambda: own.normal(theta)),
    }
    one, other = built.run(theta), own.run(theta)
    slopes = built.jacobian(theta), own.jacobian(theta)
    sizes = np.abs(slopes[0]).max(axis=1)
    row: dict[str, Any] = {
        "name": name,
        "arithmetic": FORMULAS[name][2],
        "difference": float(np.abs(one - other).max() / np.abs(one).max()),
        "slope difference": float((np.abs(slopes[0] - slopes[1]).max(axis=1) / sizes).max()),
    }
    for what, (first, second) in calls.items():
        pairs = [(timed(first), timed(second)) for _ in range(repeats)]
        row[what] = statistics.median(b / a for a, b in pairs)
        row[f"{what} ms"] = 1e3 * statistics.median(b for _, b in pairs)
    for what, call in peers(name, traces(built, name)).items():
        call()
        pairs = [(timed(lambda: own.normal(theta)), timed(call)) for _ in range(repeats)]
        row[what] = statistics.median(b / a for a, b in pairs)
    return row


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", choices=FORMULAS)
    given = parser.parse_args()
    rows = []
    print("function    J ratio   value  normal     J ms  difference    slopes  numexpr   numba")
    for name in [given.only] if given.only else FORMULAS:
        row = measure(name, given.repeats)
        rows.append(row)
        print(
            f"{name:10} {row['columns']:8.2f} {row['value']:7.2f} "
            f"{row['normal']:7.2f} {row['columns ms']:8.2f} "
            f"{row['difference']:11.1e} {row['slope difference']:9.1e}"
            + "".join(f"{row[k]:9.1f}" if k in row else f"{'-':>9}" for k in ("numexpr", "numba"))
        )
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
