"""Threads that share the work of a fit: the same result for any number, and none is left behind."""

from __future__ import annotations

import _thread
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from support.native_cases import CASES, fit

from pyspec._library.threads import Threads, refuse_many
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


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_fit_goes_on_with_the_threads_there_are(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container with a limit ended it: "can't start new thread"."""
    monkeypatch.setenv("PYSPEC_NUM_THREADS", "1")
    expected = fit(CASES["a series"]())
    before, start, started = _thread._count(), _thread.start_new_thread, []

    def few(*given: Any) -> int:
        if len(started) >= n:
            raise RuntimeError("can't start new thread")
        started.append(given)
        return start(*given)

    monkeypatch.setenv("PYSPEC_NUM_THREADS", "5")
    monkeypatch.setattr(_thread, "start_new_thread", few)
    found = fit(CASES["a series"]())
    assert (len(started) > 0) == (n > 0)
    assert found.theta.tobytes() == expected.theta.tobytes()
    assert (found.chisqr, found.nfev) == (expected.chisqr, expected.nfev)
    wait_for(lambda: _thread._count() == before)


@pytest.mark.parametrize("n", [0, 1])
def test_a_pool_goes_on_with_the_threads_there_are(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks by reference, and strips, have a pool of their own kind."""
    start, started = threading.Thread.start, []

    def few(self: threading.Thread) -> None:
        if len(started) >= n:
            raise RuntimeError("can't start new thread")
        started.append(self)
        start(self)

    monkeypatch.setattr(threading.Thread, "start", few)
    with Threads(4) as pool:
        futures = [pool.submit(pow, 2, k) for k in range(20)]
        wrong = pool.submit(int, "x")
        assert [future.result(timeout=20) for future in futures] == [2**k for k in range(20)]
        assert isinstance(wrong.exception(timeout=20), ValueError)
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(pow, 2, 2)


@pytest.mark.parametrize("given", ["100000", "17000000000"])
def test_more_threads_than_a_few_for_each_core_are_an_error(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100,000 were started, and took the machine down."""
    monkeypatch.setattr(_thread, "start_new_thread", lambda *_: pytest.fail("a thread is started"))
    monkeypatch.setenv("PYSPEC_NUM_THREADS", given)
    with pytest.raises(FitError, match=f"PYSPEC_NUM_THREADS={given}: this machine has .* at most"):
        fit(CASES["a series"]())


def test_the_most_threads_are_a_few_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, most in ((None, 16), (1, 16), (4, 16), (8, 32), (64, 256)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert refuse_many("n", most) == most
        with pytest.raises(FitError, match=f"at most to {most}"):
            refuse_many("n", most + 1)
