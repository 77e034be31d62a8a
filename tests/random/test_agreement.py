"""Two thousand random models: tree, interpreted and compiled mean the same.

``python -m bench.agreement --seed N`` prints one of them and examines it again;
``python -m bench.agreement --models 50000`` examines more.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from random_models import REQUIRED, Summary, examine, generate, summarise
from random_models.check import AGREEMENT, WINDOW
from random_models.stash import SUMMARY

from pyspec.executor import CompiledExecutor

MODELS = 2000
CHUNK = 50


@pytest.fixture(scope="module")
def summary(request: pytest.FixtureRequest) -> Summary:
    """All models, examined in two processes."""
    total = Summary()
    ranges = [(begin, begin + CHUNK) for begin in range(0, MODELS, CHUNK)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        for part in pool.map(summarise, ranges):
            total.add(part)
    request.config.stash[SUMMARY] = total
    return total


def test_executors_agree(summary: Summary) -> None:
    assert summary.models == MODELS
    found = [f"seed {failure['seed']}: {failure['reason']}" for failure in summary.failures]
    assert not found, "\n".join(found[:5])
    for what in ("start", "perturbed", "hostile", "residual"):
        assert 0.0 < summary.worst[what] <= AGREEMENT
    assert summary.worst["window"] <= WINDOW


def test_most_models_are_accepted_and_the_others_refused_as_meant(summary: Summary) -> None:
    assert summary.status["accepted"] >= 0.5 * MODELS
    assert summary.status["refused"] >= 0.01 * MODELS
    assert set(summary.refusals) <= {"ModelError", "PlanError", "DataError"}
    # What was not spoiled on purpose is hardly ever refused: the generator knows the rules.
    assert summary.unintended <= 0.01 * MODELS


def test_everything_occurs_often_enough(summary: Summary) -> None:
    accepted = summary.status["accepted"]
    rare = {
        name: summary.features[name]
        for name in REQUIRED
        if summary.features[name] < 0.02 * accepted
    }
    assert not rare


def test_few_comparisons_are_set_aside(summary: Summary) -> None:
    """At hostile values a sine may turn 1e29 times: there is no right answer to compare."""
    assert len(summary.fragile) <= 0.005 * MODELS
    assert all("hostile" in text for text in summary.fragile)
    assert summary.not_finite <= 0.02 * MODELS


def test_a_seed_gives_the_same_model() -> None:
    assert all(generate(seed).replay() == generate(seed).replay() for seed in range(20))
    assert len({generate(seed).text for seed in range(20)}) == 20


def test_a_small_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deviation of 1e-9 in one executor fails every model that is accepted."""
    right = [examine(generate(seed)).status for seed in range(12)]
    run = CompiledExecutor.run

    def wrong(self: CompiledExecutor, *arguments: object) -> np.ndarray:
        return run(self, *arguments) * (1.0 + 1e-9)  # type: ignore[arg-type]

    monkeypatch.setattr(CompiledExecutor, "run", wrong)
    outcomes = [examine(generate(seed)) for seed in range(12)]
    for before, outcome in zip(right, outcomes, strict=True):
        assert outcome.status == ("failed" if before == "accepted" else before)
        assert before != "accepted" or outcome.replay["yaml"]
