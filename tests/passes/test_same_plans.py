"""The plans of many models: one digest of all, which no change of the graph or of its passes may
move unless it means to."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from support.golden import golden_models
from support.random_models import generate
from support.random_models.check import REFUSALS

from pyspec.ir import build_graph
from pyspec.model import Model
from pyspec.plan import schedule_1d, schedule_2d

#: Random models → SHA-256 over the digests of the golden plans, then of theirs; a model that is
#: refused counts with its error.
DIGESTS = {
    60: "e5995dc9c47071095d4b5b1d83cbcd744423aa95612fc0d69fdf95b79f8ccc4d",
    5000: "54dd779851db629606046848852b966ae6af55c535670dcea027a0ac9a0a409d",
}


def plan_digest(model: Model) -> str:
    """The digest of its plan, through all passes."""
    schedule = schedule_2d if model.dimension == 2 else schedule_1d
    return schedule(build_graph(model)).digest


def random_digest(seed: int) -> str:
    """The same of a random model, or why there is no plan."""
    try:
        return plan_digest(generate(seed).model())
    except REFUSALS as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("count", [60, pytest.param(5000, marks=pytest.mark.slow)])
def test_the_plans_are_the_same(count: int, shared: Path) -> None:
    found = hashlib.sha256()
    for _, model, _ in golden_models(shared):
        found.update(plan_digest(model).encode())
    for seed in range(count):
        found.update(random_digest(seed).encode())
    assert found.hexdigest() == DIGESTS[count]
