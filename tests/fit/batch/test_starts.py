"""Fits from several starts, and whether these agree."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import fit_joint, fit_model, load_time_model
from pyspec.fit.ending import Start
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.problem import problem_of
from pyspec.fit.starts import Ended, drawn_starts
from pyspec.model import Measurement, Model
from pyspec.plan import compile_model
from tests.support.findings import kinds

X = np.linspace(0.0, 10.0, 101)
TEXT = """
m:
  Offset: {y0: [1, True, 0, 5]}
  Gauss: {A: [3, project, 0, 20], x0: [START, True, 0, 10], SD: [0.3, True, 0.1, 3]}
"""


def model(start: float = 8.5) -> Model:
    return loaded(TEXT.replace("START", str(start)), "m", energy=X)


def spectrum(seed: int = 0) -> np.ndarray:
    """A high line at 3 and a low one at 8.5, where the fit of one line may end too."""
    noise = np.random.default_rng(seed).normal(0.0, 0.05, X.size)
    high, low = (a * np.exp(-(((X - x0) / 0.3) ** 2) / 2.0) for a, x0 in ((10.0, 3.0), (2.0, 8.5)))
    return np.asarray(1.0 + high + low + noise)


def test_the_best_of_several_starts_is_returned() -> None:
    measurement = Measurement(spectrum())
    one = fit_model(model(), measurement)
    assert one.success
    assert one.values["Gauss_01_x0"] == pytest.approx(8.5, abs=0.1)
    assert one.starts == ()
    best = fit_model(model(), measurement, n_starts=10)
    assert best.success
    assert best.values["Gauss_01_x0"] == pytest.approx(3.0, abs=0.01)
    assert best.chisqr < one.chisqr
    assert len(best.starts) == 10
    assert best.starts[0].chisqr == pytest.approx(one.chisqr)
    assert best.starts[0].start["Gauss_01_x0"] == 8.5
    agree = sum(start.agrees for start in best.starts)
    assert 1 <= agree < 10
    assert best.chisqr == next(start.chisqr for start in best.starts if start.agrees)
    assert best.chisqr == pytest.approx(min(start.chisqr for start in best.starts), rel=1e-9)
    (told,) = [one for one in best.findings if one.kind is Kind.STARTS_DISAGREE]
    assert (told.numbers["agree"], told.numbers["all"]) == (agree, 10)
    assert f"{agree} of 10 starts agree" in str(best)


def test_exchanged_lines_are_told() -> None:
    text = TEXT + "  Gauss: {A: [2, True, 0, 20], x0: [8, True, 0, 10], SD: [0.3, True, 0.1, 3]}\n"
    double = loaded(text.replace("START", "3.2"), "m", energy=X)
    result = fit_model(double, Measurement(spectrum()), n_starts=40)
    assert result.success
    assert Kind.PARTS_EXCHANGED in kinds(result)


def test_joint_fits_take_them_too() -> None:
    parts = [(model(), Measurement(spectrum(seed))) for seed in (0, 1)]
    joint = fit_joint(parts, n_starts=12, names=["one", "two"])
    assert [file.values["Gauss_01_x0"] for file in joint] == pytest.approx([3.0, 3.0], abs=0.02)
    assert len(joint.starts) == 12


TWO = """
all:
  Gauss: {A: [3, True, 0, 20], x0: [START1, True, 0, 10], SD: [0.3, True, 0.1, 3]}
  Gauss: {A: [3, True, 0, 20], x0: [START2, True, 0, 10], SD: [0.3, True, 0.1, 3]}
"""


@pytest.mark.parametrize("noise", [0.02, 0.0])
@pytest.mark.parametrize("at", [(3.0, 7.0), (7.0, 3.0)])
def test_the_first_of_equal_optima_is_kept(at: tuple[float, float], noise: float) -> None:
    """Rounding decided which of the two lines changed places."""
    clean = np.exp(-(((X - 3.0) / 0.3) ** 2) / 2) + np.exp(-(((X - 7.0) / 0.4) ** 2) / 2)
    measured = Measurement(clean + np.random.default_rng(0).normal(0.0, 1.0, X.size) * noise)
    text = TWO.replace("START1", str(at[0])).replace("START2", str(at[1]))
    alone = fit_model(loaded(text, "all", energy=X), measured)
    best = fit_model(loaded(text, "all", energy=X), measured, n_starts=6)
    assert best.starts[0].chisqr == alone.chisqr
    assert best.starts[0].agrees
    assert (best.values, best.stderr) == (alone.values, alone.stderr)
    assert (best.values["Gauss_01_x0"] < best.values["Gauss_02_x0"]) == (at[0] < at[1])


def ended(chisqr: float, success: bool = True, tolerance: float = 0.01) -> Ended:
    return Ended(Start({}, {}, chisqr, success, ""), tolerance)


def test_which_of_two_is_better() -> None:
    first = ended(10.0)
    assert first.is_better(None)
    for equal in (ended(10.0), ended(10.0 - 1e-9), ended(9.991), ended(10.005)):
        assert not equal.is_better(first)
    assert ended(9.98).is_better(first)
    assert not ended(10.02).is_better(first)
    failed = ended(9.995, success=False)
    assert not failed.is_better(first)
    assert first.is_better(failed)
    assert ended(9.9, success=False).is_better(first)
    assert not Ended.of(1, 1, "failed", "no", None).is_better(first)


# Starts of a frequency are spread evenly over its bounds: drawn at random half of them lay around
# the given start, and of 100 traces with 78 optima in the frequency 34 were found by 20 starts, 81
# by 100 of them; now it is 41 and 98.


SAMPLES = np.linspace(0, 40, 200)


def wave(law: str, f: str = "[0.3, True, 0.05, 2]") -> Model:
    more = {
        "sinFun": "phi: [0.3, True]",
        "dampedSinFun": "phi: [0.3, True], tau: [20, True, 1, 200]",
    }
    own = ", ".join(["A: [1, True, 0, 5]", f"f: {f}", more.get(law, ""), "t0: [0, False]"])
    made = load_time_model(f"m:\n  {law}: {{{own.replace(', ,', ',')}}}\n", "m")
    made.set_axes(time=SAMPLES)
    return made


def drawn(made: Model, n_starts: int, seed: int = 0) -> list[dict[str, float]]:
    problem = problem_of(compile_model(made), Measurement(np.zeros(SAMPLES.size)), "compiled")
    return list(drawn_starts(problem, None, n_starts, seed))


@pytest.mark.parametrize("law", ["sinFun", "dampedSinFun", "sinDivX"])
def test_no_gap_is_far_wider_than_the_mean_one(law: str) -> None:
    for count in (10, 37, 100):
        found = np.sort([one[f"{law}_01_f"] for one in drawn(wave(law), count + 1)[1:]])
        assert found[0] >= 0.05
        assert found[-1] <= 2.0
        gaps = np.diff(found, append=found[0] + 1.95)  # from the last one on to the first
        assert gaps.max() < 2.7 * 1.95 / count


def test_a_frequency_without_bounds_is_drawn_around_its_start() -> None:
    found = [one["sinFun_01_f"] for one in drawn(wave("sinFun", "[0.3, True]"), 200)[1:]]
    assert np.median(found) == pytest.approx(0.3, abs=0.05)
