"""Many models at once: counts, the worst of each comparison, what failed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from support.random_models.check import Outcome, examine
from support.random_models.generate import generate

#: Ill-conditioned comparisons and failures that are kept with their details.
KEPT = 200


@dataclass
class Summary:
    """What became of some models. Features are counted among the accepted ones."""

    models: int = 0
    status: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    worst: dict[str, float] = field(default_factory=dict)
    worst_seed: dict[str, int] = field(default_factory=dict)
    fragile: list[str] = field(default_factory=list)
    not_finite: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)

    def count(self, outcome: Outcome) -> None:
        """Adds one model."""
        self.models += 1
        self.status[outcome.status] += 1
        if outcome.status == "accepted":
            self.features.update(outcome.features)
            self.not_finite += outcome.finite < 1.0
            self.fragile += [f"seed {outcome.seed}: {text}" for text in outcome.fragile]
            for what, value in outcome.worst.items():
                self._worst(what, float(value), outcome.seed)
        elif outcome.status == "refused":
            self.refusals[outcome.reason.split(":")[0]] += 1
        else:
            self.failures.append({"reason": outcome.reason, **outcome.replay})

    def _worst(self, what: str, value: float, seed: int) -> None:
        if value > self.worst.get(what, -1.0):
            self.worst[what], self.worst_seed[what] = value, seed

    def add(self, other: Summary) -> None:
        """Adds what another process has counted."""
        self.models += other.models
        self.status.update(other.status)
        self.features.update(other.features)
        self.refusals.update(other.refusals)
        self.not_finite += other.not_finite
        self.fragile = (self.fragile + other.fragile)[:KEPT]
        self.failures = (self.failures + other.failures)[:KEPT]
        for what, value in other.worst.items():
            self._worst(what, value, other.worst_seed[what])


def summarise(seeds: tuple[int, int]) -> Summary:
    """Examines the models of the seeds begin ... end - 1."""
    summary = Summary()
    for seed in range(*seeds):
        summary.count(examine(generate(seed)))
    return summary
