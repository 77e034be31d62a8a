"""Inputs of functions by formula: what a file says of them, and the values that a model takes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pyspec
from pyspec import load_dynamics, load_model
from pyspec.errors import DataError, ModelError
from pyspec.formula.definitions.function import FORMULAS, Definition, define
from pyspec.model import Model

TEXT = """
functions:
  Reference:
    formula: A * ref + B * dark
    parameters: A, B [eV]
    inputs: {{ref: energy, dark: energy}}
  Pump:
    domain: time
    formula: A * flux
    inputs: {pump}
seen:
  Reference: {{A: [2, True], B: [1, True]}}
pumped:
  Pump: {{A: [3, True]}}
"""
ENERGY = np.linspace(80.0, 88.0, 9)
TIME = np.linspace(0.0, 3.0, 4)
REF, DARK = np.cos(ENERGY), np.sin(ENERGY)
FLUX = np.array([1.0, 3.0, 2.0, 0.5])


def model(pump: str = "flux", moves: bool = False) -> Model:
    text = TEXT.format(pump=pump)
    found = load_model(text, "seen")
    if moves:
        law = load_dynamics(text, "pumped", found.parameters["Reference_01_A"])
        found.add_dynamics("Reference_01_A", law)
    return found


def test_a_text_names_its_inputs_behind_the_parameters() -> None:
    op = define("energy Seen(A, w>0; ref [1/eV], dark): A * exp(-x / w) * ref - dark")
    own = op.own
    assert isinstance(own, Definition)
    assert (op.params, own.inputs, op.linear) == (("A", "w"), ("ref", "dark"), ())
    assert op.units == ("?", "?")
    x = np.array([1.0, 2.0])
    assert np.array_equal(own(x, 2.0, 3.0, ref=x**2, dark=x), 2.0 * np.exp(-x / 3.0) * x**2 - x)
    with pytest.raises(ModelError, match="reads the input 'dark', which has no values"):
        own(x, 2.0, 3.0, ref=x)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("energy F(A; ref): A", "does not depend on its input 'ref'"),
        ("energy F(A; ref, ref): A * ref", "'ref' is an input already"),
        ("energy F(A;): A", "cannot read the inputs ''"),
        ("kernel K(w>0; ref): exp(-abs(d) / w) * ref", "the kernel K cannot have inputs"),
        (
            f"energy F(A; {', '.join(f'r{k}' for k in range(17))}): A",
            "F has 17 inputs, 16 is the most",
        ),
    ],
)
def test_what_cannot_be_an_input_is_named(text: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        define(text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{flux: energy}", "Pump.inputs: 'flux' is along the energy axis"),
        ("", "Pump.inputs: must be text"),
    ],
)
def test_mistakes_of_a_file_are_named(given: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        load_dynamics(TEXT.format(pump=given), "pumped", "Reference_01_A")
    assert words in str(caught.value)


@pytest.mark.parametrize("given", ["flux", "[flux]", "{flux: time}", "flux [1/ps]"])
def test_ways_to_write_them(given: str) -> None:
    moved = model(given, moves=True)
    assert load_model(moved.to_yaml(), "seen").to_yaml() == moved.to_yaml()
    written = load_model(model().to_yaml(), "seen")
    assert written.components[0].op == model().components[0].op


def test_a_python_function_names_its_inputs() -> None:
    @pyspec.function(inputs="ref", params="A, w>0")
    def Traced(x: Any, A: Any, w: Any, ref: Any) -> Any:
        return A * ref * np.exp(-x / w)

    assert FORMULAS["Traced"].own == define(Traced.formula).own
    assert Traced.formula.startswith("energy Traced(A, w>0; ref):")
    with pytest.raises(ModelError, match="must name its last arguments"):
        pyspec.function(inputs="A")(Traced.function)
    with pytest.raises(ModelError, match="must name A, w, in this order"):
        pyspec.function(inputs="ref", params="A, w, ref")(Traced.function)


def test_values_lie_beside_the_axes() -> None:
    seen = model()
    seen.set_axes(energy=ENERGY, inputs={"ref": REF, "dark": DARK})
    for backend in ("compiled", "interpreted", "tree"):
        assert np.allclose(seen.evaluate(backend), 2.0 * REF + DARK, rtol=1e-15, atol=1e-15)
    assert not seen.inputs["ref"].flags.writeable
    twin: Model = pickle.loads(pickle.dumps(copy.deepcopy(seen)))
    twin.set_axes(inputs={"ref": REF + 1.0})
    assert np.allclose(twin.evaluate() - seen.evaluate(), 2.0)
    seen.set_axes(energy=ENERGY, time=TIME)
    assert set(seen.inputs) == {"ref", "dark"}
    seen.set_axes(energy=ENERGY + 0.1)
    with pytest.raises(DataError, match="Reference reads the input 'ref', one value for each of"):
        seen.evaluate()


def test_an_input_without_values_is_named() -> None:
    seen = model()
    seen.set_axes(energy=ENERGY, inputs={"ref": REF})
    for backend in ("compiled", "interpreted", "tree", "compare"):
        with pytest.raises(DataError, match=r"Reference reads the input 'dark'.*File"):
            seen.evaluate(backend)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (REF[:5], "the input 'ref' has 5 values, the energy axis 9 points"),
        (REF * 1j, "is complex numbers; give real numbers, such as np.asarray\\(ref, float\\)"),
        (np.where(ENERGY > 83, np.nan, REF), "has nan at index 4"),
        ([[1.0], [2.0, 3.0]], "has rows of different lengths"),
    ],
)
def test_values_that_are_no_input_are_named(values: Any, words: str) -> None:
    seen = model()
    seen.set_axes(energy=ENERGY, inputs={"ref": REF, "dark": DARK})
    with pytest.raises(DataError, match=words):
        seen.set_axes(inputs={"ref": values})
    assert np.array_equal(seen.inputs["ref"], REF)


def test_unknown_names_are_refused() -> None:
    seen = model()
    with pytest.raises(ModelError, match="reads an input 'fre'; it reads ref, dark; did you mean"):
        seen.set_axes(energy=ENERGY, inputs={"fre": REF})
    plain = load_model("peak: {Gauss: {A: [1, True], x0: [84, True], SD: [1, True]}}", "peak")
    with pytest.raises(ModelError, match="it reads none"):
        plain.set_axes(energy=ENERGY, inputs={"ref": REF})


def test_an_input_has_one_axis() -> None:
    moved = model("flux", moves=True)
    twisted = TEXT.format(pump="flux").replace("flux", "ref")
    law = load_dynamics(twisted, "pumped", moved.parameters["Reference_01_B"])
    moved.add_dynamics("Reference_01_B", law)
    with pytest.raises(ModelError, match="'ref' is along the energies in Reference and along the"):
        moved.set_axes(energy=ENERGY, time=TIME, inputs={"ref": REF})


def spread(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.interp(np.linspace(80.5, 87.5, 15), ENERGY, values)


def test_on_other_axes_inputs_are_interpolated() -> None:
    moved = model(moves=True)
    moved.set_axes(energy=ENERGY, time=TIME, inputs={"ref": REF, "dark": DARK, "flux": FLUX})
    own = moved.predict(time=TIME[1:3])
    assert np.allclose(own, moved.evaluate()[1:3], rtol=1e-14)
    finer = moved.predict(energy=np.linspace(80.5, 87.5, 15), time=[0.5, 1.0])
    height = 2.0 + 3.0 * np.array([2.0, 3.0])
    assert np.allclose(finer, height[:, None] * spread(REF) + spread(DARK), rtol=1e-13)
    with pytest.raises(DataError, match="the input 'ref' lies along the energy axis of the data"):
        moved.predict(energy=ENERGY + 1.0)
