"""Two exponentials with free spectra and a Gaussian instrument, 440 times x 400 energies: the whole
fit, from model and data to errors, beside NumPy variable projection with lmfit.

    python -m bench.varpro [--runs 15] [--energies 400] [--json FILE]

Both start from the same values. The other side is written as its users do: basis functions from
SciPy's erfc, amplitudes from numpy.linalg.lstsq, the residual to lmfit's leastsq.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import lmfit
import numpy as np
from scipy.special import erfc, erfcx

from bench.measure import arguments_of, write_json
from bench.peers.pyglotaran import fit_all, interpreter
from pyspec import Measurement, fit_model, load_model

Array = np.ndarray

MODEL = """
parameters:
  k1: [{k1}, True, 0, 10]
  k2: [{k2}, True, 0, 10]
decays:
  gaussIRF: {{SD: [{sigma}, True, 0.001, 10]}}
  expFun: {{A: {{free: energy}}, tau: ["1 / k1"], t0: [{center}, True]}}
  expFun: {{A: {{free: energy}}, tau: ["1 / k2"], t0: ["expFun_01_t0"]}}
"""
TRUTH = {"k1": 0.5, "k2": 0.05, "center": 1.0, "sigma": 0.15}
START = {"k1": 0.7, "k2": 0.03, "center": 1.05, "sigma": 0.2}


def decay(t: Array, k: float, center: float, sigma: float) -> Array:
    """The response of an exponential, by erfc after the onset and by erfcx before it."""
    u = t - center
    z = (sigma * k - u / sigma) / np.sqrt(2)
    late = z <= 0
    after = np.exp(np.where(late, (sigma * k) ** 2 / 2 - k * u, 0)) * erfc(np.where(late, z, 0))
    before = np.exp(-0.5 * (u / sigma) ** 2) * erfcx(np.where(late, 0, z))
    return np.where(late, after, before) / 2


def simulate(n_energies: int) -> tuple[Array, Array, Array]:
    """(energy, time, data) with noise of 1e-2 of the spectra."""
    t = np.linspace(-1.0, 60.0, 440)
    energy = np.linspace(0.0, 1.0, n_energies)
    spectra = [np.exp(-(((energy - c) / 0.2) ** 2)) for c in (0.3, 0.6)]
    data = sum(
        np.outer(decay(t, TRUTH[k], TRUTH["center"], TRUTH["sigma"]), s)
        for k, s in zip(("k1", "k2"), spectra, strict=True)
    )
    return energy, t, data + np.random.default_rng(0).normal(0, 1e-2, data.shape)


def ours(energy: Array, t: Array, data: Array) -> Any:
    """The whole fit by pyspec, the model read from its text."""
    model = load_model(MODEL.format(**START), "decays")
    model.set_axes(energy=energy, time=t)
    return fit_model(model, Measurement(data))


def theirs(t: Array, data: Array) -> Any:
    """The whole fit by lmfit with amplitudes from lstsq."""
    params = lmfit.Parameters()
    for name, value in START.items():
        params.add(name, value, min=0)

    def residual(p: Any) -> Array:
        v = p.valuesdict()
        basis = np.array([decay(t, v[k], v["center"], v["sigma"]) for k in ("k1", "k2")]).T
        return (data - basis @ np.linalg.lstsq(basis, data, rcond=None)[0]).ravel()

    return lmfit.minimize(residual, params)


#: The same model for pyglotaran.
PEER_MODEL = """
default_megacomplex: decay-parallel
megacomplex:
  decays: {dimension: time, compartments: [s1, s2], rates: [rates.k1, rates.k2]}
irf:
  irf1: {type: gaussian, center: irf.center, width: irf.width}
dataset:
  dataset1: {megacomplex: [decays], irf: irf1}
"""


def best_of(run: Callable[[], Any], runs: int) -> tuple[float, float, float]:
    """(median, least, least of the processor) milliseconds."""
    times, processor = [], []
    for _ in range(runs):
        begin, own = time.perf_counter(), time.process_time()
        run()
        times.append(1e3 * (time.perf_counter() - begin))
        processor.append(1e3 * (time.process_time() - own))
    return float(np.median(times)), float(min(times)), float(min(processor))


def print_times(name: str, times: tuple[float, float, float], nfev: int) -> None:
    """One row of the table."""
    print(
        f"{name:14s} {times[0]:8.2f} ms median, {times[1]:.2f} least, {times[2]:.2f} of the "
        f"processor, {nfev} evaluations"
    )


def peer(python: str, data: tuple[Array, Array, Array], runs: int) -> list[float]:
    """Prints what pyglotaran finds; milliseconds of each fit, the first of which loads it."""
    names = ["rates.k1", "rates.k2", "irf.center", "irf.width"]
    starts = np.array([list(START.values())] * (runs + 1))
    found = fit_all(python, PEER_MODEL, names, starts, data)
    times = [1e3 * one["seconds"] for one in found[1:]]
    values = ", ".join(f"{value:.7g}" for value in found[0]["values"])
    print(f"pyglotaran     {np.median(times):8.2f} ms median, {min(times):.2f} least: {values}")
    return times


def main() -> None:
    """Prints a table, and writes it as JSON where asked to."""
    parser = arguments_of("varpro", __doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--energies", type=int, default=400)
    given = parser.parse_args()
    energy, t, data = simulate(given.energies)
    found, other = ours(energy, t, data), theirs(t, data)
    names = {"k1": "k1", "k2": "k2", "center": "expFun_01_t0", "sigma": "gaussIRF_SD"}
    for name, own in names.items():
        pull = (found.values[own] - other.params[name].value) / found.stderr[own]
        print(
            f"{name:8s} {found.values[own]:.7g} ± {found.stderr[own]:.2g}   "
            f"lmfit {other.params[name].value:.7g} ({pull:+.1e} standard errors apart)"
        )
    mine = best_of(lambda: ours(energy, t, data), given.runs)
    lmfits = best_of(lambda: theirs(t, data), max(3, given.runs // 3))
    print_times("pyspec", mine, found.nfev)
    print_times("NumPy + lmfit", lmfits, other.nfev)
    print(f"ratio          {lmfits[0] / mine[0]:8.1f}, of the processor {lmfits[2] / mine[2]:.1f}")
    python = interpreter()
    others = peer(python, (energy, t, data), 3) if python else []
    if given.json:
        rows: dict[str, Any] = {"pyspec_ms": mine, "lmfit_ms": lmfits, "energies": given.energies}
        rows |= {"pyglotaran_ms": others} if others else {}
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
