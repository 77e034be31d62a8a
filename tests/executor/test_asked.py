"""What executors answer to what they cannot do, and to values that do not fit."""

from __future__ import annotations

import os
import pickle
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from support.fit_cases import series
from support.native_cases import CASES
from support.zoo import ENERGY, TIME, make_model

from pyspec import PyspecError, TooLargeError
from pyspec._library.memory import doubles
from pyspec.errors import BackendError, DataError, ModelError, PlanError
from pyspec.executor import (
    BACKENDS,
    CompareExecutor,
    CompiledExecutor,
    InterpretedExecutor,
    PartsExecutor,
    Problem,
    evaluate_2d,
    extract_theta,
    make_executor,
    make_joint_executor,
    make_plan,
    worst_difference,
)
from pyspec.executor.team import choose_threads
from pyspec.io import by_reference
from pyspec.model import Measurement, Model, load_model, load_profile

N, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("first", "second", "worst"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.25),
        ([1.0, N], [1.0, N], 0.0),
        ([N, N], [N, N], 0.0),
        ([1.0, N], [1.0, 2.0], INF),
        ([1.0, N], [1.0, INF], INF),
        ([1.0, INF], [1.0, INF], 0.0),
        ([1.0, INF], [1.0, -INF], INF),
        ([0.0, 0.0], [0.0, 0.0], 0.0),
        ([0.0, 0.0], [0.0, 1.0], INF),
    ],
)
def test_the_difference_of_executors(first: Any, second: Any, worst: float) -> None:
    assert worst_difference(np.array(first), np.array(second)) == worst


def asked(model: Model, backend: str) -> Any:
    if backend == "joint":
        return make_joint_executor([(model, Measurement())])
    return make_executor(model, None, backend)


@pytest.mark.parametrize("backend", ["compiled", "interpreted", "tree", "joint"])
def test_values_are_given_by_name_or_in_order(backend: str) -> None:
    model = make_model("simple_energy", ENERGY)
    executor = asked(model, backend)
    name = executor.opt_param_names[1]
    theta = model.theta()
    theta[1] = 7.0
    expected = executor.run(theta).tobytes()
    assert executor.run({name: 7.0}).tobytes() == expected
    assert executor.run(MappingProxyType({name: 7.0})).tobytes() == expected
    assert executor.run(None).tobytes() == executor.run(model.theta()).tobytes()
    wrong = name.replace("A", "a")
    with pytest.raises(
        PlanError, match=f"'{wrong}' is not a free parameter; did you mean '{name}'"
    ):
        executor.run({wrong: 7.0})
    with pytest.raises(PlanError, match=r"free values have shape \(1,\), expected \("):
        executor.run([7.0])


@pytest.mark.parametrize("backend", ["compiled", "interpreted", "tree", "joint"])
@pytest.mark.parametrize("given", ["high", [1.0, 2.0, "x"], "by name", object(), [1j]])
def test_values_that_are_no_numbers_are_named(backend: str, given: Any) -> None:
    executor = asked(make_model("simple_energy", ENERGY), backend)
    if given == "by name":
        given = {executor.opt_param_names[1]: "high"}
    label = "joint fit" if backend == "joint" else "simple_energy"
    with pytest.raises(PlanError, match=f"{label}: free values are .*; give numbers in the o"):
        executor.run(given)


def test_sums_ask_for_data_and_a_known_form() -> None:
    model, measurement = CASES["a series"]()[0]
    executor: Any = make_executor(model)
    with pytest.raises(DataError, match="sums of residuals need data; give the measurement some"):
        executor.normal(None)
    executor = make_executor(model, measurement)
    assert executor.residual(None).tobytes() == executor.residual(None).tobytes()
    with pytest.raises(PlanError, match=r"form must be one of .*gram.*, not 'gramm'"):
        executor.normal(None, None, "gramm")


def mixed(*backends: str) -> tuple[PartsExecutor, PartsExecutor]:
    """Three files by these backends, and all of them compiled."""
    parts = CASES["three files"]()
    names = Problem.of(parts)
    own = [make_executor(*part, backend=b) for part, b in zip(parts, backends, strict=True)]
    return PartsExecutor(names, own), make_joint_executor(parts)


def test_files_without_derivatives_leave_theirs_to_differences() -> None:
    some, compiled = mixed("compiled", "tree", "compiled")
    theta = compiled.problem.start
    assert not some.capabilities.in_c
    own = set(some.problem.gather[1].tolist())
    assert set(some.capabilities.unknown_columns) == own
    known = some.jacobian(theta, known_only=True)
    whole = compiled.jacobian(theta)
    alone = [k for k in range(theta.size) if k not in own]
    np.testing.assert_array_equal(known[alone], whole[alone])
    assert some.fixed_names == ()
    some.rest()
    for ask in (some.jacobian, some.normal):
        with pytest.raises(PlanError, match=r"use (compiled|differences)"):
            ask(theta)
    with pytest.raises(PlanError, match="the tree executor has no derivatives; use compiled"):
        some.parts()
    with pytest.raises(PlanError, match="these executors do not belong to the parts"):
        PartsExecutor(compiled.problem, [make_executor(make_model("simple_energy", ENERGY))] * 3)


def test_data_by_reference_are_summed_and_loaded_where_that_is_asked() -> None:
    model, measurement = CASES["a series"]()[0]
    data = np.asarray(measurement.data)
    source: Any = by_reference(data)
    executor: Any = make_executor(model, Measurement(source))
    plain: Any = make_executor(model, measurement)
    assert executor.residual(None).tobytes() == plain.residual(None).tobytes()
    again = pickle.loads(pickle.dumps(executor))
    assert again.normal(None).tobytes() == plain.normal(None, in_strips=True).tobytes()
    free = load_model("m: {Gauss: {A: {free: time}, x0: [1, True], SD: [1, True]}}\n", "m")
    free.set_axes(energy=model.energy, time=model.time)
    with pytest.raises(
        BackendError, match=r"amplitudes that are free \(Gauss_01_A\) need their da"
    ):
        make_executor(free, Measurement(source))


def test_axes_that_a_model_lacks_are_named() -> None:
    model = make_model("simple_energy", ENERGY)
    profile = "p: {pExpDecay: {A: [3, True], tau: [2, True]}}\n"
    model.add_profile("GLP_01_A", load_profile(profile, "p", "GLP_01_A"))
    moved = make_model("biexponential", ENERGY)
    moved.time = None
    bare = load_model("m: {Offset: {y0: [1, True]}}\n", "m")
    for one, message in (
        (model, "GLP_01_A has a profile, but the model has no auxiliary"),
        (moved, "GLP_01_A moves in time, but the model has no time axis"),
        (bare, "no energy axis"),
    ):
        for backend in ("compiled", "tree"):
            with pytest.raises(ModelError, match=message):
                make_executor(one, None, backend).run(None)


def test_threads_follow_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPEC_NUM_THREADS", raising=False)
    monkeypatch.setattr("pyspec.executor.team.SMALL", 0)
    executors: Any = [make_executor(*CASES["a series"]()[0])]
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2}, raising=False)
    assert choose_threads(executors) == 3
    monkeypatch.delattr(os, "sched_getaffinity")  # as on macOS and Windows
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert choose_threads(executors) == 1


@pytest.mark.parametrize("backend", ["compiled", "interpreted", "tree"])
def test_weights_and_windows_without_data_fit_the_axes_of_the_model(backend: str) -> None:
    model, one = make_model("biexponential", ENERGY, TIME), make_model("one_peak", ENERGY, None)
    with pytest.raises(DataError, match=r"weight has shape \(7,\), which does not broadcast to"):
        make_executor(model, Measurement(weight=np.ones(7)), backend)
    with pytest.raises(DataError, match=r"the window's columns \(2, 999\) are empty or outside of"):
        make_executor(model, Measurement(columns=(2, 999)), backend)
    with pytest.raises(DataError, match="of data with one axis; give points of a spectrum"):
        make_executor(one, Measurement(rows=(0, 2)), backend)


def test_comparing_gives_values_and_no_derivatives() -> None:
    model, measurement = CASES["weights and a mask"]()[0]
    executor: Any = make_executor(model, measurement, "compare")
    compiled: Any = make_executor(model, measurement)
    assert executor.residual(None).tobytes() == compiled.residual(None).tobytes()
    executor.rest()
    for ask in (executor.jacobian, executor.normal, executor.parts):
        with pytest.raises(PlanError, match="the compare executor has no derivatives; use comp"):
            ask(None)


def test_files_that_do_not_share_a_parameter_alike_are_refused() -> None:
    parts = CASES["three files"]()
    name = next(n for n, par in parts[0][0].parameters.items() if par.scope == "project")
    parts[1][0].parameters[name].max = 0.9
    with pytest.raises(ModelError, match=f"{name} is shared by the project, but file 1"):
        make_joint_executor(parts)
    with pytest.raises(ModelError, match="at least one file"):
        make_joint_executor([])


@pytest.mark.parametrize("kind", [CompiledExecutor, InterpretedExecutor])
def test_executor_pickles(kind: type) -> None:
    model = make_model("doublet_sin")
    executor = kind(make_plan(model), Measurement(data=model.evaluate() + 0.1))
    again = pickle.loads(pickle.dumps(executor))
    np.testing.assert_array_equal(again.residual(model.theta()), executor.residual(model.theta()))


@pytest.mark.parametrize("backend", ["tree", "interpreted", "compiled"])
def test_residual_without_data(backend: str) -> None:
    model = make_model("one_peak")
    with pytest.raises(DataError, match="needs data"):
        make_executor(model, None, backend).residual(model.theta())


def test_compare_raises_where_executors_differ() -> None:
    model = make_model("one_peak")

    class Off(InterpretedExecutor):
        def run(self, theta: object, fixed: object = None) -> np.ndarray:
            spectrum = super().run(theta, fixed)  # type: ignore[arg-type]
            spectrum[3, 5] += 1e-8
            return spectrum

    plan = make_plan(model)
    compare = CompareExecutor([Off(plan), CompiledExecutor(plan)])
    with pytest.raises(BackendError, match=r"index \(3, 5\)"):
        compare.run(model.theta())


def test_model_evaluate_and_evaluate_2d() -> None:
    model = make_model("doublet_sin")
    plan = make_plan(model)
    theta = extract_theta(plan, {name: par.value for name, par in model.parameters.items()})
    expected = evaluate_2d(plan, theta)  # type: ignore[arg-type]
    for backend in BACKENDS:
        np.testing.assert_allclose(
            model.evaluate(backend=backend), expected, rtol=0, atol=1e-10 * expected.max()
        )


def test_the_message_says_what_was_asked_for() -> None:
    assert doubles(3, lambda: "").shape == (3,)
    with pytest.raises(TooLargeError, match=r"^a matrix would take 8.59e\+09 GiB") as caught:
        doubles(1 << 60, lambda: "a matrix")
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, PyspecError)


def test_every_array_of_an_executor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's own error used to come out, which says neither of which model nor of what."""
    executor = make_executor(series(), Measurement(data=np.ones((36, 81))))
    theta = np.array([2.4, 10.0, 84.3, 1.6, 0.7, 12.0])
    monkeypatch.setattr(executor, "_size", 1 << 59)
    for call in (executor.run, executor.residual):
        with pytest.raises(TooLargeError, match=r"spectrum: 36 × 81 points would take"):
            call(theta)
    with pytest.raises(TooLargeError, match=r"points, times 6 derivatives, would take"):
        executor.jacobian(theta)
