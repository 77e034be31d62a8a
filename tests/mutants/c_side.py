"""Builds the C library with one file changed, and runs unit tests or the fuzzer with it.

All but the changed file is compiled once. The changed file is a shared library of its own that the
tests are linked to, so that a mutant costs one compilation of one file.
"""

from __future__ import annotations

import lzma
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES, TESTS = ROOT / "csrc", ROOT / "tests" / "c"
CORPUS = ROOT / "tests" / "fuzz" / "plans.xz"

#: What the objects are compiled with beside the flags of the library.
_NO_FINGERPRINT = "0" * 64
_PLAIN = ("-O0", "-fPIC", "-fvisibility=default", "-w", f'-DPYSPEC_FINGERPRINT="{_NO_FINGERPRINT}"')
_SANITIZED = (*_PLAIN, "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")
_HELP = (
    *("support/owned.c", "support/plans.c", "support/sums.c", "support/models.c"),
    "support/solve_problems.c",
    *("support/naive.c", "random/random_plan.c", "random/random_formula.c"),
    "random/random_scheme.c",
)
_FUZZ = (
    *("random/fuzz.c", "random/fuzz_sums.c", "random/fuzz_linear.c", "random/random_problem.c"),
    *("random/guided.c", "support/verdicts.c"),
)

#: Seconds after which a mutant that does not end counts as noticed.
LIMIT = 120.0


@dataclass
class Build:
    """All objects but those of the files to change, in a folder.

    Attributes
    ----------
    folder : where they lie
    changed : names of the files in csrc/ that mutants are made of
    tests : how the names of the unit tests begin that judge them
    sanitized : whether with the sanitizers
    """

    folder: Path
    changed: Sequence[str]
    tests: Sequence[str]
    sanitized: bool
    programs: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.flags = [*_lines("flags.txt"), *(_SANITIZED if self.sanitized else _PLAIN)]
        names = [name for name in _lines("sources.txt") if name.endswith(".c")]
        objects = [self._object(SOURCES / name) for name in names if name not in self.changed] + [
            self._object(TESTS / name) for name in _HELP
        ]
        for name in self.changed:
            self.compile_changed(name, SOURCES / name)
        if self.sanitized:
            self._link("fuzz", [*objects, *(self._object(TESTS / name) for name in _FUZZ)])
            return
        for path in sorted(one for name in self.tests for one in TESTS.rglob(f"{name}*.c")):
            self._link(path.stem, [*objects, self._object(path)])

    def _object(self, path: Path) -> Path:
        own = [
            line.split()[1:]
            for line in _lines("isa_flags.txt")
            if Path(line.split()[0]).name == path.name
        ]
        target = self.folder / f"{path.stem}.o"
        if not _is_newer(target, [path, *SOURCES.rglob("*.*"), *TESTS.rglob("*.h")]):
            _run(
                ["gcc", *self.flags, *(own[0] if own else []), *_INCLUDE, "-c", path, "-o", target]
            )
        return target

    def _link(self, name: str, objects: Iterable[Path]) -> None:
        own = "-".join(Path(one).stem for one in self.changed)  # what it takes from libraries
        target, objects = self.folder / f"{name}-{own}", list(objects)
        if not _is_newer(target, objects):
            libraries = [self._library(one) for one in self.changed]
            place = f"-Wl,-rpath,{self.folder}"
            _run(["gcc", *self.flags, "-rdynamic", place, *objects, *libraries, "-lm", "-lpthread",
                  "-o", target])  # fmt: skip
        self.programs.append(target)

    def _library(self, name: str) -> Path:
        return self.folder / f"lib{Path(name).stem}.so"

    def compile_changed(self, name: str, path: Path) -> bool:
        """Puts `path` in place of the file `name`; says whether it compiles."""
        target = self._library(name)
        made = target.with_suffix(".new")
        command = ["gcc", *self.flags, "-O0", *_INCLUDE, "-shared", path, "-o", made]
        if subprocess.run(list(map(str, command)), capture_output=True, check=False).returncode:
            return False
        made.replace(target)
        return True

    def restore(self, name: str) -> None:
        """Puts the file itself back."""
        if not self.compile_changed(name, SOURCES / name):
            raise RuntimeError(f"{name} does not compile")

    def unit_tests(self) -> str:
        """The unit test that fails, "" if none does."""
        return next((one.name for one in self.programs if not _passes([one])), "")

    def fuzz(self, count: int, seed: int) -> str:
        """Whether the corpus and then `count` random plans find the change: how, "" if not."""
        corpus = self.folder / "corpus"
        if CORPUS.exists() and not _is_newer(corpus, [CORPUS]):
            corpus.write_bytes(lzma.decompress(CORPUS.read_bytes()))
        if corpus.exists() and not _passes([self.programs[0], "0", str(seed), corpus, "-same"]):
            return "the corpus"
        return "" if _passes([self.programs[0], str(count), str(seed)]) else "random plans"


_INCLUDE = ["-I", SOURCES, "-I", TESTS]


def _passes(command: Sequence[object]) -> bool:
    try:
        ended = subprocess.run(
            list(map(str, command)),
            capture_output=True,
            timeout=LIMIT,
            check=False,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
        )
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0


def _lines(name: str) -> list[str]:
    return (SOURCES / name).read_text(encoding="utf-8").split("\n")[:-1]


def _is_newer(target: Path, sources: Iterable[Path]) -> bool:
    if not target.exists():
        return False
    made = target.stat().st_mtime
    return all(one.stat().st_mtime <= made for one in sources)


def _run(command: Sequence[object]) -> None:
    subprocess.run(list(map(str, command)), check=True)
