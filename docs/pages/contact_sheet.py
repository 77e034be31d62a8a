"""All pictures on one sheet, to be looked at: ``python docs/pages/contact_sheet.py FOLDER``.

Draws every picture of simulated data of each kind: counts, both signs, decades of delay,
overlapping peaks, masks, one point wide. It writes each picture and ``sheet.png`` with all of
them. With ``--data FOLDER`` every file of that folder that `pyspec.read` understands is drawn
too.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pyspec
from pyspec.errors import PyspecError
from pyspec.fit import fit_model, fit_slices, fit_trace
from pyspec.model import Measurement, load_dynamics, load_model, load_time_model
from pyspec.plot import (
    plot_amplitudes,
    plot_chain,
    plot_components,
    plot_data,
    plot_evolution,
    plot_fit,
    plot_model_1d,
    plot_model_2d,
    plot_moving,
    plot_overview,
    plot_populations,
    plot_residuals,
    plot_species,
    plot_spectra,
    plot_stack,
    plot_svd,
    plot_traces,
    plot_waterfall,
)

NAMES = {
    "labels": {"energy": "BE", "time": "delay", "data": "intensity"},
    "units": {"energy": "eV", "time": "ps", "data": "counts"},
}
MODELS = """
overlap:
  LinBack: {m: [0.5, True], b: [60, True], xStart: [0, False], xStop: [20, False]}
  Shirley: {pShirley: [0.002, False]}
  Gauss: {A: [80, True, 0, 900], x0: [9, True, 5, 15], SD: [1.2, True, 0.1, 5]}
  Gauss: {A: [60, True, 0, 900], x0: [10.2, True, 5, 15], SD: [1.1, True, 0.1, 5]}
moving:
  Offset: {y0: [50, True]}
  Gauss: {A: [100, True], x0: [9, True, 2, 18], SD: [1.5, True, 0.1, 5]}
signed:
  Gauss: {A: [-4, True], x0: [6, True, 2, 18], SD: [1.0, True, 0.1, 5]}
  Gauss: {A: [5, True], x0: [13, True, 2, 18], SD: [1.5, True, 0.1, 5]}
narrow:
  Offset: {y0: [50, True]}
  Gauss: {A: [200, True], x0: [9, False], SD: [0.05, False]}
rise:
  expFun: {A: [90, True], tau: [20, True, 0.1, 900], t0: [0, False]}
fall:
  expFun: {A: [3, True], tau: [40, True, 0.1, 900], t0: [0, False]}
heights:
  Offset: {y0: {free: time}}
  Gauss: {A: {free: time}, x0: [9, True, 2, 18], SD: [1.5, True, 0.1, 5]}
"""
LAWS = """
kinetics:
  relaxation: {S1 -> S2: k1, S2: k2}
target:
  gaussIRF: {SD: [0.3, False]}
  relaxation: {k1: [1, True], k2: [0.02, True], t0: [0, False], spectra: {free: energy}}
decay:
  gaussIRF: {SD: [0.3, True, 0.05, 2]}
  expFun: {A: [90, True], tau: [20, True, 0.1, 900], t0: [0, True, -1, 1]}
"""
AXES = ("energy", "time")
ENERGY = np.linspace(0.0, 20.0, 161)
DELAYS = np.concatenate([np.linspace(-2.0, 2.0, 21), np.geomspace(2.5, 2000.0, 40)])


def fitted(
    name: str, law: str = "", *, mask: bool = False, counts: bool = False, **window: Any
) -> Any:
    """A fit of simulated data with declared noise, or counts."""
    model = load_model(MODELS, name)
    if law:
        model.add_dynamics("Gauss_01_A", load_dynamics(MODELS, law, "Gauss_01_A"))
    model.set_axes(energy=ENERGY, time=DELAYS if law else None)
    clean = np.asarray(model.evaluate())
    generator = np.random.default_rng(5)
    sigma = 0.02 * float(np.ptp(clean))
    data = generator.poisson(clean) * 1.0 if counts else generator.normal(clean, sigma)
    keep = np.ones(clean.shape, bool)
    if mask:
        data[..., 60], keep[..., 60] = 1e6, False
        keep[..., 120:140] = False
    noise: dict[str, Any] = {"loss": "poisson"} if counts else {"weight": np.array(1 / sigma)}
    measurement = Measurement(data, keep=keep, **noise, **NAMES, **window)
    result = fit_model(model, measurement, scale_covar=False)
    result.file_name = "simulated"
    return result


def slices() -> Any:
    """A series fitted spectrum by spectrum."""
    model = load_model(MODELS, "moving")
    model.set_axes(energy=ENERGY)
    generator = np.random.default_rng(6)
    shape = np.asarray(model.evaluate())
    data = generator.poisson(shape * np.exp(-np.arange(30) / 25.0)[:, None]) * 1.0
    return fit_slices(model, Measurement(data, loss="poisson", **NAMES), times=np.arange(30.0))


def free_traces() -> Any:
    """A height and an offset that are free at each time."""
    model = load_model(MODELS, "heights")
    model.set_axes(energy=ENERGY, time=DELAYS)
    shape = np.exp(-(((ENERGY - 9.0) / 1.5) ** 2) / 2)
    clean = 4000.0 + np.outer(40.0 + 20.0 * np.exp(-np.maximum(DELAYS, 0) / 30.0), shape)
    data = np.random.default_rng(7).normal(clean, 2.0)
    return fit_model(model, Measurement(data, **NAMES))


def species() -> Any:
    """Two states with free spectra."""
    model = load_time_model(LAWS, "target")
    model.set_axes(energy=ENERGY, time=DELAYS)
    late = np.maximum(DELAYS, 0.0)[:, None]
    second = (np.exp(-0.02 * late) - np.exp(-late)) / 0.98
    one, two = (np.exp(-(((ENERGY - x) / 2.0) ** 2) / 2) for x in (7.0, 13.0))
    clean = (DELAYS >= 0)[:, None] * 50.0 * (np.exp(-late) * one + second * two)
    data = np.random.default_rng(8).normal(clean, 1.0)
    return fit_model(model, Measurement(data, **NAMES))


def trace() -> Any:
    """A decay over time."""
    clean = np.where(DELAYS > 0, 90.0 * np.exp(-DELAYS / 20.0), 0.0)
    data = np.random.default_rng(9).normal(clean, 2.0)
    return fit_trace(LAWS, "decay", DELAYS, data, measurement=Measurement(data, **NAMES))


def simulated() -> Iterator[tuple[str, Callable[[], Any]]]:
    """(name, what draws it) of every picture of simulated data."""
    one, masked = fitted("overlap"), fitted("overlap", mask=True)
    window = fitted("overlap", counts=True, columns=(30, 130))
    narrow, series = fitted("narrow"), fitted("moving", "rise")
    counts, signed = fitted("moving", "rise", counts=True), fitted("signed", "fall")
    holes = fitted("moving", "rise", mask=True, columns=(20, 150), rows=(3, 55))
    sbs = slices()
    yield "one spectrum", lambda: plot_fit(one)
    yield "its components", lambda: plot_components(one)
    yield "masked points", lambda: plot_fit(masked)
    yield "counts, whole axis", lambda: plot_fit(window, full_range=True)
    yield "one point wide", lambda: plot_fit(narrow)
    yield "logarithmic", lambda: plot_fit(window, z_type="log")
    yield "decades of delay", lambda: plot_fit(series)
    yield "counts in time", lambda: plot_fit(counts)
    yield "both signs", lambda: plot_fit(signed)
    yield "mask and window", lambda: plot_fit(holes, full_range=True)
    yield "parameters", lambda: plot_moving(series)
    yield (
        "waterfall",
        lambda: plot_waterfall(
            series.data, series.energy, series.time, fit=series.fit, n=7, source=series
        ),
    )
    yield (
        "waterfall of both signs",
        lambda: plot_waterfall(
            signed.data, signed.energy, signed.time, fit=signed.fit, n=7, source=signed
        ),
    )
    yield "data", lambda: plot_data(
        series.data, series.energy, series.time, source=series, rows=(5, 50), columns=(40, 120),
        baseline=(0, 5),
    )  # fmt: skip
    yield "slices", lambda: plot_fit(sbs)
    errors = {name: np.where(sbs.time % 5 == 0, np.nan, e) for name, e in sbs.stderr.items()}
    values = {name: np.array(v) for name, v in sbs.values.items()}
    values["Gauss_01_x0"][7] = 900.0
    yield (
        "evolution",
        lambda: plot_evolution(sbs.time, values, errors, params=sbs.free_names, source=sbs),
    )
    yield "traces", lambda: plot_traces(series, energies=[9, 11, 14])
    yield "spectra", lambda: plot_spectra(series, times=[-1, 1, 100])
    yield "spectra above each other", lambda: plot_stack(sbs, n=9)
    yield "residuals of spectra", lambda: plot_residuals([one, masked])
    yield "residuals of maps", lambda: plot_residuals([series, counts])
    yield "singular values", lambda: plot_svd(series)
    heights, states, decay = free_traces(), species(), trace()
    yield "free traces", lambda: plot_amplitudes(heights)
    yield "noise not declared", lambda: plot_fit(heights)
    yield "species", lambda: plot_species(states)
    yield "populations", lambda: plot_populations(states)
    yield "trace", lambda: plot_fit(decay)
    chain = one.sample(steps=600, burn=150, seed=1, progress=False)
    yield "samples", lambda: plot_chain(chain, best=one.values, source=one)
    yield "model of a spectrum", lambda: plot_model_1d(one.model)
    yield "model of a series", lambda: plot_model_2d(series.model)


def measured(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """(name, what draws it) of every file that is understood, and spectra of a series. Axes are
    read with the data beside them; of separate spectra in a file the last is drawn."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix in (".md", ".py", ".yaml") or path.stem in AXES:
            continue
        beside = {stem: near for stem in AXES for near in [path.with_stem(stem)] if near.is_file()}
        name = f"{path.parent.name} {path.name}" if beside else path.name
        try:
            dataset = read_last(path, beside)
        except PyspecError as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            continue
        yield name, lambda dataset=dataset: plot_overview(dataset)
        if dataset.time is not None:
            yield (
                f"{name} waterfall",
                lambda d=dataset: plot_waterfall(d.data, d.energy, d.time, n=6, source=d),
            )


def read_last(path: Path, beside: dict[str, Path]) -> Any:
    """A file, or of several separate spectra the last."""
    try:
        return pyspec.read(path, **beside)
    except PyspecError as error:
        blocks = re.findall(r"(\d+): [^:]*points\)", str(error))
        if not blocks:
            raise
        return pyspec.read(path, block=int(blocks[-1]))


def sheet(paths: list[Path], target: Path, columns: int = 3) -> None:
    """Pictures in rows on one page."""
    from matplotlib.figure import Figure
    from matplotlib.image import imread

    rows = -(-len(paths) // columns)
    figure = Figure(figsize=(6.0 * columns, 4.0 * rows), layout="constrained", dpi=90)
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, path in zip(axes.flat, paths, strict=False):
        ax.imshow(imread(path))
        ax.set_title(path.stem, fontsize=9)
    figure.savefig(target)


def main() -> None:
    """Draws all pictures into the folder that is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="also every file of this folder")
    parser.add_argument("--dpi", type=int, default=100)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    pictures = list(simulated())
    if given.data is not None:
        pictures += measured(given.data)
    paths = []
    for name, draw in pictures:
        path = given.folder / f"{name.replace(' ', '_').replace('/', '_')}.png"
        draw().savefig(path, dpi=given.dpi)
        paths.append(path)
    sheet(paths, given.folder / "sheet.png")
    print(f"{len(paths)} pictures in {given.folder}")


if __name__ == "__main__":
    main()
