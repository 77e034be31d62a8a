"""Fits end alike with a pass left out, in every fit that the environment reaches."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.fit_cases import data_2d, series, spectrum

from pyspec import Measurement, PassError, Simulator, fit_model
from pyspec.cli.commands.explain import plan_text
from pyspec.fit import fit_joint, fit_slices
from pyspec.ir import build_graph
from pyspec.plan import schedule_2d

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
