"""A few points far from a fit are a caution that says where. False alarms were counted by
simulation: 0 of 160,000 fits to 25 to 1,000 points with normal noise, and 0 of 420,000 with that of
counts of 0.05 to 1,000."""

import tracemalloc

import numpy as np
import pytest

from pyspec import File, Measurement, Project, fit_joint, fit_model, fit_trace, load_model
from pyspec.fit.doubts.spikes import _quantiles, far_points

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
    found = load_model(MODELS, name)
    found.set_axes(energy=ENERGY, time=TIME if name == "lines" else None)
    return found


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(0.0, 1.0, shape)


def about_spikes(result) -> list[str]:
    return [text for text in result.cautions if "further from the fit" in text]


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
    (text,) = about_spikes(result)
    assert text.startswith("one point is further from the fit than noise is")
    assert "robust standard deviations: 28.1, at energy 86; such a spike" in text
    # What it says to do helps.
    file = File(Project(show_output=False), data=spiked, energy=ENERGY)
    file.load_model(MODELS, "peak")
    file.set_fit_limits(exclude=[eval(text.partition("exclude=[")[2].partition("]")[0])])
    again = file.fit_spectrum("peak")
    assert again.n_data == 100
    assert not about_spikes(again)
    assert again.redchi < 2
    (text,) = about_spikes(fit_model(model(), Measurement(with_spike(spiked, 100, height=-9))))
    assert text.startswith("2 points are further")


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
        (text,) = about_spikes(fit_model(model(), Measurement(spiked * factor, **options)))
        assert "at energy 87;" in text
    series = np.outer(np.exp(-TIME / 3), SHAPE) + normal(8, 101)
    assert not about_spikes(fit_model(model("lines"), Measurement(series)))
    spiked_series = with_spike(series, 3, 77, height=30)
    (text,) = about_spikes(fit_model(model("lines"), Measurement(spiked_series)))
    assert "at energy 87.7 and time 3;" in text
    assert text.endswith("mask=, True there")
    times = np.linspace(0, 12, 60)
    trace = with_spike(18 * np.exp(-times / 4) + 0.1 * normal(60), 30, height=5)
    (text,) = about_spikes(fit_trace(MODELS, "decay", times, trace))
    assert f"at time {times[30]:.6g};" in text
    pair = [(model(), Measurement(data)) for data in (CLEAN + normal(101), CLEAN + normal(101))]
    pair[1][1].data[60] += 40
    (text,) = about_spikes(fit_joint(pair))
    assert text.startswith("in file01 one point is further")


def test_what_is_missing_from_a_model_is_no_spike() -> None:
    missing = 40 * np.exp(-(((ENERGY - 88) / 0.3) ** 2))
    assert not about_spikes(fit_model(model(), Measurement(CLEAN + missing + normal(101))))


@pytest.mark.parametrize("n_points", [25, 60, 1000])
@pytest.mark.parametrize("mean", [0.05, 0.5, 20, 1000])
def test_noise_makes_no_point_far(n_points: int, mean: float) -> None:
    rng = np.random.default_rng(7)
    fit = mean * (1 + 9 * np.exp(-(np.linspace(-4, 4, n_points) ** 2)))
    for _ in range(300):
        counts = rng.poisson(fit).astype(float)
        for residual in (counts - fit, (counts - fit) / np.sqrt(fit)):
            assert not far_points(counts, fit, residual, 4)[0].size
        assert not far_points(counts, fit, counts - fit, 4, 1.0)[0].size
        noise = rng.normal(size=n_points)
        assert not far_points(fit + noise, fit, noise, 4)[0].size


def test_points_that_all_count_are_not_copied() -> None:
    """Data, fit and residual were, and the places of all points held, 5 times the data in all."""
    noise = normal(200_000)
    fit = np.zeros_like(noise)
    far_points(noise, fit, noise, 4)  # imports what it needs
    tracemalloc.start()
    try:
        far_points(noise, fit, noise, 4)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * noise.nbytes


def test_quantiles_are_those_of_numpy_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 4, 20, 21, 41, 81, 100, 1001):
        for power in (-5, 0, 5):
            sizes = np.abs(rng.normal(0, 10.0**power, n))
            assert _quantiles(sizes, 0.5, 0.95) == np.quantile(sizes, [0.5, 0.95]).tolist()
