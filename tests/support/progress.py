"""``pytest --progress``: one line that tells how far the run is, in place of a mark per test.

On a terminal the line is written over; elsewhere a line is written every five percent. Tests that
fail are named at once, and described at the end as always.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any

import pytest

STEP = 5


class Progress:
    """Counts the tests that are done. In a run with xdist it sees the tests of all processes."""

    def __init__(self, terminal: Any) -> None:
        self.terminal = terminal
        self.total = self.done = self.failed = self.shown = 0
        self.begin = time.monotonic()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Sequence[str]) -> None:
        self.total = len(ids)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_report_teststatus(self, report: object) -> Generator[None, Any, None]:
        """Keeps the category, which is counted at the end, and drops the mark."""
        outcome = yield
        category, *_ = outcome.get_result()
        outcome.force_result((category, "", ""))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed += 1
            start = "\n" if self.terminal.isatty else ""
            self.terminal.write(f"{start}FAILED {report.nodeid} ({report.when})\n")

    def pytest_runtest_logfinish(self) -> None:
        self.done += 1
        percent = 100 * self.done // max(self.total, 1)
        if percent < self.shown + (1 if self.terminal.isatty else STEP):
            return
        self.shown = percent
        minutes, seconds = divmod(int(time.monotonic() - self.begin), 60)
        line = f"{percent:3d} %  {self.done} of {self.total} tests, {self.failed} failed"
        line = f"{line}, {minutes}:{seconds:02d} min"
        if self.terminal.isatty:
            self.terminal.rewrite(line, erase=True)
        else:
            self.terminal.write(f"{line}\n")

    def pytest_sessionfinish(self) -> None:
        if self.terminal.isatty:
            self.terminal.write("\n")
