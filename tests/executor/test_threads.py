"""Threads that share the work of a fit: the same result for any number, and none is left behind."""

from __future__ import annotations

import _thread
import time
from collections.abc import Callable
from typing import Any

import pytest
from support.native_cases import CASES, fit

from pyspec.errors import FitError
from pyspec.executor import make_executor
from pyspec.executor.team import choose_threads, team_of


def wait_for(what: Callable[[], bool]) -> None:
    """A thread begins and ends a moment after it is asked to."""
    end = time.monotonic() + 20.0
    while not what() and time.monotonic() < end:
        time.sleep(0.001)
    assert what()


@pytest.mark.parametrize("name", ["a series", "a Shirley", "three files", "one spectrum"])
def test_a_fit_is_the_same_for_any_number_of_threads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = set()
    before = _thread._count()
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("PYSPEC_NUM_THREADS", threads)
        result = fit(CASES[name]())
        assert result.success
        found.add((result.chisqr, result.nfev, tuple(result.values.items())))
        wait_for(lambda: _thread._count() == before)
    assert len(found) == 1


def test_a_fit_that_is_interrupted_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPEC_NUM_THREADS", "3")
    executor: Any = make_executor(*CASES["a series"]()[0])
    before = _thread._count()

    def interrupted() -> None:
        with executor.parts():
            wait_for(lambda: _thread._count() == before + 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    wait_for(lambda: _thread._count() == before)


def test_small_jobs_run_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPEC_NUM_THREADS", raising=False)
    executor: Any = make_executor(*CASES["one spectrum"]()[0])
    assert choose_threads([executor]) == 1
    monkeypatch.setenv("PYSPEC_NUM_THREADS", "4")
    assert choose_threads([executor]) == 4
    with team_of([executor], 1) as team:
        assert team is None


@pytest.mark.parametrize("given", ["0", "-2", "many", "1.5"])
def test_a_number_that_is_none_is_one_error(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPEC_NUM_THREADS", given)
    executor: Any = make_executor(*CASES["one spectrum"]()[0])
    with pytest.raises(FitError, match=f"PYSPEC_NUM_THREADS={given}: .*set it to 1 or more"):
        choose_threads([executor])


def test_a_thread_that_cannot_be_started_leaves_none_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    executors: Any = [make_executor(*CASES["a series"]()[0])]
    before, start, started = _thread._count(), _thread.start_new_thread, []

    def once(*given: Any) -> int:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(given)
        return start(*given)

    monkeypatch.setattr(_thread, "start_new_thread", once)
    with pytest.raises(RuntimeError, match="can't start new thread"), team_of(executors, 3):
        pass
    wait_for(lambda: _thread._count() == before)
