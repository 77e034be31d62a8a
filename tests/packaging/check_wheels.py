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
    sources = sorted((ROOT / "tests" / "c").glob("*.c"))
    fuzz = [p for p in sources if p.stem.startswith("fuzz") or p.stem == "probe"]
    tests = [p for p in sources if p.stem.startswith("test_")]
    shared = [p for p in sources if p not in tests and p not in fuzz]
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS[system.tag]]
    given = {"WINEDEBUG": "-all", "WINEPREFIX": str(folder / "prefix")}

    def compiled(source: Path) -> Path:
        made = folder / f"{source.stem}.o"
        options = ["-O1", "-g0", "-Wno-unused-command-line-argument", "-Icsrc", "-Itests/c"]
        command = [*zig, *FLAGS, *options, "-c", str(source), "-o", str(made)]
        subprocess.run(command, cwd=ROOT, check=True)
        return made

    def failed(test: Path) -> str:
        program = folder / f"{test.stem}.exe"
        linked = [compiled(test), *helpers, *objects]
        subprocess.run([*zig, *map(str, linked), *system.link, "-o", str(program)], check=True)
        begin = time.monotonic()
        code, printed = run([*system.runner, str(program)], folder, given, limit)
        seconds = time.monotonic() - begin
        said = "passed" if code == 0 else f"failed, exit code {code}\n{printed[-2000:]}"
        print(f"{name}: {test.stem}: {said}, {seconds:.0f} s", flush=True)
        return "" if code == 0 else test.stem

    taken = [test for test in tests if not chosen or test.stem in chosen]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        helpers = list(pool.map(compiled, shared))
        bad = [stem for stem in pool.map(failed, taken) if stem]
    print(f"{name}: {len(taken)} unit tests in C, {len(bad)} failed: {', '.join(bad) or 'none'}")
    return len(bad)


#: The rooms whose Python tests run under Wine, each in a process of its own.
ROOMS = ("io", "model", "formula", "ir", "plan", "executor", "calls", "fit", "cli")
#: Tests that fail there, with the reason: Wine's or Windows' own.
DIFFERS = ROOT / "tests" / "packaging" / "wine_differs.txt"


def run_python(tests: Sequence[str], limit: float) -> int:
    """Runs the wheel for Windows in a Python under Wine: the first steps, a fit from the command
    line, appends from four processes, and the Python `tests`; how many of these failed."""
    wheels = sorted((ROOT / "dist").glob("*-win_amd64.whl"))
    if shutil.which("wine") is None or not wheels:
        print("python: skipped, needs apt install wine wine64 and make wheels ONLY=win_amd64")
        return 0
    scripts, folder = ROOT / "tests" / "packaging", ROOT / "build" / "check_wheels" / "python"
    python = WinePython(folder, wheels[-1])
    shutil.rmtree(folder / "work", ignore_errors=True)
    (folder / "work").mkdir()
    shutil.copy(ROOT / "examples" / "ten_lines" / "scan_7.csv", folder / "work")
    # The start values of an oscillation need cexp, which Wine 8 lacks: the job is written here.
    new = [sys.executable, "-m", "pyspec", "new", "first", "scan_7.csv"]
    subprocess.run(new, cwd=folder / "work", stdout=subprocess.DEVNULL, check=True)
    steps = {
        "first steps": (str(scripts / "smoke.py"),),
        "appends": (str(scripts / "appends.py"),),
        "a fit of a CSV": ("-m", "pyspec", "fit", "first\\job.yaml"),
    }
    differs = [line.partition("  ")[0] for line in DIFFERS.read_text().splitlines() if line]
    left_out = [word for test in differs for word in ("--deselect", test)]
    pytest = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *left_out)
    for place in tests:
        steps[place] = (*pytest, "-c", str(ROOT / "pyproject.toml"), str(ROOT / place))
    failures = 0
    for name, words in steps.items():
        code, printed = python.run(*words, cwd=folder / "work", timeout=limit)
        (folder / f"{name.replace('/', '_')}.txt").write_text(printed)
        last = printed.strip().rpartition("\n")[2]
        print(f"python: {name}: {last if code == 0 else printed[-4000:]}", flush=True)
        failures += code != 0
    return failures


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs what is asked for; the exit code is 1 where a test failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    known = [*SYSTEMS, "python"]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument("--smoke", action="store_true", help="a few minutes' share")
    parser.add_argument("--limit", type=float, default=7200, metavar="SECONDS", help="of each test")
    given = parser.parse_args(arguments)
    names = [name for name in given.names if name in known]
    units = [name for name in given.names if name.startswith("test_")]
    places = [name for name in given.names if name.startswith("tests/")]
    if unknown := sorted({*given.names} - {*names, *units, *places}):
        parser.error(
            f"{', '.join(unknown)}: give some of {', '.join(known)}, test_... or tests/..."
        )
    if given.smoke:
        units = units or list(SMOKE)
    elif not places:
        places = [f"tests/{room}" for room in ROOMS]
    failures = 0
    for name in names or known:
        failures += (
            run_python(places, given.limit)
            if name == "python"
            else run_unit_tests(name, units, given.limit)
        )
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
