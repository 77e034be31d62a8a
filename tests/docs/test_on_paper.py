"""The derivation of what many points cost: its arithmetic, and the constants of its page."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from bench import on_paper
from bench.on_paper import Constants, Site, best_workers, cost

KNOWN = Constants(
    seconds_per_point=1e-8, seconds_apart=2e-9, bytes_per_point=8.0, cached=8e9, disk=1e9,
    latency=0.01, seconds_per_worker=0.002, task_seconds=0.001, bytes_per_node=500.0,
    seconds_per_node=1e-6, bytes_per_time=100.0, machine="none",
)  # fmt: skip
SITE = Site(cores=10, network=1e9, n_energy=512)


def test_the_best_number_of_workers_is_the_least_time() -> None:
    best = best_workers(1e9, KNOWN, SITE)
    assert best == pytest.approx(math.sqrt(10.0 / 0.002), rel=0.05)
    times = [cost(1e9, max(round(best * k), 2), KNOWN, SITE, in_memory=True).total
             for k in (0.5, 1.0, 2.0)]  # fmt: skip
    assert times[1] < times[0]
    assert times[1] < times[2]


def test_the_page_has_measured_constants(capsys: pytest.CaptureFixture[str]) -> None:
    known, checks = on_paper.load()
    assert known.seconds_apart < known.seconds_per_point < 1e-6
    assert known.disk <= 1.5 * known.cached
    assert [one.workers for one in checks] == [1, 2]
    assert on_paper.main([]) == 0
    printed = capsys.readouterr().out
    page = (Path(on_paper.ROOT) / "docs" / "inside" / "billion_points.md").read_text("utf-8")
    for row in on_paper.table(known, Site()):
        assert f"| {' | '.join(row)} |" in page
        assert row[-2] in printed
