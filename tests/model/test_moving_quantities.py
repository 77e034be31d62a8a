"""Quantities that move in time: their laws count as those of parameters of components do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from pyspec import components as of
from pyspec.errors import DataError
from pyspec.executor import AGREEMENT, worst_difference
from pyspec.model import Model, load_model
from pyspec.model.build.describe import Description, Moving
from pyspec.model.build.inputs import own_inputs
from pyspec.model.sizes import Sizes
from pyspec.model.units import parameter_units
from pyspec.plan.compiled import forget

Array = npt.NDArray[np.float64]

ENERGY = np.linspace(80.0, 90.0, 21)
TIME = np.linspace(-1.0, 6.0, 29)

DECAY: Description = of.expFun(0.0, tau=3.0, t0=0.0)


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    forget()
    yield
    forget()


def height(moving: Moving, name: str = "q") -> Model:
    """A line whose height is a quantity that moves."""
    line = of.Gauss(of.expr(name), 84.0, SD=1.0)
    return Model("m", [of.Offset(10.0), line], quantities={name: moving})


def alike(model: Model) -> bool:
    """Whether the compiled plan gives what the model says."""
    return worst_difference(model.evaluate("tree"), model.evaluate()) <= AGREEMENT


def test_turns_of_a_quantity_are_taken_at_the_times_of_each_axis() -> None:
    """A second file on other times had the turns of the first one's: its plan was taken over."""
    turns = [of.expFun(1.0, tau=3.0, t0=0.0)], [of.expFun(-0.5, tau=1.0, t0=0.1)]
    for shift in (0.01, 0.64):
        model = height(of.moving(1.0, [of.none()], *turns, frequency=0.5))
        model.set_axes(energy=ENERGY, time=np.linspace(0.0, 4.0, 17) + shift)
        assert alike(model)


FLUX = """
functions:
  Flux: {formula: A * ref, domain: time, inputs: ref}
law:
  Flux: {A: [2.0, true]}
parameters:
  q: [1.0, true]
attached:
  m:
    q: {dynamics: [law]}
m:
  Offset: {y0: [1.0, true]}
  Gauss: {A: ["2 * q"], x0: [84, true], SD: [1, true]}
other:
  Gauss: {A: [1.0, true], x0: [84, true], SD: [1, true]}
"""


def test_laws_of_a_quantity_read_inputs() -> None:
    """That no function read one was said of an input of such a law."""
    model, flux = load_model(FLUX, "m"), np.exp(-np.clip(TIME, 0.0, None))
    model.set_axes(energy=ENERGY, time=TIME)
    with pytest.raises(DataError, match="Flux reads the input 'ref'"):
        model.evaluate()
    assert list(own_inputs(model, {"ref": flux, "other": flux})) == ["ref"]
    model.set_axes(inputs={"ref": flux})
    assert alike(model)
    there = np.linspace(0.1, 5.0, 7)
    assert model.predict(time=there) == pytest.approx(
        np.array([np.interp(there, TIME, column) for column in model.evaluate().T]).T, abs=1e-12
    )


def test_sizes_and_units_of_what_moves_a_quantity() -> None:
    """Each had the size 1, whatever the axes are in, and no unit."""
    model = height(of.moving(20.0, [DECAY]))
    model.set_axes(energy=ENERGY, time=1e-12 * TIME)
    sizes = Sizes(model)
    assert sizes["q_expFun_01_A"] == sizes["q"] == 20.0
    assert sizes["q_expFun_01_t0"] == pytest.approx(7e-12)
    units = parameter_units(model, {"energy": "eV", "time": "s", "data": "counts"})
    assert [units[f"q_expFun_01_{name}"] for name in ("A", "tau", "t0")] == ["counts", "s", "s"]
    assert units["q"] == "counts"
