"""Fits whose structures of C are laid out as those of the fit before: the same answers, from memory
of their own."""

from __future__ import annotations

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from support.line_model import line_text, measured

from pyspec.executor import laid, make_executor
from pyspec.executor.laid import layout_key
from pyspec.fit import FitResult, fit_model
from pyspec.fit.known import known_of
from pyspec.model import Measurement, Model, load_dynamics, load_model
from pyspec.plan.lowered import forget

ENERGY, TIME = np.linspace(80.0, 90.0, 40), np.linspace(-3.0, 9.0, 21)
DECAY = """
decay:
  expFun:
    A: [5.0, True, 1, 50]
    tau: [2.5, False]
    t0: [0.1, False]
"""


def moving() -> Model:
    """A line whose height decays."""
    model = load_model(line_text(), "line")
    height = model.parameters["Gauss_01_A"]
    model.add_dynamics("Gauss_01_A", load_dynamics(DECAY, "decay", height))
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def facts(result: FitResult) -> list[object]:
    said = result.message, result.cautions, result.nfev, result.chisqr, result.theta.tobytes()
    arrays = result.fit.tobytes(), result.residual.tobytes()
    return [dict(result.values), dict(result.stderr), dict(result.start), *said, *arrays]


def fresh(measurement: Measurement, **options: Any) -> list[object]:
    """What a process says that has fitted nothing before."""
    forget()
    return facts(fit_model(moving(), measurement, **options))


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPEC_NUM_THREADS", "1")


def test_the_next_fit_makes_no_executor_before_it_is_asked_for_one() -> None:
    model = moving()
    first, second = measured(model), measured(model, 2)
    assert fit_model(model, first).problem._executor is not None
    result = fit_model(model, second)
    assert result.problem._executor is None
    executor = make_executor(moving(), second)
    assert result.fit.tobytes() == executor.run(result.theta).tobytes()
    assert facts(result) == fresh(second)


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
    "type": Measurement(DATA.astype(np.float32)),
    "whole numbers": Measurement(DATA.astype(np.uint16)),
    "type that C does not read": Measurement(DATA.astype(np.int64)),
    "order of bytes": Measurement(DATA.astype(">f8")),
    "order of axes": Measurement(np.asfortranarray(DATA)),
    "every other": Measurement(np.repeat(DATA, 2, axis=1)[:, ::2]),
    "read only": Measurement(np.frombuffer(DATA.tobytes()).reshape(DATA.shape)),
}


def test_every_field_of_a_measurement_is_among_them() -> None:
    assert {one.name for one in fields(Measurement)} <= set(OTHERS)


@pytest.mark.parametrize("name", OTHERS)
def test_what_differs_in_a_measurement_counts(name: str) -> None:
    model, other = moving(), OTHERS[name]
    known = replace(OTHERS["loss"], data=DATA + 2.0) if name == "loss_scale" else Measurement(DATA)
    expected = fresh(other)
    fit_model(model, known)
    assert facts(fit_model(model, other)) == expected
    assert facts(fit_model(model, other)) == expected
    assert facts(fit_model(model, known)) == fresh(known)
    same = name in ("data", "labels", "units", "read only")
    assert (layout_key(known) == layout_key(other)) is same


def test_data_that_changed_in_place_are_those_of_the_fit() -> None:
    model, measurement = moving(), measured(moving())
    assert measurement.data is not None
    for _ in range(3):
        fit_model(model, measurement)
        measurement.data[3:9] *= 1.25
        result = fit_model(model, measurement)
        assert facts(result) == fresh(measurement)


def test_a_result_stays_as_it_is_when_the_next_fits_come() -> None:
    model, measurement = moving(), measured(moving())
    fit_model(model, measurement)
    result = fit_model(model, measurement)
    correl = {name: dict(row) for name, row in result.correl.items()}
    for seed in range(2, 5):
        fit_model(model, measured(model, seed))
    mine = result.model
    mine.set_values({"Gauss_01_A_expFun_01_tau": 7.0})
    assert {name: dict(row) for name, row in result.correl.items()} == correl
    copied = pickle.loads(pickle.dumps(fit_model(model, measurement)))
    assert facts(copied) == fresh(measurement)
    assert facts(result) == fresh(measurement)


def test_fits_of_one_model_in_several_threads_have_memory_of_their_own() -> None:
    model = moving()
    given = [measured(model, seed) for seed in range(12)]
    expected = [fresh(one) for one in given]
    fit_model(model, given[0])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda one: facts(fit_model(model, one)), 4 * given))
    assert found == 4 * expected


def test_what_is_known_of_a_model_keeps_no_data() -> None:
    model = moving()
    measurement = measured(model)
    for _ in range(2):
        fit_model(model, measurement)
    known = known_of(model)
    assert known is not None
    assert known.layout_of(measurement) is not None
    data = weakref.ref(measurement.data)
    del measurement
    gc.collect()
    assert data() is None


@pytest.mark.parametrize("options", [{"max_nfev": 3}, {"seeds": {"Gauss_01_x0": 84.0}}])
def test_limits_and_starts_are_those_of_the_fit(options: dict[str, Any]) -> None:
    model, measurement = moving(), measured(moving())
    fit_model(model, measurement)
    assert facts(fit_model(model, measurement, **options)) == fresh(measurement, **options)


def test_memory_goes_to_the_next_fit_unless_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    model, measurement = moving(), measured(moving())
    fit_model(model, measurement)
    known = known_of(model)
    assert known is not None
    layout = known.layout_of(measurement)
    assert layout is not None
    data = measurement.data
    assert data is not None
    one, other = layout.take(data), layout.take(data)
    assert one.address != other.address
    layout.give_back(one)
    layout.give_back(other)
    assert one.data is None
    assert layout.take(data) is one
    assert layout.take(data) is not other
    monkeypatch.setattr(laid, "MOST_WORDS", 0)
    layout.give_back(other)
    assert layout.take(data) is not other


def test_memory_comes_back_from_a_fit_that_ends_by_an_error() -> None:
    model, measurement = moving(), measured(moving())
    expected = fresh(measurement)
    fit_model(model, measurement)

    def stop(*_: object) -> None:
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fit_model(model, measurement, progress=stop)
        assert facts(fit_model(model, measurement)) == expected


def test_threads_share_what_is_laid_out_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model, measurement = moving(), measured(moving())
    fit_model(model, measurement)
    expected = facts(fit_model(model, measurement))
    monkeypatch.setenv("PYSPEC_NUM_THREADS", "2")
    assert facts(fit_model(model, measurement)) == expected


def test_progress_is_told_of_each_evaluation() -> None:
    model, measurement = moving(), measured(moving())
    fit_model(model, measurement)
    seen: list[int] = []
    result = fit_model(model, measurement, progress=lambda nfev, *_: seen.append(nfev))
    assert seen == list(range(1, result.nfev + 1))
