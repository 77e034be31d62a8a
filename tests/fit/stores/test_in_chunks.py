"""`chunks=`: rows that are summed some at a time, with the bits of all at once; progress within an
evaluation, and Ctrl-C within one."""

from __future__ import annotations

import io
import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.clusters import assert_same, long_series
from support.native_cases import CASES

from pyspec.errors import DataError, FitError
from pyspec.fit import fit_joint, fit_model
from pyspec.fit import progress as progress_module
from pyspec.fit.progress import Bar, Line
from pyspec.io import by_reference
from pyspec.model import Measurement


def test_what_has_no_chunks_is_refused() -> None:
    model, measurement = CASES["a series"]()[0]
    with pytest.raises(DataError, match="chunks is 0; give the number of rows of a chunk"):
        fit_model(model, measurement, chunks=0)
    with pytest.raises(FitError, match="leave it out, or client="):
        fit_model(model, measurement, chunks=9, client="two")
    one = model.copy()
    one.set_axes(energy=model.energy)
    with pytest.raises(DataError, match="leave it out for one spectrum"):
        fit_model(one, Measurement(data=np.asarray(measurement.data)[0]), chunks=9)


class Told:
    """A callback that is told of rows, too."""

    def __init__(self) -> None:
        self.evaluations: list[int] = []
        self.read: list[tuple[int, int]] = []

    def __call__(self, nfev: int, chisqr: float, best: float) -> None:
        self.evaluations.append(nfev)

    def rows(self, done: int, total: int) -> None:
        self.read.append((done, total))


@pytest.mark.parametrize("name", ["a series", "weights and a mask", "three files"])
def test_a_callback_is_told_of_rows(name: str) -> None:
    """The last of the three is summed over shapes and times apart, in strips."""
    model, measurement = long_series(name)
    begin, end = measurement.rows or (0, 1100)
    told = Told()
    result = fit_model(model, measurement, progress=told, chunks=300)
    assert_same(result, fit_model(model, measurement))
    whole = [(row - begin, end - begin) for row in (300, 600, 900, end)]
    assert told.read[:4] == whole
    assert set(told.read) == set(whole)
    assert len(told.read) >= 4 * told.evaluations[-1]


def test_files_count_together() -> None:
    parts = CASES["three files"]()
    held: Any = by_reference(np.asarray(parts[1][1].data))
    mixed = [parts[0], (parts[1][0], replace(parts[1][1], data=held)), parts[2]]
    for given, chunks, sizes in (
        (parts, 10**6, [one.data.shape[0] for _, one in parts if one.data is not None]),
        (mixed, None, [held.shape[0]]),
    ):
        told = Told()
        fit_joint(given, progress=told, chunks=chunks)
        done = np.cumsum(sizes).tolist()
        assert told.read[: len(sizes)] == [(one, done[-1]) for one in done]


class Presses(Told):
    """Ctrl-C when the n-th chunk has been read."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def rows(self, done: int, total: int) -> None:
        super().rows(done, total)
        if len(self.read) == self.n:
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_ends_an_evaluation() -> None:
    """It used to wait for the end of the evaluation, which can take hours."""
    model, measurement = long_series("a series")
    press = Presses(2)
    with pytest.raises(KeyboardInterrupt):
        fit_model(model, measurement, progress=press, chunks=300)
    assert press.read == [(300, 1100), (600, 1100)]
    press = Presses(6)
    result = fit_model(model, measurement, progress=press, chunks=300)
    assert result.interrupted
    assert not result.success
    assert len(press.read) < 4 * 3  # the rest is the chi² of the best point
    first = fit_model(model, measurement, max_nfev=1)
    assert result.theta.tobytes() == first.theta.tobytes()
    assert result.chisqr == first.chisqr


class Tqdm:
    """What a bar asks of tqdm."""

    def __init__(self, **options: Any) -> None:
        self.shown: list[str] = []

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        self.shown.append(text)

    def update(self, n: int) -> None:
        assert n == 1


def test_a_line_and_a_bar_show_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "INTERVAL", 0.0)
    stream, bar = io.StringIO(), Bar("peak", Tqdm)
    monkeypatch.setattr(stream, "isatty", lambda: True)
    for one in (Line("peak", stream), bar):
        one.rows(1000, 250_000)
        one.update(1, 2.5, 2.5)
        one.rows(2000, 250_000)
    assert "peak: 1 evaluations, χ² 2.5, rows 2,000 of 250,000, " in stream.getvalue()
    assert bar.bar.shown == ["rows 1,000 of 250,000", "χ² 2.5", "χ² 2.5, rows 2,000 of 250,000"]
