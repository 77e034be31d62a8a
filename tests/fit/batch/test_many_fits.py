"""Many fits of one model: each is the fit of its measurement, none ends the others."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fit_cases import loaded
from support.native_cases import CASES

from pyspec import (
    bootstrap,
    fit_joint,
    fit_many,
    fit_model,
    load_dynamics,
    load_model,
)
from pyspec.errors import NoSuchKeyError, PyspecError
from pyspec.functions.kinetics import populations
from pyspec.io import by_reference, load_fit, save_fit
from pyspec.model import Measurement

LINE = """
line:
  Offset: {y0: [2.0, True, 0, 50]}
  Gauss: {A: [20.0, True, 0, 500], x0: [84.6, True, 80, 90], SD: [0.8, True, 0.1, 5]}
"""


def line() -> tuple[Any, Any]:
    model = loaded(LINE, "line", energy=np.linspace(80.0, 90.0, 90))
    return model, model.evaluate()


def test_what_a_set_of_fits_shows() -> None:
    model, clean = line()
    rng = np.random.default_rng(1)
    measured = [Measurement(rng.normal(clean, 0.4)) for _ in range(7)]
    seen: list[tuple[int, int]] = []
    fits = fit_many(model, measured, progress=lambda *at: seen.append(at))
    assert seen == [(k, 7) for k in range(1, 8)]
    assert fits.values["Gauss_01_x0"].shape == (7,)
    assert "7 fits of line: 7 converged" in str(fits)
    assert str(fits).count("Gauss_01") == 3
    with pytest.raises(NoSuchKeyError, match=r"no number of a fit; a parameter is values\['Off"):
        fits["Offset_y0"]  # type: ignore[call-overload]
    # A notebook showed one line, where print showed the table.
    assert fits._repr_html_().startswith("<b>7 fits of line: 7 converged")
    assert fits._repr_html_().count("<tr>") == 6  # a head, four parameters and reduced χ²
    # Whether the model suits the data was not to be seen: the table had its values alone.
    (row,) = (one.split() for one in str(fits).splitlines() if one.startswith("reduced χ²"))
    assert row[2] == f"{np.median(fits.redchi):.4g}"
    assert float(row[3]) < float(row[2]) < float(row[4])
    assert list(fits.to_dataframe().status) == ["converged"] * 7


@pytest.mark.parametrize(("kind", "weight"), [("noise", None), ("noise", 2.5), ("residuals", None)])
def test_a_bootstrap_scatters_as_the_standard_errors_say(kind: str, weight: float | None) -> None:
    model, clean = line()
    data = np.random.default_rng(8).normal(clean, 0.4)
    given = Measurement(data, columns=(3, 80), weight=None if weight is None else np.array(weight))
    covar = weight is None
    result = fit_model(model, given, scale_covar=covar)
    fits = bootstrap(result, 200, kind=kind, seed=4)
    assert fits.success.all()
    for name in result.free_names:
        assert fits.spread(name) == pytest.approx(result.stderr[name], rel=0.15)
        low, high = fits.interval(name)
        assert high - low == pytest.approx(2 * fits.spread(name), rel=0.25)
        assert (
            abs(fits.of_converged(name).mean() - result.values[name]) < 4 * fits.spread(name) / 20
        )
    again = bootstrap(result, 5, kind=kind, seed=4)
    np.testing.assert_array_equal(again.values["Gauss_01_A"], fits.values["Gauss_01_A"][:5])


def test_ctrl_c_keeps_what_is_done() -> None:
    model, clean = line()

    def interrupt(done: int, n: int) -> None:
        if done == 4:
            signal.raise_signal(signal.SIGINT)

    fits = fit_many(model, [Measurement(clean)] * 50, progress=interrupt)
    assert fits.interrupted
    assert fits.status[:4] == ("converged",) * 4
    assert fits.status[-1] == "not run"
    assert "not run" in str(fits)


def test_what_cannot_run_says_so() -> None:
    model, clean = line()
    data = Measurement(clean)
    result = fit_model(model, data)
    drawn = bootstrap(result, 2)
    series, measured = CASES["a series"]()[0]
    held: Any = by_reference(np.asarray(measured.data))
    joint = fit_joint(CASES["three files"]()).joint
    none = fit_many(model, [Measurement(clean[:-1])])
    calls: dict[str, Callable[[], Any]] = {
        "nothing to fit": lambda: fit_many(model, []),
        "2 measurements and 3 seeds": lambda: fit_many(model, [data, data], [{}, {}, {}]),
        "seeds name 'Gauss_01_a'.*did you mean": lambda: fit_many(model, data, [{"Gauss_01_a": 1}]),
        "no argument 'weights'": lambda: fit_many(model, data, weights=1),  # type: ignore[call-arg]
        "linear='eliminate' is an option of method 'native'": lambda: fit_many(
            model, data, method="leastsq", linear="eliminate"
        ),
        "many fits need their data in memory": lambda: fit_many(
            series, replace(measured, data=held)
        ),
        "kind must be one of noise, residuals": lambda: bootstrap(result, kind="noize"),
        "takes the fit of one file": lambda: bootstrap(joint),
        "no parameter 'Gauss_01_a'": lambda: drawn.spread("Gauss_01_a"),
        "level must be between": lambda: drawn.interval("Gauss_01_A", 68),
        "0 of 1 fits converged": lambda: none.spread("Gauss_01_A"),
    }
    for says, call in calls.items():
        with pytest.raises(PyspecError, match=says):
            call()


def test_residuals_that_are_drawn_are_as_large_as_the_noise() -> None:
    """Residuals of a fit are smaller than the noise, here by sqrt(6 / 8)."""
    text = "flat:\n  Offset: {y0: [1, True]}\n  LinBack: {m: [0.1, True], b: [0, False]"
    model = load_model(text + ", xStart: [80, False], xStop: [90, False]}", "flat")
    energy = np.linspace(80.0, 90.0, 8)
    model.set_axes(energy=energy)
    data = 2.0 + 0.3 * (energy - 80.0) + np.random.default_rng(2).normal(0, 0.3, 8)
    result = fit_model(model, Measurement(data))
    drawn = bootstrap(result, 2000, kind="residuals", seed=1)
    for name in result.free_names:
        assert drawn.spread(name) == pytest.approx(result.stderr[name], rel=0.05)
        middle = float(np.mean(drawn.values[name]))
        assert middle == pytest.approx(result.values[name], abs=0.1 * result.stderr[name])


def test_followers_are_in_the_table_of_draws() -> None:
    model = load_model(
        'parameters: {area: ["2.5 * Gauss_01_A * Gauss_01_SD"], two: ["2 * Offset_y0"]}' + LINE,
        "line",
    )
    model.set("Offset_y0", 2.0, vary=False)
    model.set_axes(energy=np.linspace(80.0, 90.0, 90))
    data = np.random.default_rng(1).normal(model.evaluate(), 0.4)
    result = fit_model(model, Measurement(data, weight=2.5), scale_covar=False)
    drawn = bootstrap(result, 100, seed=1)
    assert drawn.spread("area") == pytest.approx(result.stderr["area"], rel=0.25)
    rows = [line.split()[0] for line in str(drawn).splitlines()[3:-1]]
    assert rows == ["Gauss_01_A", "Gauss_01_x0", "Gauss_01_SD", "area"]


def test_a_spread_of_0_is_not_left_to_be_taken_for_an_error() -> None:
    """An onset without an instrument ends between the same two samples in every draw."""
    text = LINE + "step:\n  expFun: {A: [30, True, 0, 99], tau: [4, True, 0.1, 50], "
    text += "t0: [0.3, True, -2, 2]}\n"
    model = load_model(text, "line")
    model.add_dynamics("Gauss_01_A", load_dynamics(text, "step", "Gauss_01_A"))
    model.set_axes(energy=np.linspace(80.0, 90.0, 40), time=np.arange(-4.0, 12.0))
    data = np.random.default_rng(1).normal(model.evaluate(), 0.3)
    result = fit_model(model, Measurement(data))
    assert "Gauss_01_A_expFun_01_t0" in result.intervals
    drawn = bootstrap(result, 20, seed=1)
    assert drawn.spread("Gauss_01_A_expFun_01_t0") == 0.0
    note = str(drawn).splitlines()[-1]
    assert note.startswith("Gauss_01_A_expFun_01_t0: the same in every fit")
    same = fit_many(model, [Measurement(data)] * 3)
    assert "is no error" not in str(same)


# a model whose spectra are free: both were refused


CHAIN = """
kinetics:
  chain: {A -> B: k1, B: k2}
chained:
  gaussIRF: {SD: [0.2, False]}
  chain: {k1: [1, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0.1, True],
          spectra: {free: energy, min: 0}}
"""
TIME = np.concatenate([np.linspace(-1, 3, 41), np.geomspace(3.2, 60, 15)])


def chain(seed: int) -> tuple[Any, Measurement]:
    """Two species with free spectra, and data of them."""
    energy = np.linspace(1.5, 3, 12)
    rates = np.array([[-2.0, 0], [2.0, -0.2]])
    spectra = np.array([1 + np.exp(-(((energy - at) / 0.3) ** 2)) for at in (1.9, 2.5)])
    clean = populations(TIME - 0.1, rates, np.array([1.0, 0]), 0.2) @ spectra
    model = loaded(CHAIN, "chained", energy=energy, time=TIME)
    data = clean + np.random.default_rng(seed).normal(0, 0.05, clean.shape)
    return model, Measurement(data, weight=20.0)


def test_fits_with_free_spectra() -> None:
    model, _ = chain(0)
    series = [chain(seed)[1] for seed in range(3)]
    fits = fit_many(model, series, scale_covar=False)
    assert fits.success.all()
    for k, one in enumerate(series):
        alone = fit_model(model, one, scale_covar=False)
        assert fits[k].values == dict(alone.values)
        assert fits[k].stderr == dict(alone.stderr)
        assert fits[k].chisqr == alone.chisqr
        again: Any = fits.result(k).amplitudes
        assert np.array_equal(again["chain_B_A"], (alone.amplitudes or {})["chain_B_A"])
    starts = [{"chain_k1": 5.0, "gaussIRF_SD": 0.25}, {"chain_k2": 0.1}]  # one is fixed
    fits = fit_many(model, series[0], starts)
    assert fits.success.all()
    assert fits.values["gaussIRF_SD"].tolist() == [0.25, 0.2]
    assert not np.isclose(fits[0].chisqr, fits[1].chisqr, rtol=1e-4)


@pytest.mark.parametrize("kind", ["noise", pytest.param("residuals", marks=pytest.mark.slow)])
def test_a_bootstrap_with_free_spectra(kind: str, tmp_path: Path) -> None:
    result = fit_model(*chain(1), scale_covar=False)
    fits = bootstrap(result, 100, kind=kind, seed=2)
    assert fits.success.all()
    for name in ("chain_k1", "chain_k2", "chain_t0"):
        assert fits.spread(name) == pytest.approx(result.stderr[name], rel=0.2)
    save_fit(tmp_path / "fit.h5", result)
    stored = bootstrap(load_fit(tmp_path / "fit.h5"), 3, kind=kind, seed=2)
    assert np.allclose(stored.values["chain_k1"], fits.values["chain_k1"][:3], rtol=1e-7)
