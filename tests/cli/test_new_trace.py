"""``pyspec new DIR DATA`` of a trace over time: laws of time, with start values read off it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from pyspec import load_fit
from pyspec.cli import main
from pyspec.functions.response import expFun_gaussIRF

pytestmark = pytest.mark.usefixtures("numbers_alone")

DELAYS = np.concatenate([np.arange(-1, 3, 0.1), np.geomspace(3, 500, 40)])
EVEN = np.arange(-2, 20, 0.1)
LATE = np.linspace(3, 50, 200)
SHORT = 80 + 0.1 * np.arange(60)
BESIDE = np.r_[np.arange(-1, -0.2, 0.1), np.arange(-0.2, 0.8, 0.03), np.geomspace(0.8, 1500, 45)]


def noise(t: np.ndarray, seed: int = 0, sd: float = 0.1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sd, t.size)


def made(path: Path, t: np.ndarray, y: np.ndarray) -> str:
    np.savetxt(path / "d.csv", np.c_[t, y], "%.8g", ",", header="delay (ps),dA", comments="")
    assert main(["new", str(path / "a"), str(path / "d.csv")]) == 0
    return (path / "a" / "models.yaml").read_text()


def fitted(path: Path, **truth: float) -> dict[str, float]:
    assert main(["fit", str(path / "a" / "job.yaml"), "--quiet"]) == 0
    result = load_fit(path / "a/results/fits.h5")
    assert result.redchi < 0.014
    for name, value in truth.items():
        assert abs(result.values[name] - value) < 5 * result.stderr[name], name
    return dict(result.values)


def decays(t: np.ndarray, *laws: tuple[float, float], t0: float = 0.05, sd: float = 0.12) -> Any:
    return sum(A * expFun_gaussIRF(t, 1, tau, t0, sd) for A, tau in laws)


def wave(t: np.ndarray, A: float, tau: float, f: float, phi: float, begins: float = 0.0) -> Any:
    shape = A * np.exp(-(t - begins) / tau) * np.sin(2 * np.pi * f * t + phi)
    return np.where(t < begins, 0.0, shape)


class Trace(NamedTuple):
    """A trace, how often the model names a law, or says a word, and what its fit finds: `truth`
    within five standard errors, `near` within a share of the value. None: it is not fitted."""

    t: np.ndarray
    y: np.ndarray
    says: dict[str, int]
    truth: dict[str, float] | None = None
    near: dict[str, tuple[float, float]] = {}  # noqa: RUF012


def oscillation(begins: float, fade: float) -> Trace:
    """From time zero on, or at all times; damped or not."""
    name = "dampedSinFun" if np.isfinite(fade) else "sinFun"
    y = 5 + wave(EVEN, 2, fade, 0.4, 0.3, begins) + noise(EVEN)
    near = {f"{name}_01_f": (0.4, 0.02), f"{name}_01_A": (2.0, 0.1)}
    near |= {"dampedSinFun_01_tau": (6.0, 0.15)} if np.isfinite(fade) else {}
    return Trace(EVEN, y, {f"  {name}:": 1}, {}, near)


def slope(beside: Any, **says: int) -> Trace:
    """It got two decays of opposite sign, each a hundred times as high as the trace."""
    counts = {f"{name}:": says.get(name, 0) for name in ("expFun", "dampedSinFun")}
    truth = {"linFun_01_m": 0.3, "constFun_01_A": 7.0}
    y = 7 + 0.3 * (EVEN + 2) + beside + noise(EVEN)
    return Trace(EVEN, y, {**counts, "a constant alone": 0}, truth)


RISE = np.where(EVEN > 0.04, 3 * (1 - np.exp(-(EVEN - 0.04) / 4)), 0.0)
PULSE = (BESIDE - 0.13) / 0.07
FADE = {"expFun_01_A": 10.0, "expFun_01_tau": 8.0, "constFun_01_A": 2.0}
TRACES = {
    "two decays behind an instrument": Trace(
        DELAYS, decays(DELAYS, (-8, 1.5), (-4, 60.0)) + noise(DELAYS),
        {"its only axis is time, delay in ps": 1},
        {"expFun_01_A": -8.0, "expFun_01_tau": 1.5, "expFun_01_t0": 0.05, "gaussIRF_SD": 0.12,
         "expFun_02_A": -4.0, "expFun_02_tau": 60.0},
    ),
    "a decay from the first time on": Trace(
        LATE, 10 * np.exp(-(LATE - 3) / 8) + 2 + noise(LATE),
        {"No onset is seen": 1, "gaussIRF": 0}, FADE,
    ),
    "a rise": Trace(EVEN, RISE + noise(EVEN, sd=0.02), {"  stepFun:": 1},
                    {"stepFun_01_A": 3.0, "expFun_01_tau": 4.0}),
    "an oscillation": oscillation(0.0, np.inf),
    "a damped one at all times": oscillation(-2.0, 6.0),
    # The model had a formula of ten lines for what is a law of the table.
    "an oscillation beside a decay": Trace(
        EVEN,
        np.where(EVEN >= 0, 4 * np.exp(-EVEN / 5), 0) + wave(EVEN, 0.5, 3, 1.1, np.pi / 2)
        + noise(EVEN, sd=0.05),
        {"functions:": 0, "gaussIRF:": 1, "expFun:": 1, "dampedSinFun:": 1},
        {"expFun_01_A": 4.0, "expFun_01_tau": 5.0}, {"dampedSinFun_01_f": (1.1, 0.02)},
    ),
    "noise": Trace(EVEN, 3 + noise(EVEN),
                   {"No change stands out of the noise: a constant alone": 1, "Fun:": 1}, {}),
    "a straight line and a decay": slope(decays(EVEN, (4, 2.0), sd=0.15), expFun=1),
    # A pulse as short as the steps gets a decay below a tenth of one, outside of its bounds.
    "a pulse": Trace(SHORT, 3 + 9.0 * (np.abs(np.arange(60) - 30) < 4), {}),
    # Beside an artifact, which no law describes, a trace over decades got an oscillation of three
    # periods a picosecond that went on for ever, where its steps were a hundred picoseconds.
    "an artifact": Trace(
        BESIDE,
        decays(BESIDE, (4, 0.6), (2, 9.0), (0.5, 250.0), t0=0.13, sd=0.07)
        + (3 - 2 * PULSE) * np.exp(-(PULSE**2) / 2) + noise(BESIDE, 1, 0.03),
        {"sinFun": 0, "SinFun": 0},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [name if name == "a pulse" else pytest.param(name, marks=pytest.mark.slow) for name in TRACES],
)
def test_laws_and_their_start_values_are_read_off_a_trace(name: str, tmp_path: Path) -> None:
    trace = TRACES[name]
    text = made(tmp_path, trace.t, trace.y)
    assert {word: text.count(word) for word in trace.says} == trace.says
    assert "type: trace" in (tmp_path / "a" / "job.yaml").read_text()
    if trace.truth is None:
        assert main(["fit", str(tmp_path / "a" / "job.yaml"), "--check"]) == 0
        return
    values = fitted(tmp_path, **trace.truth)
    for par, (value, share) in trace.near.items():
        assert values[par] == pytest.approx(value, rel=share)
