"""What is made of many fits: ``python -m bench.batches --rounds 3``.

- Slices of data set 01 with one and five free parameters, started by the shift of their maximum.
- Bootstraps of a measurement of 440 × 400 points.
- The intervals of data sets 01 to 03 at one, two and three standard deviations.
- Steps of emcee on data set 01, and the widths of a chain of 8,000.
- The starts of one fit.
- Spectra of counts: a doublet of 100 points, five free, all started at the same values.
- All spectra of `nano_xps.nc`, from the open file to their values and errors.
- Simulated spectra of 100 points from a file of uint16.

Times are milliseconds, medians of interleaved rounds: those of the processor, which count all
threads, and those that a user waits. They are those of one slice, one spectrum of counts, one step
and one start, but of a bootstrap of 1,000, all intervals, the whole map and 1,000,000 spectra.
``PYSPEC_NUM_THREADS`` sets the threads.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.many import CASES
from bench.measure import arguments_of, finish, print_rows
from bench.problems.cases import SHARED, examples_folder, seed_task, set_task
from pyspec import Measurement, fit_model, fit_slices, load_model
from pyspec.fit import FitResult, bootstrap
from pyspec.io import by_reference
from pyspec.workflow.fitting.seeds import shift_seeds

#: Bootstraps, steps, starts and spectra of counts of a round; spectra of the simulated series.
DRAWN, STEPS, STARTS, COUNTED, SPECTRA = 50, 400, 50, 500, 20_000

#: What a round has milliseconds of, and the bar, where there is one.
BARS = {
    "slice, 1 free": 0.02,
    "slice, 5 free": 0.05,
    "bootstrap, amplitude": 1500.0,
    "intervals, data_01": 15.0,
    "intervals, data_02": 15.0,
    "intervals, data_03": 15.0,
    "nano_xps.nc": 200.0,
    "1e6 spectra": 60_000.0,
}

Job = Callable[[], float]

DOUBLET_4F = """\
w4f:
  LinBack: {m: [0, True, -1.0e+4, 1.0e+4], b: [500, True], xStart: [-40, False], xStop: [-28, False]}
  GLP: {A: [500, True, 0, 1.0e+6], x0: [-32.6, True, -35, -30], F: [0.5, True, 0.1, 3], m: [0.3, False]}
  GLP: {A: ["0.66 * GLP_01_A"], x0: ["GLP_01_x0 - 2.08"], F: ["GLP_01_F"], m: ["GLP_01_m"]}
"""  # noqa: E501


def slices(folder: Path) -> Iterator[tuple[str, Job]]:
    """Those of data set 01, with the position free and with all but the shape."""
    task = set_task("data_01", folder)
    base = load_model(task.text, "base")
    base.set_axes(energy=task.energy)
    base.set_values({n: v for n, v in task.values.items() if n in base.parameters})
    series = Measurement(task.data)
    for n_free in (1, 5):
        model = base.copy()
        for name in base.opt_param_names:
            vary = name == "GLP_01_x0" if n_free == 1 else name != "GLP_01_m"
            model.set(name, vary=vary)
        seeds: list[dict[str, float]] = [{} for _ in task.data]
        shift_seeds(model, series, seeds)

        def job(model: Any = model, seeds: Any = seeds) -> float:
            return _read(fit_slices(model, series, seeds=seeds)) / len(task.data)

        yield f"slice, {n_free} free", job


def fit_of_set(name: str, folder: Path) -> FitResult:
    """The fit of a measured data set."""
    case = set_task(name, folder).case()
    return fit_model(case.model, case.measurement)


def widths(folder: Path) -> dict[str, float]:
    """Widths of a long chain on data set 01, as parts of the standard errors of the fit."""
    result = fit_of_set("data_01", folder)
    samples = result.sample(steps=20 * STEPS, burn=STEPS, seed=1)
    return {name: samples.stderr[name] / result.stderr[name] for name in result.free_names}


def jobs(folder: Path, spectra: Path) -> Iterator[tuple[str, Job]]:
    """All of them, by name."""
    yield from slices(folder)
    for what in ("amplitude", "position"):
        case = seed_task(f"seed_{what}", 4).case()
        result = fit_model(case.model, case.measurement)
        yield (
            f"bootstrap, {what}",
            lambda result=result: _read(bootstrap(result, DRAWN)) * 1000 / DRAWN,
        )
    for name in ("data_01", "data_02", "data_03"):
        result = fit_of_set(name, folder)
        yield f"intervals, {name}", lambda result=result: float(len(result.conf_interval()) > 0)
    first = fit_of_set("data_01", folder)

    def sample() -> float:
        first.sample(steps=STEPS, seed=1)
        return 1.0 / STEPS

    yield "step of emcee", sample
    doublet = CASES["doublet 5, 100"]
    model = doublet.model()
    one = Measurement(doublet.data(model)[0])

    def starts() -> float:
        fit_model(model, one, n_starts=STARTS, seed=3)
        return 1.0 / STARTS

    yield "start", starts
    rng = np.random.default_rng(1)
    counts = rng.poisson(np.maximum(model.evaluate(), 0.0), (COUNTED, model.energy.size))
    counted = Measurement(counts.astype(np.float64), loss="poisson")
    yield "spectrum of counts", lambda: _read(fit_slices(model, counted)) / COUNTED
    path = SHARED / "data" / "xps_map" / "nano_xps.nc"
    if path.is_file():
        yield "nano_xps.nc", lambda: nano(path)
    yield "1e6 spectra", lambda: _read(simulated(spectra)) * 1e6 / SPECTRA


def nano(path: Path) -> float:
    """All spectra of the map, which start at the fit of their mean."""
    import xarray

    with xarray.open_dataarray(path) as found:
        data, energy = found.values.astype(np.float64), found.eV.values
    model = load_model(DOUBLET_4F, "w4f")
    model.set_axes(energy=energy)
    rows = data.reshape(-1, data.shape[-1])
    mean = fit_model(model, Measurement(rows.mean(axis=0)))
    model.set_values({name: mean.values[name] for name in mean.free_names})
    return _read(fit_slices(model, Measurement(rows)))


def simulated(path: Path) -> Any:
    """Spectra of a doublet as numbers of two bytes, from a file that is read block by block."""
    size = "[20, True, 0, 500]", "[2000, True, 0, 50000]"
    small = CASES["doublet 5, 100"]
    text = small.text.replace(*size).replace("[0.1, True, -5, 5]", "[10, True, -500, 500]")
    text = text.replace("[2, True, -50, 50]", "[200, True, -5000, 5000]")
    model = replace(small, text=text).model()
    if not path.exists():
        rng, clean = np.random.default_rng(1), model.evaluate()
        with path.open("wb") as file:
            for begin in range(0, SPECTRA, 20_000):
                n = min(20_000, SPECTRA - begin)
                drawn = clean + 30.0 * rng.normal(size=(n, clean.size))
                np.clip(np.round(drawn), 0, 65535).astype(np.uint16).tofile(file)
    data = np.memmap(path, np.uint16, "r", shape=(SPECTRA, 100))
    return fit_slices(model, Measurement(by_reference(data)))


def _read(fits: Any) -> float:
    """1, once values, errors and states were read."""
    return 1.0 if fits.values and fits.stderr and len(fits.status) else np.nan


def main() -> None:
    """The command line."""
    parser = arguments_of("batches", __doc__, data=True)
    parser.add_argument("--rounds", type=int, default=3, help="rounds; one more is not counted")
    parser.add_argument("names", nargs="*", help="of which jobs, by words of their names")
    given = parser.parse_args()
    folder = examples_folder(given.data)
    if folder is None:
        parser.error("the reference data are needed: give --data")
    times: dict[str, list[tuple[float, float]]] = {}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as own:
        warnings.simplefilter("ignore")
        every = jobs(folder, Path(own) / "spectra.u16")
        chosen = [one for one in every if not given.names or any(w in one[0] for w in given.names)]
        for turn in range(given.rounds + 1):
            for name, job in chosen:
                begin, waits = time.process_time(), time.perf_counter()
                share = 1e3 * job()
                spent, waited = time.process_time() - begin, time.perf_counter() - waits
                if turn:
                    times.setdefault(name, []).append((share * spent, share * waited))
        chain = widths(folder) if "step of emcee" in times else {}
    medians = {name: np.median(rounds, axis=0).tolist() for name, rounds in times.items()}
    rows = [
        [name, f"{spent:.4g}", f"{waited:.4g}", f"{BARS.get(name, np.nan):g}"]
        for name, (spent, waited) in medians.items()
    ]
    print_rows(["job", "processor, ms", "waited, ms", "bar"], rows)
    if chain:
        print_rows(
            ["samples of", "width / standard error"], [[k, f"{v:.3f}"] for k, v in chain.items()]
        )
    finish(given.json, {"batches": medians, "widths": chain})


if __name__ == "__main__":
    main()
