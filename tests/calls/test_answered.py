"""Answers to calls that do not fit, and that they stand in nobody's way."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import pyspec
import pyspec.io
import pyspec.plot
from pyspec.calls import Named, Suggesting, answered
from pyspec.errors import CallError, NoSuchKeyError, NoSuchNameError
from pyspec.fit import options
from pyspec.plot import config


@answered
def area(width: float, height: float = 1.0, *, unit: str = "") -> float:
    """Raises a TypeError of its own for text."""
    return width * height + 0.0 * len(unit)


@answered
def painted(data: float, energy: float, time: float | None = None, **options: float) -> float:
    return data * energy + len(options)


class Box(Suggesting):
    @answered
    def __init__(self, side: float) -> None:
        self.side = side

    @property
    def broken(self) -> Any:
        return self.side.nothing  # type: ignore[attr-defined]

    @answered
    def volume(self) -> float:
        if self.side < 0:
            raise ValueError(f"no box of side {self.side:g}")
        return self.side**3


def test_a_call_that_fits_is_the_call() -> None:
    assert area(2.0, height=3.0) == 6.0
    assert str(inspect.signature(area)) == str(inspect.signature(inspect.unwrap(area)))
    assert area.__doc__


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: area(2, heigth=3), "area has no argument 'heigth'; did you mean 'height'?"),
        (lambda: area(2, colour=3), "area has no argument 'colour'; it takes width, height, unit"),
        (lambda: area(), "area needs width; it takes width, height, unit"),
        (lambda: area(1, 2, 3), "area: 3 values were given by position, it takes 2 (width, height)"
         "; give others by name: unit"),
        (lambda: area(1, width=2), "area: width is given by position and by name; leave one of "
         "them out"),
        # This used to say "painted has no argument 'save_path'", which is one of its options.
        (lambda: painted(1, save_path=2), "painted needs energy; it takes data, energy, time"),
        (lambda: painted(1, save_path=2, enrgy=3), "painted has no argument 'enrgy'; did you mean "
         "'energy'?"),
        (lambda: Box(1).volume(2), "volume: 1 value was given by position, it takes none; "
         "leave others out"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(call: Any, says: str) -> None:
    with pytest.raises(CallError) as caught:
        call()
    assert str(caught.value) == says


def test_an_error_of_the_function_itself_passes() -> None:
    with pytest.raises(ValueError, match="no box of side -1") as caught:
        Box(-1.0).volume()
    assert type(caught.value) is ValueError
    with pytest.raises(AttributeError, match="'float' object has no attribute 'nothing'"):
        _ = Box(1.0).broken


def test_names_that_are_not_there() -> None:
    box: Any = Box(1.0)
    assert not hasattr(box, "volumes")
    assert getattr(box, "volumes", 5) == 5
    with pytest.raises(NoSuchNameError, match=r"Box has no 'volumes'; did you mean 'volume'?"):
        _ = box.volumes
    with pytest.raises(NoSuchNameError, match=r"did you mean 'side'?"):
        _ = box.sides
    with pytest.raises(AttributeError, match="'Box' object has no attribute '_private'"):
        _ = box._private
    with pytest.raises(TypeError):
        iter(box)[0]
    assert pickle.loads(pickle.dumps(box)).side == copy.deepcopy(box).side == 1.0


def test_values_by_name() -> None:
    values = Named({"GLP_01_x0": 1.0, "GLP_02_x0": 2.0, "Offset_y0": 3.0})
    assert values == {**values}
    assert pickle.loads(pickle.dumps(values)) == values
    with pytest.raises(NoSuchKeyError, match=r"did you mean 'GLP_01_x0' or 'GLP_02_x0'?"):
        values["x0"]
    with pytest.raises(KeyError, match=r"did you mean 'Offset_y0'?"):
        values["offset_Y0"]
    with pytest.raises(KeyError, match=r"there are GLP_01_x0, GLP_02_x0, Offset_y0$"):
        values["?"]
    assert values.get("x0") is None


def test_options_are_those_of_the_functions() -> None:
    own = set(inspect.signature(pyspec.fit_model).parameters)
    assert set(options.FIT_OPTIONS) == own - {"model", "measurement", "options"}
    assert set(config.FIELDS) | set(config.ALIASES) | set(config.OWN_OPTIONS) == set(
        config.PlotOptions.__annotations__
    )
    assert not set(config.Look.__annotations__) & {"title", "ax", "fig", "save_path", "show"}


def test_objects_say_in_one_line_what_they_are() -> None:
    """A graph and a plan were all of their arrays, an executor and a Simulator an address."""
    model = pyspec.load_model("peak: {Offset: {y0: [1, True]}}", "peak")
    model.set_axes(energy=np.linspace(0.0, 1.0, 5))
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
    assert repr(pyspec.Simulator(model, noise_type="gaussian", noise_level=0.1, seed=3)) == wanted
