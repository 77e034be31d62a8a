"""The derivation of what many points cost: its arithmetic, and the constants of its page."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from bench import on_paper
from bench.on_paper import Constants, Site, best_workers, cost, nodes_of

KNOWN = Constants(
    seconds_per_point=1e-8, seconds_apart=2e-9, bytes_per_point=8.0, cached=8e9, disk=1e9,
    latency=0.01, seconds_per_worker=0.002, task_seconds=0.001, bytes_per_node=500.0,
    seconds_per_node=1e-6, bytes_per_time=100.0, machine="none",
)  # fmt: skip
SITE = Site(cores=10, network=1e9, n_energy=512)


def test_parts_of_an_evaluation() -> None:
    """2^20 rows of each of 64 workers: 40 nodes each."""
    n = 64 * 2**20 * 512
    one = cost(n, 64, KNOWN, SITE)
    assert one.sums == pytest.approx(2**29 * 1e-8)
    assert one.reading == pytest.approx(64 * 2**29 * 8 / 7e9)  # 7 machines, one not full
    assert one.messages == pytest.approx(0.01 + 64 * 0.002)
    assert one.network == pytest.approx(64 * 40 * 500 / 1e9)
    assert one.tree == pytest.approx(64 * 40 * 1e-6)
    assert one.total == pytest.approx(one.reading + one.messages + one.network + one.tree)
    assert one.limit == "reading"


def test_rows_in_memory_are_not_read() -> None:
    one = cost(1e9, 1, KNOWN, SITE, in_memory=True)
    assert (one.reading, one.messages, one.network) == (0.0, 0.0, 0.0)
    assert one.total == pytest.approx(10.0, rel=1e-4)
    assert one.limit == "sums"


def test_nodes_of_consecutive_rows() -> None:
    """No range of rows is more nodes of a binary tree than two of each level."""
    for rows in (1, 2, 3, 6, 100, 1000):
        worst = max(len(cover(first, first + rows)) for first in range(256))
        assert worst <= max(nodes_of(rows), 1), rows


def cover(begin: int, end: int) -> list[tuple[int, int]]:
    """The largest aligned ranges that make up rows begin to end - 1."""
    found = []
    while begin < end:
        level = 0
        while begin % 2 ** (level + 1) == 0 and begin + 2 ** (level + 1) <= end:
            level += 1
        found.append((level, begin))
        begin += 2**level
    return found


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
