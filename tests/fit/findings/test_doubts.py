"""Fits that look good and are not: what is refused, and what the result says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import (
    Finding,
    FitError,
    fit_joint,
    fit_model,
    load_model,
)
from pyspec._library import OPS, OpDef
from pyspec.fit import FitResult
from pyspec.fit.findings.finished import is_late
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.solve.covariance import gains_beyond
from pyspec.functions import reference
from pyspec.model import Measurement, load_dynamics, load_time_model

X = np.linspace(80.0, 90.0, 101)
PEAK = "  Gauss: {A: [10, project, 0, 99], x0: [85, True], SD: [0.6, True, 0.1, 3]}\n"
FLAT = "  Offset: {y0: [2, True, 0, 9]}\n"
SHIRLEY = "  Shirley: {pShirley: [0.01, True, 0, 1]}\n"


def line(noise: float = 0.05, height: float = 10.0, energy: Any = X) -> np.ndarray:
    shape = height * np.exp(-(((energy - 85.0) / 0.6) ** 2) / 2.0)
    return np.asarray(2.0 + shape + np.random.default_rng(0).normal(0.0, noise, energy.size))


def fitted(text: str, data: Any, **measured: Any) -> FitResult:
    model = loaded("m:\n" + text, "m", energy=X)
    return fit_model(model, Measurement(data, **measured))


def said(result: Any, kind: Kind) -> list[Finding]:
    return [one for one in result.findings if one.kind is kind]


def test_a_bound_says_what_it_costs() -> None:
    text = FLAT + PEAK.replace("[0.6, True, 0.1, 3]", "[0.5, True, 0.1, 0.55]")
    result = fitted(text, line())
    assert result.at_bound == {"Gauss_01_SD": "max"}
    wide = fitted(FLAT + PEAK, line())
    (found,) = said(result, Kind.AT_BOUND)
    assert found.places == ("Gauss_01_SD",)
    assert [found.numbers[name] for name in ("side", "limit", "shape")] == ["max", 0.55, True]
    assert found.numbers["gain"] == pytest.approx(result.chisqr - wide.chisqr, rel=0.3)
    assert not said(wide, Kind.AT_BOUND)


def test_a_shirley_that_runs_the_wrong_way() -> None:
    loss = np.cumsum(line(0.0) - 2.0)
    rising, falling = line() + 0.02 * loss, line() + 0.02 * (loss[-1] - loss)
    text = FLAT + SHIRLEY + PEAK
    assert said(fitted(text, rising), Kind.BACKWARD_AXIS)
    assert not said(fitted(text, falling), Kind.BACKWARD_AXIS)
    faint = line(0.01) + 8e-4 * loss  # a rise of 1.2 %, and of 19 standard errors
    assert said(fitted(text, faint), Kind.BACKWARD_AXIS)
    tail = FLAT + SHIRLEY + PEAK.replace("Gauss", "Lorentz").replace("SD", "W").replace("85", "87")
    noise = np.random.default_rng(0).normal(0, 0.05, X.size)
    result = fitted(tail, 2 + 10 / (1 + ((X - 87) / 0.5) ** 2) - noise)
    assert result.at_bound["Shirley_pShirley"] == "min"  # no loss: a line near the upper end
    assert not said(result, Kind.BACKWARD_AXIS)
    labels = {"energy": "kinetic energy"}  # which rise, as they should: another background rises
    assert not said(fitted(text, rising, labels=labels), Kind.BACKWARD_AXIS)
    model = load_model("m:\n" + text.replace("85", "-15"), "m")
    model.set_axes(energy=X - 100.0)  # below the Fermi edge
    assert not said(fit_model(model, Measurement(rising)), Kind.BACKWARD_AXIS)


@pytest.mark.parametrize(
    ("label", "energy", "wrong"),
    [
        ("binding energy", X, "binding energies rise"),
        ("BE (eV)", X, "binding energies rise"),
        ("E_kin", X[::-1], "kinetic energies fall"),
        ("binding energy", X - 100.0, ""),  # from the Fermi edge downwards
        ("kinetic energy", X, ""),
        ("energy", X[::-1], ""),
    ],
)
@pytest.mark.parametrize("background", ["Shirley", "Tougaard", "StaticShirley"])
def test_the_label_of_the_axis_says_which_way_is_wrong(
    background: str, label: str, energy: np.ndarray, wrong: str
) -> None:
    """Whatever the background comes out as; StaticShirley has no direction."""
    written = {
        "Shirley": "  Shirley: {pShirley: [0.001, True]}\n",
        "Tougaard": "  Tougaard: {B: [100, True], C: [1643, False]}\n",
        "StaticShirley": "  StaticShirley: {left: [1, True], right: [1, True]}\n",
    }
    peak = PEAK.replace("85", f"{energy[50]}")
    model = load_model("m:\n" + FLAT.replace("2, True", "2, False") + written[background] + peak)
    model.set_axes(energy=energy)
    labels = {"energy": label} if label else {}
    found = said(fit_model(model, Measurement(line(), labels=labels)), Kind.BACKWARD_AXIS)
    assert bool(found) == bool(wrong and background != "StaticShirley")
    assert all(wrong in one.numbers["axis"] for one in found)


def test_counts_without_poisson() -> None:
    counts = np.random.default_rng(0).poisson(20.0 * line(0.0)).astype(float)
    text = FLAT.replace("2, True, 0, 9", "40, True, 0, 99").replace("project", "True")
    text += PEAK.replace("10, project, 0, 99", "200, True, 0, 999")
    assert said(fitted(text, counts), Kind.COUNTS_UNDECLARED)
    assert not said(fitted(text, counts, loss="poisson"), Kind.COUNTS_UNDECLARED)
    assert not said(fitted(text, np.round(200.0 * line(0.0)) / 10.0), Kind.COUNTS_UNDECLARED)
    assert not said(fitted(text, np.round(20.0 * line(0.0))), Kind.COUNTS_UNDECLARED)  # a digitiser


@pytest.mark.parametrize(
    ("unit", "axis", "wanted"),
    [("meV", "meV", "eV"), ("", "meV", "eV"), ("eV", "eV", "keV"), ("nm", "", "")],
)
def test_an_axis_in_another_unit_than_the_model(unit: str, axis: str, wanted: str) -> None:
    """It was told to check its start."""
    model = loaded("m:\n" + FLAT + PEAK, "m", energy=1e3 * X)
    units = {"energy": unit} if unit else {}
    result = fit_model(model, Measurement(line(), units=units))
    if not axis:
        assert said(result, Kind.OUTSIDE_AXIS)
        return
    found = result.findings[0]
    assert found.kind is Kind.WRONG_UNIT
    assert [found.numbers[name] for name in ("axis", "model", "stated")] == [
        axis, wanted, bool(unit),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "op",
    [op for op in OPS.values() if op.kind == "DYNAMICS" and not op.external],
    ids=lambda op: op.name,
)
def test_laws_that_are_zero_before_their_onset(op: OpDef) -> None:
    before = np.array([-5.0, 0.99])
    assert is_late(op) == (not np.any(reference(op)(before, *[1.0] * len(op.params))))


def test_an_onset_behind_the_data_is_told_of_each_file() -> None:
    law = "d:\n  gaussIRF: {SD: [0.15, False]}\n"
    law += "  expFun: {A: [5, True], tau: [4, True, 0.1, 1000], t0: [30, True]}\n"
    model = load_time_model(law, "d")
    model.set_axes(time=np.linspace(-5.0, 20.0, 101))
    noise = np.random.default_rng(0).normal(0.0, 0.5, 101)
    joint = fit_joint([(model, Measurement(noise))] * 2)
    found = said(joint.joint, Kind.OUTSIDE_AXIS)
    assert [one.part for one in found] == [0, 1]
    assert all(one.numbers["value"] > one.numbers["high"] == 20 for one in found)
    assert not joint.success
    assert joint[0].fit_type == "trace"


@pytest.mark.parametrize("shape", ["GLP", "GLS"])
def test_a_mixing_in_percent_is_said(shape: str) -> None:
    """GL(30) of CasaXPS is m = 0.3; a GLS of 30 was fitted."""
    text = f"  {shape}: {{A: [9, True, 0, 99], x0: [85, True], F: [1.4, True], m: [30, False]}}\n"
    if shape == "GLP":
        with pytest.raises(FitError, match=f"start {shape}_01_m at 0.3, .* CasaXPS says 30"):
            fitted(FLAT + text, line())
    else:
        (found,) = said(fitted(FLAT + text, line()), Kind.MIXING_NOT_A_SHARE)
        assert found.numbers == {"value": 30.0}
    right = fitted(FLAT + text.replace("30, False", "0.3, True"), line())
    assert not said(right, Kind.MIXING_NOT_A_SHARE)


def test_gains_beyond_bounds_are_those_of_a_fit_without_them() -> None:
    """The fall of a linear chi² once one bound is gone: the free columns follow, others stay. None
    where chi² rises beyond the bound, or a free column does all that this one does."""
    rng = np.random.default_rng(3)
    root = rng.normal(size=(40, 6))
    root[:, 5] = root[:, :2] @ [1.0, -2.0]
    rest = rng.normal(size=40)
    rest -= root[:, :2] @ np.linalg.lstsq(root[:, :2], rest, rcond=None)[0]  # the free ones ended
    downhill = root.T @ rest
    ups = {k: "max" if downhill[k] > 0.0 else "min" for k in (2, 3, 5)}
    sides = {**ups, 4: "min" if downhill[4] > 0.0 else "max"}
    found = gains_beyond(root, downhill, sides, [2, 3, 4, 5])
    assert list(found) == [2, 3]
    for column, gain in found.items():
        own = root[:, [0, 1, column]]
        left = rest - own @ np.linalg.lstsq(own, rest, rcond=None)[0]
        assert gain == pytest.approx(rest @ rest - left @ left, rel=1e-9)
    assert gains_beyond(root, np.zeros(6), dict.fromkeys(range(6), "min"), list(range(6))) == {}


def test_gains_beyond_bounds_are_the_same_in_all_units() -> None:
    """A free height beside an onset in seconds counted as 0, so that the gain was too small."""
    rng = np.random.default_rng(0)
    root, downhill = rng.normal(size=(40, 4)), np.array([0.0, 0.0, 0.0, 3.0])
    root[:, 3] += 3 * root[:, 0]
    plain = gains_beyond(root, downhill, {3: "max"}, [3])[3]
    root[:, 1] *= 1e17
    assert gains_beyond(root, downhill, {3: "max"}, [3])[3] == pytest.approx(plain, rel=1e-9)


def test_what_was_warned_of_stays_in_the_result() -> None:
    law = "d:\n  gaussCONV: {SD: [0.2, False]}\n"
    law += "  expFun: {A: [1, True], tau: [2, True, 0.1, 9], t0: [0, False]}\n"
    model = loaded("m:\n" + FLAT + PEAK, "m", energy=X, time=np.linspace(-2.0, 5.0, 15))
    model.add_dynamics("Gauss_01_A", load_dynamics(law, "d", "Gauss_01_A"))
    with pytest.warns(UserWarning, match="under two time steps"):
        result = fit_model(model, Measurement(model.evaluate() + 0.01))
    assert said(result, Kind.KERNEL_UNDERSAMPLED)
