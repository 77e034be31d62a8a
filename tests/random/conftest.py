"""Prints what the random models contained, how well the executors agreed, and the derivatives."""

from __future__ import annotations

import pytest
from random_models import REQUIRED
from random_models.slopes import Slopes
from random_models.stash import SLOPES, SUMMARY


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if SLOPES in config.stash:
        _write_slopes(terminalreporter, config.stash[SLOPES])
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


def _write_slopes(terminalreporter: pytest.TerminalReporter, total: Slopes) -> None:
    write = terminalreporter.write_line
    terminalreporter.section("derivatives of random models")
    write(f"{total.judged} of {total.columns} columns judged, {total.models} models")
    write(f"worst disagreement: {total.worst:.2g} of the column's scale ({total.worst_of})")
    write("left out: " + ", ".join(f"{n} {what}" for what, n in total.excluded.items()))
