"""What an iteration with free spectra costs: numbers of energies, of times and of decays.

    python -m bench.inside.varpro_cost

One evaluation is the basis functions with slopes, the amplitudes of all energies, chi², JᵀJ and
Jᵀr. Times are those of the processor, the least of several runs. *static*: one time zero;
*dispersed*: it depends on the energy, so that each energy has basis functions and a factorization
of its own.
"""

from __future__ import annotations

import time

import numpy as np

from pyspec import Measurement, load_model
from pyspec.executor import make_executor

ENERGIES, TIMES, DECAYS = (100, 1000, 10_000, 100_000), (110, 440, 1760), (1, 2, 4, 8)


def model_text(n_decays: int, dispersed: bool) -> str:
    """Decays of rates over three decades with free spectra."""
    onset = "onset + chirp * energy" if dispersed else "onset"
    lines = ["parameters:", "  onset: [1, True]", "  chirp: [0.1, True]", "decays:"]
    if not dispersed:
        lines.remove("  chirp: [0.1, True]")
    lines.append("  gaussIRF: {SD: [0.15, True, 0.01, 2]}")
    for tau in np.geomspace(0.5, 500, n_decays).tolist():
        lines.append(
            f'  expFun: {{A: {{free: energy}}, tau: [{tau!r}, True, 0, 1e5], t0: ["{onset}"]}}'
        )
    return "\n".join(lines) + "\n"


def seconds(n_energies: int, n_times: int, n_decays: int, dispersed: bool = False) -> float:
    """Of one evaluation."""
    model = load_model(model_text(n_decays, dispersed), "decays")
    energy, t = np.linspace(0.0, 1.0, n_energies), np.linspace(-1.0, 60.0, n_times)
    model.set_axes(energy=energy, time=t)
    data = np.random.default_rng(0).normal(0.0, 1.0, (n_times, n_energies))
    executor, theta = make_executor(model, Measurement(data)), model.theta()
    times: list[float] = []
    for k in range(3 if n_energies > 10_000 else 10):
        begin = time.process_time()
        executor.normal(theta * (1 + 1e-9 * k))
        times.append(time.process_time() - begin)
    return min(times)


def report(n_energies: int, n_times: int, n_decays: int, dispersed: bool = False) -> None:
    """Prints one row."""
    found = seconds(n_energies, n_times, n_decays, dispersed)
    kind = "dispersed" if dispersed else "static"
    print(
        f"{kind:9s} {n_energies:7d} energies {n_times:5d} times {n_decays} decays "
        f"{1e3 * found:9.2f} ms {1e6 * found / n_energies:8.3f} us an energy"
    )


def main() -> None:
    """Prints a table."""
    for n_energies in ENERGIES:
        report(n_energies, 440, 2)
    for n_times in TIMES:
        report(1000, n_times, 2)
    for n_decays in DECAYS:
        report(1000, 440, n_decays)
    for n_energies in ENERGIES[:-1]:
        report(n_energies, 440, 2, True)


if __name__ == "__main__":
    main()
