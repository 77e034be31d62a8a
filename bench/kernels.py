"""What one point of each function costs, by instruction set: ``python -m bench.kernels``.

The table has nanoseconds a point of one call over 20,000 energies: the value alone, and the value
with all partials. There is a column for each instruction set that the processor has, and one for
the reference in NumPy, which the interpreted executor runs. numexpr, Numba and JAX take part where
they are installed, as in `bench.inside.formulas`. Times are the least processor time of
interleaved rounds and count all threads of a call. The energies have equal steps, in which Gauss,
GLS and GLP go from each value to the next; with `--uneven` the steps differ.

The machine's own limits come from the same run: fused multiplications and additions a nanosecond in
a product of matrices (NumPy's BLAS), and bytes a nanosecond read and written by an addition of
arrays beyond the caches. The last two columns say what a value on the widest instruction set costs.
One is how many fused multiplications the processor could do meanwhile. The other is the share of
the memory's bandwidth that the results would take if they went there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from support.kernel_calls import call_function

from bench.measure import arguments_of, finish, print_rows
from bench.peers.formulas import PEERS
from bench.problems.formula_texts import TEXTS
from pyspec._library import OPS, supported_isas
from pyspec.functions import reference

N_POINTS = 20_000
EVEN = np.linspace(75.0, 93.0, N_POINTS)

#: The same, each moved by up to a tenth of a step.
UNEVEN = EVEN + 0.1 * (EVEN[1] - EVEN[0]) * np.sin(np.arange(N_POINTS))

#: Parameters of functions that have no text, or one of their own.
MORE: dict[str, list[float]] = {
    "GaussAsym": [9, 84, 1.2, 0.6],
    "SkewGauss": [9, 84, 1.2, 0.2],
    "GLSAsym": [9, 84, 1.2, 0.3, 0.1],
    "LA": [9, 84, 1.2, 1.1, 0.9],
    "LF": [9, 84, 1.2, 1.1, 0.9, 5],
    "FermiEdge": [9, 84, 300, 0.2, 0.1, 0.0],
}


#: Line shapes and backgrounds of energies that read no spectrum.
NAMES = [
    name
    for name, op in OPS.items()
    if op.domain == "ENERGY" and (name in TEXTS or name in MORE) and not op.spectrum_fed
]


def parameters(name: str) -> np.ndarray:
    """(n_params, 1) values of one row."""
    given = MORE.get(name) or list(TEXTS[name].values.values())
    return np.array(given, dtype=np.float64)[:, np.newaxis]


def peers(name: str, energy: np.ndarray) -> dict[str, Callable[[], object]]:
    """Calls of the packages that are installed, where they have the functions of the text."""
    if name not in TEXTS:
        return {}
    values = {key: np.full((1, 1), value) for key, value in TEXTS[name].values.items()}
    built = {
        peer: build(TEXTS[name].in_one(), {"x": energy, **values}) for peer, build in PEERS.items()
    }
    return {peer: call for peer, call in built.items() if call is not None}


def calls(name: str, energy: np.ndarray) -> dict[str, Callable[[], object]]:
    """Everything that is timed for one function."""
    params = parameters(name)
    found: dict[str, Callable[[], object]] = {}
    for isa in supported_isas():
        for what in ("value", "partials"):
            found[f"{isa} {what}"] = partial(
                call_function, name, energy, params, None, partials=what == "partials", isa=isa
            )
    columns = [row[:, np.newaxis] for row in params]
    found["NumPy"] = lambda: reference(name)(energy, *columns)
    return found | peers(name, energy)


def least(jobs: dict[str, Callable[[], object]], rounds: int, repeat: int) -> dict[str, float]:
    """The least seconds of one call of each job; the first round is not counted."""
    best = dict.fromkeys(jobs, float("inf"))
    for turn in range(rounds + 1):
        for name, job in jobs.items():
            start = time.process_time()
            for _ in range(repeat):
                job()
            seconds = (time.process_time() - start) / repeat
            if turn:
                best[name] = min(best[name], seconds)
    return best


def limits(rounds: int) -> dict[str, float]:
    """Fused multiplications and bytes a nanosecond."""
    size, far = 768, 8_000_000
    a, out = np.random.default_rng(1).normal(size=(2, size, size)), np.empty((size, size))
    long, sums = np.ones(far), np.empty(far)
    jobs: dict[str, Callable[[], object]] = {
        "matrix": lambda: np.matmul(a[0], a[1], out=out),
        "memory": lambda: np.add(long, 1.0, out=sums),
    }
    best = least(jobs, rounds, 1)
    return {
        "fma_per_ns": 1e-9 * size**3 / best["matrix"],
        "bytes_per_ns": 1e-9 * 2 * 8 * far / best["memory"],
    }


def cell(times: dict[str, float], name: str) -> str:
    """A time in nanoseconds, or that there is none."""
    return f"{times[name]:.2f}" if name in times else "-"


def main(arguments: list[str] | None = None) -> int:
    """Prints the table."""
    parser = arguments_of("kernels", __doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", choices=NAMES)
    parser.add_argument("--uneven", action="store_true", help="energies in unequal steps")
    given = parser.parse_args(arguments)
    energy = UNEVEN if given.uneven else EVEN
    isas, own = supported_isas(), limits(max(3, given.rounds // 3))
    others = ["NumPy", *PEERS]
    rows, content = [], []
    for name in [given.only] if given.only else NAMES:
        seconds = least(calls(name, energy), given.rounds, 5)
        times = {key: 1e9 * value / N_POINTS for key, value in seconds.items()}
        content.append({"name": name, "ns": times})
        value = times[f"{isas[-1]} value"]
        rows.append(
            [name]
            + [cell(times, f"{isa} {what}") for isa in isas for what in ("value", "partials")]
            + [cell(times, key) for key in others]
            + [f"{value * own['fma_per_ns']:.0f}", f"{800 / value / own['bytes_per_ns']:.0f} %"]
        )
    head = ["function", *(f"{isa} {what}" for isa in isas for what in ("value", "partials"))]
    print_rows([*head, *others, "FMAs", "of memory"], rows)
    print(f"\n{own['fma_per_ns']:.1f} FMAs a ns, {own['bytes_per_ns']:.1f} bytes a ns")
    finish(given.json, {"limits": own, "rows": content})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
