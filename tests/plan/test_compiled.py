"""Models compiled once: what shares a plan, and that each change of a model is seen."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from support.column_models import DECAY, ENERGY, OFFSET, PEAK, TIME, energy_model
from support.zoo import ZOO, make_model

import pyspec.plan.compiled as compiled
from pyspec.errors import DataError, ModelError
from pyspec.executor import CompiledExecutor, executor_of, make_executor, make_plan
from pyspec.fit import fit_model
from pyspec.functions.external import forget_function, register_function
from pyspec.ir import build_graph, parse_graph, print_graph
from pyspec.model import Measurement, Model
from pyspec.model.build.load import load_model
from pyspec.passes import jump_parameters
from pyspec.plan import (
    CompiledModel,
    compile_graph,
    compile_model,
)
from pyspec.plan.compiled import forget


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    """No test sees the plans of another."""
    forget()
    yield
    forget()


def numbers(model: Model) -> npt.NDArray[np.float64]:
    """The model at a theta that is not its start."""
    theta = 1.01 * model.theta() + 0.01
    return make_executor(model).run(theta)


def test_a_second_fit_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = energy_model(OFFSET, PEAK, moves={"GLP_01_A": DECAY})
    data = model.evaluate() + np.random.default_rng(0).normal(0, 0.01, (23, 21))
    first = fit_model(model, Measurement(data=data))
    built: list[str] = []
    for name in ("build_graph", "pack", "schedule_1d", "schedule_2d"):
        monkeypatch.setattr(compiled, name, lambda *given, own=name: built.append(own))
    second = fit_model(model, Measurement(data=data))
    window = Measurement(data=data, rows=(2, 20), columns=(1, 19))
    assert fit_model(model, window).success
    model.set_axes(time=TIME + 0.1)  # the next file
    assert fit_model(model, Measurement(data=data)).success
    assert second.values == first.values
    assert not built


def test_a_fixed_phase_decides_which_parameters_jump() -> None:
    """A sine that begins at 0 does not jump at its onset; with another phase it does. The phase is
    fixed, so that both have one plan."""
    sine = "sinFun: {A: [2], f: [0.1, false], phi: [0, false], t0: [0.3, true]}"
    model = energy_model(OFFSET, PEAK, moves={"GLP_01_x0": sine})
    data = model.evaluate() + np.random.default_rng(1).normal(0, 0.01, (23, 21))
    assert not compile_model(model).jump_parameters
    assert not fit_model(model, Measurement(data=data)).intervals
    model.set_values({"GLP_01_x0_sinFun_01_phi": 0.7})
    assert compile_model(model).jump_parameters == {"GLP_01_x0_sinFun_01_t0"}
    assert list(fit_model(model, Measurement(data=data)).intervals) == ["GLP_01_x0_sinFun_01_t0"]
    model.set_values({"GLP_01_x0_sinFun_01_phi": 0.0})
    assert not fit_model(model, Measurement(data=data)).intervals
    assert len({id(kept.packed) for kept in compiled._KEPT.values()}) == 1
    assert jump_parameters(compile_model(model).graph) == ()


def test_a_function_that_is_registered_again_is_another() -> None:
    try:
        register_function("Bump", lambda x, A, x0: A / (1 + (x - x0) ** 2), "A, x0")
        model = energy_model(OFFSET, "Bump: {A: [2], x0: [84]}", time=False)
        before = numbers(model)
        register_function("Bump", lambda x, A, x0: A / (2 + (x - x0) ** 2), "A, x0")
        found = numbers(model)
        assert not np.array_equal(found, before)
        forget()
        assert np.array_equal(found, numbers(model))
    finally:
        forget_function("Bump")


@pytest.mark.parametrize("name", ZOO)
def test_a_graph_alone_makes_a_compiled_model(name: str) -> None:
    model = make_model(name)
    whole, alone = compile_model(model), compile_graph(parse_graph(print_graph(build_graph(model))))
    assert alone.plan == whole.plan
    assert np.array_equal(alone.packed.memory, whole.packed.memory)
    assert (alone.names, alone.linear) == (whole.names, whole.linear)
    assert alone.jump_parameters == whole.jump_parameters
    assert alone.column_kinds == whole.column_kinds
    mine, its = alone.parameters, whole.parameters
    assert list(mine) == list(its)
    for one, other in zip(mine.values(), its.values(), strict=True):
        assert one.expr == other.expr
        if one.formula is None:
            limits = other.value, other.vary, other.min, other.max
            assert (one.value, one.vary, one.min, one.max) == limits
    known = {name: par.value for name, par in its.items() if par.formula is None}
    assert repr(alone.followers.values(known)) == repr(whole.followers.values(known))
    for backend in ("compiled", "interpreted"):
        expected = make_executor(model, None, backend).run(model.theta())
        assert np.array_equal(executor_of(alone, None, backend).run(model.theta()), expected)
    with pytest.raises(ModelError, match="a compiled graph has no model"):
        _ = alone.model


def test_a_fit_of_a_compiled_model_is_that_of_its_model() -> None:
    model = energy_model(OFFSET, PEAK, time=False)
    data = model.evaluate() + np.random.default_rng(5).normal(0.0, 0.01, ENERGY.size)
    made, seeds = compile_model(model), {"GLP_01_A": 4.0, "GLP_01_m": 0.3}
    for given in ({}, {"seeds": seeds}, {"n_starts": 2}, {"backend": "interpreted"}):
        own, other = (fit_model(one, Measurement(data), **given) for one in (made, model))
        assert (own.values, own.nfev) == (other.values, other.nfev)
    assert made.model.values == model.values
    with pytest.raises(ModelError, match="a compiled graph has no model"):
        fit_model(graph_of(model), Measurement(data))


def graph_of(model: Model) -> CompiledModel:
    return compile_graph(build_graph(model))


def test_threads_may_lower_the_same_model() -> None:
    models = [energy_model(OFFSET, PEAK, moves={"GLP_01_A": DECAY}) for _ in range(8)]
    expected = numbers(models[0].copy())
    forget()
    found: list[npt.NDArray[np.float64]] = []
    threads = [
        threading.Thread(target=lambda own=model: found.append(numbers(own))) for model in models
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(np.array_equal(one, expected) for one in found)


def test_a_plan_on_other_axes_does_not_keep_inputs_of_before() -> None:
    text = (
        "functions:\n  Reference: {formula: A * ref, inputs: ref}\n"
        "m:\n  Reference: {A: [2, True]}\n"
    )
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY, inputs={"ref": ENERGY})
    plan = make_plan(model)
    np.testing.assert_array_equal(CompiledExecutor(plan).run(None), 2.0 * ENERGY)
    other = plan.with_inputs(plan.theta, plan.fixed, ENERGY, None, None, None)
    with pytest.raises(DataError, match="ref"):
        CompiledExecutor(other)
