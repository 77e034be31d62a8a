"""`make check-wheels`: the unit tests in C with the objects of the wheels, on this system, in an
emulator of arm64, with musl and under Wine; and the wheel for Windows in a Python under Wine.

    python tests/packaging/check_wheels.py [--smoke] [--limit SECONDS] [NAME ...]

A NAME is one of the systems linux, arm64, musl and wine, or python, for the Python under Wine; or
test_kernels: that unit test alone; or tests/model: those Python tests alone. The objects are those
that `make wheels` left in build/. What lacks its tool is skipped by name.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from wine_python import WinePython, run

ROOT = Path(__file__).parents[2]
TARGETS = dict(line.split() for line in (ROOT / "wheels.txt").read_text().splitlines())
FLAGS = (ROOT / "csrc" / "flags.txt").read_text().split()
C_TESTS = ROOT / "tests" / "c"
#: Of the unit tests, those of a smoke share.
SMOKE = ("test_team", "test_describe")


@dataclass(frozen=True)
class System:
    """Where the unit tests of a wheel run: what runs them, what it needs, how they are linked."""

    tag: str
    runner: tuple[str, ...]
    needs: str
    link: tuple[str, ...] = ("-lm", "-pthread")


SYSTEMS = {
    "linux": System("manylinux_2_17_x86_64", (), "Linux"),
    "arm64": System(
        "manylinux_2_17_aarch64",
        ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
        "apt install qemu-user libc6-arm64-cross",
    ),
    "musl": System(
        "musllinux_1_2_x86_64",
        ("/lib/ld-musl-x86_64.so.1",),
        "apt install musl",
        ("-lm", "-pthread", "-dynamic"),
    ),
    "wine": System("win_amd64", ("wine",), "apt install wine wine64", ()),
}


@dataclass(frozen=True)
class Program:
    """A unit test: its own sources, by name, and the arguments of its run."""

    sources: tuple[str, ...]
    arguments: tuple[str, ...] = ()


FUZZ = ("fuzz", "fuzz_sums", "fuzz_linear")
#: Those of random plans, with the arguments of CMakeLists.txt.
RANDOM = {
    "fuzz_amplitudes": Program(("fuzz_amplitudes", "fuzz_linear"), ("2000", "1")),
    "fuzz_batches": Program(("fuzz_batches",), ("500", "1")),
    "fuzz_1": Program(FUZZ, ("3000", "1")),
    "fuzz_2": Program(FUZZ, ("3000", "2")),
}


def run_unit_tests(name: str, chosen: Sequence[str], limit: float) -> int:
    """Links each chosen unit test with the objects of a wheel and runs it for at most `limit`
    seconds; how many failed."""
    system = SYSTEMS[name]
    if system.runner and shutil.which(system.runner[0]) is None:
        print(f"{name}: skipped, {system.runner[0]} is not there: {system.needs}")
        return 0
    objects = sorted((ROOT / "build" / system.tag).glob("temp.*/csrc/**/*.o"))
    if not objects:
        print(f"{name}: skipped, there are no objects: make wheels ONLY={system.tag}")
        return 0
    folder = ROOT / "build" / "check_wheels" / name
    folder.mkdir(parents=True, exist_ok=True)
    paths = {path.stem: path for path in C_TESTS.glob("*/*.c")}
    tests = {name: Program((name,)) for name in paths if name.startswith("test_")} | RANDOM
    own = {source for program in tests.values() for source in program.sources}
    shared = paths.keys() - own - {"fuzz_formulas", "probe"}
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS[system.tag]]
    environment = {"WINEDEBUG": "-all", "WINEPREFIX": str(folder / "prefix")}

    def compiled(source: str) -> Path:
        made = folder / f"{source}.o"
        options = ["-O1", "-g0", "-Wno-unused-command-line-argument", "-Icsrc", "-Itests/c"]
        command = [*zig, *FLAGS, *options, "-c", str(paths[source]), "-o", str(made)]
        subprocess.run(command, cwd=ROOT, check=True)
        return made

    def failed(test: str) -> str:
        path = folder / f"{test}.exe"
        linked = [*map(compiled, tests[test].sources), *helpers, *objects]
        # -s as in wheels: zig keeps the C library that it compiled with it.
        subprocess.run([*zig, "-s", *map(str, linked), *system.link, "-o", str(path)], check=True)
        begin = time.monotonic()
        command = [*system.runner, str(path), *tests[test].arguments]
        code, printed = run(command, folder, environment, limit)
        seconds = time.monotonic() - begin
        verdict = "passed" if code == 0 else f"failed, exit code {code}\n{printed[-2000:]}"
        print(f"{name}: {test}: {verdict}, {seconds:.0f} s", flush=True)
        return "" if code == 0 else test

    taken = [test for test in sorted(tests) if not chosen or test in chosen]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        helpers = list(pool.map(compiled, sorted(shared)))
        bad = [test for test in pool.map(failed, taken) if test]
    print(f"{name}: {len(taken)} unit tests in C, {len(bad)} failed: {', '.join(bad) or 'none'}")
    return len(bad)


#: The rooms whose Python tests run under Wine, each in a process of its own: a start takes seconds.
ROOMS = ("io", "model", "formula", "ir", "plan", "executor", "calls", "fit", "cli")
#: Tests that fail there, with the reason: Wine's or Windows' own.
DIFFERS = ROOT / "tests" / "packaging" / "wine_differs.txt"
#: The exit code of pytest where no test is left, as all of a file are slow.
NO_TESTS = 5


def wine_python() -> WinePython | None:
    """A Python under Wine with the wheel for Windows, in an empty folder `work`."""
    wheels = sorted((ROOT / "dist").glob("*-win_amd64.whl"))
    if shutil.which("wine") is None or not wheels:
        print("python: skipped, needs apt install wine wine64 and make wheels ONLY=win_amd64")
        return None
    python = WinePython(ROOT / "build" / "check_wheels" / "python", wheels[-1])
    shutil.rmtree(python.work, ignore_errors=True)
    python.work.mkdir()
    return python


def run_first_steps(python: WinePython, limit: float) -> int:
    """Evaluates a model, appends from four processes and fits a CSV; how many of these failed."""
    shutil.copy(ROOT / "examples" / "ten_lines" / "scan_7.csv", python.work)
    # The start values of an oscillation need cexp, which Wine 8 lacks: the job is written here.
    new = [sys.executable, "-m", "pyspec", "new", "first", "scan_7.csv"]
    subprocess.run(new, cwd=python.work, stdout=subprocess.DEVNULL, check=True)
    scripts = ROOT / "tests" / "packaging"
    steps = {
        "first steps": (str(scripts / "smoke.py"),),
        "appends": (str(scripts / "appends.py"),),
        "a fit of a CSV": ("-m", "pyspec", "fit", "first\\job.yaml"),
    }
    failures = 0
    for name, words in steps.items():
        code, printed = python.run(*words, cwd=python.work, timeout=limit)
        (python.folder / f"{name}.txt").write_text(printed)
        last = printed.strip().rpartition("\n")[2]
        print(f"python: {name}: {last if code == 0 else printed[-4000:]}", flush=True)
        failures += code != 0
    return failures


def run_python_tests(python: WinePython, place: str, limit: float) -> int:
    """Runs the tests of a folder or file in one process; 1 where one failed, else 0. What pytest
    prints lies in build/check_wheels/python/printed/."""
    differs = [line.partition("  ")[0] for line in DIFFERS.read_text().splitlines() if line]
    words = ["-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "support.read_here"]
    words += ["--tb=short", *(word for test in differs for word in ("--deselect", test))]
    words += ["-c", str(ROOT / "pyproject.toml"), str(ROOT / place)]
    code, printed = python.run(*words, cwd=python.work, timeout=limit)
    report = python.folder / "printed" / f"{place.replace('/', '_')}.txt"
    report.parent.mkdir(exist_ok=True)
    report.write_text(printed)
    failed = code not in (0, NO_TESTS)
    ending = printed.strip().rpartition("\n")[2].strip("= ")
    print(f"python: {place}: {printed[-4000:] if failed else ending}", flush=True)
    return int(failed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs what is asked for; the exit code is 1 where a test failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    known = [*SYSTEMS, "python"]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument("--smoke", action="store_true", help="a few minutes' share")
    parser.add_argument("--limit", type=float, default=7200, metavar="SECONDS", help="of each test")
    options = parser.parse_intermixed_args(arguments)
    names = [name for name in options.names if name in known]
    units = [name for name in options.names if name.startswith(("test_", "fuzz_"))]
    places = [n for n in options.names if n.startswith("tests/") and (ROOT / n).exists()]
    if unknown := sorted({*options.names} - {*names, *units, *places}):
        parser.error(
            f"{', '.join(unknown)}: give some of {', '.join(known)}, test_... or tests/..."
        )
    names = names or ([*SYSTEMS] if units else [] if places else known)
    if options.smoke:
        units = units or list(SMOKE)
    elif "python" in names:
        places = places or [f"tests/{room}" for room in ROOMS]
    failures = sum(run_unit_tests(n, units, options.limit) for n in names if n in SYSTEMS)
    python = wine_python() if "python" in names or places else None
    if python is not None:
        failures += run_first_steps(python, options.limit) if "python" in names else 0
        failures += sum(run_python_tests(python, place, options.limit) for place in places)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
