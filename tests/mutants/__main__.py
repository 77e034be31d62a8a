"""``python -m tests.mutants``: which wrong changes to the checks no test notices.

    python -m tests.mutants check.c                 unit tests in C
    python -m tests.mutants check.c --fuzz 4000     the corpus and random plans, in sanitized builds
    python -m tests.mutants ir/verify.py            tests of Python
    python -m tests.mutants                         all that FILES names

Every comparison, operator and number is changed and every check left out, one at a time. A change
that makes no difference to what anybody could see stands in equivalent.yaml, with the reason; the
command fails where another one survives. The corpus says of each plan, and of changes of it on
either side of limits, what the check said of it when the corpus was written.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from tests.mutants import python_side
from tests.mutants.c_side import SOURCES, Build
from tests.mutants.operators import Mutant, c_mutants, py_mutants

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

#: Files in csrc/ and modules of Python, with the tests that judge them.
FILES: dict[str, tuple[str, ...]] = {
    "check/check.c": ("test_check", "test_entries"),
    "check/check_nodes.c": (
        "test_check",
        "test_entries",
        "test_scheme_plan",
        "test_measured_plan",
        "test_kernel_formula",
    ),
    "check/check_sums.c": ("test_check", "test_entries"),
    "kinetics/scheme_check.c": ("test_scheme", "test_scheme_pairs"),
    "kinetics/measured_check.c": ("test_measured",),
    "ir/verify.py": ("tests/ir/test_broken.py",),
    "io/archive/header.py": ("tests/io/archive/test_header.py",),
    "io/archive/contents.py": (
        "tests/io/archive/test_records.py",
        "tests/io/archive/test_together.py",
    ),
    "io/archive/salvage.py": ("tests/io/archive/test_salvage.py",),
    "io/sizes.py": ("tests/io/test_sizes.py",),
    "io/archive/tree.py": ("tests/io/archive/test_tree.py",),
    "io/archive/verify.py": ("tests/io/archive/test_verify.py",),
}


def equivalent(name: str) -> dict[str, str]:
    """Code of the line and change → why it makes no difference."""
    known = yaml.safe_load((HERE / "equivalent.yaml").read_text(encoding="utf-8")) or {}
    return dict(known.get(name) or {})


def key(mutant: Mutant, lines: Sequence[str]) -> str:
    """What a mutant is known by: its line without spaces, and the change without its column."""
    line = " ".join(lines[mutant.line - 1].split())
    is_placed = mutant.change.startswith("column")
    return f"{line} | {mutant.change.partition(', ')[2] if is_placed else mutant.change}"


def judge(
    name: str,
    mutants: Sequence[Mutant],
    lines: Sequence[str],
    notices: Callable[[Mutant], str | None],
) -> int:
    """Prints the survivors; returns how many there are beyond the equivalent ones.

    `notices` says what notices a mutant, "" for nothing, None for one that does not compile.
    """
    known, begin = equivalent(name), time.perf_counter()
    invalid, same, left, by = 0, 0, 0, Counter[str]()
    for mutant in mutants:
        found = notices(mutant)
        if found is None:
            invalid += 1
        elif found:
            by[found] += 1
            if key(mutant, lines) in known:
                print(f"  noticed, though equivalent.yaml names it: {mutant.label}", flush=True)
        elif key(mutant, lines) in known:
            same += 1
        else:
            left += 1
            print(f"  survives {name}:{mutant.label}\n    {key(mutant, lines)}", flush=True)
    valid, killed = len(mutants) - invalid - same, by.total()
    shares = ", ".join(f"{n} by {what}" for what, n in by.most_common())
    print(
        f"{name}: {len(mutants)} mutants, {invalid} do not compile, {same} make no difference; "
        f"of {valid} others {killed} are noticed ({killed / max(valid, 1):.1%}: {shares}), "
        f"{left} survive; "
        f"{time.perf_counter() - begin:.0f} s",
        flush=True,
    )
    return left


def run_c(name: str, plans: int, every: int, folder: Path) -> int:
    source = (SOURCES / name).read_text(encoding="utf-8")
    tests = FILES.get(name, (f"test_{Path(name).stem}",))
    build = Build(folder / ("sanitized" if plans else "plain"), [name], tests, bool(plans))
    changed = folder / name

    def notices(mutant: Mutant) -> str | None:
        changed.write_text(mutant.source, encoding="utf-8")
        if not build.compile_changed(name, changed):
            return None
        return build.fuzz(plans, 1) if plans else build.unit_tests()

    if build.fuzz(plans, 1) if plans else build.unit_tests():
        raise SystemExit(f"{name} as it is fails")
    try:
        return judge(name, list(c_mutants(source))[::every], source.splitlines(), notices)
    finally:
        build.restore(name)


def run_python(name: str, tests: Sequence[str], every: int) -> int:
    source = (ROOT / "pyspec" / name).read_text(encoding="utf-8")
    module = "pyspec." + name.removesuffix(".py").replace("/", ".")
    python_side.prepare(tests)
    if python_side.is_noticed(module, source, tests):
        raise SystemExit(f"{name} as it is fails")
    mutants = list(py_mutants(source))[::every]
    return judge(
        name,
        mutants,
        source.splitlines(),
        lambda mutant: "tests" if python_side.is_noticed(module, mutant.source, tests) else "",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", default=list(FILES), metavar="FILE")
    parser.add_argument("--fuzz", type=int, default=0, metavar="N", help="judge by N random plans")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="take each K-th mutant")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    given = parser.parse_args()
    left = 0
    for name in given.files:
        if name.endswith(".c"):
            left += run_c(name, given.fuzz, given.every, given.folder)
        elif not given.fuzz:
            left += run_python(name, FILES.get(name, ("tests",)), given.every)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
