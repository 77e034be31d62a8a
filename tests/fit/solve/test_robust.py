"""Fits by a robust loss of SciPy: they ended at its optimum, and were called failures with the
standard errors of chi², which outliers rule."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import least_squares
from support.fit_cases import agree

from pyspec import fit_joint, fit_model, fit_slices, load_fit, load_model, save_fit
from pyspec.errors import FitError
from pyspec.fit import FitResult
from pyspec.fit.findings.kinds import Kind
from pyspec.model import Measurement, Model

Array = npt.NDArray[np.float64]

X = np.linspace(80.0, 90.0, 200)
TEXT = """
m:
  Offset:
    y0: [5, True, 0, 50]
  Gauss:
    A: [25, True, 0, 100]
    x0: [84.5, project, 80, 90]
    SD: [0.8, True, 0.1, 5]
"""
TRUTH = np.array([5.0, 30.0, 84.2, 1.0])
NAMES = ["Offset_y0", "Gauss_01_A", "Gauss_01_x0", "Gauss_01_SD"]
LOSSES = ["soft_l1", "huber", "cauchy", "arctan"]


def curve(theta: Array) -> Array:
    y0, A, x0, SD = theta
    return np.asarray(y0 + A * np.exp(-(((X - x0) / SD) ** 2) / 2.0))


def model(**start: float) -> Model:
    made = load_model(TEXT, "m")
    made.set_axes(energy=X)
    made.set_values(start)
    return made


def spoiled(seed: int = 1, sigma: float = 0.5) -> Array:
    """One point of 17 is far off."""
    random = np.random.default_rng(seed)
    data = curve(TRUTH) + random.normal(0.0, sigma, X.size)
    bad = random.permutation(X.size)[: X.size // 17]
    data[bad] += random.normal(0.0, 40.0 * sigma, bad.size)
    return data


#: A loss that falls off has optima elsewhere, too.
NEAR = {"Gauss_01_A": 29.0, "Gauss_01_x0": 84.25, "Gauss_01_SD": 0.95}
SOFT: dict[str, Any] = {"method": "least_squares", "loss": "soft_l1", "f_scale": 0.5}


def fitted(data: Array, loss: Any, scale: float = 1.0, backend: str | None = None) -> FitResult:
    """A fit of data with noise of 0.5."""
    given: dict[str, Any] = {"method": "least_squares", "loss": loss, "f_scale": scale}
    return fit_model(model(**NEAR), Measurement(data, weight=2.0), backend, **given)


def by_hand(data: Array, loss: str, scale: float) -> tuple[Array, Array]:
    """SciPy's optimum, and errors of Huber's formula with derivatives of psi by differences."""

    def residual(theta: Array) -> Array:
        return 2.0 * (curve(theta) - data)

    given: dict[str, Any] = {"loss": loss, "f_scale": scale}
    given |= {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}
    theta = np.asarray(least_squares(residual, TRUTH, x_scale="jac", **given).x)

    def psi(r: Array) -> Array:
        def half(r: Array) -> Array:
            kinds = {
                "soft_l1": lambda z: 2 * (np.sqrt(1 + z) - 1),
                "huber": lambda z: np.where(z <= 1, z, 2 * np.sqrt(z) - 1),
                "cauchy": np.log1p,
                "arctan": np.arctan,
            }
            return np.asarray(0.5 * scale**2 * kinds[loss]((r / scale) ** 2))

        return np.asarray((half(r + 1e-6) - half(r - 1e-6)) / 2e-6)

    r = residual(theta)
    steps = 1e-5 * np.eye(4)
    J = np.array([(residual(theta + h) - residual(theta - h)) / 2e-5 for h in steps]).T
    slope = (psi(r + 1e-4) - psi(r - 1e-4)) / 2e-4
    n, p, mean = r.size, 4, slope.mean()
    K = 1.0 + p / n * slope.var() / mean**2
    covariance = K**2 * (psi(r) ** 2).sum() / (n - p) / mean**2 * np.linalg.inv(J.T @ J)
    return theta, np.sqrt(covariance.diagonal())


@pytest.mark.parametrize(
    ("loss", "scale", "backend"),
    [*product(LOSSES, (0.5, 3.0), ("compiled",)), ("huber", 0.5, "interpreted")],
)
def test_the_optimum_of_the_loss_is_a_success(loss: str, scale: float, backend: str) -> None:
    result = fitted(spoiled(), loss, scale, backend)
    theta, errors = by_hand(spoiled(), loss, scale)
    assert result.success, result.message
    assert not result.at_bound
    np.testing.assert_allclose((result.theta - theta) / errors, 0.0, atol=0.05)
    np.testing.assert_allclose([result.stderr[name] for name in NAMES], errors, rtol=0.02)
    assert f"The loss {loss} was minimised, not χ²: standard errors follow from" in result.message
    assert not {Kind.NOT_CONVERGED, Kind.MISFIT} & {one.kind for one in result.findings}


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "scale"), [("soft_l1", 1.0), *((one, 1.4) for one in LOSSES)])
def test_standard_errors_are_the_scatter_of_repeated_fits(loss: str, scale: float) -> None:
    fits = [fitted(spoiled(seed), loss, scale) for seed in range(150)]
    assert all(one.success for one in fits)
    for place, name in enumerate(NAMES):
        off = np.array([one.values[name] - TRUTH[place] for one in fits])
        errors = np.array([one.stderr[name] for one in fits])
        assert np.sqrt(np.mean(off**2)) / np.sqrt(np.mean(errors**2)) == pytest.approx(1, abs=0.2)


def own(z: Array) -> Array:
    return np.array([np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2])


def test_a_function_may_be_the_loss() -> None:
    mine, named = (fitted(spoiled(), loss) for loss in (own, "cauchy"))
    assert mine.success
    agree(mine, named, 1e-3, 1e-5)
    assert "The loss own was minimised" in mine.message


def test_a_bound_holds_and_errors_of_the_others_follow() -> None:
    made, fixed = model(), model()
    made.set("Offset_y0", 5.5, min=5.4)
    fixed.set("Offset_y0", 5.4, vary=False)
    result, reference = (fit_model(one, Measurement(spoiled()), **SOFT) for one in (made, fixed))
    assert dict(result.at_bound) == {"Offset_y0": "min"}
    assert result.stderr["Offset_y0"] is None
    assert result.success, result.message
    for name in NAMES[1:]:
        assert result.stderr[name] == pytest.approx(reference.stderr[name], rel=0.02)


def test_masked_points_do_not_count() -> None:
    n = 150
    short = model(**NEAR)
    short.set_axes(energy=X[:n])
    hidden = Measurement(spoiled(), weight=2.0, mask=np.arange(X.size) >= n)
    masked = fit_model(model(**NEAR), hidden, **SOFT)
    agree(masked, fit_model(short, Measurement(spoiled()[:n], weight=2.0), **SOFT), 1e-3, 1e-5)


def test_what_is_no_optimum_of_the_loss_is_no_success() -> None:
    start = model(Gauss_01_A=12.0, Gauss_01_SD=2.0)
    given: dict[str, Any] = {**SOFT, "f_scale": 1.0, "ftol": 0.5}
    result = fit_model(start, Measurement(spoiled()), **given)
    assert not result.success
    assert "This is no optimum" in result.message
    stopped = fit_model(start, Measurement(spoiled()), max_nfev=5, **given)
    assert not stopped.success
    assert stopped.stderr["Gauss_01_A"] is None


@pytest.mark.parametrize(("loss", "name"), [("soft_l1", "soft_l1"), (own, "own")])
def test_a_result_from_an_archive_knows_its_loss(tmp_path: Any, loss: Any, name: str) -> None:
    result = fitted(spoiled(), loss)
    save_fit(tmp_path / "a.h5", result)
    with pytest.raises(FitError, match=rf"m: no confidence .*from chi², .*loss {name}"):
        result.conf_interval()
    stored = load_fit(tmp_path / "a.h5")
    assert stored.success
    assert stored.stderr == result.stderr
    assert stored.findings == result.findings
    with pytest.raises(FitError, match=f"this fit minimised the loss {name}; quote"):
        stored.conf_interval()


def test_slices_and_joint_fits() -> None:
    rows = np.array([spoiled(seed) for seed in range(3)])
    alone = [fit_model(model(), Measurement(one), **SOFT) for one in rows]
    slices = fit_slices(model(), Measurement(rows), **SOFT)
    assert slices[1].result.stderr == alone[1].stderr
    joint = fit_joint([(model(), Measurement(one)) for one in rows], **SOFT)
    assert joint.success, joint.message
    errors = np.array([one.stderr["Gauss_01_x0"] for one in alone])
    together = joint.joint.stderr["Gauss_01_x0"]
    assert together == pytest.approx(np.sum(errors**-2.0) ** -0.5, rel=0.1)
