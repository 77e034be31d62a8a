"""A map that is killed again and again: ``python -m tests.campaign.maps``.

A map of 200,000 spectra is fitted once undisturbed, and once by processes that are killed
(SIGKILL) five times, each followed by the same call. The results must be equal and complete.
With ``--cluster`` it is a map on a LocalCluster. Then the cost of the engine is measured: the map
beside two plain loops in the same workers, one that reads, fits and writes the same blocks without
the engine, and one that fits spectra in memory.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pyspec import Measurement, fit_map, fit_slices, load_model
from pyspec.workflow.maps.block import MapJob, fit_block
from pyspec.workflow.maps.map_data import MapData, map_array
from pyspec.workflow.maps.store import MapStore
from pyspec.workflow.maps.template import identity, make_template

ROOT = Path(__file__).resolve().parents[2]

MODEL = """
peak:
  Offset:
    y0: [3, True, 0, 100]
  GLP:
    A: [18, True, 0, 1000]
    x0: [84, True, 82, 86]
    F: [1.0, True, 0.1, 5]
    m: [0.3, False]
"""
ENERGY = np.linspace(80.0, 88.0, 100)

#: The part of a map's time that may be the engine's.
OVERHEAD = 0.10


def make_map(path: Path, n_spectra: int, seed: int = 1) -> None:
    """Writes a map of about so many spectra to a zarr store: some have NaN, some no peak."""
    import xarray

    n_x = max(1, math.isqrt(n_spectra))
    n_y = -(-n_spectra // n_x)
    rng = np.random.default_rng(seed)
    y, x = np.linspace(0.0, 1.0, n_y), np.linspace(0.0, 2.0, n_x)
    place = 83.7 + 0.5 * y[:, None] + 0.3 * np.sin(3 * x)
    height = np.where(rng.random(place.shape) < 0.01, 0.0, 18.0)
    shape = np.exp(-(((ENERGY - place[..., None]) / 0.6) ** 2))
    data = 3.0 + height[..., None] * shape + rng.normal(0, 0.5, (n_y, n_x, ENERGY.size))
    data[rng.random(place.shape) < 0.002, 17] = np.nan
    coords = {"y": y, "x": x, "energy": ENERGY}
    array = xarray.DataArray(data.astype(np.float32), coords, ("y", "x", "energy"), name="counts")
    chunks = {"y": max(1, n_y // 20), "x": max(1, n_x // 4), "energy": ENERGY.size}
    array.chunk(chunks).to_dataset().to_zarr(path, zarr_format=2)


def fit(data: Path, store: Path, workers: int, cluster: bool, block_size: int | None) -> None:
    """What a process does that may be killed."""
    model = load_model(MODEL, "peak")
    if not cluster:
        fit_map(model, str(data), store, block_size=block_size)
        return
    from dask.distributed import Client, LocalCluster

    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=workers, **options) as local, Client(local) as client:
        fit_map(model, str(data), store, client=client, block_size=block_size)


def start(data: Path, store: Path, given: argparse.Namespace) -> subprocess.Popen[bytes]:
    """A process of its own that fits the map."""
    command = [sys.executable, "-m", "tests.campaign.maps", "--fit", str(data), str(store)]
    command += ["--workers", str(given.workers)]
    if given.block_size:
        command += ["--block-size", str(given.block_size)]
    if given.cluster:
        command += ["--cluster"]
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.Popen(command, cwd=ROOT, env=env)


def written(store: Path) -> int:
    """Blocks that have their marker."""
    found = store / "blocks" / "results"
    return sum(not one.name.startswith(".") for one in found.iterdir()) if found.exists() else 0


def killed(data: Path, store: Path, n_blocks: int, given: argparse.Namespace) -> list[int]:
    """Fits the map in processes that are killed; the blocks that were written at each."""
    rng, found = random.Random(given.seed), []
    for k in range(given.kills):
        goal = (k + 1) * n_blocks // (given.kills + 1)
        process = start(data, store, given)
        while written(store) < goal and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.5))
        if process.poll() is not None:
            raise SystemExit(f"the map ended by itself before kill {k + 1}: {process.returncode}")
        process.kill()
        process.wait()
        found.append(written(store))
        print(f"  killed {k + 1}: {found[-1]} of {n_blocks} blocks are there", flush=True)
    process = start(data, store, given)
    if process.wait() != 0:
        raise SystemExit(f"the last process ended with {process.returncode}")
    return found


def differences(one: Path, other: Path) -> list[str]:
    """Variables of two maps that differ, and what is not complete."""
    import xarray

    first, second = xarray.open_zarr(one).load(), xarray.open_zarr(other).load()
    found = [str(name) for name in first if not first[name].identical(second[name])]
    states = set(np.unique(second["status"]))
    if first.attrs != second.attrs or not states <= {
        "converged",
        "undetermined",
        "stopped",
        "failed",
    }:
        found.append(f"attributes, or states {states}")
    failed = int((second["status"] == "failed").sum())
    print(f"  {second['status'].size} spectra, {failed} failed, each with a message", flush=True)
    if bool((second["message"] == "").any()):
        found.append("spectra without a message")
    return found


def good_spectra(data: Path) -> Any:
    """The spectra of a map that have no NaN, (n, n_energy)."""
    import xarray

    values = xarray.open_zarr(data)["counts"].values.reshape(-1, ENERGY.size)
    return values[np.isfinite(values).all(axis=1)]


def plain_loop(spectra: Any) -> int:
    """Fits spectra that are in memory, one after the other: what a map does without its engine."""
    model = load_model(MODEL, "peak")
    model.set_axes(energy=ENERGY)
    for begin in range(0, len(spectra), 2000):
        fit_slices(model, Measurement(spectra[begin : begin + 2000]))
    return len(spectra)


def empty_store(data: Path, like: Path, path: Path) -> tuple[MapJob, list[Any]]:
    """A store with the blocks of that of a map, none of them written, and the job that fills it."""
    array = map_array(str(data), None)
    model = load_model(MODEL, "peak")
    model.set_axes(energy=array["energy"].values)
    job = MapJob(model, (0, ENERGY.size), {}, None, {}, MapStore(path, ()))
    job = replace(job, store=MapStore(path, job.names()))
    given, block = MapData({"data": array}), MapStore(like, job.names()).block()
    grid = tuple(math.ceil(n / step) for n, step in zip(array.shape[:-1], block, strict=True))
    job.store.create(make_template(job, given, block, identity(job, given)), block, grid)
    return job, given.blocks(block)


def loop_of_blocks(job: MapJob, data: Path, blocks: list[Any]) -> int:
    """Reads, fits and writes blocks, one after the other: a map without its engine."""
    import zarr

    values: Any = zarr.open_group(str(data), mode="r")["counts"]
    return sum(fit_block(job, *block, {"data": values[block[1]]}).total() for block in blocks)


def cluster_times(folder: Path, data: Path, workers: int, turns: int) -> dict[str, list[Any]]:
    """Seconds of each turn (processor time of workers, scheduler and client; wall): of a map on a
    LocalCluster, of plain loops in its workers that read, fit and write the same blocks, and of
    loops that fit spectra in memory."""
    from dask.distributed import Client, LocalCluster, wait

    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=workers, **options) as local, Client(local) as client:
        places = sorted(client.nthreads())
        shares = np.array_split(good_spectra(data), workers)
        held = [
            client.scatter(share, workers=[address])
            for share, address in zip(shares, places, strict=True)
        ]
        wait(held)

        def spread(function: Callable[..., int], given: list[tuple[Any, ...]]) -> int:
            pairs = zip(given, places, strict=True)
            sent = [client.submit(function, *one, workers=[at], pure=False) for one, at in pairs]
            return int(sum(client.gather(sent)))

        def store(turn: int, name: str = "map") -> Path:
            return folder / f"{name}_{turn}.zarr"

        def mapped(turn: int) -> None:
            model = load_model(MODEL, "peak")
            fit_map(model, str(data), store(turn), client=client, seed_adapt=None)

        def by_blocks(turn: int) -> None:
            job, blocks = empty_store(data, store(turn), store(turn, "loops"))
            parts = [blocks[k::workers] for k in range(workers)]
            spread(loop_of_blocks, [(job, data, part) for part in parts])

        def in_memory(turn: int) -> None:
            assert spread(plain_loop, [(share,) for share in held]) == sum(map(len, shares))

        def timed(work: Callable[[], None]) -> tuple[float, float]:
            def used() -> float:
                return time.process_time() + sum(client.run(time.process_time).values())

            begin = used(), time.perf_counter()
            work()
            return used() - begin[0], time.perf_counter() - begin[1]

        spread(plain_loop, [(shares[0][:200],)] * workers)
        legs = {"map": mapped, "same blocks in loops": by_blocks, "spectra in memory": in_memory}
        found: dict[str, list[Any]] = {name: [] for name in legs}
        for turn in range(turns):
            for name, work in legs.items():
                found[name].append(timed(lambda work=work, turn=turn: work(turn)))  # type: ignore[misc]
            last = [f"{name} {one[-1][0]:.1f}, {one[-1][1]:.1f}" for name, one in found.items()]
            print(f"  turn {turn + 1}, seconds of processor, wall: {'; '.join(last)}", flush=True)
            assert not differences(store(turn), store(turn, "loops")), "the loops differ"
    return found


def median_ratios(one: list[Any], other: list[Any]) -> tuple[float, float]:
    """The medians over the turns of the ratios of (processor, wall) seconds."""
    pairs = [[a / b for a, b in zip(*both, strict=True)] for both in zip(one, other, strict=True)]
    processor, wall = (statistics.median(column) for column in zip(*pairs, strict=True))
    return processor, wall


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spectra", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cluster", action="store_true", help="a LocalCluster, not a pool")
    parser.add_argument("--block-size", type=int, default=None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3, help="of the overhead; 0 leaves it out")
    parser.add_argument("--cost", action="store_true", help="on a cluster: kills nothing")
    parser.add_argument("--fit", nargs=2, type=Path, metavar=("DATA", "STORE"))
    given = parser.parse_args()
    given.cluster |= given.cost
    if given.fit:
        fit(*given.fit, given.workers, given.cluster, given.block_size)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, whole, pieces = (folder / f"{one}.zarr" for one in ("data", "whole", "pieces"))
        make_map(data, given.spectra)
        wrong: list[str] = []
        if not given.cost:
            begin = time.perf_counter()
            if start(data, whole, given).wait() != 0:
                return 1
            seconds, n_blocks = time.perf_counter() - begin, written(whole)
            took = f"{n_blocks} blocks, {seconds:.1f} s on {given.workers} workers"
            print(f"undisturbed: {took}", flush=True)
            killed(data, pieces, n_blocks, given)
            wrong = differences(whole, pieces)
            print(f"  different: {', '.join(wrong) or 'nothing'}", flush=True)
        if given.cluster and given.turns:
            times = cluster_times(folder, data, given.workers, given.turns)
            on_cluster, loops, memory = times.values()
            processor, wall = median_ratios(on_cluster, memory)
            print(f"map / spectra in memory: {processor:.3f} of processor, {wall:.3f} of wall")
            processor, wall = median_ratios(on_cluster, loops)
            print(f"map / plain loops: {processor:.3f} of processor time, {wall:.3f} of wall time")
            if processor > 1 + OVERHEAD:
                wrong.append("overhead")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
