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

#: Seeds of models that take the references the better part of a second each, and of all kinds.
FEW, MANY = (8, 16), (0, 2000)


@pytest.fixture(scope="module", params=[FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def summary(request: pytest.FixtureRequest) -> Summary:
    """Models, examined."""
    return summarise(request.param)


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


def test_models_are_hardly_ever_refused(summary: Summary) -> None:
    """The generator knows the rules, and all executors refuse the same."""
    assert summary.status["refused"] <= 0.01 * summary.models


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
    for seed in range(5):
        assert generate(seed).replay() == generate(seed).replay()
    assert len({generate(seed).text for seed in range(5)}) == 5


def test_a_small_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deviation of 1e-9 in one executor fails every model."""
    run = CompiledExecutor.run

    def wrong(self: CompiledExecutor, *arguments: object) -> np.ndarray:
        return run(self, *arguments) * (1.0 + 1e-9)  # type: ignore[arg-type]

    monkeypatch.setattr(CompiledExecutor, "run", wrong)
    for seed in range(49, 53):
        outcome = examine(generate(seed))
        assert outcome.status == "failed"
        assert outcome.replay["yaml"]
