"""Answers to calls that do not fit, and that they stand in nobody's way."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pyspec
import pyspec.io
import pyspec.plot
from pyspec.calls import Named, answered, stack_outside
from pyspec.calls.answered import explain
from pyspec.calls.instead import CALLS, ITEMS, NAMES
from pyspec.errors import CallError, NoSuchKeyError, NoSuchNameError
from pyspec.fit import options
from pyspec.fit.linear import Amplitudes, Associated
from pyspec.plot import config

CLASSES = {
    one.__name__: one
    for one in (
        pyspec.File, pyspec.Project, pyspec.Model, pyspec.Measurement, pyspec.FitResult,
        pyspec.SliceResults, pyspec.JointResult, pyspec.Dataset, pyspec.Simulator,
        Amplitudes, Associated,
    )
}  # fmt: skip


@answered
def area(width: float, height: float = 1.0, *, unit: str = "") -> float:
    """Raises a TypeError of its own for text."""
    return width * height + 0.0 * len(unit)


def pandas_like() -> Any:
    """What answers `__array__` without being an array."""

    class Table:
        shape = (3,)

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones(3)

    return Table()


@answered
def painted(data: float, energy: float, time: float | None = None, **options: float) -> float:
    return data * energy + len(options)


@answered
class Box:
    def __init__(self, side: float) -> None:
        self.side = side

    @property
    def broken(self) -> Any:
        return self.side.nothing  # type: ignore[attr-defined]

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
        (lambda: Box(1).volume(2), "Box.volume: 1 value was given by position, it takes none; "
         "leave them out"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(call: Any, says: str) -> None:
    with pytest.raises(CallError) as caught:
        call()
    assert str(caught.value) == says


@answered
def fitted(
    data: npt.ArrayLike,
    method: str | None = None,
    *,
    n_starts: int = 1,
    names: Sequence[str] = (),
    window: tuple[float | None, float] = (None, 1.0),
    settings: Mapping[str, float] | None = None,
    where: str | Path = "here",
    callback: Callable[[int], None] | None = None,
    model: Box | None = None,
    only: TypesAlone | None = None,  # type: ignore[name-defined]  # noqa: F821
) -> int:
    """Raises a ValueError whatever it is given."""
    raise ValueError("something inside")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"n_starts": "many"}, "n_starts must be a whole number, not 'many'"),
        ({"n_starts": np.ones(2)}, "n_starts must be a whole number, not an array of shape (2,)"),
        ({"data": "scan.csv"}, "data must be an array of numbers, not 'scan.csv'"),
        ({"data": None}, "data must be an array of numbers, not None"),
        ({"method": 3}, "method must be a text or None, not 3"),
        ({"names": "GLP_01_A"}, "names must be a list of texts, not 'GLP_01_A'"),
        ({"names": [1]}, "names must be a list of texts, not [1]"),
        ({"window": 3}, "window must be a pair, not 3"),
        ({"window": (1.0, 2.0, 3.0)}, "window must be a pair, not (1.0, 2.0, 3.0)"),
        ({"settings": [1]}, "settings must be a dict or None, not [1]"),
        ({"settings": {"a": "b"}}, "settings must be a dict or None, not a dict"),
        ({"where": 3}, "where must be a text or a path, not 3"),
        ({"callback": 3}, "callback must be a function or None, not 3"),
        ({"model": 3}, "model must be a Box or None, not 3"),
    ],
)
def test_an_argument_of_another_kind(given: dict[str, Any], says: str) -> None:
    # Python's own error named something inside: "int() argument must be a string, ...".
    with pytest.raises(CallError) as caught:
        fitted(**{"data": [1.0], **given})
    assert str(caught.value) == f"fitted: {says}"
    assert isinstance(caught.value.__cause__, ValueError)


@answered
def outer(method: str = "native") -> int:
    """Hands on what it was given."""
    return fitted([1.0], method)


def test_the_call_that_the_user_wrote_is_named() -> None:
    with pytest.raises(CallError, match=r"^outer: method must be a text, not 3$") as caught:
        outer(3)  # type: ignore[arg-type]
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"n_starts": np.int64(3), "method": None},
        {"n_starts": 3.0},
        {"window": [None, 2]},
        {"window": np.array([1.0, 2.0])},
        {"data": np.ones(3), "names": ("a", "b")},
        {"data": pandas_like(), "settings": {"a": np.float64(1)}},
        {"where": Path("x"), "callback": print, "model": Box(1.0)},
        {"only": 3},
    ],
)
def test_where_the_kinds_fit_the_error_is_pythons(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^something inside$") as caught:
        fitted(**{"data": [1.0], **given})
    assert type(caught.value) is ValueError


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


def test_what_is_answered_is_not_there() -> None:
    """An answer about a name that has come to exist would never be seen."""
    for name, answers in NAMES.items():
        for attribute in answers:
            assert not hasattr(CLASSES[name], attribute), (name, attribute)
    for label, by_argument in CALLS.items():
        owner, _, method = label.partition(".")
        home = next(one for one in (pyspec, pyspec.plot, pyspec.io) if hasattr(one, owner))
        target = getattr(home, owner)
        known = inspect.signature(getattr(target, method) if method else target).parameters
        for argument in by_argument:
            assert argument not in known, (label, argument)
    assert set(ITEMS) <= set(CLASSES)


NO_NAMES = [
    (pyspec.FitResult, "das", r"free spectra are result\.linear,.*\.das\(\)"),  # nothing was near
    (pyspec.FitResult, "sas", r"result\.linear\.sas\(\)"),  # did you mean 'starts'?
    (pyspec.FitResult, "populations", r"plot_populations\(result\)"),  # 'correlations'?
    (pyspec.FitResult, "plot_traces", r"pyspec\.plot\.plot_traces\(result\)"),  # 'is_trace'?
    (pyspec.File, "plot_svd", r"pyspec\.plot\.plot_svd\(file\)"),  # 'plot_data'?
    (pyspec.File, "fit_slices", "did you mean 'fit_slice_by_slice'"),  # 'fit_baseline'?
    (Amplitudes, "energy", r"result\.linear\.along"),
    (Associated, "lifetimes", r"1 / das\.rates"),
]


@pytest.mark.parametrize(("kind", "name", "answer"), NO_NAMES)
def test_names_of_global_analysis_are_answered(kind: type, name: str, answer: str) -> None:
    """Names that a person of this field tries; what was near them meant something else."""
    one = object.__new__(kind)
    with pytest.raises(NoSuchNameError, match=answer):
        getattr(one, name)


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
