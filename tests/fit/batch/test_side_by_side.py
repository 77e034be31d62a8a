"""Fits whose spectra C evaluates side by side: each ends where and as it does alone, from near and
from hard starts, plain, weighted and masked, and whatever its company is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pyspec import fit_slices, load_model
from pyspec._library import LIBRARY
from pyspec.fit import SliceResults
from pyspec.fit.batch import in_c
from pyspec.fit.batch.batch import Made
from pyspec.fit.batch.solved import Solved
from pyspec.model import Measurement, Model

Array = npt.NDArray[np.float64]

N = 120
ENERGY = np.linspace(80.0, 92.0, 70)
ENDS = "xStart: [80, False], xStop: [92, False]"
BACK = f"LinBack: {{m: [0.1, True, -5, 5], b: [2, True, -50, 50], {ENDS}}}"
LINE = "A: [20, True, 0, 500], x0: [84.6, True, 80, 90]"
GLP = f"GLP: {{{LINE}, F: [1, True, 0.1, 5], m: [0.3, False]}}"
MIXED = GLP.replace("0.3, False", "0.05, True, 0, 1")
TIED = "GLP: {A: [GLP_01_A * 0.75], x0: [GLP_01_x0 + 3], F: [GLP_01_F], m: [GLP_01_m]}"
OTHER = GLP.replace("20,", "14,").replace("84.6, True, 80", "87.8, True, 82")
LORENTZ = "Lorentz: {A: [12, True, 0, 500], x0: [87.8, True, 80, 92], W: [0.8, True, 0.1, 5]}"
STEP = "ErfStep: {A: [3, True, 0, 50], x0: [86, True, 81, 91], SD: [0.7, False]}"
TEXTS = {
    "a Gaussian": f"Offset: {{y0: [2, True]}} | Gauss: {{{LINE}, SD: [1.2, True, 0.1, 5]}}",
    "a doublet": f"{BACK} | {GLP} | {TIED}",
    "m at 0": f"{BACK} | {MIXED} | {TIED}",
    "GLS and Lorentz": f"Offset: {{y0: [2, True]}} | {GLP.replace('GLP', 'GLS')} | {LORENTZ}",
    "Voigt on a step": f"{STEP} | Voigt: {{{LINE}, SD: [0.5, True, 0.05, 5], W: [0.4, False]}}",
    "lines on a Shirley": f"{BACK} | Shirley: {{pShirley: [0.002, True, 0, 1]}} | {GLP} | {OTHER}",
    "on a Tougaard": f"Tougaard: {{B: [2, True], C: [5, False]}} | {GLP} | {TIED}",
}
GIVEN: dict[str, dict[str, Any]] = {
    "plain": {},
    "weighted": {"weight": np.linspace(1.0, 3.0, N * ENERGY.size).reshape(N, -1)},
    "masked": {"keep": np.arange(N * ENERGY.size).reshape(N, -1) % 7 > 0, "columns": (3, 66)},
}


def model_of(text: str) -> Model:
    model = load_model("line:\n  " + TEXTS[text].replace(" | ", "\n  "), "line")
    model.set_axes(energy=ENERGY)
    return model


def series_of(model: Model, **given: Any) -> Measurement:
    noise = np.random.default_rng(5).normal(0.0, 1.0, (N, ENERGY.size))
    return Measurement(data=model.evaluate() + noise, **given)


def starts_of(model: Model, hard: bool) -> list[dict[str, float]]:
    """Near ones a tenth away, hard ones by up to a factor of 3 and 2 along the axis."""
    rng = np.random.default_rng(11)
    starts = []
    for _ in range(N):
        start = {}
        for name in model.opt_param_names:
            par, draw = model.parameters[name], rng.uniform(-1.0, 1.0)
            if name.endswith("_x0"):
                value = par.value + draw * (2.0 if hard else 0.2)
            else:
                value = par.value * (3.0**draw if hard else 1.0 + 0.1 * draw)
            low, high = max(par.min, -1e3), min(par.max, 1e3)
            start[name] = float(
                np.clip(value, low + 1e-3 * (high - low), high - 1e-3 * (high - low))
            )
        starts.append(start)
    return starts


class Alone:
    """The library, as if no plan could be evaluated side by side."""

    def __getattr__(self, name: str) -> Any:
        return (lambda *_: 0) if name == "pyspec_beside_size" else getattr(LIBRARY, name)


def solved(fits: SliceResults) -> Solved:
    assert isinstance(fits.fits, Made)
    assert fits.fits.solved is not None
    return fits.fits.solved


def errors_of(found: Solved) -> Array:
    """Standard errors, NaN where a bound holds a parameter; also those wider than its interval."""
    n = len(found.names)
    covariance = found.numbers[:, 3 * n : (3 + n) * n].reshape(-1, n, n)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(np.einsum("kjj->kj", covariance)))


def both(
    model: Model,
    series: Measurement,
    starts: list[dict[str, float]],
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Solved, Solved]:
    """What C finds side by side, and one by one."""
    one = fit_slices(model, series, seeds=starts)
    assert isinstance(one.fits, Made)
    with monkeypatch.context() as patch:
        patch.setattr(in_c, "LIBRARY", Alone())
        other = fit_slices(model, series, seeds=starts)
    assert isinstance(other.fits, Made)
    assert one.fits.evaluated_alone < 0.5
    assert other.fits.evaluated_alone == 1.0
    return solved(one), solved(other)


#: Each model with two kinds of data: near starts with one, hard ones with both.
TRIED = [
    (text, list(GIVEN)[(k + j) % len(GIVEN)], hard)
    for k, text in enumerate(TEXTS)
    for j, hard in ((0, False), (0, True), (1, True))
]


@pytest.mark.parametrize(("text", "given", "hard"), TRIED)
def test_each_ends_as_it_does_alone(
    text: str, given: str, hard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(text)
    one, other = both(model, series_of(model, **GIVEN[given]), starts_of(model, hard), monkeypatch)
    # Far starts of nine parameters lead to several optima, by ways on which rounding decides.
    decides = hard and text == "lines on a Shirley"
    made = one.made & other.made
    # So it does on a way of a thousand steps along a valley: one of them is left to Python.
    far_off = np.minimum(one.fitted["nfev"], other.fitted["nfev"]) > 1000
    assert (one.made != other.made)[~far_off].sum() <= (3 if decides else 0)
    assert far_off.sum() <= (1 if hard else 0)
    assert made.mean() > (0.5 if hard else 0.9)
    errors = errors_of(other)[made]
    off = np.abs(one.theta - other.theta)[made]
    held = np.isnan(errors)
    # Where the data say little, neither is as near the optimum as that.
    reached = one.fitted["distance"][made] + other.fitted["distance"][made]
    share = np.maximum(1e-7, reached)[:, None]
    # What has no effect in either lies where rounding left it; chi² below is that of the others.
    anywhere = held & (one.is_lost & other.is_lost)[made][:, None]
    away = np.where(held, off > 0.0, off > share * np.where(held, 1.0, errors))
    far = (away & ~anywhere).any(axis=1)
    assert far.sum() <= (5 if decides else 0)
    same = np.flatnonzero(made)[~far]
    for name in ("end", "flags", "n_points"):
        np.testing.assert_array_equal(one.fitted[name][same], other.fitted[name][same])
    near = 1e-9 if decides else 1e-11
    np.testing.assert_allclose(one.fitted["chisqr"][same], other.fitted["chisqr"][same], near)
    wrong = np.nanmax(np.abs(errors_of(one)[same] / errors_of(other)[same] - 1.0), axis=1)
    there = reached[~far] < 1e-6  # errors are those of the optimum where both are there
    assert there.mean() > 0.9
    assert (wrong <= np.maximum(1e-6, 10.0 * reached[~far]))[there].all()


@pytest.mark.parametrize("text", ["m at 0", "lines on a Shirley"])
def test_company_changes_no_bits(text: str) -> None:
    model = model_of(text)
    data, starts = np.asarray(series_of(model).data), starts_of(model, hard=True)
    whole = solved(fit_slices(model, Measurement(data), seeds=starts))
    order = np.random.default_rng(2).permutation(N)[: N // 2]
    some = solved(fit_slices(model, Measurement(data[order]), seeds=[starts[k] for k in order]))
    assert some.fitted.tobytes() == whole.fitted[order].tobytes()
    made = some.made
    assert some.numbers[made].tobytes() == whole.numbers[order][made].tobytes()
