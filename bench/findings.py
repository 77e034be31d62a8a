"""What is found in 200 fits of good data with a right model, and in fits with one trouble each:
``python -m bench.findings``. ``--record FILE`` writes what each of them says, ``--compare FILE``
lists what differs from such a file.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

from bench.problems.findings_cases import GOOD, N_WRONG, WRONG, good_fits, wrong_fits
from pyspec.errors import ModelWarning


def sentences(deep: bool) -> dict[str, list[str]]:
    """Fit → what it says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        fits = [*good_fits(), *wrong_fits()]
        return {name: list(map(str, result.diagnose(deep).findings)) for name, result in fits}


def text_of(found: dict[str, list[str]]) -> str:
    return "".join(f"{name}\n" + "".join(f"  {s}\n" for s in said) for name, said in found.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--deep", action="store_true", help="make further fits, too")
    chosen = parser.parse_args()
    found = sentences(chosen.deep)
    if chosen.record is not None:
        chosen.record.write_text(text_of(found))
    n_good = Counter(name.rpartition(" ")[0] for name, said in found.items() if said)
    for name, count in {**GOOD, **dict.fromkeys(WRONG, N_WRONG)}.items():
        print(f"{name:24} {n_good[name]:3} of {count} say something")
    if chosen.compare is not None:
        before = chosen.compare.read_text()
        if before != text_of(found):
            import difflib

            lines = difflib.unified_diff(
                before.splitlines(), text_of(found).splitlines(), lineterm="", n=1
            )
            print("\n".join(lines))
            return 1
        print("all say the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
