"""Hard starts: the share of fits that end in the best optimum, with one start and with ten.

Ten traces of three exponentials with a coherent artifact, whose onset starts two widths off, and
ten doublets whose lines start exchanged and apart. Prints the shares, and the time of both.

    python bench/starts.py [--starts 10] [--json FILE]
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.measure import arguments_of, write_json
from pyspec import fit_model, load_model
from pyspec.executor import make_executor
from pyspec.model import Measurement, Model, load_time_model

#: A fit ends in the best optimum where its chi² is at most this share above that of the fit from
#: the values that made the data.
SLACK = 1e-4

TRACE = """
decays:
  gaussIRF: {SD: [0.1, True, 0.02, 0.5]}
  expFun: {A: [A1, True, -20, 20], tau: [T1, True, 0.1, 1000], t0: [T0, True, -1, 1]}
  expFun: {A: [A2, True, -20, 20], tau: [T2, True, 0.1, 1000], t0: ["expFun_01_t0"]}
  expFun: {A: [A3, True, -20, 20], tau: [T3, True, 0.1, 1000], t0: ["expFun_01_t0"]}
  expFun: {A: [A4, True, -200, 200], tau: [0.01, False], t0: ["expFun_01_t0"]}
"""

DOUBLET = """
lines:
  Offset: {y0: [1, True, 0, 5]}
  Gauss: {A: [A1, True, 0, 50], x0: [X1, True, 80, 90], SD: [S1, True, 0.1, 3]}
  Gauss: {A: [A2, True, 0, 50], x0: [X2, True, 80, 90], SD: [S2, True, 0.1, 3]}
"""


def filled(text: str, values: dict[str, float]) -> str:
    """The text with its names replaced by values."""
    for name, value in values.items():
        text = text.replace(f"[{name},", f"[{value:.6g},")
    return text


def trace(seed: int) -> tuple[Model, Model, float]:
    """(true model, model at the hard start, noise) of a trace."""
    draw = np.random.default_rng(seed)
    tau = [draw.uniform(0.3, 0.8), draw.uniform(4.0, 10.0), draw.uniform(60.0, 200.0)]
    heights = [draw.uniform(1.0, 3.0), -draw.uniform(1.0, 3.0), draw.uniform(1.0, 3.0)]
    true = {f"T{k + 1}": tau[k] for k in range(3)} | {f"A{k + 1}": heights[k] for k in range(3)}
    true |= {"T0": 0.0, "A4": draw.uniform(10.0, 30.0)}
    start = {"T1": 20.0, "T2": 2.0, "T3": 30.0, "A1": 1.0, "A2": 1.0, "A3": 1.0}
    start |= {"T0": 0.2 * (-1) ** seed, "A4": 1.0}
    times = np.concatenate([np.linspace(-1.0, 2.0, 121), np.geomspace(2.05, 500.0, 80)])
    models = [load_time_model(filled(TRACE, values), "decays") for values in (true, start)]
    for model in models:
        model.set_axes(time=times)
    return models[0], models[1], 0.02


def doublet(seed: int) -> tuple[Model, Model, float]:
    """(true model, model at the hard start, noise) of two lines of unlike width."""
    draw = np.random.default_rng(seed)
    centre, gap = draw.uniform(84.0, 86.0), draw.uniform(1.5, 3.0)
    true = {"X1": centre, "X2": centre + gap, "A1": 20.0, "A2": draw.uniform(4.0, 10.0)}
    true |= {"S1": 0.4, "S2": draw.uniform(0.6, 1.0)}
    start = {"X1": centre + gap + 1.0, "X2": centre - 1.5, "A1": 5.0, "A2": 5.0}
    start |= {"S1": 0.3, "S2": 0.3}
    models = [load_model(filled(DOUBLET, values), "lines") for values in (true, start)]
    for model in models:
        model.set_axes(energy=np.linspace(80.0, 90.0, 201))
    return models[0], models[1], 0.1


def case(kind: str, seed: int, n_starts: int) -> dict[str, Any]:
    """One hard start: whether one start, and several, end in the best optimum; and the times."""
    true, start, sigma = (trace if kind == "trace" else doublet)(seed)
    clean = make_executor(true).run(true.theta())
    data = clean + np.random.default_rng(1000 + seed).normal(0.0, sigma, clean.shape)
    measurement = Measurement(data, weight=np.full(clean.shape, 1.0 / sigma))
    best = fit_model(true, measurement).chisqr
    found: dict[str, Any] = {"kind": kind, "seed": seed, "best": best}
    for name, n in (("one", 1), ("several", n_starts)):
        begin = time.perf_counter()
        result = fit_model(start, measurement, n_starts=n)
        found[name] = bool(result.chisqr <= best * (1.0 + SLACK))
        found[f"{name}_seconds"] = time.perf_counter() - begin
        found[f"{name}_chisqr"] = result.chisqr
    found["agree"] = sum(one.agrees for one in result.starts)
    found["says"] = list(map(str, result.findings))
    return found


def run(n_starts: int) -> list[dict[str, Any]]:
    """All twenty."""
    return [case(kind, seed, n_starts) for kind in ("trace", "doublet") for seed in range(10)]


def main() -> None:
    parser = arguments_of("starts", __doc__)
    parser.add_argument("--starts", type=int, default=10)
    given = parser.parse_args()
    rows = run(given.starts)
    print(f"{'case':12} {'best χ²':>10} {'one':>10} {'several':>10} {'agree':>6}")
    for row in rows:
        name = f"{row['kind']} {row['seed']}"
        numbers = (row["best"], row["one_chisqr"], row["several_chisqr"])
        print(f"{name:12} " + " ".join(f"{n:10.4g}" for n in numbers) + f" {row['agree']:6}")
    one, several = (sum(row[name] for row in rows) for name in ("one", "several"))
    times = [float(np.median([row[f"{n}_seconds"] for row in rows])) for n in ("one", "several")]
    print(f"one start: {one} of {len(rows)}; {given.starts} starts: {several} of {len(rows)}")
    print(f"median time: {1e3 * times[0]:.3g} ms and {1e3 * times[1]:.3g} ms")
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
