"""Starts of a frequency are spread evenly over its bounds: drawn at random half of them lay around
the given start, and of 100 traces with 78 optima in the frequency 34 were found by 20 starts, 81 by
100 of them; now it is 41 and 98."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, fit_joint, fit_model, load_time_model
from pyspec.fit.problem import problem_of
from pyspec.fit.starts import drawn_starts
from pyspec.model import Model
from pyspec.plan import compile_model

TIME = np.linspace(0, 40, 200)


def model(law: str, f: str = "[0.3, True, 0.05, 2]") -> Model:
    more = {
        "sinFun": "phi: [0.3, True]",
        "dampedSinFun": "phi: [0.3, True], tau: [20, True, 1, 200]",
    }
    own = ", ".join(["A: [1, True, 0, 5]", f"f: {f}", more.get(law, ""), "t0: [0, False]"])
    made = load_time_model(f"m:\n  {law}: {{{own.replace(', ,', ',')}}}\n", "m")
    made.set_axes(time=TIME)
    return made


def starts(made: Model, n_starts: int, seed: int = 0) -> list[dict[str, float]]:
    problem = problem_of(compile_model(made), Measurement(np.zeros(TIME.size)), "compiled")
    return list(drawn_starts(problem, None, n_starts, seed))


@pytest.mark.parametrize("law", ["sinFun", "dampedSinFun", "sinDivX"])
def test_no_gap_is_far_wider_than_the_mean_one(law: str) -> None:
    for count in (10, 37, 100):
        found = np.sort([one[f"{law}_01_f"] for one in starts(model(law), count + 1)[1:]])
        assert found[0] >= 0.05
        assert found[-1] <= 2.0
        gaps = np.diff(found, append=found[0] + 1.95)  # from the last one on to the first
        assert gaps.max() < 2.7 * 1.95 / count


def test_a_frequency_without_bounds_is_drawn_around_its_start() -> None:
    found = [one["sinFun_01_f"] for one in starts(model("sinFun", "[0.3, True]"), 200)[1:]]
    assert np.median(found) == pytest.approx(0.3, abs=0.05)


def test_far_starts_find_it_alone_and_in_several_files() -> None:
    rng = np.random.default_rng(4)
    data = [a * np.sin(2 * np.pi * 1.43 * TIME + 1.1) + rng.normal(0, 0.5, 200) for a in (1, 2)]
    result = fit_model(model("sinFun"), Measurement(data[0]), n_starts=100)
    assert result.values["sinFun_01_f"] == pytest.approx(1.43, abs=2e-3)
    joint = fit_joint([(model("sinFun"), Measurement(one)) for one in data[1:]], n_starts=100)
    assert joint[0].values["sinFun_01_f"] == pytest.approx(1.43, abs=2e-3)
