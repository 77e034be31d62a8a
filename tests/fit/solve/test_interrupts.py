"""Ctrl-C and SIGTERM: held while a fit is put together, answered, and the handlers of before."""

from __future__ import annotations

import _thread
import opcode
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from campaign import signals

import pyspec.fit.interrupts as interrupts
import pyspec.fit.single as single
from pyspec import File, Project
from pyspec.fit import fit_joint, fit_model, fit_slices, fit_trace
from pyspec.fit.interrupts import Hold, current_hold
from pyspec.fit.problem import FitProblem
from pyspec.model import Measurement, load_model

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

MODEL = """
peak:
  Gauss:
    A: [8.0, True, 0, 100]
    x0: [4.5, True, 0, 10]
    SD: [1.5, True, 0.1, 5]
"""
ENERGY = np.linspace(0.0, 10.0, 101)


def peak() -> tuple[Any, Measurement]:
    model = load_model(MODEL, "peak")
    model.set_axes(energy=ENERGY)
    clean = 10.0 * np.exp(-(((ENERGY - 5.0) / 1.2) ** 2) / 2)
    return model, Measurement(data=clean + np.random.default_rng(1).normal(0, 0.1, 101))


SERIES = np.stack([peak()[1].data] * 3)
TIME = np.arange(10.0)
LAW = "decay: {expFun: {A: [1.0, True], tau: [3.0, True, 0.1, 100], t0: [0, False]}}"


def whole_file(tmp_path: Path, with_baseline: bool = False) -> File:
    (tmp_path / "models.yaml").write_text(MODEL.replace("True, 0, 100", '"project", 0, 100'))
    project = Project(tmp_path, name="run", show_output=False)
    file = File(project, data=SERIES, energy=ENERGY, time=np.arange(3.0))
    file.load_model("models.yaml", ["peak"])
    if with_baseline:
        file.define_baseline(0.0, 1.0)
    return file


def single_fit() -> Any:
    """Not ``fit_model(*peak())``: behind a call with *args Python looks for signals."""
    model, measurement = peak()
    return fit_model(model, measurement)


#: The calls whose results no signal may take away.
CALLS: dict[str, Callable[[Path], Any]] = {
    "fit_model": lambda folder: single_fit(),
    "fit_slices": lambda folder: fit_slices(peak()[0], Measurement(SERIES)),
    "fit_joint": lambda folder: fit_joint([peak(), peak()]),
    "fit_trace": lambda folder: fit_trace(LAW, "decay", TIME, 2 * np.exp(-TIME / 4)),
    "spectrum": lambda folder: whole_file(folder).fit_spectrum("peak", time_point=0.0),
    "2d": lambda folder: whole_file(folder).fit_2d("peak"),
    "slice by slice": lambda folder: whole_file(folder).fit_slice_by_slice("peak"),
    "baselines": lambda folder: whole_file(folder, True).project.fit_baselines(model_name="peak"),
    "project": lambda folder: whole_file(folder).project.fit_2d(model_name="peak"),
}

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Result:
    interrupted = False


@pytest.fixture(autouse=True)
def _usual_handlers() -> Iterator[None]:
    """As in a shell; a background job ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_finished_fit_survives_a_signal(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Used to be lost: KeyboardInterrupt came out of the computation of the errors."""
    made = single.result_of

    def press(*given: Any) -> Any:
        signal.raise_signal(number)
        return made(*given)

    model, measurement = peak()
    whole = fit_model(model, measurement)
    monkeypatch.setattr(single, "result_of", press)
    result = fit_model(model, measurement)
    assert result.interrupted
    assert result.success
    assert result.values == whole.values
    assert result.stderr == whole.stderr
    assert not whole.interrupted


@pytest.mark.parametrize(
    ("method", "number"),
    [
        *product(("native", "leastsq", "nelder", "least_squares"), NUMBERS[:1]),
        ("native", NUMBERS[1]),
    ],
)
def test_a_signal_in_the_loop_ends_it(number: int, method: str) -> None:
    seen: list[float] = []

    def press(nfev: int, chisqr: float, best: float) -> None:
        seen.append(chisqr)
        if nfev == 3:
            signal.raise_signal(number)

    model, measurement = peak()
    result = fit_model(model, measurement, method=method, progress=press)
    assert result.interrupted
    assert not result.success
    assert result.nfev <= 4
    assert result.chisqr <= min(seen) * (1 + 1e-12)
    assert f"interrupted after {result.nfev} evaluations" in result.message


def test_one_evaluation_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python evaluates, the first point used to be lost."""
    residual = FitProblem.plain_residual

    def press(problem: FitProblem, theta: Any) -> Any:
        monkeypatch.setattr(FitProblem, "plain_residual", residual)
        signal.raise_signal(signal.SIGINT)
        return residual(problem, theta)

    model, measurement = peak()
    monkeypatch.setattr(FitProblem, "plain_residual", press)
    result = fit_model(model, measurement, "interpreted")
    assert result.interrupted
    assert result.values == model.values
    assert np.isfinite(result.chisqr)


def test_before_the_first_point_it_is_a_keyboard_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_fit = single.run_fit

    def press(problem: Any, *given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return run_fit(problem, *given)

    model, measurement = peak()
    before = model.values
    monkeypatch.setattr(single, "run_fit", press)
    with pytest.raises(KeyboardInterrupt):
        fit_model(model, measurement)
    assert model.values == before


def test_a_second_ctrl_c_ends_at_once() -> None:
    def press(nfev: int, chisqr: float, best: float) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("the second one did not end it")

    with pytest.raises(KeyboardInterrupt):
        fit_model(*peak(), progress=press)


def test_holds_nest_and_all_results_are_marked() -> None:
    first, second, none = Result(), Result(), Result()
    with Hold() as outer:
        with Hold() as inner:
            inner.mark(none)
        with Hold() as inner:
            assert inner.mark(first) is first
            signal.raise_signal(signal.SIGINT)
            assert current_hold().arrived
        assert first.interrupted
        outer.mark(second)
        assert outer.exit_code == 130
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert second.interrupted
    assert not none.interrupted
    assert not current_hold().arrived


def test_without_a_result_the_signal_comes_afterwards() -> None:
    done = []

    def work() -> None:
        with Hold():
            signal.raise_signal(signal.SIGINT)
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done


def test_an_error_comes_out_and_the_signal_after_it() -> None:
    def fail() -> None:
        with Hold():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("wrong")

    with pytest.raises(KeyboardInterrupt) as caught:
        fail()
    assert isinstance(caught.value.__context__, ValueError)
    with pytest.raises(ValueError, match="wrong"), Hold():
        raise ValueError("wrong")


def test_handlers_of_the_host_stay() -> None:
    heard: list[int] = []

    def own(number: int, frame: Any) -> None:
        heard.append(number)

    usual = signal.signal(signal.SIGTERM, own)
    try:
        with Hold() as hold:
            signal.raise_signal(signal.SIGTERM)
            assert heard == [signal.SIGTERM]
            assert not hold.arrived
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, usual)


def test_other_threads_are_left_alone() -> None:
    found = []

    def work() -> None:
        with Hold() as hold:
            found.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
            found.append(not hold.arrived)
        found.append(not current_hold().arrived)

    with Hold() as outer:
        outer.mark(Result())
        signal.raise_signal(signal.SIGINT)
        thread = threading.Thread(target=lambda: found.append(not current_hold().arrived))
        thread.start()
        thread.join()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True] * 4


def test_ctrl_c_while_the_handlers_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Used to lose the finished fit, and to leave SIGTERM without effect from then on."""

    def put(number: int, handler: Any) -> Any:
        before = signal.signal(number, handler)
        if number == signal.SIGINT and handler is signal.default_int_handler:
            raise KeyboardInterrupt
        return before

    shim = SimpleNamespace(getsignal=signal.getsignal, signal=put)
    monkeypatch.setattr(interrupts, "_plain", shim)
    result = fit_model(*peak())
    assert result.success
    assert result.interrupted
    with pytest.raises(KeyboardInterrupt), Hold():
        pass  # nothing that could be marked


def test_a_hold_that_was_never_entered_stops_no_other() -> None:
    """Two signals can come after a hold has begun and before its block."""
    Hold().__enter__()
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert not fit_model(*peak()).interrupted
    assert not current_hold().arrived


def test_baselines_end_with_the_fit_that_runs(tmp_path: Path) -> None:
    first = whole_file(tmp_path)
    project, axes = first.project, {"energy": ENERGY, "time": np.arange(3.0)}
    second = File(project, name="second", data=np.ones((3, ENERGY.size)), **axes)
    second.load_model("models.yaml", ["peak"])
    project.define_baselines(time_start=0.0, time_stop=1.0)

    def press(nfev: int, chisqr: float, best: float) -> None:
        if nfev == 3:
            signal.raise_signal(signal.SIGINT)

    results = project.fit_baselines(model_name="peak", progress=press)
    assert [result.interrupted for result in results] == [True]
    assert first.results == results
    assert not second.results


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 runs handlers after every call")
@pytest.mark.parametrize("name", CALLS)
def test_nothing_runs_after_the_handlers_are_back(name: str, tmp_path: Path) -> None:
    """Python runs handlers where a function begins, after a call into C and where a loop begins
    again. Between the last handler put back and the return of the call is nothing of it: no
    moment in which Ctrl-C takes a finished fit along. Behind CALL_FUNCTION_EX, a call with
    *args, Python 3.11 looks once the call has returned: none may wait for it."""
    seen: list[str] = []
    waiting: list[str] = []

    def step(frame: FrameType, event: str, argument: object) -> Any:
        if event == "opcode":
            code = frame.f_code
            operation = opcode.opname[code.co_code[frame.f_lasti]]
            seen.append(f"{operation} in {code.co_name}")
        return step

    def entered(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code is not interrupts._Signals.restore.__code__:
            return None
        above: FrameType | None = frame
        waiting.clear()
        while above is not None and above.f_code is not call.__code__:
            operation = opcode.opname[above.f_code.co_code[above.f_lasti]]
            waiting.append(f"{operation} in {above.f_code.co_name}")
            above.f_trace, above.f_trace_opcodes = step, True
            above = above.f_back
        return step

    def call() -> Any:
        return CALLS[name](tmp_path)

    tracer = sys.gettrace()
    sys.settrace(entered)
    try:
        result = call()
    finally:
        sys.settrace(tracer)
    assert result is not None
    last = max(k for k, one in enumerate(seen) if one == "CALL in restore")
    assert seen[last + 1 :]
    assert not [one for one in seen[last + 1 :] if one.startswith(CHECKING)]
    assert waiting
    assert not [one for one in waiting if one.startswith("CALL_FUNCTION_EX")]


class Trip:
    """``+Trip()`` is Ctrl-C at an instruction after which Python does not look for signals."""

    __pos__ = _thread.interrupt_main


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 runs handlers after every call")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_just_after_the_handlers_are_back(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes to the caller, who has the result by then."""
    restore, trip = interrupts._Signals.restore, Trip()

    def restore_and_trip(self: Any) -> None:
        restore(self)
        +trip  # noqa: B018

    monkeypatch.setattr(interrupts._Signals, "restore", restore_and_trip)
    result = None
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - from the second line
        result = CALLS[name](tmp_path)
        time.sleep(0.0)
    assert result is not None


#: The instructions after which, or before which, CPython looks for signals.
CHECKING = ("CALL", "RESUME", "JUMP_BACKWARD", "PRECALL")


FORKED = """
import os, signal, sys, time
from pyspec.fit.interrupts import Hold
with Hold():
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(7)
    time.sleep(0.5)
    os.kill(child, signal.SIGTERM)
    print(os.WTERMSIG(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_is_ended_by_the_first() -> None:
    """A pool that forks inside of a fit ends its workers by SIGTERM; it would wait forever."""
    run = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.stdout.split() == [str(int(signal.SIGTERM))], run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", signals.NAMES)
def test_nothing_is_lost_at_random_moments(name: str) -> None:
    if name in ("sweep", "command"):
        pytest.importorskip("h5py")
    if name in ("command", "afterwards"):
        pytest.importorskip("matplotlib")
    found = signals.run(name, 8, 4)
    assert found["why"] == []
    assert sum(found["SIGINT"].values()) == 8
    assert sum(found["SIGTERM"].values()) == 4
