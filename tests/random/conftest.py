"""Prints what the random models contained and how well the executors agreed."""

from __future__ import annotations

import pytest
from random_models import REQUIRED
from random_models.stash import SUMMARY


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if SUMMARY not in config.stash:
        return
    summary = config.stash[SUMMARY]
    write = terminalreporter.write_line
    terminalreporter.section("random models")
    write(f"{summary.models} models: " + ", ".join(f"{n} {s}" for s, n in summary.status.items()))
    for what, value in sorted(summary.worst.items()):
        write(f"worst disagreement, {what}: {value:.2g} (seed {summary.worst_seed[what]})")
    write(f"ill-conditioned comparisons set aside: {len(summary.fragile)}")
    accepted = max(summary.status["accepted"], 1)
    counts = sorted((summary.features[name], name) for name in REQUIRED)
    rare = ", ".join(f"{name} {100 * number / accepted:.1f} %" for number, name in counts[:6])
    write(f"least frequent of {len(counts)} forms: {rare}")
