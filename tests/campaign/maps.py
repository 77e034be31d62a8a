"""A map that is killed again and again: ``python -m tests.campaign.maps``.

A map of 200,000 spectra is fitted once undisturbed, and once by processes that are killed
(SIGKILL) five times, each followed by the same call. The results must be equal and complete.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from pyspec import fit_map, load_model

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


def fit(data: Path, store: Path, block_size: int | None) -> None:
    """What a process does that may be killed."""
    fit_map(load_model(MODEL, "peak"), str(data), store, block_size=block_size)


def start(data: Path, store: Path, given: argparse.Namespace) -> subprocess.Popen[bytes]:
    """A process of its own that fits the map."""
    command = [sys.executable, "-m", "tests.campaign.maps", "--fit", str(data), str(store)]
    if given.block_size:
        command += ["--block-size", str(given.block_size)]
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spectra", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--block-size", type=int, default=None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fit", nargs=2, type=Path, metavar=("DATA", "STORE"))
    given = parser.parse_args()
    if given.fit:
        fit(*given.fit, given.block_size)
        return 0
    with tempfile.TemporaryDirectory() as name:
        data, whole, pieces = (Path(name) / f"{one}.zarr" for one in ("data", "whole", "pieces"))
        make_map(data, given.spectra)
        begin = time.perf_counter()
        if start(data, whole, given).wait() != 0:
            return 1
        seconds, n_blocks = time.perf_counter() - begin, written(whole)
        print(f"undisturbed: {n_blocks} blocks, {seconds:.1f} s", flush=True)
        killed(data, pieces, n_blocks, given)
        wrong = differences(whole, pieces)
        print(f"  different: {', '.join(wrong) or 'nothing'}", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
