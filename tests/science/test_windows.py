"""A window's spectrum is the full one, cropped: to 1e-12, in three executors.

What a Shirley or a kernel reads may lie outside of the window. The tests run over the op table, so
that a new row is covered at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pyspec._library import OPS, OpDef
from pyspec.executor import make_executor
from pyspec.model import Measurement, Model, load_dynamics, load_model, load_time_model

pytestmark = pytest.mark.sweep(5)

ENERGY = {
    "ascending": np.linspace(80.0, 90.0, 121),
    "descending": np.linspace(90.0, 80.0, 121),
    "uneven": 80.0 + 10.0 * np.linspace(0.0, 1.0, 121) ** 1.3,
}
#: Steps of 0.25 where it happens, then longer ones; 0.05 before t0, so that no sample is at it.
TIME = np.concatenate([np.arange(-6.0, 12.0, 0.25), np.linspace(12.0, 60.0, 25)]) - 0.05
WINDOWS = [(0, 1), (3, 40), (17, 18), (50, 97), (96, 97)]
COLUMNS = [(0, 1), (7, 60), (33, 121), (120, 121)]
BACKENDS = ("tree", "interpreted", "compiled")
VALUES = {"x0": 85.0, "SD": 0.8, "tau": 1.7, "t0": 0.0, "width": 1.9, "xStart": 82.0, "xStop": 88.0}
VALUES |= {"A": 4.0, "F": 1.2, "m": 0.3, "W": 0.9, "w": 1.4, "b": 0.25, "ratio": 1.6, "alpha": 0.2}
VALUES |= {"f": 0.11, "phi": 0.4, "y0": 0.7, "pShirley": 0.01, "a": 0.4, "beta": 0.8}
VALUES |= {"c1": 0.3, "c2": -0.02, "c3": 0.004, "k": 0.12, "r": 1.6}
VALUES |= {"share": 0.3, "shift": 0.4, "xi": 2.3, "T": 900.0, "mBelow": 0.02, "mAbove": -0.01}


def write(op: OpDef, further: bool = False) -> str:
    """A component with all its parameters; only a further Gaussian has a share and a shift."""
    params = op.params if op.kind != "IRF" or further else op.params[: op.n_required]
    lines = [f"    {p}: [{VALUES[p]}, {str(p == 'A').lower()}]\n" for p in params]
    return f"  {op.name}:\n" + "".join(lines)


SHIRLEY, LINE, DECAY = write(OPS["Shirley"]), write(OPS["GLP"]), write(OPS["expFun"])
SPECTRA = {
    "Shirley": "m:\n" + SHIRLEY + write(OPS["Offset"]) + LINE,
    "two Shirleys": "m:\n" + SHIRLEY + write(OPS["LinBack"]) + SHIRLEY + LINE + LINE,
} | {
    name: "m:\n" + write(op) + ("" if op.name == "GLP" else LINE)
    for name, op in OPS.items()
    if op.kind in ("PEAK", "BACKGROUND")
}
LAWS = {
    name: f"m:\n{write(op)}{DECAY}{write(OPS['sinFun'])}"
    for name, op in OPS.items()
    if op.kind in ("KERNEL", "IRF")
} | {name: f"m:\n{write(op)}" for name, op in OPS.items() if op.kind == "DYNAMICS" and op.params}
MEASURED = "  measuredIRF: {time: [-0.9, 0, 0.31, 4.3], response: [0.1, 2, 1, 0]}\n"
LAWS |= {
    "measured instrument": f"m:\n{MEASURED}{DECAY}{write(OPS['sinFun'])}",
    "two kernels": f"m:\n{write(OPS['boxCONV'])}{DECAY}{write(OPS['gaussCONV'])}{DECAY}",
    "two Gaussians": f"m:\n{write(OPS['gaussIRF'])}{write(OPS['gaussIRF'], True)}{DECAY}",
    "kernel after a law": f"m:\n{DECAY}{write(OPS['expDecayCONV'])}{DECAY}",
}


def moving(laws: str) -> Model:
    """A doublet with its place moved, on a Shirley."""
    model = load_model(SPECTRA["two Shirleys"], "m")
    model.add_dynamics("GLP_01_x0", load_dynamics(laws.replace("4.0", "0.6"), "m", "GLP_01_x0"))
    return model


def measurements(model: Model) -> Iterator[Measurement]:
    """Windows, down to a single sample."""
    if model.energy is None or model.time is None:
        axis, windows = (model.time, WINDOWS) if model.energy is None else (model.energy, COLUMNS)
        assert axis is not None
        for window in windows:
            yield Measurement(data=np.zeros(axis.size), columns=window)
        return
    shape = (model.time.size, model.energy.size)
    for rows in WINDOWS:
        for columns in (None, *COLUMNS):
            yield Measurement(data=np.zeros(shape), rows=rows, columns=columns)


def assert_cropped(model: Model) -> None:
    for backend in BACKENDS:
        full = make_executor(model, None, backend).run(model.theta())
        scale = np.abs(full).max()
        for measurement in measurements(model):
            cropped = measurement.window(full)
            executor = make_executor(model, measurement, backend)
            window = executor.run(model.theta())
            assert window.shape == cropped.shape
            where = f"{backend}, rows {measurement.rows}, columns {measurement.columns}"
            assert np.abs(window - cropped).max() <= 1e-12 * scale, where
            residual = executor.residual(model.theta())
            assert np.abs(residual + cropped.ravel()).max() <= 1e-12 * scale, where


@pytest.mark.parametrize("axis", ENERGY)
@pytest.mark.parametrize("name", SPECTRA)
def test_spectra(name: str, axis: str) -> None:
    model = load_model(SPECTRA[name], "m")
    model.set_axes(energy=ENERGY[axis])
    assert_cropped(model)


@pytest.mark.parametrize("name", LAWS)
def test_laws_of_a_time_model(name: str) -> None:
    model = load_time_model(LAWS[name], "m")
    model.set_axes(time=TIME)
    assert_cropped(model)


@pytest.mark.parametrize("name", LAWS)
def test_laws_that_move_a_line(name: str) -> None:
    model = moving(LAWS[name])
    model.set_axes(energy=ENERGY["uneven"], time=TIME)
    assert_cropped(model)


def test_sub_cycles_under_a_kernel() -> None:
    names = ["irf", "rise", "fall"]
    laws = f"irf:\n{write(OPS['gaussCONV'])}rise:\n{DECAY}fall:\n{DECAY.replace('4.0', '-3.0')}"
    model = load_model(SPECTRA["Shirley"], "m")
    law = load_dynamics(laws, names, "GLP_01_A", frequency=0.07)
    model.add_dynamics("GLP_01_A", law)
    model.set_axes(energy=ENERGY["ascending"], time=TIME)
    assert_cropped(model)
