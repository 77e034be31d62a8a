"""``pyspec new DIR DATA`` of a trace over time: laws of time, with start values read off it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import load_fit
from pyspec.cli import main
from pyspec.functions.response import expFun_gaussIRF

DELAYS = np.concatenate([np.arange(-1, 3, 0.1), np.geomspace(3, 500, 40)])
EVEN = np.arange(-2, 20, 0.1)


def noise(t: np.ndarray, seed: int = 0, sd: float = 0.1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sd, t.size)


def made(path: Path, t: np.ndarray, y: np.ndarray, *words: str, head: str = "delay (ps),dA") -> str:
    np.savetxt(path / "d.csv", np.c_[t, y], "%.8g", ",", header=head, comments="")
    assert main(["new", str(path / "a"), str(path / "d.csv"), *words]) == 0
    return (path / "a" / "models.yaml").read_text()


def fitted(path: Path, **truth: float) -> dict[str, float]:
    assert main(["fit", str(path / "a" / "job.yaml"), "--quiet"]) == 0
    result = load_fit(path / "a/results/fits.h5")
    assert result.redchi < 0.014
    for name, value in truth.items():
        assert abs(result.values[name] - value) < 5 * result.stderr[name], name
    return dict(result.values)


@pytest.mark.slow
def test_two_decays_behind_an_instrument(tmp_path: Path) -> None:
    """Traces were refused: 'has no energy axis'."""
    y = -8 * expFun_gaussIRF(DELAYS, 1, 1.5, 0.05, 0.12) - 4 * expFun_gaussIRF(
        DELAYS, 1, 60.0, 0.05, 0.12
    )
    text = made(tmp_path, DELAYS, y + noise(DELAYS))
    assert "its only axis is time, delay in ps" in text
    assert "type: trace" in (tmp_path / "a" / "job.yaml").read_text()
    truth = {"expFun_01_A": -8.0, "expFun_01_tau": 1.5, "expFun_01_t0": 0.05, "gaussIRF_SD": 0.12}
    fitted(tmp_path, **truth, expFun_02_A=-4.0, expFun_02_tau=60.0)


@pytest.mark.slow
def test_a_decay_from_the_first_time_on(tmp_path: Path) -> None:
    t = np.linspace(3, 50, 200)
    text = made(tmp_path, t, 10 * np.exp(-(t - 3) / 8) + 2 + noise(t))
    assert "No onset is seen" in text
    assert "gaussIRF" not in text
    fitted(tmp_path, expFun_01_A=10.0, expFun_01_tau=8.0, constFun_01_A=2.0)


@pytest.mark.slow
@pytest.mark.parametrize("t", [np.linspace(3.0137, 50, 200), np.linspace(3, 50, 2000)])
def test_laws_of_a_trace_without_an_onset_begin_with_its_first_value(
    t: np.ndarray, tmp_path: Path
) -> None:
    """Where its time was rounded up, or many values were averaged, they began behind it, and the
    decay was without its first values, which are the highest."""
    y = 10 * np.exp(-(t - 3) / 8) + 2 + noise(t)
    made(tmp_path, t, y)
    values = fitted(tmp_path, expFun_01_tau=8.0, constFun_01_A=2.0)
    assert t[0] - (t[1] - t[0]) / 20 < values["expFun_01_t0"] <= t[0]


@pytest.mark.slow
def test_a_rise_and_a_step(tmp_path: Path) -> None:
    y = np.where(EVEN > 0.04, 3 * (1 - np.exp(-(EVEN - 0.04) / 4)), 0.0)
    text = made(tmp_path, EVEN, y + noise(EVEN, sd=0.02))
    assert "stepFun" in text
    fitted(tmp_path, stepFun_01_A=3.0, expFun_01_tau=4.0)
    text = made(tmp_path, EVEN, np.where(EVEN > 1.04, 5.0, 2.0) + noise(EVEN), "--force")
    assert "sharper than the steps" in text
    fitted(tmp_path, stepFun_01_A=3.0)


@pytest.mark.slow
@pytest.mark.parametrize("begins", [0.0, -2.0])
@pytest.mark.parametrize("fade", [6.0, np.inf])
def test_an_oscillation(begins: float, fade: float, tmp_path: Path) -> None:
    """From time zero on, or at all times; damped or not."""
    t = EVEN
    wave = 2 * np.exp(-(t - begins) / fade) * np.sin(2 * np.pi * 0.4 * t + 0.3)
    text = made(tmp_path, t, 5 + np.where(t < begins, 0.0, wave) + noise(t))
    name = "dampedSinFun" if np.isfinite(fade) else "sinFun"
    assert f"  {name}:" in text
    values = fitted(tmp_path)
    assert values[f"{name}_01_f"] == pytest.approx(0.4, rel=0.02)
    assert values[f"{name}_01_A"] == pytest.approx(2.0, rel=0.1)
    if np.isfinite(fade):
        assert values["dampedSinFun_01_tau"] == pytest.approx(6.0, rel=0.15)


@pytest.mark.slow
def test_an_onset_of_a_long_trace_is_as_sharp_as_its_own_steps(tmp_path: Path) -> None:
    """The width was that of the averages in which the laws were sought, and fixed."""
    t = np.linspace(-1, 9, 1000)
    y = 2 - 50 * np.where(t > 0, np.exp(-t / 2), 0.0) + noise(t)
    made(tmp_path, t, y, head="TIME,CH1")
    values = fitted(tmp_path, expFun_01_tau=2.0)
    assert values["expFun_01_A"] == pytest.approx(-50.0, rel=0.01)
    assert values["gaussIRF_SD"] < 0.003


@pytest.mark.slow
def test_an_oscillation_beside_a_decay(tmp_path: Path) -> None:
    """The model had a formula of ten lines for what is a law of the table."""
    wave = 0.5 * np.cos(2 * np.pi * 1.1 * EVEN) * np.exp(-EVEN / 3)
    y = np.where(EVEN >= 0, 4 * np.exp(-EVEN / 5) + wave, 0.0)
    text = made(tmp_path, EVEN, y + noise(EVEN, sd=0.05))
    assert "functions:" not in text
    assert text.index("gaussIRF:") < text.index("expFun:") < text.index("dampedSinFun:")
    values = fitted(tmp_path, expFun_01_A=4.0, expFun_01_tau=5.0)
    assert values["dampedSinFun_01_f"] == pytest.approx(1.1, rel=0.02)


@pytest.mark.slow
def test_noise_gets_a_constant_alone(tmp_path: Path) -> None:
    text = made(tmp_path, EVEN, 3 + noise(EVEN))
    assert "No change stands out of the noise: a constant alone" in text
    assert list(fitted(tmp_path)) == ["constFun_01_A"]


@pytest.mark.slow
def test_a_trace_of_a_series(tmp_path: Path) -> None:
    wavelength = np.linspace(420, 720, 61)
    band = np.exp(-4 * np.log(2) * ((wavelength - 520) / 60) ** 2)
    data = np.outer(-8 * expFun_gaussIRF(DELAYS, 1, 5.0, 0.05, 0.15), band)
    data += np.random.default_rng(1).normal(0, 0.1, data.shape)
    np.savez(tmp_path / "d.npz", data=data, energy=wavelength, time=DELAYS)
    words = ["new", str(tmp_path / "a"), str(tmp_path / "d.npz"), "--select", "energy=520."]
    assert main(words) == 0
    fitted(tmp_path, expFun_01_A=-8.0, expFun_01_tau=5.0, gaussIRF_SD=0.15)


@pytest.mark.slow
def test_an_axis_without_a_name_is_said_to_be_taken_for_an_energy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A decay without a heading was read as a spectrum, without a word."""
    t = np.linspace(0, 50, 200)
    y = 10 * np.exp(-t / 8) + 2 + noise(t)
    text = made(tmp_path, t, y, head="x,y")
    said = "taken for an energy, as nothing says what it is (of times say --rename energy=time)"
    assert said in capsys.readouterr().out
    assert said in " ".join(text.replace("\n#", "").split())
    assert main(["show", str(tmp_path / "d.csv"), "--no-picture"]) == 0
    assert "'x' is energy, as nothing says what it is" in capsys.readouterr().out
    text = made(tmp_path, t, y, "--rename", "energy=time", "--force", head="x,y")
    assert "taken for" not in text
    fitted(tmp_path, expFun_01_tau=8.0)
    made(tmp_path, t, y, "--force", head="energy (eV),y")
    assert "taken for" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("beside", ["nothing", "a decay", "an oscillation"])
def test_a_straight_line(beside: str, tmp_path: Path) -> None:
    """It got two decays of opposite sign, each a hundred times as high as the trace."""
    laws = {
        "nothing": np.zeros(EVEN.size),
        "a decay": 4 * expFun_gaussIRF(EVEN, 1, 2.0, 0.05, 0.15),
        "an oscillation": np.where(
            EVEN >= 0, 2 * np.exp(-EVEN / 5) * np.sin(2 * np.pi * 0.4 * EVEN + 0.3), 0.0
        ),
    }
    text = made(tmp_path, EVEN, 7 + 0.3 * (EVEN + 2) + laws[beside] + noise(EVEN))
    assert text.count("expFun:") == (beside == "a decay")
    assert text.count("dampedSinFun:") == (beside == "an oscillation")
    assert "a constant alone" not in text
    fitted(tmp_path, linFun_01_m=0.3, constFun_01_A=7.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["step", "decay", "parabola"])
def test_exact_values_get_no_law_for_what_is_left(kind: str, tmp_path: Path) -> None:
    """Without noise whatever an onset between two samples leaves stood out: a step got two decays
    of a hundredth of a step of the axis, and a parabola three laws that cancelled."""
    made_of = {
        "step": np.where(EVEN >= 4.05, 3.0, 1.0),
        "decay": np.where(EVEN >= 4.05, 3 * np.exp(-(EVEN - 4.05) / 4), 0.0),
        "parabola": 1 + 0.02 * (EVEN + 2) ** 2,
    }
    text = made(tmp_path, EVEN, made_of[kind])
    assert text.count("expFun:") == (kind != "step")
    assert text.count("stepFun:") == (kind == "step")
    assert main(["fit", str(tmp_path / "a" / "job.yaml"), "--check"]) == 0


def test_decay_times_lie_within_their_bounds(tmp_path: Path) -> None:
    """A pulse as short as the steps gets a decay below a tenth of one: it was refused by the text
    of the model, 'value 0.007719 is outside of its bounds'."""
    t = 80 + 0.1 * np.arange(60)
    made(tmp_path, t, 3 + 9.0 * (np.abs(np.arange(60) - 30) < 4))
    assert main(["fit", str(tmp_path / "a" / "job.yaml"), "--check"]) == 0


@pytest.mark.slow
def test_what_later_delays_do_not_sample_is_no_oscillation(tmp_path: Path) -> None:
    """Beside an artifact, which no law describes, a trace over decades got an oscillation of three
    periods a picosecond that went on for ever, where its steps were a hundred picoseconds."""
    t = np.r_[np.arange(-1, -0.2, 0.1), np.arange(-0.2, 0.8, 0.03), np.geomspace(0.8, 1500, 45)]
    laws = ((4, 0.6), (2, 9.0), (0.5, 250.0))
    y = np.sum([A * expFun_gaussIRF(t, 1, tau, 0.13, 0.07) for A, tau in laws], axis=0)
    u = (t - 0.13) / 0.07
    y += (3 - 2 * u) * np.exp(-(u**2) / 2)
    text = made(tmp_path, t, y + noise(t, 1, 0.03))
    assert "sinfun" not in text.lower()
    assert "expFun:" in text
