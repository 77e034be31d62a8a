"""Answers to calls that do not fit, and that they stand in nobody's way."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import pyspec
import pyspec.io
import pyspec.plot
from pyspec.calls import Named, Suggesting, answered, stack_outside
from pyspec.calls.answered import explain
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


def test_a_warning_is_at_the_line_of_the_user(tmp_path: Any) -> None:
    text = "m:\n  Offset: {y0: [5, True]}\n  Gauss: {A: [8, True], x0: [9, True], SD: [1, True]}\n"
    text += "law:\n  gaussCONV: {SD: [0.1, False]}\n"
    text += "  expFun: {A: [4, True], tau: [3, True, 0.1, 99], t0: [0, False]}\n"
    path = tmp_path / "m.yaml"
    path.write_text(text)
    energy, time = np.linspace(0, 20, 41), np.arange(-2.0, 8.0)
    model = pyspec.load_model(path, "m")
    model.add_dynamics("Gauss_01_A", pyspec.load_dynamics(path, "law", "Gauss_01_A"))
    model.set_axes(energy=energy, time=time)
    data = model.evaluate() + np.random.default_rng(0).normal(0.0, 0.1, (10, 41))
    file = pyspec.File(pyspec.Project(show_output=False), data=data, energy=energy, time=time)
    file.add_model(model)
    for call in (
        lambda: pyspec.fit_model(model, pyspec.Measurement(data)),
        lambda: file.fit_2d("m"),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert {one.filename for one in caught} == {__file__}


def test_stack_outside_counts_from_its_caller() -> None:
    assert stack_outside() == 1


def test_explain_needs_no_call() -> None:
    text = explain("area", inspect.signature(area), (), {"hight": 2})
    assert text == "area has no argument 'hight'; did you mean 'height'?"
