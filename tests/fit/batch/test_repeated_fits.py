"""Fits of one model after the other: what they share, and what is worked out later, is that of the
fit that is asked."""

from __future__ import annotations

import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest
from support.line_model import facts, fresh, line_text, measured

from pyspec.errors import FitError
from pyspec.executor import CompiledExecutor, make_executor, normal
from pyspec.fit import fit_model
from pyspec.model import Measurement, Model, load_dynamics, load_model

ENERGY, TIME = np.linspace(80.0, 90.0, 60), np.linspace(-3.0, 9.0, 41)
WAVE = """
wave:
  sinFun:
    A: [5.0, True, 1, 50]
    f: [0.11, False]
    phi: [0.0, False]
    t0: [0.1, True, -2, 2]
"""


def moving(phase: float) -> Model:
    """A line whose height oscillates from a time on, with a jump unless the phase is 0."""
    model = load_model(line_text(), "line")
    name = "Gauss_01_A"
    model.add_dynamics(name, load_dynamics(WAVE, "wave", model.parameters[name]))
    model.set_values({f"{name}_sinFun_01_phi": phase})
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def test_other_windows_data_and_times_after_a_fit_count() -> None:
    model = moving(0.0)
    whole = measured(model)
    assert whole.data is not None
    fit_model(model, whole)
    part = replace(whole, rows=(3, 37), columns=(5, 50))
    assert facts(fit_model(model, part)) == fresh(moving(0.0), part)
    fit_model(model, whole)
    model.set_axes(time=TIME[:30])
    shorter = Measurement(data=whole.data[:30])
    other = moving(0.0)
    other.set_axes(time=TIME[:30])
    assert facts(fit_model(model, shorter)) == fresh(other, shorter)


def test_correlations_are_those_of_the_end_of_the_fit() -> None:
    """They are worked out when the first is looked at; nothing that comes between changes them."""
    model = moving(0.0)
    measurement = measured(model)
    at_once, later = (fit_model(model, measurement) for _ in range(2))
    expected = {name: dict(row) for name, row in at_once.correl.items()}
    covariance = later.lmfit.covar.copy()
    later.lmfit.covar[:] = 0.0
    copied = pickle.loads(pickle.dumps(later))
    for result in (later, copied):
        assert {name: dict(row) for name, row in result.correl.items()} == expected
    sizes = np.sqrt(np.diag(covariance))
    names = list(later.free_names)
    for i, one in enumerate(names):
        assert one not in expected[one]
        for j, other in enumerate(names):
            if i != j:
                found = covariance[i, j] / (sizes[i] * sizes[j])
                assert expected[one][other] == pytest.approx(found, rel=1e-12)
                assert later.params[one].correl[other] == expected[one][other]


FOLLOWERS = """  Gauss:
    A: ["Gauss_01_A * Gauss_01_SD / 2"]
    x0: ["Gauss_01_x0 + 3"]
    SD: ["Gauss_01_SD"]
parameters:
  fixed: [2.0, False]
  twice: ["2 * fixed"]
  area: ["Gauss_02_A * Gauss_02_SD + 0 * twice"]
"""


def followed() -> tuple[Model, Measurement]:
    """Lines that follow one another, and a quantity that follows them."""
    model = load_model(line_text(more=FOLLOWERS), "line")
    model.set_axes(energy=ENERGY)
    return model, measured(model)


def test_errors_of_followers_are_those_of_the_end_of_the_fit() -> None:
    """They are propagated when the first is looked at; nothing that comes between changes them."""
    model, measurement = followed()
    at_once, later = (fit_model(model, measurement) for _ in range(2))
    expected = dict(at_once.stderr)
    area, sd = "Gauss_02_A", "Gauss_01_SD"
    names = list(at_once.free_names)
    values, covariance = at_once.values, at_once.lmfit.covar
    slopes = {"Gauss_01_A": values[sd] / 2, sd: values["Gauss_01_A"] / 2}
    g = np.array([slopes.get(name, 0.0) for name in names])
    assert expected[area] == pytest.approx(np.sqrt(g @ covariance @ g), rel=1e-12)
    assert expected["Gauss_02_SD"] == pytest.approx(expected[sd], rel=1e-12)
    later.lmfit.covar[:] = 0.0
    later.model.set(area, 3.0, expr="")
    later.model.set_values({sd: 4.0})
    copied = pickle.loads(pickle.dumps(later))
    for result in (later, copied):
        assert dict(result.stderr) == expected
        assert {name: par.stderr for name, par in at_once.params.items()} == expected


def test_work_memory_comes_back_from_a_fit_that_does_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, measurement = followed()
    executor = make_executor(model, measurement)
    assert isinstance(executor, CompiledExecutor)
    before = list(executor._frames)
    monkeypatch.setenv("PYSPEC_NUM_THREADS", "many")
    with pytest.raises(FitError, match="not a number of threads"), executor.parts():
        pass
    assert executor._frames == before
    monkeypatch.setenv("PYSPEC_NUM_THREADS", "3")
    threads = threading.active_count()
    with monkeypatch.context() as patch:
        patch.setattr(normal, "team_of", lambda executors, n_threads: 1 / 0)
        with pytest.raises(ZeroDivisionError), executor.parts():
            pass
    assert threading.active_count() == threads
    assert executor._frames == before
    monkeypatch.setenv("PYSPEC_NUM_THREADS", "1")
    held = dict.fromkeys(executor.fixed_names, 7.0)
    with executor.parts(held):
        assert executor._frames == []
        assert set(before[0].fixed.tolist()) == {7.0}
    assert executor._frames == before
    assert before[0].fixed.tolist() == executor.plan.fixed.tolist()
