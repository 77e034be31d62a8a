"""Models lowered once: what shares a plan, and that each change of a model is seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import fields

import numpy as np
import numpy.typing as npt
import pytest
from support.column_models import DECAY, ENERGY, OFFSET, PEAK, SHAPED, SHIRLEY, TIME, energy_model
from support.zoo import ZOO, make_model

import pyspec.plan.lowered as lowered
from pyspec.errors import DataError
from pyspec.executor import CompiledExecutor, make_executor, make_plan
from pyspec.fit import fit_model
from pyspec.functions.external import forget_function, register_function
from pyspec.model import Component, Dynamics, Measurement, Model, Par, Profile
from pyspec.model.kept import forget
from pyspec.model.load import load_dynamics, load_model
from pyspec.model.structure import structure_of
from pyspec.passes import PASSES, jump_parameters
from pyspec.passes.sequence import VARIABLE
from pyspec.plan import lower

#: A model in which everything occurs.
CYCLES = ["gaussIRF: {SD: [0.3, false]}", DECAY, "linFun: {m: [0.4], t0: [0.2, false]}"]
QUANTITIES = "parameters:\n  k: [1.5, true]\n  k2: ['2 * k']\n"


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    """No test sees the plans of another."""
    forget()
    yield
    forget()


def everything() -> Model:
    """Two peaks on a Shirley; one moves in sub-cycles, the other is tied, profiled and moves."""
    return energy_model(
        OFFSET,
        SHIRLEY,
        SHAPED,
        "GLP: {A: ['0.5 * GLP_01_A + k2'], x0: [86, true], F: [1, false], m: [0.2, false]}",
        moves={
            "GLP_01_x0": CYCLES,
            "GLP_02_x0": "gaussCONV: {SD: [1.1]}\nsinFun: {A: [1], f: [0.1], phi: [0.4, false], "
            "t0: [0.3, false]}",
        },
        profiles={"GLP_01_F": "pLinear: {m: [0.2], b: [0.1, false]}"},
        quantities=QUANTITIES,
    )


def numbers(model: Model) -> npt.NDArray[np.float64]:
    """The model at a theta that is not its start."""
    theta = 1.01 * model.theta() + 0.01
    return make_executor(model).run(theta)


def law(model: Model, name: str = "GLP_02_x0") -> Dynamics:
    """What moves a parameter."""
    found = model.parameters[name].dynamics
    assert found is not None
    return found


def _set(name: str, **given: object) -> Callable[[Model], None]:
    def change(model: Model) -> None:
        model.set(name, **given)  # type: ignore[arg-type]

    return change


def _swap_components(model: Model) -> None:
    model.components[0], model.components[1] = model.components[1], model.components[0]


def _drop_law(model: Model) -> None:
    del law(model).components[0]


def _move_to(subcycle: int) -> Callable[[Model], None]:
    def change(model: Model) -> None:
        law(model, "GLP_01_x0").components[-1].subcycle = subcycle

    return change


def _frequency(model: Model) -> None:
    law(model, "GLP_01_x0").frequency = 0.3


def _more_cycles(model: Model) -> None:
    law(model, "GLP_01_x0").n_subcycles = 4


def _function(model: Model) -> None:
    part = law(model).components[0]
    part.function, part.name = "expSymCONV", part.name.replace("gaussCONV", "expSymCONV")


def _profile_function(model: Model) -> None:
    profile = model.parameters["GLP_01_F"].profile
    assert profile is not None
    profile.components[0].pars = profile.components[0].pars[::-1]


def _no_profile(model: Model) -> None:
    model.parameters["GLP_01_F"].profile = None


def _optional(model: Model) -> None:
    sine = law(model).components[1]
    sine.pars = (*sine.pars[:-1], Par("GLP_02_x0_sinFun_01_y0", "y0", 0.7, False))


#: Changes after which the plan is another one.
STRUCTURAL: dict[str, Callable[[Model], None]] = {
    "a free parameter is fixed": _set("GLP_01_m", vary=False),
    "a fixed one is freed": _set("GLP_02_m", vary=True),
    "an expression changes": _set("GLP_02_A", expr="0.7 * GLP_01_A + k2"),
    "an expression goes": _set("GLP_02_A", value=3.0, expr=""),
    "an expression comes": _set("GLP_02_m", expr="GLP_01_m"),
    "a quantity is fixed": _set("k", vary=False),
    "components change places": _swap_components,
    "a kernel goes": _drop_law,
    "a kernel is another": _function,
    "a law gets an optional parameter": _optional,
    "a law changes its sub-cycle": _move_to(1),
    "a law leaves its sub-cycle": _move_to(0),
    "the cycles change": _frequency,
    "there are more sub-cycles": _more_cycles,
    "a profile is another": _profile_function,
    "a profile goes": _no_profile,
    "the times change, with sub-cycles": lambda m: m.set_axes(time=np.linspace(-2.5, 9.5, 23)),
    "the auxiliary axis has more points": lambda m: m.set_axes(aux=np.linspace(0, 2, 4)),
    "the model has another name": lambda m: setattr(m, "name", "other"),
}

#: Changes after which the plan is the same, with other numbers in it.
NUMBERS: dict[str, Callable[[Model], None]] = {
    "a start value": lambda m: m.set_values({"GLP_01_x0": 84.5}),
    "a fixed value": lambda m: m.set_values({"GLP_02_m": 0.6}),
    "a fixed value of a law": lambda m: m.set_values({"GLP_02_x0_sinFun_01_phi": 1.4}),
    "a fixed width": lambda m: m.set_values({"GLP_01_x0_gaussIRF_SD": 0.5}),
    "a quantity": lambda m: m.set_values({"k": 2.5}),
    "bounds": lambda m: m.set("GLP_01_A", min=1.0, max=30.0),
    "the energies": lambda m: m.set_axes(energy=np.linspace(79, 91, 21)),
    "the number of energies": lambda m: m.set_axes(energy=np.linspace(79, 91, 34)),
    "falling energies": lambda m: m.set_axes(energy=np.linspace(91, 79, 21)),
    "the auxiliary axis": lambda m: m.set_axes(aux=[0.0, 1.5, 2.0]),
    "its weights": lambda m: m.set_axes(aux=[0.0, 0.5, 2.0], aux_weights=[1, 2, 5]),
    "where it stands": lambda m: setattr(m, "where", "elsewhere.yaml:3"),
}


@pytest.mark.parametrize("name", STRUCTURAL | NUMBERS)
def test_each_change_is_seen(name: str) -> None:
    """After a plan is kept, a changed model gives the numbers of one that was never kept."""
    kept = everything()
    before = numbers(kept)
    change = (STRUCTURAL | NUMBERS)[name]
    changed = everything()
    change(changed)
    same = structure_of(changed) == structure_of(kept)
    assert same == (name in NUMBERS)
    assert (lower(changed) is lower(kept)) == same
    found, packed = numbers(changed), lower(changed).packed.memory
    theta, fixed = make_plan(changed).theta, make_plan(changed).fixed
    forget()
    assert np.array_equal(found, numbers(changed))
    assert np.array_equal(packed, lower(changed).packed.memory)
    assert np.array_equal(theta, make_plan(changed).theta)
    assert np.array_equal(fixed, make_plan(changed).fixed)
    assert make_plan(changed) == lowered.Lowered(changed, ()).plan(changed)
    if name not in ("bounds", "where it stands", "the model has another name"):
        assert found.shape != before.shape or not np.array_equal(found, before)
    assert np.array_equal(numbers(kept), before)


@pytest.mark.parametrize("size", [22, 23, 40])
def test_times_are_inputs_where_there_are_no_cycles(size: int) -> None:
    model = energy_model(OFFSET, PEAK, moves={"GLP_01_A": DECAY})
    first = lower(model)
    model.set_axes(time=np.linspace(-3, 5, size))
    found = numbers(model)
    assert lower(model) is first
    forget()
    assert np.array_equal(found, numbers(model))


@pytest.mark.parametrize("name", ZOO)
def test_a_kept_plan_is_the_plan(name: str) -> None:
    first, second = make_plan(make_model(name)), make_plan(make_model(name))
    forget()
    assert first == second == make_plan(make_model(name))


def test_a_second_fit_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = energy_model(OFFSET, PEAK, moves={"GLP_01_A": DECAY})
    data = model.evaluate() + np.random.default_rng(0).normal(0, 0.01, (23, 21))
    first = fit_model(model, Measurement(data=data))
    built: list[str] = []
    for name in ("build_graph", "pack", "schedule_1d", "schedule_2d"):
        monkeypatch.setattr(lowered, name, lambda *given, own=name: built.append(own))
    monkeypatch.setattr("pyspec.fit.problem.build_graph", lambda *given: built.append("graph"))
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
    assert lower(model).jump_parameters(model) == ()
    assert not fit_model(model, Measurement(data=data)).intervals
    model.set_values({"GLP_01_x0_sinFun_01_phi": 0.7})
    assert lower(model).jump_parameters(model) == ("GLP_01_x0_sinFun_01_t0",)
    assert list(fit_model(model, Measurement(data=data)).intervals) == ["GLP_01_x0_sinFun_01_t0"]
    model.set_values({"GLP_01_x0_sinFun_01_phi": 0.0})
    assert not fit_model(model, Measurement(data=data)).intervals
    assert len(lowered._KEPT) == 1
    assert jump_parameters(lower(model)._graph) == ()


def test_passes_that_are_left_out_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    model = everything()
    plans = {lower(model)._plan.digest}
    plans.add(lower(model, ("share",))._plan.digest)
    assert lower(model, "share") is lower(model, ["share"])
    monkeypatch.setenv(VARIABLE, "none")
    plans.add(lower(model)._plan.digest)
    assert len(plans) == 3
    assert lower(model)._plan == lowered.Lowered(model, tuple(PASSES))._plan


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


def test_only_so_many_structures_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowered, "MOST", 3)
    models = [energy_model(OFFSET, *[PEAK] * n, time=False) for n in range(1, 6)]
    first = lower(models[0])
    for model in models[1:3]:
        lower(model)
    assert lower(models[0]) is first  # used again, so it stays
    for model in models[3:]:
        lower(model)
        assert lower(models[0]) is first
    assert len(lowered._KEPT) == 3


def test_what_cannot_be_lowered_is_not_kept() -> None:
    model = energy_model(OFFSET, PEAK, moves={"GLP_01_A": DECAY}, time=False)
    for _ in range(2):
        with pytest.raises(Exception, match="has no time axis"):
            lower(model)
    assert not lowered._KEPT


def test_threads_may_lower_the_same_model() -> None:
    models = [everything() for _ in range(8)]
    expected = numbers(everything())
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


#: Fields of the parts of a model that are numbers or names of places: no part of the structure.
FREE = {
    Par: {"value", "scope", "min", "max", "where"},
    Component: {"where"},
    Dynamics: {"text", "where"},
    Profile: {"text", "where"},
}
STRUCTURE = {
    Par: {"name", "argument", "vary", "formula", "dynamics", "profile", "free"},
    Component: {"name", "function", "pars", "subcycle"},
    Dynamics: {"target", "name", "components", "frequency", "n_subcycles"},
    Profile: {"target", "name", "components"},
}


@pytest.mark.parametrize("kind", FREE)
def test_a_new_field_asks_whether_it_is_structure(kind: type) -> None:
    assert {field.name for field in fields(kind)} == FREE[kind] | STRUCTURE[kind]


def test_a_new_attribute_of_a_model_asks_whether_it_is_structure() -> None:
    known = {"name", "components", "quantities", "energy", "time", "aux"}
    names = {"text", "where", "labels", "units", "elsewhere"}  # no plan of the model reads these
    assert set(vars(everything())) == known | {"aux_weights", "inputs"} | names


def test_dynamics_that_are_added_are_seen() -> None:
    model = energy_model(OFFSET, PEAK)
    before = numbers(model)
    model.add_dynamics("GLP_01_A", load_dynamics(f"d:\n  {DECAY}\n", "d", "GLP_01_A"))
    assert not np.array_equal(numbers(model), before)


def test_the_axes_of_the_last_plan_are_pinned_once_and_others_anew() -> None:
    model = energy_model(OFFSET, PEAK, moves={"GLP_01_A": DECAY})
    made = lower(model)
    first = made.pinned(made.plan(model))
    changed = model.copy()
    changed.set_values({"GLP_01_A": 5.0})
    assert made.pinned(made.plan(changed)) is first
    for times in (TIME[:-1], TIME + 1.0, TIME.copy()):
        changed.set_axes(time=times)
        again = made.pinned(made.plan(changed))
        assert again is not first
        assert again.fields["n_rows"] == times.size
        assert np.array_equal(again.arrays[0], ENERGY)
        assert np.array_equal(again.arrays[1], times)
        assert made.pinned(made.plan(changed)) is again


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
