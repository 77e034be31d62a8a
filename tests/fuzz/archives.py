"""Archives with flipped bits, cut off, with blocks of zeros: what loading them does.

    python tests/fuzz/archives.py --flips 10000 --cuts 200 --blocks 200 --skips 300

Archives of three sizes are damaged in each way. Loading must raise one DataError: a returned fit
that differs is a silent change, an answer after more than `LIMIT` seconds a hang, any other
exception raw. `--skips` of the damaged archives are read with damaged="skip" too: every fit must
come back as it was saved, or be named. Prints the counts.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import random
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pyspec import FitResult, Measurement, fit_joint, fit_model, load_dynamics, load_model
from pyspec.errors import ArchiveWarning, DataError
from pyspec.io import digest, load_archive, save_fit

#: Seconds after which an answer counts as a hang: in this process, and with a child.
LIMIT, LIMIT_SKIP = 10, 150

MODEL = """
peak:
  Offset: {y0: [2, True]}
  GLP: {A: [12, True, 2, 30], x0: [84, project], F: [1.1, True, 0.3, 3], m: [0.3, True, 0, 1]}
  GLP: {A: ["GLP_01_A * 0.75"], x0: [88, True], F: [1.1, True, 0.3, 3], m: [0.3, False]}
law:
  expFun: {A: [0.5, True], tau: [8, True, 0.1, 99], t0: [0, False]}
"""

#: Numbers of fits and of data in each of them.
SIZES = {"small": (1, (81,)), "medium": (6, (36, 81)), "large": (12, (200, 300))}


@dataclass
class Counts:
    """What happened; the examples are for people."""

    kinds: collections.Counter[str] = field(default_factory=collections.Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, kind: str, example: str = "") -> None:
        self.kinds[kind] += 1
        if example and len(self.examples) < 20:
            self.examples.append(f"{kind}: {example}")

    @property
    def bad(self) -> int:
        return sum(self.kinds[kind] for kind in ("silent change", "hang", "raw", "lost unnamed"))


def fitted(number: int, shape: tuple[int, ...]) -> FitResult:
    """A fit that is stopped soon; one in three is of three files."""
    parts = []
    for k in range(3 if number % 3 == 2 else 1):
        model = load_model(MODEL, "peak")
        if len(shape) == 2:
            model.add_dynamics("GLP_01_x0", load_dynamics(MODEL, "law", "GLP_01_x0"))
        time = np.linspace(-10.0, 60.0, shape[0]) if len(shape) == 2 else None
        model.set_axes(energy=np.linspace(78.0, 94.0, shape[-1]), time=time)
        noise = np.random.default_rng([number, k]).normal(0.0, 0.1, shape)
        parts.append((model, Measurement(np.asarray(model.evaluate()) + noise)))
    if len(parts) > 1:
        found = fit_joint(parts, max_nfev=3).joint
    else:
        found = fit_model(*parts[0], max_nfev=3)
    found.file_name = f"sample {number}"
    return found


def make(path: Path, size: str) -> None:
    """An archive of one of the sizes."""
    n_fits, shape = SIZES[size]
    save_fit(path, [fitted(number, shape) for number in range(n_fits)], mode="replace")


def fingerprints(fits: list[dict[str, Any]], arrays: dict[str, Any]) -> dict[str, str]:
    """File name or digest → fingerprint of all values."""
    found = {fit["file_name"]: _fingerprint(fit) for fit in fits}
    return {**found, **{name: digest(array) for name, array in arrays.items()}}


def _fingerprint(value: Any) -> str:
    text = repr(_plain(value)).encode()
    return hashlib.sha256(text).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    return value


def damages(whole: bytes, kind: str, count: int, draw: random.Random) -> Iterator[bytes]:
    """Damaged copies."""
    for _ in range(count):
        changed = bytearray(whole)
        if kind == "flips":
            changed[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        elif kind == "cuts":
            del changed[draw.randrange(len(whole)) :]
        else:
            size = min(draw.choice([64, 512, 4096]), len(whole) // 4)
            begin = draw.randrange(0, len(whole) - size)
            while not any(changed[begin : begin + size]):
                begin = draw.randrange(0, len(whole) - size)
            changed[begin : begin + size] = bytes(size)
        yield bytes(changed)


def _late(*_: Any) -> None:
    raise TimeoutError


def judge(path: Path, truth: dict[str, str], counts: Counts, skip: bool) -> None:
    """Loads one damaged archive and counts what happens."""
    signal.alarm(LIMIT_SKIP if skip else LIMIT)
    try:
        fits, arrays, report = load_archive(path, skip=skip)
        found = fingerprints(fits, arrays)
        if any(truth.get(name) != one for name, one in found.items()):
            counts.add("silent change", str(set(found.items()) - set(truth.items())))
        elif set(found) != set(truth) and (report is None or not report.damaged):
            counts.add("lost unnamed", f"{sorted(set(truth) - set(found))}")
        elif not skip:
            counts.add("silent change", "damage was not noticed")
        else:
            counts.add("all read" if set(found) == set(truth) else "rest read, damage named")
            counts.kinds["items read"] += len(found)
    except DataError as error:
        counts.add("DataError")
        if len(str(error)) > 2000:
            counts.add("raw", "a message of more than 2,000 characters")
    except TimeoutError:
        counts.add("hang", str(path))
    except BaseException as error:
        counts.add("raw", repr(error))
    finally:
        signal.alarm(0)


def attack(
    folder: Path, n_flips: int, n_cuts: int, n_blocks: int, n_skips: int, seed: int = 1
) -> dict[tuple[str, str, bool], Counts]:
    """Counts by size, kind of damage, and whether what is whole was asked for."""
    draw = random.Random(seed)
    signal.signal(signal.SIGALRM, _late)
    found: dict[tuple[str, str, bool], Counts] = collections.defaultdict(Counts)
    for size in SIZES:
        path = folder / f"{size}.h5"
        make(path, size)
        whole = path.read_bytes()
        truth = fingerprints(*load_archive(path)[:2])
        for kind, count in (("flips", n_flips), ("cuts", n_cuts), ("blocks", n_blocks)):
            share = -(-count // len(SIZES))
            n_skip = -(-n_skips // (3 * len(SIZES)))
            for k, changed in enumerate(damages(whole, kind, max(share, n_skip), draw)):
                path.write_bytes(changed)
                if k < share:
                    judge(path, truth, found[size, kind, False], skip=False)
                if k < n_skip:
                    judge(path, truth, found[size, kind, True], skip=True)
            print(f"{size} {kind}: {dict(found[size, kind, False].kinds)}", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, count in (("flips", 10000), ("cuts", 200), ("blocks", 200), ("skips", 300)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ArchiveWarning)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begin = time.perf_counter()
        found = attack(folder, given.flips, given.cuts, given.blocks, given.skips, given.seed)
        for (size, kind, skip), counts in found.items():
            print(f"{size:7} {kind:7} {'skip' if skip else 'raise':6} {dict(counts.kinds)}")
            print("".join(f"    {example}\n" for example in counts.examples), end="")
        print(f"{time.perf_counter() - begin:.0f} s")
    bad = sum(counts.bad for counts in found.values())
    print(f"{bad} silent changes, hangs, raw exceptions or unnamed losses")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
