"""What a formula costs beside the function of the table that says the same.

    python -m bench.inside.formulas [--only NAME ...] [--json FILE]

Each row is a function of the table, in turns with a formula that says the same
(bench/problems/formula_texts.py). One thread runs them (PYSPEC_NUM_THREADS=1), and all parameters
move.

- *partials*: value and all partials at 440 × 400 points, the function called directly;
- *J*: the same as columns of the residual of a model;
- *value*: the value alone;
- *normal*: the sums of the normal equations, of a line shape or background as a component of 440
  times × 400 energies. A law or profile has none.

A law or profile is called directly, on 440 abscissae for 400 sets of parameters. A model runs it
440 times, not 440 × 400 times. Ratios are medians of processor time. Differences are relative to
the largest value; those of a slope are relative to its largest one.

numexpr, Numba and JAX take part where they are installed (`pip install numexpr numba jax`). The
table has their time for value and all partials, called directly, over that of the formula. numexpr
fills the value and, for each parameter, its forward difference, one pass for each. Numba evaluates
the text once for the value and once more for each parameter, and forms no differences. JAX compiles
value and exact derivatives into one function. *sums* is how much longer than the normal equations
of the formula those by numexpr take: its differences, and their products by BLAS
(OPENBLAS_NUM_THREADS=1). "-" is what they lack.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from support.kernel_calls import KernelCall

from bench.measure import arguments_of, write_json
from bench.peers.formulas import PEERS, sums_by_numexpr
from bench.problems.formula_texts import NOT_FORMULAS, TEXTS, missing
from pyspec._library import OPS, OpDef
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.formula import define, write
from pyspec.model import Measurement, load_model

Array = npt.NDArray[np.float64]
Call = Callable[[], object]

ENERGY = np.linspace(75.0, 93.0, 400)
TIME = np.linspace(-1.0, 10.0, 440)
ROWS = 400

#: Domain of the table, and of a definition; what the formula calls its axis.
DOMAINS = {"ENERGY": ("energy", "x"), "TIME": ("time", "t"), "AUX": ("profile", "x")}


def parameters(name: str) -> str:
    """The parameters of a function with their bounds, as a definition writes them."""
    params = OPS[name].params
    bounds = {
        guard.param: f" {guard.comparison} "
        + (params[int(guard.other)] if guard.relative else f"{guard.other:g}")
        for guard in OPS[name].guards
    }
    return ", ".join(param + bounds.get(k, "") for k, param in enumerate(params))


def as_formula(name: str) -> OpDef:
    """The definition of a function by its formula."""
    text, (domain, _) = TEXTS[name], DOMAINS[OPS[name].domain]
    return define(write(domain, f"My{name}", parameters(name), text.formula, text.lines))


# ---- line shapes and backgrounds: a model of one component --------------------------------------


def source(name: str, by_formula: bool) -> str:
    """A model file with one component all of whose parameters move."""
    text = TEXTS[name]
    called = f"My{name}" if by_formula else name
    helpers = ", ".join(f"{key}: '{line}'" for key, line in text.lines)
    head = [
        "functions:",
        f"  {called}:",
        f"    parameters: {parameters(name)}",
        f"    formula: {text.formula}",
        *([f"    lines: {{{helpers}}}"] if helpers else []),
    ]
    body = [f"    {key}: [{value}, True]" for key, value in text.values.items()]
    law = ["law:", "  expFun: {A: [0.01, True], tau: [4, True], t0: [0, False]}"]
    numbered = f"{called}_01" if by_formula or OPS[name].numbered else called
    attached = [f"    {numbered}_{key}: {{dynamics: [law]}}" for key in text.values]
    lines = [*(head if by_formula else []), "m:", f"  {called}:", *body, *law]
    return "\n".join([*lines, "attached:", "  m:", *attached, ""])


def executor(name: str, by_formula: bool) -> CompiledExecutor:
    """The compiled model."""
    model = load_model(source(name, by_formula), "m")
    model.set_axes(energy=ENERGY, time=TIME)
    data = np.zeros((TIME.size, ENERGY.size))
    return CompiledExecutor(make_plan(model), Measurement(data=data))


def traces(built: CompiledExecutor, name: str) -> list[Array]:
    """The parameters of the component, (n_time, 1) each."""
    rows = dict(zip(built.plan.row_names, built.traces(None), strict=True))
    called = next(iter(built.plan.op_names))
    return [rows[f"{called}_{key}_resolved"][:, np.newaxis] for key in TEXTS[name].values]


def of_component(name: str) -> tuple[dict[str, tuple[Call, Call]], list[Array], list[Array]]:
    """Calls of both by what they measure, values and slopes of both, and what peers are given."""
    built, own = executor(name, False), executor(name, True)
    theta = np.array(built.plan.theta)
    given = traces(built, name)
    spaces = [np.empty((1 + len(given), TIME.size, ENERGY.size)) for _ in range(2)]
    params = np.ascontiguousarray(np.concatenate(given, axis=1).T)
    direct = [
        KernelCall(op, ENERGY, params, to[0], to[1:])
        for op, to in zip((OPS[name], as_formula(name)), spaces, strict=True)
    ]
    calls: dict[str, tuple[Call, Call]] = {
        "partials": (direct[0].run, direct[1].run),
        "columns": (lambda: built.jacobian(theta), lambda: own.jacobian(theta)),
        "value": (lambda: built.run(theta), lambda: own.run(theta)),
        "normal": (lambda: built.normal(theta), lambda: own.normal(theta)),
    }
    found = [
        np.concatenate([one.run(theta).reshape(1, -1), one.jacobian(theta)]) for one in (built, own)
    ]
    return calls, found, [ENERGY, *given]


# ---- laws and profiles: called for many sets of parameters --------------------------------------


def of_law(name: str) -> tuple[dict[str, tuple[Call, Call]], list[Array], list[Array]]:
    """Like :func:`of_component`."""
    values = np.array(list(TEXTS[name].values.values()))
    params = np.ascontiguousarray(values[:, np.newaxis] * np.linspace(0.9, 1.1, ROWS))
    found = [np.empty((1 + values.size, ROWS, TIME.size)) for _ in range(2)]
    with_slopes, alone = (
        [
            KernelCall(op, TIME, params, to[0], to[1:] if slopes else None)
            for op, to in zip((OPS[name], as_formula(name)), found, strict=True)
        ]
        for slopes in (True, False)
    )
    calls: dict[str, tuple[Call, Call]] = {
        "partials": (with_slopes[0].run, with_slopes[1].run),
        "value": (alone[0].run, alone[1].run),
    }
    for call in with_slopes:
        call.run()
    return calls, found, [TIME, *(row[:, np.newaxis] for row in params)]


# ---- the table ----------------------------------------------------------------------------------


def timed(call: Call) -> float:
    """Seconds of the processor that one call takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def in_turns(calls: tuple[Call, Call], repeats: int) -> tuple[float, float]:
    """The ratio of the second to the first, and the milliseconds of the second."""
    pairs = [(timed(calls[0]), timed(calls[1])) for _ in range(repeats)]
    ratio = statistics.median(b / a for a, b in pairs)
    return ratio, 1e3 * statistics.median(b for _, b in pairs)


def measure(name: str, repeats: int) -> dict[str, Any]:
    """One row of the table."""
    text, axis = TEXTS[name], DOMAINS[OPS[name].domain][1]
    calls, (one, other), given = (of_component if OPS[name].domain == "ENERGY" else of_law)(name)
    # What is the same for a row, as the slope by a constant, has no slope to compare with.
    flat = one.reshape(one.shape[0], -1), other.reshape(one.shape[0], -1)
    sizes = np.abs(flat[0]).max(axis=1)
    errors = np.abs(flat[0] - flat[1]).max(axis=1) / np.where(sizes, sizes, 1.0)
    row: dict[str, Any] = {
        "name": name,
        "arithmetic": text.arithmetic,
        "difference": float(errors[0]),
        "slope difference": float(errors[1:].max()),
    }
    for what, pair in calls.items():
        row[what], row[f"{what} ms"] = in_turns(pair, repeats)
    env = dict(zip((axis, *text.values), given, strict=True))
    beside = {peer: (build, calls["partials"][1]) for peer, build in PEERS.items()}
    if "normal" in calls:
        beside["sums"] = sums_by_numexpr, calls["normal"][1]
    for peer, (build, mine) in beside.items():
        call = build(text.in_one(), env)
        if call is not None:
            call()
            row[peer], _ = in_turns((mine, call), repeats)
    return row


def line_of(row: dict[str, Any]) -> str:
    """A row as it is printed."""

    def number(key: str, digits: int = 2) -> str:
        return f"{row[key]:9.{digits}f}" if key in row else f"{'-':>9}"

    return (
        f"{row['name']:11}{number('partials')}{number('columns')}{number('value')}"
        f"{number('normal')}{number('partials ms')}{row['difference']:10.0e}"
        f"{row['slope difference']:10.0e}" + "".join(number(peer, 1) for peer in (*PEERS, "sums"))
    )


def main() -> None:
    """Prints the table."""
    parser = arguments_of("inside.formulas", __doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", nargs="*", choices=TEXTS)
    given = parser.parse_args()
    if missing():
        sys.exit(f"without a formula here: {', '.join(missing())}")
    titles = ("partials", "J", "value", "normal", "ms")
    print(
        f"{'function':11}{''.join(f'{title:>9}' for title in titles)}{'differs':>10}{'slopes':>10}"
        + "".join(f"{peer:>9}" for peer in (*PEERS, "sums"))
    )
    rows = []
    for name in given.only or TEXTS:
        rows.append(measure(name, given.repeats))
        print(line_of(rows[-1]), flush=True)
    for name, reason in NOT_FORMULAS.items():
        print(f"{name:11} no formula: {reason}")
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
