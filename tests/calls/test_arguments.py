"""What public calls are given: no value of a wrong kind is taken for something else, or answered
by an error of NumPy's or Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyspec
from pyspec import Measurement, Model, PlotConfig, Project, Simulator, bootstrap, fit_model
from pyspec.calls import is_whole, one_of, real, real_array, row_of
from pyspec.components import GLP, Offset
from pyspec.errors import DataError, FitError, PyspecError
from pyspec.fit.results.components import component_curves

ENERGY = np.linspace(0.0, 10.0, 61)
TIME = np.arange(12.0)
COMPLEX = np.ones(61) * 1j
TEXTS = np.array(["a", "b"])


def peak(*, moves: bool = True) -> Model:
    model = Model("peak", [Offset(1.0), GLP(A=(10, 0, 99), x0=(5, 3, 7), F=(1, 0.1, 5), m=0.3)])
    model.set_axes(energy=ENERGY, time=TIME if moves else None)
    return model


def data() -> Any:
    return np.random.default_rng(0).normal(peak().evaluate(), 0.1)


def result() -> Any:
    return fit_model(peak(moves=False), Measurement(data=data()[0]))


def fitted(**options: Any) -> Any:
    return fit_model(peak(), Measurement(data=data()), **options)


def plot(**options: Any) -> Any:
    return pyspec.plot_data(**{"data": data(), "energy": ENERGY, "time": TIME, **options})


CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "a walker of no steps": (
        lambda: result().sample(steps=None),
        "steps is a whole number from 1 on",
    ),
    "steps that are no number": (lambda: result().sample(steps=float("nan")), "whole number"),
    "a seed below 0": (
        lambda: result().sample(seed=-1),
        "seed is a whole number from 0 on, not -1",
    ),
    "a step of no name": (lambda: result().sample(step=5), "no argument 'step'; did you mean"),
    "a bootstrap of a seed below 0": (lambda: bootstrap(result(), 3, seed=-1), "seed must be"),
    "fits without end": (lambda: bootstrap(result(), 10**30), "n must be a whole number"),
    "a fit beyond the last": (lambda: bootstrap(result(), 2).result(5), "index 5 is not a fit"),
    "starts of a seed below 0": (
        lambda: fit_model(peak(), Measurement(data=data()), n_starts=2, seed=-1),
        "seed must be a whole number from 0 on, not -1",
    ),
    "no method at all": (lambda: fitted(method=()), r"or several in turn, .*, not \(\)"),
    "a method that is a number": (lambda: fitted(method=("nelder", 2)), "method must be .*, not 2"),
    "a scale in words": (lambda: fitted(scale_covar="no"), "scale_covar must be True, False, or"),
    "too few walkers": (
        lambda: result().sample(nwalkers=0),
        "nwalkers is a whole number from 1 on, not 0",
    ),
    "a name for two files": (
        lambda: pyspec.fit_joint([(peak(), Measurement(data=data()))] * 2, names="ab"),
        "names are 'ab'; give a list with one for each of 2 files",
    ),
    "times of some slices": (
        lambda: pyspec.fit_slices(peak(moves=False), Measurement(data=data()), times=[1, 2]),
        r"times have shape \(2,\); give one for each of the 12 slices",
    ),
    "complex times": (
        lambda: pyspec.fit_slices(peak(moves=False), Measurement(data=data()), times=COMPLEX),
        "times has type complex128; give real numbers",
    ),
    "complex parameters": (lambda: peak().evaluate(theta=[1j] * 4), "give numbers in the order"),
    "a guess of texts": (lambda: peak().guess(TEXTS), "data has type <U1; give real numbers"),
    "a guess of complex data": (lambda: peak().guess(COMPLEX), "data has type complex128"),
    "a row beyond the last": (lambda: component_curves(peak(), 99), "t_ind 99 is not a row"),
    "half a row": (lambda: component_curves(peak(), 0.5), "t_ind 0.5 is not a row"),  # type: ignore[arg-type]
    "True for a row": (lambda: component_curves(peak(), True), "t_ind True is not a row"),
    "a survey of an array": (lambda: Measurement(data=data()).survey, "by reference"),
    "noise on nothing": (lambda: Simulator(peak()).add_noise([]), "must be finite numbers"),
    "noise on NaN": (lambda: Simulator(peak()).add_noise([np.nan]), "must be finite numbers"),
    "noise on complex data": (lambda: Simulator(peak()).add_noise(COMPLEX), "has type complex128"),
    "a picture of no dimension": (
        lambda: Simulator(peak()).plot_comparison(dim=-1),
        "dim must be 1 or 2, not -1",
    ),
    "data to save that are none": (
        lambda: Simulator(peak()).save_data("none.npz", "npz", np.array([])),  # type: ignore[arg-type]
        "n_data",
    ),
    "a file that is none": (lambda: Project().save_fits(file=-1), "has no files"),
    "energies in words": (lambda: plot(energy=TEXTS), "energy has type <U1"),
    "energies that are not finite": (lambda: plot(energy=ENERGY * np.nan), "not finite"),
    "complex data in a picture": (lambda: plot(data=data() * 1j), "data has type complex128"),
    "a window of three": (
        lambda: plot(rows=[1, 2, 3]),
        r"rows is \[1, 2, 3\]; give \(begin, end\)",
    ),
    "a window beyond the axis": (lambda: plot(columns=(0, 99)), "within 0 to 61"),
    "a flag that is a list": (lambda: PlotConfig(full_range=np.array([])), "full_range"),  # type: ignore[arg-type]
    "limits of no length": (lambda: PlotConfig(x_lim=np.array(3.0)), "x_lim"),  # type: ignore[arg-type]
    "too many pixels": (lambda: PlotConfig(dpi_save=10**30), "dpi_save"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_answer_names_what_was_given(name: str) -> None:
    call, says = CALLS[name]
    with pytest.raises(PyspecError, match=says):
        call()


def test_windows_and_data_of_other_kinds_are_drawn() -> None:
    """NumPy arrays for pairs; masked points stay open, as NaN do."""
    masked = np.ma.masked_greater(data(), 5.0)
    for own in (data(), masked):
        figure = plot(data=own, rows=np.array([2, 5]), columns=np.array([10, 30]))
        (mesh,) = figure.axes[0].collections[:1]
        shown = np.ma.filled(np.ma.asarray(mesh.get_array()).astype(float), np.nan)
        assert np.array_equal(np.isnan(shown.ravel()), np.ma.getmaskarray(own).ravel())


def test_real_numbers() -> None:
    masked = np.ma.masked_array([1, 2, 3], [0, 1, 0])
    np.testing.assert_array_equal(real("x", masked), [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(real("x", np.ma.masked_array([1, 2])), [1.0, 2.0])
    assert real("x", [1, True]).dtype == np.float64
    counts = np.arange(3, dtype=np.uint16)
    assert real_array("x", counts) is counts
    for wrong in ([1, None], ["1"], 1j, [[1], [1, 2]], np.array(["2020"], "datetime64[Y]")):
        with pytest.raises(DataError, match="x "):
            real("x", wrong)


def test_rows_and_counts() -> None:
    assert [row_of("k", k, 3) for k in (0, 2, -1, -3, np.int8(1))] == [0, 2, 2, 0, 1]
    for wrong in (3, -4, 1.0, True, None, "1", np.array([1])):
        with pytest.raises(DataError, match=r"k .* is not a row; there are 0 to 2"):
            row_of("k", wrong, 3)
    assert all(is_whole(given, 1) for given in (1, 2.0, np.int64(3), np.float32(4)))
    for wrong in (0, True, 1.5, float("nan"), float("inf"), "1", None, 2**63, np.array([1])):
        assert not is_whole(wrong, 1)


def test_a_word_among_others() -> None:
    """Of an array NumPy said that its truth value is ambiguous."""
    one_of("kind", "noise", ("noise", "residuals"), FitError)
    wrong = ["noize", None, np.array([1.0, 2.0]), ["noise"]]
    said = ["; did you mean 'noise'?", "None", "array([1., 2.])", "['noise']"]
    for given, end in zip(wrong, said, strict=True):
        with pytest.raises(FitError) as error:
            one_of("kind", given, ("noise", "residuals"), FitError)
        assert str(error.value).startswith("kind must be one of noise, residuals, not ")
        assert str(error.value).endswith(end)
