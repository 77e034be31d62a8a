"""Kills, full disks and failed writes: ``python -m tests.campaign.losses``.

A forked child runs ``pyspec fit``, writes a report or exports a folder, where results of before
stand. At a call drawn at random (write, sync, truncation, renaming) the call fails, the disk is
full from there on, or the child dies. Or it dies at a moment drawn at random, or files may not grow
beyond a size drawn at random. Afterwards every file must be whole, and a process that lived must
have kept its fit: in the archive, as parameters, or on its output. Prints how many runs there were
of each work and fault. Archives alone: tests/io/archive/faults.py.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pyspec import File, Project
from pyspec.cli import main as command
from pyspec.io import load_fits
from pyspec.plot import report
from tests.io.archive.faults import KINDS as SHIMMED
from tests.support.fit_cases import LINE

SHIM = Path(__file__).resolve().parents[1] / "io" / "archive" / "faults.c"

#: Two faults beside those of the shim.
TIMED, SMALL = "killed at a moment", "files may not grow"
FAULTS = (*SHIMMED, TIMED, SMALL)

JOB = "data: {path: data.csv}\nmodels: models.yaml\noutput: results\n"
ENERGY = np.linspace(0.0, 10.0, 60)


def spectrum(number: int) -> Any:
    clean = 1.0 + 10.0 * np.exp(-(((ENERGY - 5.0) / 0.8) ** 2))
    return clean + np.random.default_rng(number).normal(0.0, 0.1, ENERGY.size)


def fitted(folder: Path, number: int) -> File:
    file = File(
        Project(folder, show_output=0), f"scan_{number}", data=spectrum(number), energy=ENERGY
    )
    file.load_model(LINE, "peak")
    file.fit_spectrum("peak", progress=False)
    return file


FITS: dict[int, File] = {}


def prepare_fit(folder: Path, number: int) -> None:
    (folder / "models.yaml").write_text(LINE)
    (folder / "job.yaml").write_text(JOB)
    table = np.column_stack([ENERGY, spectrum(number)])
    np.savetxt(folder / "data.csv", table, "%.17g", ",", header="energy,intensity", comments="")


def is_fit_kept(results: Path, number: int, printed: str) -> bool:
    """Whether the fit stands in the archive, in the parameters or on the output."""
    place = FITS[number].results[-1].values["GLP_01_x0"]
    archive, table = results / "fits.h5", results / "parameters.json"
    with contextlib.suppress(FileNotFoundError):
        if load_fits(archive)[0].values["GLP_01_x0"] == place:
            return True
    texts = [table.read_text()] if table.exists() else []
    if "{" in printed:
        texts.append(printed[printed.index("{") :])
    found = [json.JSONDecoder().raw_decode(text)[0] for text in texts]
    names = [{row["name"]: row["value"] for row in one["parameters"]} for one in found]
    return any(one["GLP_01_x0"] == place for one in names)


class Work(NamedTuple):
    """What a run does in a folder with the fit of a number, whether the results of that number are
    there, and what stands there before."""

    share: int
    run: Callable[[Path, int], object]
    kept: Callable[[Path, int, str], bool]
    prepare: Callable[[Path, int], None] = lambda folder, number: None


WORKS = {
    "fit": Work(
        4,
        lambda folder, number: command(["fit", str(folder / "job.yaml"), "--quiet"]),
        is_fit_kept,
        prepare_fit,
    ),
    "report": Work(
        2,
        lambda folder, number: report(FITS[number].results[-1], folder / "results/report.html"),
        lambda results, number, printed: (
            "cannot write" in printed or (results / "report.html").exists()
        ),
    ),
    "export": Work(
        1,
        lambda folder, number: FITS[0].export_fit(filepath=folder / "results", overwrite=True),
        lambda results, number, printed: (
            "cannot be written" in printed or bool(list(results.rglob("params.csv")))
        ),
    ),
}


def check_whole(path: Path) -> None:
    """Raises AssertionError where a file is not one that was written to its end."""
    raw = path.read_bytes()
    if path.suffix == ".h5":
        assert load_fits(path)
    elif path.suffix == ".json":
        json.loads(raw)
    elif path.suffix == ".csv":
        lines = raw.decode().splitlines()
        assert raw.endswith(b"\n"), path
        assert len({line.count(",") for line in lines}) == 1 or path.name == "fit_info.csv", path
    elif path.suffix == ".html":
        assert raw.rstrip().endswith(b"</html>"), path
    elif path.suffix == ".png":
        assert raw.startswith(b"\x89PNG"), path
        assert raw.endswith(b"IEND\xaeB`\x82"), path


def files_of(folder: Path) -> dict[Path, bytes]:
    """The results; not what a killed process left beside them, which the next one removes."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.parts[-3:])
    }


def child(shim: Any, name: str, folder: Path, fault: str, place: int, output: int) -> None:
    """Runs the work and meets the fault; ends the process."""
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    if fault == SMALL:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (place, place))
    else:
        shim.faults_arm(str(folder / "results").encode(), SHIMMED.get(fault, 0), place)
    code = 70
    try:
        ended = WORKS[name].run(folder, 1)
        code = ended if isinstance(ended, int) else 0
    except Exception as error:
        print(error, flush=True)
    finally:
        sys.stdout.flush()
        os._exit(code)


def forked(run: Callable[[], None], seconds: float | None = None) -> int:
    """The exit code of a child, negative for a signal; `seconds` after which it is killed."""
    pid = os.fork()
    if pid == 0:
        run()
    if seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as base:
        if "PYSPEC_FAULTS" not in os.environ:
            library = Path(base) / "faults.so"
            subprocess.run(
                ["cc", "-shared", "-fPIC", "-o", str(library), str(SHIM), "-ldl"], check=True
            )
            own = {"LD_PRELOAD": str(library), "PYSPEC_FAULTS": str(library), "MPLBACKEND": "Agg"}
            words = [sys.executable, "-m", "tests.campaign.losses", "--runs", str(given.runs)]
            words += ["--seed", str(given.seed)]
            return subprocess.run(words, env={**os.environ, **own}, check=False).returncode
        return attack(Path(base), given.runs, random.Random(given.seed))


def attack(base: Path, runs: int, draw: random.Random) -> int:
    shim = ctypes.CDLL(os.environ["PYSPEC_FAULTS"])
    shim.faults_seen.restype = ctypes.c_long
    shim.faults_arm.argtypes = ctypes.c_char_p, ctypes.c_int, ctypes.c_long
    for number in range(2):
        FITS[number] = fitted(base, number)
    templates, calls, spans = base / "templates", dict[str, int](), dict[str, float]()
    for name, work in WORKS.items():  # in this process, so that no child imports a thing
        (templates / name / "results").mkdir(parents=True)
        work.prepare(templates / name, 0)
        with contextlib.redirect_stdout(io.StringIO()):
            work.run(templates / name, 0)
        calls[name], spans[name] = count(shim, name, templates / name, base / "calls")
    done: Counter[tuple[str, str]] = Counter()
    hit: Counter[str] = Counter()
    kept, wrong, begin = 0, 0, time.monotonic()
    for turn in range(runs):
        name = draw.choices(list(WORKS), [work.share for work in WORKS.values()])[0]
        fault, work, folder = draw.choice(FAULTS), WORKS[name], base / name
        results = folder / "results"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(templates / name, folder)
        before = files_of(results)
        work.prepare(folder, 1)
        place = draw.randint(1, calls[name]) if fault != SMALL else draw.randint(0, 200_000)
        seconds = draw.uniform(0.0, 1.2 * spans[name]) if fault == TIMED else None
        # A pipe: what is printed is kept however large a file may grow.
        source, output = os.pipe()
        fcntl.fcntl(output, fcntl.F_SETPIPE_SZ, 1 << 20)
        code = forked(lambda: child(shim, name, folder, fault, place, output), seconds)  # noqa: B023
        os.close(output)
        with open(source, errors="replace") as told:
            printed = told.read()
        try:
            after = files_of(results)
            if name != "export":  # whose folder may stand aside, and comes back
                assert before.keys() <= after.keys(), before.keys() - after.keys()
            else:
                FITS[0].export_fit(filepath=results, overwrite=True, pictures=False)
                after = files_of(results)
            for path in after:
                check_whole(path)
            if code >= 0:
                assert work.kept(results, 1, printed), "the fit is lost"
                kept += 1
        except Exception as error:
            wrong += 1
            print(
                f"run {turn}: {name}, {fault} at {place}, ended with {code}: {error!r}\n{printed}"
            )
        done[name, fault] += 1
        hit[fault] += code != 0 or "not written" in printed
        if (turn + 1) % 50 == 0:
            print(f"{turn + 1} runs, {wrong} wrong, {time.monotonic() - begin:.0f} s", flush=True)
    for name in WORKS:
        print(f"{name:8}", ", ".join(f"{fault}: {done[name, fault]}" for fault in FAULTS))
    print(f"{runs} runs, {sum(hit.values())} hit ({dict(hit)})")
    print(f"{kept} processes lived and kept their fit; {wrong} runs lost a fit or damaged a file")
    return int(wrong > 0)


def count(shim: Any, name: str, folder: Path, told: Path) -> tuple[int, float]:
    """How many calls the work makes, and how long it takes."""

    def run() -> None:
        shim.faults_arm(str(folder / "results").encode(), 1, 1 << 40)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        WORKS[name].run(folder, 0)
        told.write_text(str(shim.faults_seen()))
        os._exit(0)

    begin = time.monotonic()
    assert forked(run) == 0
    return int(told.read_text()), time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main())
