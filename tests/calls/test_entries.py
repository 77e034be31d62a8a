"""Public functions that once answered a slip by an error of Python's own from within."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyspec
import pyspec.io
import pyspec.plot
from pyspec import Simulator, components
from pyspec.errors import CallError, DataError, ModelError, PyspecError
from pyspec.plot import PlotError


@pytest.fixture
def model() -> pyspec.Model:
    made = pyspec.load_model("peak: {Offset: {y0: [1, True]}}", "peak")
    made.set_axes(energy=np.linspace(0.0, 1.0, 5))
    return made


def test_what_values_lack_is_named(model: pyspec.Model) -> None:
    plan = pyspec.schedule_1d(pyspec.build_graph(model))
    with pytest.raises(DataError, match="peak: params have no 'Offset_y0'; give a value for each"):
        pyspec.extract_theta(plan, {"offset": 1.0})
    assert pyspec.extract_theta(plan, {"Offset_y0": 3}).tolist() == [3.0]


def test_fits_of_an_archive_are_dicts(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    path = tmp_path / "q.h5"
    for given in ("ab", [{"a": 1}, 2]):
        with pytest.raises(DataError, match=r"contents\[\d\] is .*; give a dict for each fit"):
            pyspec.io.save_archive(path, given)  # type: ignore[arg-type]
    assert not path.exists()


def test_slips_of_descriptions(model: pyspec.Model) -> None:
    with pytest.raises(ModelError, match="None is no name of a function; give it as a text"):
        components.registered(None)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="free takes 'energy' or 'time', not array"):
        components.free(np.zeros(2))  # type: ignore[arg-type]
    pytest.importorskip("matplotlib")
    with pytest.raises(PlotError, match="params is empty; name some"):
        pyspec.plot.plot_evolution(np.arange(3.0), {"a": np.ones(3)}, params=[])


def test_what_sibling_fits_take(model: pyspec.Model) -> None:
    """fit_joint said "fits have no argument 'seeds'; did you mean 'seeds'?", and fit_many of one
    set of start values that "seeds name 'O', which is no free or fixed parameter"."""
    values = {"Offset_y0": 2.0}
    one = pyspec.Measurement(np.linspace(0.0, 1.0, 5))
    series = pyspec.Measurement(np.ones((3, 5)) * one.data)
    slips: tuple[tuple[Any, str], ...] = (
        (lambda: pyspec.fit_joint([(model, one)], seeds=values), r"no 'seeds'; .*model\.set"),
        (lambda: pyspec.fit_slices(model, series, chunks=2), "no 'chunks'; fit_model has it"),
        (lambda: pyspec.fit_many(model, [one], seeds=values), "fit_many: seeds are a list"),
        (lambda: pyspec.fit_slices(model, series, seeds=values), "fit_slices: seeds are a list"),
    )
    for slip, says in slips:
        with pytest.raises(PyspecError, match=says):
            slip()
    given = pyspec.fit_slices(model, series, seeds=None)
    np.testing.assert_allclose(given.values["Offset_y0"], 0.5, rtol=1e-9)
    assert pyspec.fit_joint([(model, one)], names=None).redchi > 0


def test_objects_say_in_one_line_what_they_are(model: pyspec.Model) -> None:
    """A graph and a plan were all of their arrays, an executor and a Simulator an address."""
    graph, one = pyspec.build_graph(model), pyspec.Measurement(np.ones(5))
    executors = {
        backend: repr(pyspec.make_executor(model, one, backend))
        for backend in ("compiled", "interpreted", "tree", "compare")
    }
    plan = "<ScheduledPlan1D 'peak': 1 free and 0 fixed parameters, 1 ops; 5>"
    assert repr(graph) == f"<GraphIR 'peak': {len(graph.nodes)} nodes; energy 5>"
    assert repr(pyspec.schedule_1d(graph)) == plan
    assert executors["compiled"] == f"<CompiledExecutor of {plan}, <Measurement 5>>"
    assert executors["interpreted"] == f"<InterpretedExecutor of {plan}, <Measurement 5>>"
    assert executors["tree"].startswith("<TreeExecutor of <Model 'peak': Offset;")
    assert executors["compare"] == "<CompareExecutor of tree, interpreted, compiled>"
    assert executors["compiled"] in repr(pyspec.make_joint_executor([(model, one)]))
    wanted = "<Simulator 'peak': detection analog, noise_type gaussian, noise_level 0.1, seed 3>"
    assert repr(Simulator(model, noise_type="gaussian", noise_level=0.1, seed=3)) == wanted


def test_helpers_of_components_name_what_they_take() -> None:
    """They raised TypeErrors of Python's own, where GLP(f=2) names the nearest argument."""
    slips: tuple[tuple[Any, str], ...] = (
        (lambda: components.fixed(3, minimum=2), "no argument 'minimum'; did you mean 'min'"),
        (lambda: components.free("energy", positiv=True), "did you mean 'positive'"),
        (lambda: components.expr(), "expr needs text"),
        (lambda: components.moving(3), "moving needs laws"),
        (lambda: components.measuredIRF([1, 2]), "measuredIRF needs response"),
    )
    for slip, says in slips:
        with pytest.raises(CallError, match=says):
            slip()
