"""Fits end alike with a pass left out, in every fit that the environment reaches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.column_models import ENERGY, ONSET, PEAK, TIME, energy_model
from support.fit_cases import data_2d, series, spectrum

from pyspec import Measurement, PassError, Simulator, fit_model
from pyspec.cli.commands.explain import plan_text
from pyspec.executor import CompiledExecutor, make_executor, make_plan
from pyspec.fit import FitResult, fit_joint, fit_slices
from pyspec.ir import build_graph
from pyspec.model import Model
from pyspec.passes import PASSES
from pyspec.plan import schedule_2d

#: What is left out: one pass, or all. tests/random/test_passes.py takes every subset.
SUBSETS = [*((name,) for name in PASSES), tuple(PASSES)]


def onset() -> tuple[Model, Measurement]:
    """A peak that sets in between two samples: the onset is searched for."""
    made = energy_model(PEAK, moves={"GLP_01_A": ONSET})
    spectra = make_executor(made).run(made.theta())
    noise = np.random.default_rng(4).normal(0.0, 0.02, (TIME.size, ENERGY.size))
    measurement = Measurement(data=spectra + noise)
    made.set_values({"GLP_01_A_expFun_01_t0": 1.3})
    return made, measurement


def fits() -> dict[str, FitResult]:
    whole = Measurement(data=data_2d())
    joint = fit_joint([(series(), whole), (series(), whole)])
    return {
        "2d": fit_model(series(), whole),
        "onset": fit_model(*onset()),
        "joint": joint,
        "leastsq": fit_model(series(), whole, method="leastsq"),
        "interpreted": fit_model(series(), whole, backend="interpreted"),
    }


@pytest.fixture(scope="module")
def known() -> dict[str, FitResult]:
    found = fits()
    assert all(result.success for result in found.values())
    return found


@pytest.mark.parametrize("without", SUBSETS, ids=",".join)
def test_fits_end_alike(
    without: tuple[str, ...], known: dict[str, FitResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPEC_PASSES", ",".join(f"-{name}" for name in without))
    for name, result in fits().items():
        expected = known[name]
        assert result.success, (name, result.message)
        assert result.chisqr == pytest.approx(expected.chisqr, rel=1e-10), name
        for par in expected.free_names:
            error = expected.stderr[par] or np.inf
            assert abs(result.values[par] - expected.values[par]) < 1e-6 * error, (name, par)


def test_the_environment_reaches_models_that_are_evaluated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = make_plan(series())
    monkeypatch.setenv("PYSPEC_PASSES", "none")
    other = make_plan(series())
    assert other.n_params > plan.n_params
    executor = make_executor(series())
    assert isinstance(executor, CompiledExecutor)
    assert executor.plan == other
    one, two = CompiledExecutor(plan).run(None), series().evaluate()
    assert np.abs(one - two).max() <= 1e-13 * np.abs(one).max()


ENTRIES: dict[str, Callable[[], object]] = {
    "evaluate": lambda: series().evaluate(),
    "evaluate, interpreted": lambda: series().evaluate(backend="interpreted"),
    "fit": lambda: fit_model(series(), Measurement(data=data_2d())),
    "joint fit": lambda: fit_joint([(series(), Measurement(data=data_2d()))] * 2),
    "slices": lambda: fit_slices(spectrum(), Measurement(data=data_2d())),
    "simulate": lambda: Simulator(series(), seed=1).simulate_2d(),
    "schedule": lambda: schedule_2d(build_graph(series())),
    "explain": lambda: plan_text(series()),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_model_that_is_lowered_goes_through_the_passes(
    entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is no pass stops them all: none goes another way, and none falls back."""
    ENTRIES[entry]()
    monkeypatch.setenv("PYSPEC_PASSES", "-fole")
    with pytest.raises(PassError, match="PYSPEC_PASSES: 'fole' is no pass; did you mean 'fold'"):
        ENTRIES[entry]()
    series().evaluate(backend="tree")
