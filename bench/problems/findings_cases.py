"""Fits of simulated data by name: good data with a right model, and data or models with one
trouble each, by which the findings of fits are judged (:mod:`bench.findings`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.problems.hard_cases import Array
from pyspec import (
    Measurement,
    Model,
    fit_joint,
    fit_model,
    fit_slices,
    fit_trace,
    load_dynamics,
    load_model,
)
from pyspec.functions.response import expFun_gaussIRF

ENERGY, TIME = np.linspace(80.0, 92.0, 121), np.linspace(-2.0, 20.0, 45)
DELAYS = np.linspace(-5.0, 40.0, 181)

MODELS = """
doublet:
  Offset: {y0: [5, True]}
  GLP: {A: [40, True, 0, 1000], x0: [84, True, 82, 86], F: [1.2, True, 0.2, 5], m: [0.3, False]}
  GLP: {A: [25, True, 0, 1000], x0: [87.5, True, 86, 90], F: [1.2, True, 0.2, 5], m: [0.3, False]}
doublet_mixed:
  Offset: {y0: [5, True]}
  GLP: {A: [40, True, 0, 1000], x0: [84, True, 82, 86], F: [1.2, True, 0.2, 5],
        m: [0.3, True, 0, 1]}
  GLP: {A: [25, True, 0, 1000], x0: [87.5, True, 86, 90], F: [1.2, True, 0.2, 5],
        m: [0.3, True, 0, 1]}
line:
  Offset: {y0: [20, True]}
  Gauss: {A: [200, True], x0: [85, True, 82, 88], SD: [0.6, True, 0.1, 3]}
mixed:
  Offset: {y0: [20, True]}
  GLP: {A: [200, True], x0: [85, True], F: [1.2, True, 0.2, 5], m: [0.3, True, 0, 1]}
twins:
  Offset: {y0: [20, True]}
  Gauss: {A: [100, True], x0: [85, True, 82, 88], SD: [0.6, True, 0.1, 3]}
  Gauss: {A: [50, True], x0: ["Gauss_01_x0"], SD: ["Gauss_01_SD"]}
shirley:
  Shirley: {pShirley: [0.01, True, 0, 1]}
  Offset: {y0: [20, True]}
  Gauss: {A: [200, True], x0: [86, True, 82, 90], SD: [0.6, True, 0.1, 3]}
move:
  expFun: {A: [0.6, True], tau: [5, True, 0.5, 50], t0: [0, False]}
rise:
  constFun: {A: [10, True]}
  gaussIRF: {SD: [0.4, False]}
  expFun: {A: [30, True], tau: [8, True, 0.5, 100], t0: [0.1, True, -2, 2]}
sharp:
  expFun: {A: [30, True], tau: [8, True, 0.5, 100], t0: [0.1, True, -2, 2]}
kernel:
  gaussCONV: {SD: [0.2, False]}
  expFun: {A: [30, True], tau: [8, True, 0.5, 100], t0: [0.1, False]}
free:
  expFun: {A: {free: energy}, tau: [2, True, 0.1, 50], t0: [0, False]}
  expFun: {A: {free: energy}, tau: [15, True, 1, 500], t0: [0, False]}
"""

#: Good fits of each kind: 200 in all.
GOOD = {
    "doublet": 20,
    "doublet_mixed": 20,
    "doublet weighted": 20,
    "counts": 40,
    "trace": 20,
    "series": 30,
    "joint": 15,
    "slices": 8,
    "slices_mixed": 7,
    "free spectra": 20,
}

#: Fits with each trouble.
N_WRONG = 3


def normal(*shape: int, seed: int) -> Array:
    return np.random.default_rng([11, seed]).normal(size=shape)


def model(name: str, *, series: bool = False, energy: Array = ENERGY, time: Array = TIME) -> Model:
    made = load_model(MODELS, name)
    made.set_axes(energy=energy, time=time if series else None)
    return made


def moving() -> Model:
    made = model("line", series=True)
    made.add_dynamics("Gauss_01_x0", load_dynamics(MODELS, "move", "Gauss_01_x0"))
    return made


def clean(name: str, **values: float) -> Array:
    made = model(name)
    made.set_values(values)
    return np.asarray(made.evaluate())


def exponentials(*taus: float) -> Array:
    """(n_time, n_taus) decays from 0 on."""
    late = np.maximum(TIME, 0.0)[:, None]
    return np.asarray(np.exp(-late / np.array(taus)) * (TIME >= 0.0)[:, None])


def bands() -> Array:
    return np.array([np.exp(-(((ENERGY - at) / 1.5) ** 2)) for at in (84.0, 88.0)])


def good(name: str, seed: int) -> Any:
    """One fit of good data with a right model."""
    noise = normal(ENERGY.size, seed=seed)
    if name in ("doublet", "doublet_mixed"):
        return fit_model(model(name), Measurement(clean(name) + noise))
    if name == "doublet weighted":
        sigma = 0.5 + (ENERGY - 80.0) / 10.0
        given = Measurement(clean("doublet") + sigma * noise, weight=1.0 / sigma)
        return fit_model(model("doublet"), given, scale_covar=False)
    if name == "counts":
        drawn = np.random.default_rng([12, seed]).poisson(clean("line")).astype(float)
        return fit_model(model("line"), Measurement(drawn, loss="poisson"))
    if name == "trace":
        truth = 10 + expFun_gaussIRF(DELAYS, 30.0, 8.0, 0.1, 0.4)
        return fit_trace(MODELS, "rise", DELAYS, truth + normal(DELAYS.size, seed=seed))
    if name == "series":
        made = moving()
        data = np.asarray(made.evaluate()) + 5.0 * normal(TIME.size, ENERGY.size, seed=seed)
        return fit_model(made, Measurement(data))
    if name == "joint":
        parts = [
            (model("doublet"), Measurement(clean("doublet") + normal(ENERGY.size, seed=s)))
            for s in (3 * seed + 1000, 3 * seed + 1001, 3 * seed + 1002)
        ]
        return fit_joint(parts)
    if name in ("slices", "slices_mixed"):
        of_one = name.replace("slices", "doublet")
        data = clean(of_one) + normal(20, ENERGY.size, seed=seed)
        return fit_slices(model(of_one), Measurement(data))
    if name == "free spectra":
        truth = 10 * exponentials(2.0, 15.0) @ bands()
        data = truth + 0.2 * normal(TIME.size, ENERGY.size, seed=seed)
        return fit_model(model("free", series=True), Measurement(data))
    raise KeyError(name)


def _line(data: Array, name: str = "line", **given: Any) -> Any:
    return fit_model(model(name), Measurement(data, **given), scale_covar="weight" not in given)


def spike(seed: int) -> Any:
    data = clean("line") + 3 * normal(ENERGY.size, seed=seed)
    data[30] += 120.0
    return _line(data)


def dead(seed: int) -> Any:
    data = clean("line") + 3 * normal(ENERGY.size, seed=seed)
    data[48:52] = 0.0
    return _line(data)


def noise_varies(seed: int) -> Any:
    sigma = np.where(ENERGY < 86, 1.0, 6.0)
    return _line(clean("line") + sigma * normal(ENERGY.size, seed=seed))


def noise_of_files(seed: int) -> Any:
    parts = [
        (model("line"), Measurement(clean("line") + size * normal(ENERGY.size, seed=seed + k)))
        for k, size in enumerate((2.0, 12.0))
    ]
    return fit_joint(parts)


def missing_line(seed: int) -> Any:
    return _line(clean("doublet") + normal(ENERGY.size, seed=seed))


def missing_line_weighted(seed: int) -> Any:
    return _line(clean("doublet") + 0.3 * normal(ENERGY.size, seed=seed), weight=1 / 0.3)


def sigma_too_large(seed: int) -> Any:
    return _line(clean("line") + normal(ENERGY.size, seed=seed), weight=0.2)


def counts_undeclared(seed: int) -> Any:
    return _line(np.random.default_rng([13, seed]).poisson(clean("line")).astype(float))


def sigma_from_data(seed: int) -> Any:
    drawn = np.random.default_rng([13, seed]).poisson(clean("line", Gauss_01_A=20)).astype(float)
    return _line(drawn, weight=1 / np.sqrt(np.maximum(drawn, 1.0)))


def negative_counts(seed: int) -> Any:
    truth = clean("line", Offset_y0=0.0)
    drawn = np.random.default_rng([13, seed]).poisson(truth).astype(float)
    drawn[drawn > 0] += 5
    return _line(drawn, loss="poisson")


def faint_line(seed: int) -> Any:
    return _line(clean("doublet", GLP_02_A=0.0) + normal(ENERGY.size, seed=seed), "doublet")


def weak_line(seed: int) -> Any:
    return _line(clean("doublet", GLP_02_A=1.7) + normal(ENERGY.size, seed=seed), "doublet")


def unit_of_the_axis(seed: int) -> Any:
    made = load_model(MODELS.replace("[85, True, 82, 88]", "[85, True]"), "line")
    made.set_axes(energy=1e3 * ENERGY)
    data = clean("line") + normal(ENERGY.size, seed=seed)
    return fit_model(made, Measurement(data, units={"energy": "meV"}))


def outside(seed: int) -> Any:
    made = load_model(MODELS.replace("[85, True, 82, 88]", "[95, True]"), "line")
    made.set_axes(energy=ENERGY)
    return fit_model(made, Measurement(20.0 + normal(ENERGY.size, seed=seed)))


def backwards(seed: int) -> Any:
    truth = clean("shirley", Shirley_pShirley=0.01)[::-1]
    return _line(truth + normal(ENERGY.size, seed=seed), "shirley")


def at_bound(seed: int) -> Any:
    return _line(
        clean("mixed", GLP_01_F=8.0) + normal(ENERGY.size, seed=seed), "mixed", columns=(0, 121)
    )


def undetermined(seed: int) -> Any:
    return _line(clean("line") + normal(ENERGY.size, seed=seed), "twins")


def saturated(seed: int) -> Any:
    return _line(clean("line") + normal(ENERGY.size, seed=seed), columns=(48, 52))


def sharp_onset(seed: int) -> Any:
    truth = np.where(DELAYS >= 0.1, 30 * np.exp(-(DELAYS - 0.1) / 8), 0.0)
    return fit_trace(MODELS, "sharp", DELAYS, truth + normal(DELAYS.size, seed=seed))


def onset_before(seed: int) -> Any:
    text = MODELS.replace("t0: [0.1, True, -2, 2]", "t0: [-9, True]")
    data = 30 * np.exp(-DELAYS / 8) + normal(DELAYS.size, seed=seed)
    return fit_trace(text, "rise", DELAYS, data)


def no_constant(seed: int) -> Any:
    late = np.where(DELAYS >= 0, np.exp(-DELAYS / 8), 0.0)
    return fit_trace(MODELS, "sharp", DELAYS, 100 + 5 * late + normal(DELAYS.size, seed=seed))


def narrow_kernel(seed: int) -> Any:
    late = np.where(DELAYS >= 0.1, 30 * np.exp(-(DELAYS - 0.1) / 8), 0.0)
    return fit_trace(MODELS, "kernel", DELAYS, late + normal(DELAYS.size, seed=seed))


def disagreeing_starts(seed: int) -> Any:
    truth = clean("doublet") + normal(ENERGY.size, seed=seed)
    return fit_model(model("doublet"), Measurement(truth), n_starts=6, seed=seed)


def slices_at_bounds(seed: int) -> Any:
    made = model("mixed")
    truth = clean("mixed", GLP_01_m=0.02)
    data = truth + 10 * normal(12, ENERGY.size, seed=seed)
    data[3, 40] += 300.0
    return fit_slices(made, Measurement(data))


#: Trouble → a fit that has it.
WRONG: dict[str, Callable[[int], Any]] = {
    one.__name__: one
    for one in (
        spike, dead, noise_varies, noise_of_files, missing_line, missing_line_weighted,
        sigma_too_large, counts_undeclared, sigma_from_data, negative_counts, faint_line,
        weak_line, unit_of_the_axis, outside, backwards, at_bound, undetermined, saturated,
        sharp_onset, onset_before, no_constant, narrow_kernel, disagreeing_starts,
        slices_at_bounds,
    )
}  # fmt: skip


def good_fits() -> Iterator[tuple[str, Any]]:
    for name, count in GOOD.items():
        for seed in range(count):
            yield f"{name} {seed}", good(name, seed)


def wrong_fits() -> Iterator[tuple[str, Any]]:
    for name, made in WRONG.items():
        for seed in range(N_WRONG):
            yield f"{name} {seed}", made(seed)
