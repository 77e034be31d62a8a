"""Fits of one model after the other: what they share, and what is laid out in C as for the fit
before, leads to the answers of a process that has fitted nothing; memory is that of each fit."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from support.line_model import DECAY, facts, fresh, line_text, measured

from pyspec.executor.laid import arrays_of, layout_key, layout_of
from pyspec.fit import fit_model
from pyspec.model import Measurement, Model, load_dynamics, load_model
from pyspec.plan.compiled import compile_model

ENERGY, TIME = np.linspace(80.0, 90.0, 40), np.linspace(-3.0, 9.0, 21)


def moving() -> Model:
    """A line whose height decays."""
    model = load_model(line_text(), "line")
    height = model.parameters["Gauss_01_A"]
    model.add_dynamics("Gauss_01_A", load_dynamics(DECAY, "decay", height))
    model.set_axes(energy=ENERGY, time=TIME)
    return model


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPEC_NUM_THREADS", "1")


DATA = np.abs(np.round(5.0 * moving().evaluate() + np.random.default_rng(3).normal(size=(21, 40))))

#: Another measurement for each field.
OTHERS: dict[str, Measurement] = {
    "data": Measurement(DATA + 1.0),
    "rows": Measurement(DATA, rows=(2, 19)),
    "columns": Measurement(DATA, columns=(3, 33)),
    "weight": Measurement(DATA, weight=np.linspace(1.0, 2.0, 40)),
    "keep": Measurement(DATA, keep=DATA > 11.0),
    "loss": Measurement(DATA, loss="poisson"),
    "loss_scale": Measurement(DATA, loss="poisson", loss_scale=2.0),
    "labels": Measurement(DATA, labels={"energy": "binding energy"}),
    "units": Measurement(DATA, units={"energy": "eV"}),
    "energy_step": Measurement(DATA, energy_step=0.5),
    "ends": Measurement(DATA, ends=(3, 33)),
    "type": Measurement(DATA.astype(np.float32)),
    "whole numbers": Measurement(DATA.astype(np.uint16)),
    "type that C does not read": Measurement(DATA.astype(np.int64)),
    "order of bytes": Measurement(DATA.astype(">f8")),
    "order of axes": Measurement(np.asfortranarray(DATA)),
    "every other": Measurement(np.repeat(DATA, 2, axis=1)[:, ::2]),
    "read only": Measurement(np.frombuffer(DATA.tobytes()).reshape(DATA.shape)),
}


def key_of(measurement: Measurement) -> object:
    """What its layout depends on; None where it has none."""
    arrays = arrays_of(measurement)
    return None if arrays is None else layout_key(compile_model(moving()).plan, measurement, arrays)


@pytest.mark.parametrize("name", OTHERS)
def test_what_differs_in_a_measurement_counts(name: str) -> None:
    assert {one.name for one in fields(Measurement)} <= set(OTHERS)
    model, other = moving(), OTHERS[name]
    known = replace(OTHERS["loss"], data=DATA + 2.0) if name == "loss_scale" else Measurement(DATA)
    expected = fresh(moving(), other)
    fit_model(model, known)
    assert facts(fit_model(model, other)) == expected
    assert facts(fit_model(model, other)) == expected
    assert facts(fit_model(model, known)) == fresh(moving(), known)
    same = name in ("data", "labels", "units", "read only")
    assert (key_of(known) == key_of(other)) is same


RISING, BY_ENERGY = np.linspace(0.5, 1.5, 21)[:, None], np.linspace(1.0, 2.0, 40)
SOME = np.random.default_rng(5).random((21, 40)) > 0.1

#: Weights and masks, and others whose arrays have the same steps.
BESIDE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "sigma by row": ({"weight": RISING}, {"weight": RISING[::-1].copy()}),
    "sigma by energy": ({"weight": BY_ENERGY}, {"weight": 1.0 / BY_ENERGY}),
    "weights of 0": ({"weight": 1.0 * SOME}, {"weight": 1.0 * SOME[::-1]}),
    "columns left out": ({"mask": BY_ENERGY > 1.8}, {"mask": BY_ENERGY < 1.1}),
    "points left out": ({"mask": ~SOME}, {"mask": SOME & ~SOME[::-1]}),
    "counts": ({"mask": ~SOME, "loss": "poisson"}, {"mask": ~SOME[::-1], "loss": "poisson"}),
    "a window": ({"mask": ~SOME, "rows": (2, 17)}, {"mask": SOME, "rows": (2, 17)}),
}


@pytest.mark.parametrize("name", BESIDE)
def test_weights_and_masks_are_those_of_the_fit(name: str) -> None:
    first, second = (Measurement(DATA, **given) for given in BESIDE[name])
    assert key_of(first) == key_of(second) is not None
    expected = [fresh(moving(), first), fresh(moving(), second)]
    assert expected[0] != expected[1]
    model = moving()
    for _ in range(2):
        assert [facts(fit_model(model, one)) for one in (first, second)] == expected


def test_fits_of_one_model_in_several_threads_have_memory_of_their_own() -> None:
    model = moving()
    given = [measured(model, seed) for seed in range(12)]
    expected = [fresh(moving(), one) for one in given]
    fit_model(model, given[0])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda one: facts(fit_model(model, one)), 4 * given))
    assert found == 4 * expected


def test_a_compiled_model_keeps_no_data() -> None:
    model = moving()
    measurement = measured(model)
    for _ in range(2):
        fit_model(model, measurement)
    assert layout_of(compile_model(model), measurement) is not None
    data = weakref.ref(measurement.data)
    del measurement
    gc.collect()
    assert data() is None
