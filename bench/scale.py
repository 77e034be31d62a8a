"""Fits of series larger than memory: ``make scale``, or python -m bench.scale --share 0.1.

Simulated series of 5e8 points (4e9 bytes as float64) are written as contiguous and as gzip HDF5, as
zarr with zstd and as uint16, and fitted by reference. The table has for each store and model:

- seconds of reading the series, block by block, by the library of the store;
- seconds of the sums over as many rows in memory, and of one evaluation, by --threads threads;
- the peak of anonymous memory above that of the imports. It covers a fit with its statistics, its
  report and its archive;
- whether the bits are those of fits in memory.

Times and ratios are medians of interleaved rounds. What misses its bar is measured in twice as many
further rounds, as other work may have had the machine. The exit code is 1 where a bar is missed.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measure import arguments_of, finish, print_rows
from bench.problems.scale_data import STORES, Grid, Store, scaled_grids

#: An evaluation takes at most so many times the longer one of reading and sums.
RATIO = 1.25

#: Anonymous memory above the imports stays below, in bytes.
MEMORY = 300 * 2**20

#: Points of the part of a series that is fitted in memory too.
PART = 4_000_000


def anonymous_bytes(pid: int) -> int:
    """Anonymous memory of a process; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(one.split()[1]) for one in lines if one.startswith("RssAnon:")), 0)


def available_bytes() -> int:
    """Memory that programs may still take."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(1024 * int(one.split()[1]) for one in lines if one.startswith("MemAvailable:"))


class InChild:
    """A function that a process of its own runs, and what it needs beyond its imports: looked at
    every few seconds, or milliseconds."""

    def __init__(self, job: Callable[..., Any], *given: Any, every: float = 0.003) -> None:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_child, args=(there, job, given))
        process.start()
        there.close()
        try:
            self.before = self.peak = here.recv()
            while not here.poll(every):
                self.peak = max(self.peak, anonymous_bytes(process.pid or 0))
            self.found = here.recv()
        except EOFError:
            raise SystemExit(f"{job.__name__}{given}: the process ended early") from None
        finally:
            process.join()

    @property
    def needed(self) -> int:
        """Bytes above the imports."""
        return int(self.peak - self.before)


def _child(pipe: Any, job: Callable[..., Any], given: Any) -> None:
    import h5py  # noqa: F401
    import lmfit  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import zarr  # noqa: F401

    import pyspec.plot  # noqa: F401

    pipe.send(anonymous_bytes(os.getpid()))
    pipe.send(job(*given))
    pipe.close()


def drop_cached(paths: list[Path]) -> None:
    """Asks the system to forget what it holds of files."""
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        os.fdatasync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


@dataclass(frozen=True)
class How:
    """How times are taken: rounds, threads of sums, and whether files are dropped from memory."""

    rounds: int = 3
    threads: int = 1
    cold: bool = False


def timed(folder: Path, store: Store, grid: Grid, how: How) -> dict[str, Any]:
    """Seconds of reading, and by motion and form of the sums in memory and of an evaluation."""
    os.environ["PYSPEC_NUM_THREADS"] = str(how.threads)
    import numpy as np

    from pyspec.executor import make_executor
    from pyspec.model import Measurement

    given, source = store.open(folder), store.source(folder)
    fit = min(1.0, 0.4 * available_bytes() / source.nbytes)
    n_rows = max(int(fit * grid.n_time), 1)
    held: Any = np.empty((n_rows, grid.n_energy), source.dtype)
    for begin in range(0, n_rows, source.step):
        held[begin : begin + source.step] = given[begin : min(begin + source.step, n_rows)]

    def read() -> None:
        for begin in range(0, grid.n_time, source.step):
            given[begin : begin + source.step]

    jobs: dict[str, Callable[[], Any]] = {"read": read}
    found: dict[str, Any] = {"rows_in_memory": n_rows, "fits": {}}
    forms = {"chi2": "value", "normal equations": "gram"}
    for motion in grid.motions:
        model, own = grid.model(motion), Grid(n_rows, grid.n_energy, grid.motions)
        by_blocks: Any = make_executor(model, Measurement(data=source))
        in_memory: Any = make_executor(
            model if n_rows == grid.n_time else own.model(motion), Measurement(data=held)
        )
        theta = model.theta()
        for form in forms.values():
            in_strips = by_blocks.in_strips(form)
            options = {"form": form, "in_strips": in_strips, "threads": how.threads}
            jobs[f"sums {motion} {form}"] = lambda executor=in_memory, given=options, at=theta: (
                executor.normal(at, **given)
            )
            jobs[f"evaluation {motion} {form}"] = lambda executor=by_blocks, form=form, at=theta: (
                executor.normal(at, form=form)
            )
        if n_rows == grid.n_time:
            pair = [jobs[f"{what} {motion} gram"]() for what in ("sums", "evaluation")]
            found["same_bits"] = pair[0].tobytes() == pair[1].tobytes()

    def one_round(names: list[str]) -> dict[str, float]:
        spent = {}
        for name in names:
            if how.cold:
                drop_cached(store.files(folder))
            begun = time.perf_counter()
            jobs[name]()
            spent[name] = time.perf_counter() - begun
        return spent

    rounds = [one_round(list(jobs)) for _ in range(how.rounds)]
    found["read_s"] = statistics.median(one["read"] for one in rounds)
    for motion in grid.motions:
        for name, form in forms.items():
            names = ["read", f"sums {motion} {form}", f"evaluation {motion} {form}"]
            own = [[one[what] for what in names] for one in rounds]
            fit = compared(own, grid.n_time / n_rows)
            if fit["ratio"] > RATIO:
                own += [list(one_round(names).values()) for _ in range(2 * how.rounds)]
                fit = compared(own, grid.n_time / n_rows)
            found["fits"][f"{motion}, {name}"] = fit
    return found


def compared(rounds: list[list[float]], times: float) -> dict[str, float]:
    """Medians of seconds that reading, sums in memory over one part in `times` of the rows, and an
    evaluation took in each round, and of their ratio."""
    each = [(read, times * sums, evaluation) for read, sums, evaluation in rounds]
    return {
        "sums_s": statistics.median(sums for _, sums, _ in each),
        "evaluation_s": statistics.median(evaluation for _, _, evaluation in each),
        "ratio": statistics.median(evaluation / max(read, sums) for read, sums, evaluation in each),
        "rounds": len(rounds),
    }


def whole_fit(folder: Path, store: Store, grid: Grid, motion: str) -> dict[str, Any]:
    """A fit by reference, its statistics, report and archive."""
    from pyspec.fit import fit_model
    from pyspec.io import save_fit
    from pyspec.model import Measurement
    from pyspec.plot import report

    begun = time.perf_counter()
    result = fit_model(grid.start(motion), Measurement(data=store.source(folder)))
    fitted = time.perf_counter()
    numbers = dict(result.statistics)
    save_fit(folder / "fit.h5", result)
    report(result, folder / "report.html")
    return {
        "success": result.success,
        "nfev": result.nfev,
        "fit_s": fitted - begun,
        "rest_s": time.perf_counter() - fitted,
        "r2": numbers["r2"],
    }


def same_as_in_memory(folder: Path, store: Store, grid: Grid, motion: str) -> bool:
    """Whether fits of the first rows have the same bits by reference and in memory."""
    import numpy as np

    from pyspec.fit import fit_model
    from pyspec.fit.solve.native import NativeSolver
    from pyspec.model import Measurement

    NativeSolver.every = 1  # in this process: fits by reference take all rows always
    n = min(PART // grid.n_energy, grid.n_time)
    part = Grid(n, grid.n_energy, grid.motions)
    source = store.source(folder)[:n]
    found = []
    for data in (source, np.asarray(source)):
        result = fit_model(part.start(motion), Measurement(data=data))
        errors = np.array([result.stderr[name] or np.nan for name in result.free_names])
        found.append((result.theta.tobytes(), errors.tobytes(), result.chisqr, result.nfev))
    return bool(found[0] == found[1])


def measure(grid: Grid, folder: Path, how: How | None) -> dict[str, Any]:
    """All stores of one grid, each written, measured and removed; times unless `how` is None."""
    found: dict[str, Any] = {}
    counts = STORES[0]
    _say(f"{grid.name}: simulating")
    counts.write(folder, grid, grid.simulated())
    for store in STORES:
        if store is not counts:
            _say(f"{grid.name}, {store.name}: writing")
            store.write(folder, grid, counts.open(folder))
        row: dict[str, Any] = {"bytes": store.size(folder)}
        if how is not None:
            _say(f"{grid.name}, {store.name}: timing")
            row |= InChild(timed, folder, store, grid, how, every=1.0).found
        row["memory"] = {}
        for motion in grid.motions[:1]:
            _say(f"{grid.name}, {store.name}: fitting")
            child = InChild(whole_fit, folder, store, grid, motion)
            row["memory"][motion] = {"peak_mib": child.needed / 2**20, **child.found}
        row["fit_same_bits"] = InChild(same_as_in_memory, folder, store, grid, motion).found
        found[store.name] = row
        if store is not counts:
            for path in store.files(folder):
                path.unlink()
    return found


def misses(found: dict[str, Any]) -> list[str]:
    """Which bars are missed, in words."""
    words = []
    for grid, stores in found.items():
        for store, row in stores.items():
            where = f"{grid}, {store}"
            for fit, one in row.get("fits", {}).items():
                if one["ratio"] > RATIO:
                    words.append(f"{where}, {fit}: ratio {one['ratio']:.2f}, at most {RATIO}")
            for one in row["memory"].values():
                if one["peak_mib"] * 2**20 > MEMORY:
                    words.append(f"{where}: {one['peak_mib']:.0f} MiB, at most {MEMORY >> 20}")
                if not one["success"]:
                    words.append(f"{where}: the fit did not converge")
            if not (row["fit_same_bits"] and row.get("same_bits", True)):
                words.append(f"{where}: other bits than in memory")
    return words


def show(found: dict[str, Any]) -> None:
    """Both tables."""
    times, fits = [], []
    for grid, stores in found.items():
        for store, row in stores.items():
            for fit, one in row.get("fits", {}).items():
                numbers = (row["read_s"], one["sums_s"], one["evaluation_s"], one["ratio"])
                times.append([f"{grid}, {store}, {fit}", *(f"{value:.2f}" for value in numbers)])
            for motion, one in row["memory"].items():
                fits.append(
                    [
                        f"{grid}, {store}, {motion}",
                        f"{row['bytes'] / 1e9:.2f}",
                        f"{one['peak_mib']:.0f}",
                        f"{one['nfev']}",
                        f"{one['fit_s']:.1f}",
                        f"{one['rest_s']:.1f}",
                        "yes" if row["fit_same_bits"] and row.get("same_bits", True) else "NO",
                    ]
                )
    if times:
        print_rows(["series, store, fit", "read s", "sums s", "evaluation s", "ratio"], times)
        print()
    head = ["series, store, what moves", "GB", "peak MiB", "nfev", "fit s", "rest s", "same bits"]
    print_rows(head, fits)


def _say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


def need_disk(folder: Path, share: float) -> None:
    """Raises SystemExit where the stores of a grid would not fit."""
    needed, free = int(1.1e10 * share), shutil.disk_usage(folder).free
    if needed > free:
        raise SystemExit(
            f"{folder}: {free / 1e9:.1f} GB free, {needed / 1e9:.1f} GB needed; choose another "
            "folder with --folder, or a smaller --share"
        )


def main(arguments: list[str] | None = None) -> int:
    """Measures all series, prints tables, writes JSON if asked to; 1 where a bar is missed."""
    parser = arguments_of("scale", __doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the times (1)")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (3)")
    parser.add_argument("--threads", type=int, default=1, help="of sums (1)")
    parser.add_argument("--folder", type=Path, help="for the series: a new one in it is removed")
    parser.add_argument("--cold", action="store_true", help="drop the files from memory each time")
    parser.add_argument("--no-timings", action="store_true", help="memory and bits alone")
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {}
    if not Path("/proc/self/status").is_file():
        parser.error("memory is read from /proc, which Linux has")
    with tempfile.TemporaryDirectory(prefix="pyspec-scale-", dir=given.folder) as name:
        need_disk(Path(name), given.share)
        for grid in scaled_grids(given.share):
            how = None if given.no_timings else How(given.rounds, given.threads, given.cold)
            found[grid.name] = measure(grid, Path(name), how)
    show(found)
    state = "dropped from memory before each run" if given.cold else "cached in memory"
    print(f"\nFiles {state}; threads of sums: {given.threads}, {given.rounds} rounds")
    missed = misses(found)
    finish(given.json, {"series": found, "missed": missed})
    print("\n".join(["", *(f"missed: {text}" for text in missed)]))
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
