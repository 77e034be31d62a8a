"""A few points far from a fit are a caution that says where. False alarms were counted by
simulation: 0 of 160,000 fits to 25 to 1,000 points with normal noise, and 0 of 420,000 with that of
counts of 0.05 to 1,000."""

import numpy as np
import pytest
from support.findings import of_kind
from support.fit_cases import loaded

from pyspec import File, Measurement, Project, fit_joint, fit_model, fit_trace
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.findings.spikes import far_points

Array = np.ndarray

MODELS = """
peak:
  Offset: {y0: [10, True]}
  Gauss: {A: [100, True], x0: [84.2, True], SD: [0.7, True]}
lines:
  Gauss: {A: {free: time}, x0: [84.2, True, 82, 86], SD: [0.7, True, 0.1, 5]}
decay:
  expFun: {A: [18, True], tau: [4, True, 0.1, 100], t0: [0, False]}
"""
ENERGY, TIME = np.linspace(80, 90, 101), np.arange(8.0)
SHAPE = 100 * np.exp(-(((ENERGY - 84.2) / 0.7) ** 2) / 2)
CLEAN = 10 + SHAPE


def model(name: str = "peak"):
    return loaded(MODELS, name, energy=ENERGY, time=TIME if name == "lines" else None)


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(0.0, 1.0, shape)


about_spikes = of_kind(Kind.OUTLIERS, level=1)


def with_spike(data: Array, *place: int, height: float) -> Array:
    found = data.copy()
    found[place] += height
    return found


@pytest.mark.parametrize("weight", [None, np.ones(101)])
def test_a_spike_is_a_caution_that_says_where(weight: Array | None) -> None:
    """A reduced χ² of 17 was all that was said, and without declared noise not even that."""
    data = CLEAN + normal(101)
    assert not about_spikes(fit_model(model(), Measurement(data, weight=weight)))
    spiked = with_spike(data, 60, height=40)
    result = fit_model(model(), Measurement(spiked, weight=weight))
    (found,) = about_spikes(result)
    assert (found.numbers["count"], found.numbers["energy"]) == (1, 86.0)
    assert found.numbers["away"] == pytest.approx(28.1, abs=0.1)
    # What it says to do helps.
    file = File(Project(show_output=False), data=spiked, energy=ENERGY)
    file.load_model(MODELS, "peak")
    file.set_fit_limits(exclude=[(found.numbers["low"], found.numbers["high"])])
    again = file.fit_spectrum("peak")
    assert again.n_data == 100
    assert not about_spikes(again)
    assert again.redchi < 2
    (found,) = about_spikes(fit_model(model(), Measurement(with_spike(spiked, 100, height=-9))))
    assert found.numbers["count"] == 2


def test_spikes_of_counts_series_traces_and_files() -> None:
    counts = np.random.default_rng(0).poisson(CLEAN).astype(float)
    spiked = with_spike(counts, 70, height=60)
    for data, options in (
        (counts, {"loss": "poisson"}),
        (counts / 30, {"loss": "poisson", "loss_scale": 30}),
        (counts, {}),
        (counts / 30, {}),
    ):
        factor = data[0] / counts[0]
        assert not about_spikes(fit_model(model(), Measurement(data, **options)))
        (found,) = about_spikes(fit_model(model(), Measurement(spiked * factor, **options)))
        assert found.numbers["energy"] == 87.0
    series = np.outer(np.exp(-TIME / 3), SHAPE) + normal(8, 101)
    assert not about_spikes(fit_model(model("lines"), Measurement(series)))
    spiked_series = with_spike(series, 3, 77, height=30)
    (found,) = about_spikes(fit_model(model("lines"), Measurement(spiked_series)))
    assert (found.numbers["energy"], found.numbers["time"]) == (pytest.approx(87.7), 3.0)
    times = np.linspace(0, 12, 60)
    trace = with_spike(18 * np.exp(-times / 4) + 0.1 * normal(60), 30, height=5)
    (found,) = about_spikes(fit_trace(MODELS, "decay", times, trace))
    assert found.numbers["time"] == times[30]
    pair = [(model(), Measurement(data)) for data in (CLEAN + normal(101), CLEAN + normal(101))]
    pair[1][1].data[60] += 40
    (found,) = about_spikes(fit_joint(pair))
    assert found.part == 1


def test_what_is_missing_from_a_model_is_no_spike() -> None:
    missing = 40 * np.exp(-(((ENERGY - 88) / 0.3) ** 2))
    assert not about_spikes(fit_model(model(), Measurement(CLEAN + missing + normal(101))))


@pytest.mark.parametrize("n_points", [25, 60, 1000])
@pytest.mark.parametrize("mean", [0.05, 0.5, 20, 1000])
def test_noise_makes_no_point_far(n_points: int, mean: float) -> None:
    rng = np.random.default_rng(7)
    fit = mean * (1 + 9 * np.exp(-(np.linspace(-4, 4, n_points) ** 2)))
    for _ in range(30):
        counts = rng.poisson(fit).astype(float)
        for residual in (counts - fit, (counts - fit) / np.sqrt(fit)):
            assert not far_points(counts, fit, residual, 4)[0].size
        assert not far_points(counts, fit, counts - fit, 4, 1.0)[0].size
        noise = rng.normal(size=n_points)
        assert not far_points(fit + noise, fit, noise, 4)[0].size
