"""Arrays that memory does not hold: what they are, and how large."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import series

from pyspec import Measurement, PyspecError, TooLargeError, make_executor
from pyspec._library.memory import doubles


def test_the_message_says_what_was_asked_for() -> None:
    assert doubles(3, lambda: "").shape == (3,)
    with pytest.raises(TooLargeError, match=r"^a matrix would take 8.59e\+09 GiB") as caught:
        doubles(1 << 60, lambda: "a matrix")
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, PyspecError)


def test_every_array_of_an_executor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's own error used to come out, which says neither of which model nor of what."""
    executor = make_executor(series(), Measurement(data=np.ones((36, 81))))
    theta = np.array([2.4, 10.0, 84.3, 1.6, 0.7, 12.0])
    monkeypatch.setattr(executor, "_size", 1 << 59)
    for call in (executor.run, executor.residual):
        with pytest.raises(TooLargeError, match=r"spectrum: 36 × 81 points would take"):
            call(theta)
    with pytest.raises(TooLargeError, match=r"points, times 6 derivatives, would take"):
        executor.jacobian(theta)
