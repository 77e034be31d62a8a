"""Random plans that learn, under the sanitizers: ``python -m tests.fuzz.plans --runs 1000000``.

Builds tests/c/random/fuzz.c with the sanitizers where that is still to be done, begins with the
plans of tests/fuzz/plans.xz and changes what reaches new branches. `--save` keeps what did, and
what the check says of each plan and of changes of it, on either side of where it says something
else.
"""

from __future__ import annotations

import argparse
import lzma
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = HERE / "plans.xz"


def build(folder: Path, target: str = "fuzz") -> Path:
    """A fuzzer, with the sanitizers."""
    tool = str(Path(sys.executable).with_name("cmake"))
    given = ["-S", str(ROOT), "-B", str(folder), "-DPYSPEC_SANITIZE=ON", "-DPYSPEC_WERROR=ON"]
    jobs = str(os.cpu_count() or 1)
    subprocess.run([tool, *given], check=True, stdout=subprocess.DEVNULL)
    command = [tool, "--build", str(folder), "--parallel", jobs, "--target", target]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "sanitize")
    parser.add_argument("--save", action="store_true", help="keep what reaches new branches")
    given = parser.parse_args()
    program = build(given.build)
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old", Path(folder) / "new"
        if CORPUS.exists():
            old.write_bytes(lzma.decompress(CORPUS.read_bytes()))
        command = [program, given.runs, given.seed, old, *([new] if given.save else [])]
        code = subprocess.run(list(map(str, command)), check=False).returncode
        if code == 0 and given.save:
            CORPUS.write_bytes(lzma.compress(new.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    return code


if __name__ == "__main__":
    sys.exit(main())
