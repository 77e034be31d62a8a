"""Kinetic schemes from wrong starts: rates off by a factor of 5, time zero by one width.

    python -m bench.peers.kinetic_starts [--json FILE]

For each of three schemes all starts with every rate 5 times too small or too large, and time zero
one width too early or too late. A fit ends at the best optimum where its chi² is within 1e-6 of
the least that any of them found. A success that does not is false. pyglotaran runs the same starts
where PYSPEC_PYGLOTARAN names a Python that has it.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.measure import arguments_of, write_json
from bench.peers.pyglotaran import fit_all, interpreter
from pyspec import Measurement, fit_model, load_model
from pyspec.functions.kinetics import populations

Array = np.ndarray

SIGMA, ONSET, FACTOR, NOISE = 0.15, 0.2, 5.0, 0.01
#: chi² of one optimum, relative.
SAME = 1e-6


@dataclass(frozen=True)
class Case:
    """A scheme with its true rates: as pyspec writes it, and as pyglotaran does."""

    name: str
    rates: dict[str, float]
    ours: str
    matrix: Array
    begin: Array
    theirs: str
    known: dict[str, float] = field(default_factory=dict)


_IRF = "\nirf:\n  irf1: {type: gaussian, center: irf.center, width: irf.width}\n"

CASES = (
    Case(
        "parallel",
        {"k1": 2.0, "k2": 0.15},
        "{A: k1, B: k2, start: {A: 1, B: 1}}",
        np.diag([-2.0, -0.15]),
        np.ones(2),
        """
default_megacomplex: decay-parallel
megacomplex:
  m: {dimension: time, compartments: [a, b], rates: [rates.k1, rates.k2]}
dataset:
  dataset1: {megacomplex: [m], irf: irf1}"""
        + _IRF,
    ),
    Case(
        "sequential",
        {"k1": 3.0, "k2": 0.4, "k3": 0.04},
        "{A -> B: k1, B -> C: k2, C: k3}",
        np.array([[-3.0, 0, 0], [3.0, -0.4, 0], [0, 0.4, -0.04]]),
        np.array([1.0, 0, 0]),
        """
default_megacomplex: decay-sequential
megacomplex:
  m: {dimension: time, compartments: [a, b, c], rates: [rates.k1, rates.k2, rates.k3]}
dataset:
  dataset1: {megacomplex: [m], irf: irf1}"""
        + _IRF,
    ),
    Case(
        "reversible",
        {"k1": 2.0, "k3": 0.1},
        "{A -> B: k1, B -> A: k2, B: k3}",
        np.array([[-2.0, 0.5], [2.0, -0.6]]),
        np.array([1.0, 0]),
        """
initial_concentration:
  j: {compartments: [a, b], parameters: [inputs.one, inputs.zero]}
k_matrix:
  k:
    matrix:
      (b, a): rates.k1
      (a, b): known.k2
      (b, b): rates.k3
megacomplex:
  m: {type: decay, k_matrix: [k]}
dataset:
  dataset1: {megacomplex: [m], initial_concentration: j, irf: irf1}"""
        + _IRF,
        {"k2": 0.5},
    ),
)


def simulate(case: Case) -> tuple[Array, Array, Array]:
    """(energy, time, data), 60 energies and 121 times over two and a half decades."""
    energy = np.linspace(0.0, 1.0, 60)
    t = np.concatenate([np.linspace(-1.0, 3.0, 81), np.geomspace(3.1, 120.0, 40)])
    centers = np.linspace(0.3, 0.7, len(case.begin))
    spectra = np.exp(-(((energy - centers[:, None]) / 0.15) ** 2))
    clean = populations(t - ONSET, case.matrix, case.begin, SIGMA) @ spectra
    return energy, t, clean + np.random.default_rng(3).normal(0, NOISE, clean.shape)


def starts_of(case: Case) -> Array:
    """(n_starts, n) of the rates, time zero, and the width, which starts at its value."""
    factors = itertools.product((1 / FACTOR, FACTOR), repeat=len(case.rates))
    rows = [
        [*(k * f for k, f in zip(case.rates.values(), own, strict=True)), ONSET + away, SIGMA]
        for own, away in itertools.product(factors, (-SIGMA, SIGMA))
    ]
    return np.array(rows)


def ours(case: Case, start: Array, data: tuple[Array, Array, Array]) -> dict[str, Any]:
    """One fit by pyspec."""
    energy, t, values = data
    *given, onset, width = start.tolist()
    rates = dict(zip(case.rates, given, strict=True))
    pars = [f"{name}: [{value!r}, True, 0, 1000]" for name, value in rates.items()]
    pars += [f"{name}: [{value!r}, False]" for name, value in case.known.items()]
    text = (
        f"kinetics:\n  scheme: {case.ours}\nmodel:\n"
        f"  gaussIRF: {{SD: [{width!r}, True, 0.001, 10]}}\n"
        f"  scheme: {{{', '.join(pars)}, t0: [{onset!r}, True], spectra: {{free: energy}}}}\n"
    )
    begin = time.perf_counter()
    model = load_model(text, "model")
    model.set_axes(energy=energy, time=t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fit_model(model, Measurement(values))
    return {
        "success": bool(found.success), "cost": float(found.chisqr), "nfev": found.nfev,
        "seconds": time.perf_counter() - begin,
    }  # fmt: skip


def count(fits: Sequence[dict[str, Any]], best: float) -> tuple[int, int]:
    """(fits that ended at the best optimum, successes that did not)."""
    there = [one["cost"] <= best * (1 + SAME) for one in fits]
    false = sum(one["success"] and not at for one, at in zip(fits, there, strict=True))
    return sum(there), false


def main() -> None:
    """Prints a table, and writes it as JSON where asked to."""
    parser = arguments_of("peers.kinetic_starts", __doc__)
    given = parser.parse_args()
    python, rows = interpreter(), []
    for case in CASES:
        data, starts = simulate(case), starts_of(case)
        fits = {"pyspec": [ours(case, start, data) for start in starts]}
        if python:
            names = [*(f"rates.{name}" for name in case.rates), "irf.center", "irf.width"]
            known = {f"known.{name}": value for name, value in case.known.items()}
            known |= {"inputs.one": 1.0, "inputs.zero": 0.0} if case.known else {}
            fits["pyglotaran"] = fit_all(python, case.theirs, names, starts, data, known)
        best = min(one["cost"] for own in fits.values() for one in own if one["cost"] > 0)
        for program, own in fits.items():
            at_best, false = count(own, best)
            row = {
                "scheme": case.name, "program": program, "starts": len(own), "best": at_best,
                "false": false, "median_ms": 1e3 * float(np.median([f["seconds"] for f in own])),
            }  # fmt: skip
            rows.append(row)
            print(
                f"{case.name:11s} {program:11s} {at_best:3d} of {len(own)} at the best optimum, "
                f"{false} false successes, {row['median_ms']:.1f} ms median"
            )
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
