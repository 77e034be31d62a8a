"""What public calls are given: no value of a wrong kind is taken for something else, or answered
by an error of NumPy's or Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyspec
from pyspec import (
    Measurement,
    Model,
    PlotConfig,
    Simulator,
    bootstrap,
    components,
    fit_joint,
    fit_many,
    fit_model,
)
from pyspec.calls import is_whole, one_of, real, real_array, row_of
from pyspec.components import GLP, Offset
from pyspec.errors import DataError, FitError, PyspecError
from pyspec.fit.results.components import component_curves
from pyspec.io import load_fits, save_archive, save_fit

ENERGY = np.linspace(0.0, 10.0, 61)
TIME = np.arange(12.0)
COMPLEX = np.ones(61) * 1j
VALUES = {"Offset_y0": 2.0}


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


def slices(**options: Any) -> Any:
    return pyspec.fit_slices(peak(moves=False), Measurement(data=data()), **options)


def plot(**options: Any) -> Any:
    return pyspec.plot_data(**{"data": data(), "energy": ENERGY, "time": TIME, **options})


PAIR: Any = [(peak(), Measurement(data=data()))]

#: Calls, and the answers to them.
CALLS: tuple[tuple[Callable[[], Any], str], ...] = (
    (lambda: result().sample(steps=None), "steps is a whole number from 1 on"),
    (lambda: result().sample(step=5), "no argument 'step'; did you mean"),
    (lambda: bootstrap(result(), 10**30), "n must be a whole number"),
    (lambda: bootstrap(result(), 2).result(5), "index 5 is not a fit"),
    (lambda: fitted(n_starts=2, seed=-1), "seed must be a whole number from 0 on, not -1"),
    (lambda: fitted(method=()), r"or several in turn, .*, not \(\)"),
    (lambda: fitted(scale_covar="no"), "scale_covar must be True, False, or"),
    (lambda: fit_joint(PAIR * 2, names="ab"), "names are 'ab'; give a list with one for each of 2"),
    (lambda: fit_joint(PAIR, seeds=VALUES), r"no 'seeds'; .*model\.set"),
    (lambda: slices(times=[1, 2]), r"times have shape \(2,\); give one for each of the 12 slices"),
    (lambda: slices(chunks=2), "no 'chunks'; fit_model has it"),
    (lambda: slices(seeds=VALUES), "fit_slices: seeds are a list"),
    (lambda: fit_many(*PAIR[0], seeds=VALUES), "fit_many: seeds are a list"),
    (lambda: peak().evaluate(theta=[1j] * 4), "give numbers in the order"),
    (lambda: peak().guess(COMPLEX), "data has type complex128; give real numbers"),
    (lambda: component_curves(peak(), 99), "t_ind 99 is not a row"),
    (lambda: Measurement(data=data()).survey, "by reference"),
    (lambda: Simulator(peak()).add_noise([]), "must be finite numbers"),
    (lambda: Simulator(peak()).plot_comparison(dim=-1), "dim must be 1 or 2, not -1"),
    (lambda: plot(energy=np.array(["a", "b"])), "energy has type <U1"),
    (lambda: plot(energy=ENERGY * np.nan), "not finite"),
    (lambda: plot(rows=[1, 2, 3]), r"rows is \[1, 2, 3\]; give \(begin, end\)"),
    (lambda: plot(columns=(0, 99)), "within 0 to 61"),
    (lambda: pyspec.plot.plot_evolution(TIME, {"a": TIME}, params=[]), "params is empty; name"),
    (lambda: PlotConfig(full_range=np.array([])), "full_range"),  # type: ignore[arg-type]
    (lambda: PlotConfig(x_lim=np.array(3.0)), "x_lim"),  # type: ignore[arg-type]
    (lambda: PlotConfig(dpi_save=10**30), "dpi_save"),
    (lambda: load_fits("a.h5", damaged="ignore"), "damaged is 'raise' or 'skip', not 'ignore'"),
    (lambda: save_fit("a.h5", fit_many(PAIR[0][0], [PAIR[0][1]])), "not OneFit; of fit_many save"),
    (lambda: save_archive("q.h5", [{"a": 1}, 2]), r"contents\[1\] is .*; give a dict for each"),
    (lambda: components.registered(None), "None is no name of a function"),  # type: ignore[arg-type]
    (lambda: components.free(TIME), "free takes 'energy' or 'time', not array"),  # type: ignore[arg-type]
    (lambda: components.free("energy", positiv=True), "did you mean 'positive'"),
    (lambda: components.fixed(3, minimum=2), "no argument 'minimum'; did you mean 'min'"),
    (lambda: components.expr(), "expr needs text"),
    (lambda: components.moving(3), "moving needs laws"),
    (lambda: components.measuredIRF([1, 2]), "measuredIRF needs response"),
)  # fmt: skip


@pytest.mark.parametrize(("call", "says"), CALLS)
def test_the_answer_names_what_was_given(call: Callable[[], Any], says: str) -> None:
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
