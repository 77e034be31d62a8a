"""Transient absorption of Ru-dppz beside pyglotaran: chirp, coherent artifact and a sequence.

    python -m bench.transient [--every 8] [--runs 1] [--json FILE]

The data are the file TA_Ru-dppz_400nm_ACN.SIA of KiMoPack's tutorial, from PYSPEC_SHARED or --data.
Both programs fit one model from one start. Time zero is a cubic polynomial of the wavenumber. A
Gaussian of the instrument's width with two derivatives stands for the artifact. Four states follow
one another, of which the last stays. Spectra are free. pyglotaran runs where
PYSPEC_PYGLOTARAN names a Python that has it; its first fit, which loads it, is not counted.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import arguments_of, write_json
from bench.peers.pyglotaran import fit_all, interpreter
from bench.problems.cases import SHARED
from pyspec import Measurement, fit_model, load_model, read

FILE = "data/pump_probe/TA_Ru-dppz_400nm_ACN.SIA"

#: By the names of pyglotaran; the wavenumber counts from 500 nm, in 1000 / nm.
START = {
    "irf.center": 0.1, "irf.width": 0.1, "irf.chirp": -1.0, "irf.bend": 0.0, "irf.twist": 0.0,
    "rates.k1": 1.5, "rates.k2": 0.26, "rates.k3": 0.0108,
}  # fmt: skip

OURS = """
parameters:
  center: [0.1, True]
  chirp: [-1.0, True]
  bend: [0.0, True]
  twist: [0.0, True]
  way: ["1000 / energy - 2"]
  zero: ["center + chirp * way + bend * way ** 2 + twist * way ** 3"]
kinetics:
  relaxation: {A -> B: k1, B -> C: k2, C -> D: k3}
whole:
  gaussFun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD1Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD2Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussIRF: {SD: [0.1, True, 0.02, 1]}
  relaxation: {k1: [1.5, True, 0.5, 50], k2: [0.26, True, 0.001, 10], k3: [0.0108, True, 0.0001, 1],
               t0: ["zero"], spectra: {free: energy}}
"""

#: `rates.k4` is 0: the last state stays.
THEIRS = """
megacomplex:
  states:
    type: decay-sequential
    dimension: time
    compartments: [a, b, c, d]
    rates: [rates.k1, rates.k2, rates.k3, rates.k4]
  artifact: {type: coherent-artifact, order: 3}
irf:
  irf1:
    type: spectral-gaussian
    center: irf.center
    width: irf.width
    dispersion_center: irf.origin
    center_dispersion_coefficients: [irf.chirp, irf.bend, irf.twist]
    model_dispersion_with_wavenumber: true
dataset:
  dataset1: {megacomplex: [states, artifact], irf: irf1}
"""

#: How the values are called in ours.
NAMES = {
    "irf.center": "center", "irf.width": "gaussIRF_SD", "irf.chirp": "chirp", "irf.bend": "bend",
    "irf.twist": "twist", "rates.k1": "relaxation_k1", "rates.k2": "relaxation_k2",
    "rates.k3": "relaxation_k3",
}  # fmt: skip


def measured(folder: Path, every: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(wavelength, delay, data) without the pump and the ends of the spectrum, each `every`-th
    wavelength."""
    found = read(folder / FILE)
    wavelength, delay = np.asarray(found.energy), np.asarray(found.time)
    seen = (wavelength >= 345) & (wavelength <= 750) & ~((wavelength > 380) & (wavelength < 405))
    columns, rows = np.flatnonzero(seen)[::every], np.flatnonzero(delay >= -3)
    return wavelength[columns], delay[rows], np.asarray(found.data)[np.ix_(rows, columns)]


def main() -> None:
    """Prints values and times of both, and writes them as JSON where asked to."""
    parser = arguments_of("transient", __doc__)
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--data", type=Path, default=SHARED)
    given = parser.parse_args()
    if not Path(given.data, FILE).is_file():
        print(f"skipped: {FILE} is not at hand; set PYSPEC_SHARED, or give --data FOLDER")
        return
    energy, delay, data = measured(Path(given.data), given.every)
    print(f"{delay.size} delays x {energy.size} wavelengths")
    times, result = [], None
    for _ in range(given.runs + 1):
        begin = time.perf_counter()
        model = load_model(OURS, "whole")
        model.set_axes(energy=energy, time=delay)
        result = fit_model(model, Measurement(data))
        times.append(time.perf_counter() - begin)
    assert result is not None
    row: dict[str, Any] = {"pyspec_s": float(np.median(times[1:])), "chisqr": result.chisqr}
    seconds, nfev = row["pyspec_s"], result.nfev
    print(f"pyspec      {seconds:8.2f} s, {nfev} evaluations, chi2 {result.chisqr:.8g}")
    for name in NAMES.values():
        print(f"  {name:14s} {result.values[name]:.6g} ± {result.stderr[name]:.2g}")
    python = interpreter()
    if python:
        starts = np.array([list(START.values())] * (given.runs + 1))
        fixed = {"irf.origin": 500.0, "rates.k4": 0.0}
        answers = fit_all(python, THEIRS, list(START), starts, (energy, delay, data), fixed)
        error = answers[-1].get("error")
        if error:
            raise SystemExit(f"pyglotaran: {error}")
        row |= {
            "pyglotaran_s": float(np.median([one["seconds"] for one in answers[1:]])),
            "pyglotaran_chisqr": answers[-1]["cost"],
        }
        print(f"pyglotaran  {row['pyglotaran_s']:8.2f} s, chi2 {answers[-1]['cost']:.8g}")
        for own, value in zip(NAMES.values(), answers[-1]["values"], strict=True):
            apart = (value - result.values[own]) / result.stderr[own]
            print(f"  {own:14s} {value:.6g} ({apart:+.2g} standard errors apart)")
    if given.json:
        write_json(given.json, row)


if __name__ == "__main__":
    main()
