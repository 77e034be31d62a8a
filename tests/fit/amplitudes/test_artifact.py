"""Time zero beside a coherent artifact: a pulse and its derivatives look like a shift of it."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pyspec import File, Project
from pyspec.fit import FitResult
from pyspec.fit.findings.kinds import Kind
from pyspec.functions import time as laws
from pyspec.functions.response import expFun_gaussIRF

Array = npt.NDArray[np.float64]

MODEL = """
parameters:
  onset: [0, True, -1, 1]
  chirp: [0.5, True]
  zero: ["onset + chirp * (1 - (550 / energy) ** 2)"]
art:
  gaussFun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD1Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussD2Fun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["zero"]}
  gaussIRF: {SD: [0.1, SCOPE, 0.01, 1]}
  expFun: {A: {free: energy}, tau: [1, SCOPE, 0.01, 100], t0: ["zero"]}
  expFun: {A: {free: energy}, tau: [30, SCOPE, 0.1, 1000], t0: ["zero"]}
"""

ENERGY = np.linspace(700.0, 400.0, 30)
DELAY = np.concatenate([np.arange(-1, 2, 0.05), np.geomspace(2, 300, 40)])
NOISE = 0.1

#: Of the simulated data: of the instrument, of time zero, and the decays.
TRUTH = {"onset": 0.03, "chirp": 0.4, "gaussIRF_SD": 0.08}
TAU = {"expFun_01_tau": 1.5, "expFun_02_tau": 40.0}


def bands(rng: np.random.Generator) -> Array:
    """Two bands of both signs, anywhere."""
    places, heights = rng.uniform(420, 680, 2), rng.normal(0, 4, 2)
    width = 60 / np.sqrt(8 * np.log(2))
    found = [
        height * np.exp(-(((ENERGY - at) / width) ** 2) / 2)
        for at, height in zip(places, heights, strict=True)
    ]
    return np.asarray(np.sum(found, axis=0))


def simulated(rng: np.random.Generator) -> Array:
    """(n_time, n_energy) two decays behind the instrument, and a pulse with two derivatives."""
    zero, width = TRUTH["onset"] + TRUTH["chirp"] * (1 - (550 / ENERGY) ** 2), TRUTH["gaussIRF_SD"]
    at = (1.0, width, zero)
    data = np.zeros((DELAY.size, ENERGY.size))
    delay = DELAY[:, None]
    for tau in TAU.values():
        data += expFun_gaussIRF(delay, 1.0, tau, zero, width) * bands(rng)
    for law in (laws.gaussFun, laws.gaussD1Fun, laws.gaussD2Fun):
        data += rng.normal(0, 3) * law(delay, *at)
    return np.asarray(data + rng.normal(0, NOISE, data.shape))


def file_of(project: Project, name: str, data: Array, start: dict[str, float]) -> File:
    file = File(project, name=name, data=data, energy=ENERGY, time=DELAY)
    file.set_noise("gaussian", sigma=NOISE)
    file.load_model("models.yaml", "art")
    file.select_model("art").set_values(start)
    return file


def fit(path: Path, data: Array, start: dict[str, float], **options: Any) -> FitResult:
    (path / "models.yaml").write_text(MODEL.replace("SCOPE", "True"))
    return file_of(Project(path, show_output=False), "one", data, start).fit_2d("art", **options)


def off(rng: np.random.Generator) -> dict[str, float]:
    """A start whose time zero is up to a few widths off, its width by up to a factor of two."""
    start = {"onset": rng.uniform(-0.25, 0.25), "chirp": rng.uniform(0, 0.8)}
    return start | {"gaussIRF_SD": float(rng.choice([0.04, 0.08, 0.16]))}


# Of 40 seeds the first line ended in another optimum, the fourth and seventh at a reduced χ² below
# 1.1. The second are those of 120 that time zero earlier and later, the same for all energies, did
# not mend: with a time zero turned about its middle, and a larger width, none is left.
@pytest.mark.parametrize(
    "seed", [3, 25, 99, *(pytest.param(one, marks=pytest.mark.slow) for one in (7, 29))]
)
def test_one_start_finds_the_best_optimum(seed: int, tmp_path: Path) -> None:
    """One in four of such starts ended at a wrong optimum, without a word."""
    rng = np.random.default_rng(seed)
    data = simulated(rng)
    best = fit(tmp_path, data, TRUTH | TAU)
    found = fit(tmp_path, data, off(rng))
    assert found.success
    assert found.chisqr < best.chisqr + 1e-3
    assert np.isclose(found.values["onset"], best.values["onset"], rtol=0, atol=1e-6)


def joint(path: Path, data: list[Array], starts: list[dict[str, float]]) -> Any:
    """A joint fit of files with one width and decays, each with its own time zero."""
    (path / "models.yaml").write_text(MODEL.replace("SCOPE", "project"))
    project = Project(path, show_output=False)
    for k, (own, start) in enumerate(zip(data, starts, strict=True)):
        file_of(project, f"file {k}", own, start)
    return project.fit_2d(model_name="art")


@pytest.mark.slow
def test_each_file_of_a_joint_fit_has_a_time_zero_of_its_own(tmp_path: Path) -> None:
    drawn = [np.random.default_rng(seed) for seed in (7, 8)]
    data = [simulated(rng) for rng in drawn]
    best = joint(tmp_path, data, [TRUTH | TAU] * len(data))
    found = joint(tmp_path, data, [off(rng) for rng in drawn])
    assert found.success
    assert found.chisqr < best.chisqr + 1e-3
    assert found.nfev < 1500


def test_files_with_the_same_wrong_time_zero_move_together(tmp_path: Path) -> None:
    """With a width in common none of them could leave a wrong optimum alone."""
    rng = np.random.default_rng(7)
    data = [simulated(rng)] * 2
    best = joint(tmp_path, data, [TRUTH | TAU] * 2)
    found = joint(tmp_path, data, [off(rng)] * 2)
    assert found.success
    assert found.chisqr < best.chisqr + 1e-3


def test_a_limit_of_evaluations_leaves_the_optimum_that_was_found(tmp_path: Path) -> None:
    """Any limit, however large, used to keep the fit from looking, without a word."""
    rng = np.random.default_rng(7)
    data, start = simulated(rng), off(rng)
    free = fit(tmp_path, data, start)
    ample = fit(tmp_path, data, start, max_nfev=1000)
    assert (ample.chisqr, ample.nfev, ample.findings) == (free.chisqr, free.nfev, free.findings)
    scarce = fit(tmp_path, data, start, max_nfev=30)
    assert scarce.success
    assert scarce.chisqr > 2 * free.chisqr
    assert scarce.nfev == 30
    (said,) = [one for one in scarce.findings if one.kind is Kind.SEARCH_CUT_SHORT]
    assert "max_nfev = 30 evaluations" in said.numbers["end"]
    on_its_way = fit(tmp_path, data, start, max_nfev=50)
    assert not on_its_way.success
    assert free.chisqr < on_its_way.chisqr < scarce.chisqr


@pytest.mark.parametrize("n", [30, 70])
def test_an_interrupt_leaves_the_optimum_that_was_found(n: int, tmp_path: Path) -> None:
    """Ctrl-C while it looked for others made a converged fit one that had not."""
    rng = np.random.default_rng(7)
    data, start = simulated(rng), off(rng)

    def interrupt(nfev: int, chisqr: float, best: float) -> None:
        if nfev == n:
            signal.raise_signal(signal.SIGINT)

    result = fit(tmp_path, data, start, progress=interrupt)
    assert result.success
    assert result.interrupted
    assert result.message.startswith("Converged")
    assert result.nfev < n + 3
    assert all(result.stderr[name] for name in result.free_names)
    (said,) = [one for one in result.findings if one.kind is Kind.SEARCH_CUT_SHORT]
    assert said.numbers["end"] == "interrupted"


def test_an_optimum_that_is_nearly_as_good_is_said(tmp_path: Path) -> None:
    """A time zero 2.4 standard errors away had a χ² that was higher by 1, and nothing said so."""
    alone = fit(tmp_path, simulated(np.random.default_rng(7)), TRUTH | TAU)
    assert alone.findings == ()
    result = fit(tmp_path, simulated(np.random.default_rng(16)), TRUTH | TAU)
    (said,) = [one for one in result.findings if one.kind is Kind.EQUIVALENT_OPTIMA]
    assert said.numbers["above"] == pytest.approx(1.0, abs=0.05)
    assert (said.places[0], said.numbers["there"][0]) == ("chirp", pytest.approx(0.3992, abs=1e-4))
    other = {"chirp": 0.3992, "onset": 0.0559, "gaussIRF_SD": 0.0803} | TAU
    problem = result.problem
    (rival,) = result._rivals or []
    assert np.allclose(rival[[*map(problem.names.index, other)]], [*other.values()], rtol=0.03)
