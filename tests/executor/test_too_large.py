"""Arrays that memory does not hold: what they are, and how large."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, PyspecError, TooLargeError, load_model, make_executor
from pyspec._library.memory import doubles

MODEL = """
peak:
  Gauss:
    A: [8.0, True, 0, 100]
    x0: [4.5, True, 0, 10]
    SD: [1.5, True, 0.1, 5]
"""


def test_the_message_says_what_was_asked_for() -> None:
    assert doubles(3, lambda: "").shape == (3,)
    with pytest.raises(TooLargeError, match=r"^a matrix would take 8.59e\+09 GiB") as caught:
        doubles(1 << 60, lambda: "a matrix")
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, PyspecError)


def test_every_array_of_an_executor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's own error used to come out, which says neither of which model nor of what."""
    model = load_model(MODEL, "peak")
    model.set_axes(energy=np.linspace(0, 10, 20), time=np.arange(3.0))
    executor = make_executor(model, Measurement(data=np.ones((3, 20))))
    theta = np.array([8.0, 4.5, 1.5])
    monkeypatch.setattr(executor, "_size", 1 << 59)
    for call in (executor.run, executor.residual):
        with pytest.raises(TooLargeError, match=r"peak: 3 × 20 points would take"):
            call(theta)
    with pytest.raises(TooLargeError, match=r"points, times 3 derivatives, would take"):
        executor.jacobian(theta)
