"""What one build of the library takes over another: ``python -m bench.builds PYTHON OTHER_PYTHON``.

Each is an interpreter that has a pyspec, for example one with a wheel and one with the build of
this machine's compiler. A process of each calls the functions of `bench.kernels` over 20,000
energies, value alone and value with all partials, on each instruction set. The two take turns
within a round; a time is the least of all rounds, of the calling thread. The table holds times of
the first over those of the other; under it the sums of all functions, and the ratios above the bar.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

WHATS = ("value", "partials")
BAR = 1.05


def answer() -> None:
    """Reads lines of JSON: the energies, then one job each; writes seconds of one call."""
    import numpy as np

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from support.kernel_calls import KernelCall

    from pyspec._library import OPS, supported_isas

    energy = np.array(json.loads(sys.stdin.readline()))
    print(json.dumps(supported_isas()), flush=True)
    made: dict[str, Any] = {}
    for line in sys.stdin:
        if line not in made:
            name, isa, what, params = json.loads(line)
            given, shape = np.array(params)[:, np.newaxis], (1, energy.size)
            partials = np.empty((len(params), *shape)) if what == "partials" else None
            made[line] = KernelCall(OPS[name], energy, given, np.empty(shape), partials, None, isa)
            made[line].run()
        start = time.thread_time()
        for _ in range(5):
            made[line].run()
        print((time.thread_time() - start) / 5, flush=True)


class Build:
    """A process of one interpreter that answers jobs."""

    def __init__(self, python: str, energy: list[float]) -> None:
        command = [python, "-I", __file__, "--answer"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.isas: list[str] = self.ask(energy)

    def ask(self, job: Any) -> Any:
        """What it answers to a line."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main(arguments: list[str] | None = None) -> int:
    """Prints the table."""
    from bench.kernels import EVEN, NAMES, UNEVEN, parameters
    from bench.measure import arguments_of, finish, print_rows

    parser = arguments_of("builds", __doc__)
    parser.add_argument("python", help="an interpreter that has a pyspec")
    parser.add_argument("other", help="another one, by whose times those of the first are divided")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", choices=NAMES)
    parser.add_argument("--uneven", action="store_true", help="energies in unequal steps")
    given = parser.parse_args(arguments)
    energy = (UNEVEN if given.uneven else EVEN).tolist()
    builds = [Build(python, energy) for python in (given.python, given.other)]
    isas = [isa for isa in builds[0].isas if isa in builds[1].isas]
    cells = [(isa, what) for isa in isas for what in WHATS]
    rows, content, above = [], [], []
    sums = dict.fromkeys(isas, (0.0, 0.0))
    for name in [given.only] if given.only else NAMES:
        params, ratios = parameters(name).ravel().tolist(), []
        for isa, what in cells:
            job, least = [name, isa, what, params], [float("inf")] * 2
            for _ in range(given.rounds):
                least = [min(t, b.ask(job)) for t, b in zip(least, builds, strict=True)]
            ratios.append(least[0] / least[1])
            sums[isa] = (sums[isa][0] + least[0], sums[isa][1] + least[1])
            content.append({"name": name, "isa": isa, "what": what, "seconds": least})
            if ratios[-1] > BAR:
                above.append(f"{name} {what} {isa} {ratios[-1]:.2f}")
        rows.append([name, *(f"{ratio:.2f}" for ratio in ratios)])
    print_rows(["function", *(f"{isa} {what}" for isa, what in cells)], rows)
    print("\nsums: " + ", ".join(f"{isa} {one / other:.2f}" for isa, (one, other) in sums.items()))
    print(f"above {BAR}: {', '.join(above) or 'none'}")
    finish(given.json, {"rows": content})
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--answer"]:
        answer()
    else:
        raise SystemExit(main())
