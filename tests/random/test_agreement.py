"""Random models: tree, interpreted and compiled mean the same.

``python -m bench.agreement --seed N`` prints one of them and examines it again;
``python -m bench.agreement --models 50000`` examines more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.random_models import REQUIRED, Summary, examine, generate, summarise
from support.random_models.check import AGREEMENT, WINDOW

from pyspec.executor import CompiledExecutor


@pytest.fixture(scope="module", params=[60, pytest.param(2000, marks=pytest.mark.slow)])
def summary(request: pytest.FixtureRequest) -> Summary:
    """So many models, examined."""
    total = summarise((0, request.param))
    assert total.models == request.param
    return total


def lines(summary: Summary) -> str:
    """What the models contained and how well the executors agreed."""
    status = ", ".join(f"{n} {s}" for s, n in summary.status.items())
    found = [f"{summary.models} models: {status}"]
    for what, value in sorted(summary.worst.items()):
        seed = summary.worst_seed[what]
        found.append(f"worst disagreement, {what}: {value:.2g} (seed {seed})")
    found.append(f"ill-conditioned comparisons set aside: {len(summary.fragile)}")
    accepted = max(summary.status["accepted"], 1)
    counts = sorted((summary.features[name], name) for name in REQUIRED)
    rare = ", ".join(f"{name} {100 * number / accepted:.1f} %" for number, name in counts[:6])
    return "\n".join([*found, f"least frequent of {len(counts)} forms: {rare}"])


def test_executors_agree(summary: Summary, closing: Callable[[str], None]) -> None:
    closing(lines(summary))
    found = [f"seed {failure['seed']}: {failure['reason']}" for failure in summary.failures]
    assert not found, "\n".join(found[:5])
    for what in ("start", "perturbed", "hostile", "residual"):
        assert 0.0 < summary.worst[what] <= AGREEMENT
    assert summary.worst["window"] <= WINDOW


def test_most_models_are_accepted_and_the_others_refused_as_meant(summary: Summary) -> None:
    assert summary.status["accepted"] >= 0.5 * summary.models
    assert summary.status["refused"] >= 0.01 * summary.models
    assert set(summary.refusals) <= {"ModelError", "PlanError", "DataError"}
    # What was not spoiled on purpose is hardly ever refused: the generator knows the rules.
    assert summary.unintended <= 0.01 * summary.models


def test_everything_occurs_often_enough(summary: Summary) -> None:
    accepted = summary.status["accepted"]
    if accepted < 200:
        pytest.skip("too few models to count: the slow test has 2,000")
    rare = {
        name: summary.features[name]
        for name in REQUIRED
        if summary.features[name] < 0.02 * accepted
    }
    assert not rare


def test_few_comparisons_are_set_aside(summary: Summary) -> None:
    """At hostile values a sine may turn 1e29 times: there is no right answer to compare."""
    assert len(summary.fragile) <= 0.005 * summary.models
    assert all("hostile" in text for text in summary.fragile)
    assert summary.not_finite <= 0.02 * summary.models


def test_a_seed_gives_the_same_model() -> None:
    for seed in range(20):  # as text: an axis that is wrong on purpose may hold NaN
        assert repr(generate(seed).replay()) == repr(generate(seed).replay())
    assert len({generate(seed).text for seed in range(20)}) == 20


@pytest.mark.parametrize("models", [6, pytest.param(16, marks=pytest.mark.slow)])
def test_a_small_fault_is_found(models: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deviation of 1e-9 in one executor fails every model that is accepted."""
    right = [examine(generate(seed)).status for seed in range(models)]
    run = CompiledExecutor.run

    def wrong(self: CompiledExecutor, *arguments: object) -> np.ndarray:
        return run(self, *arguments) * (1.0 + 1e-9)  # type: ignore[arg-type]

    monkeypatch.setattr(CompiledExecutor, "run", wrong)
    outcomes = [examine(generate(seed)) for seed in range(models)]
    for before, outcome in zip(right, outcomes, strict=True):
        assert outcome.status == ("failed" if before == "accepted" else before)
        assert before != "accepted" or outcome.replay["yaml"]
