"""Ends of intervals from sums at few points: those of fits with the parameter held."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, fit_joint, fit_model, load_model
from pyspec.executor.normal import triangle_size
from pyspec.fit.batch.points import sums_at_points
from pyspec.fit.uncertainty.profile import ProfileLikelihood, probabilities

LEVELS = probabilities([1, 2, 3])

TEXT = """
m:
  Offset: {y0: [3, true]}
  GLP: {A: [9, true, 0, 100], x0: [0.05, true, -2, 2], F: [1.1, true, 0.1, 4], m: [0.3, false]}
"""


def model(is_mixed: bool = False) -> Any:
    found = load_model(TEXT, "m")
    if is_mixed:
        found.set("GLP_01_m", vary=True, min=0.0, max=1.0)
    found.set_axes(energy=np.linspace(-5, 5, 151))
    return found


def data(noise: float, seed: int = 3) -> Any:
    clean = model().evaluate()
    return clean + noise * np.random.default_rng(seed).normal(size=clean.shape)


def counts() -> Any:
    return np.random.default_rng(5).poisson(20 * np.asarray(model().evaluate())).astype(float)


CASES = {
    "little noise": lambda: fit_model(model(), Measurement(data(0.1))),
    "noise": lambda: fit_model(model(), Measurement(data(0.3, 4))),
    "held at a bound": lambda: fit_model(model(True), Measurement(data(0.6))),
    "declared": lambda: fit_model(model(), Measurement(data(0.4), weight=2.5)),
    "counts": lambda: fit_model(
        model(), Measurement(counts() / 20, loss="poisson", loss_scale=20.0)
    ),
    "files": lambda: fit_joint([(model(), Measurement(data(0.4, k))) for k in (1, 2)]).joint,
}


@pytest.mark.parametrize("name", CASES)
def test_they_are_the_ends_of_fits_with_the_parameter_held(name: str) -> None:
    result = CASES[name]()
    profile = ProfileLikelihood(result)
    rays = profile.rays(profile.names, LEVELS, each=False, check=lambda: None)
    assert rays or result.at_bound
    for own in profile.names:
        found, known = profile.interval(own, LEVELS, rays), profile.interval(own, LEVELS, {})
        best = known[3][1]
        for (_, end), (_, slow) in zip(found, known, strict=True):
            assert end == pytest.approx(slow, abs=3e-4 * abs(slow - best))


def test_few_points_are_looked_at() -> None:
    result = CASES["little noise"]()
    profile = ProfileLikelihood(result)
    rays = profile.rays(profile.names, LEVELS, each=False, check=lambda: None)
    assert len(rays) == 2 * len(profile.names)
    assert sum(ray.n_points for ray in rays.values()) <= 2.0 * len(rays)


def test_a_side_whose_bound_comes_first_ends_there() -> None:
    own = model()
    own.parameters["GLP_01_A"].max = 9.2
    result = fit_model(own, Measurement(data(0.3)))
    profile = ProfileLikelihood(result)
    assert not result.at_bound
    rays = profile.rays(["GLP_01_A"], LEVELS, each=False, check=lambda: None)
    k = profile.names.index("GLP_01_A")
    assert rays[k, 1.0].ends[-1] == pytest.approx(9.2 - result.values["GLP_01_A"])


@pytest.mark.parametrize("name", ["noise", "counts", "files"])
def test_sums_at_points_are_those_of_one_after_the_other(name: str) -> None:
    result = CASES[name]()
    problem, theta = result.problem, np.asarray(result.theta)
    points = theta * (1 + 1e-3 * np.random.default_rng(1).normal(size=(5, theta.size)))
    told: list[int] = []
    with sums_at_points(problem, lambda: told.append(1)) as sums:
        together = {form: sums(points, form) for form in ("value", "gram")}
        alone = [sums(one[None], "gram")[0] for one in points]
    assert np.array_equal(together["gram"], alone)
    assert together["gram"].shape == (5, triangle_size(theta.size + 1))
    expected = [problem.chisqr_at(one) for one in points]
    assert together["value"][:, 0] == pytest.approx(expected, rel=1e-12)
    assert together["gram"][:, -1] == pytest.approx(expected, rel=1e-12)
    assert told
