"""Many fits in tasks by clusters: the results of one after the other."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.clusters import assert_same, cluster
from support.later import later
from support.native_cases import CASES

from pyspec.fit import bootstrap, fit_many, fit_model, fit_slices
from pyspec.model import Measurement, load_model

later("distributed")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    with cluster() as client:
        yield client


@pytest.mark.parametrize("name", ["a series", "weights and a mask", "counts"])
def test_starts(name: str, two: Any) -> None:
    model, measurement = CASES[name]()[0]
    expected = fit_model(model, measurement, n_starts=9, seed=3)
    seen: list[tuple[int, float, float]] = []
    found = fit_model(
        model, measurement, n_starts=9, seed=3, progress=lambda *at: seen.append(at), client=two
    )
    assert_same(found, expected)
    assert found.starts == expected.starts
    assert len(seen) == 9
    assert [one[0] for one in seen] == sorted(one[0] for one in seen)
    np.testing.assert_array_equal(found.residual, expected.residual)
    assert found.problem.measurement is measurement


def test_starts_that_fail_end_no_other(two: Any) -> None:
    text = "p: {Gauss: {A: ['sqrt(Gauss_01_x0)'], x0: [1, True, -5, 5], SD: [1, True, 0.1, 3]}}"
    model = load_model(text, "p")
    model.set_axes(energy=(axis := np.linspace(-5.0, 5.0, 60)))
    data = np.random.default_rng(2).normal(1.4 * np.exp(-0.5 * (axis - 2.0) ** 2), 0.01)
    measured = Measurement(data=data)
    expected = fit_model(model, measured, n_starts=12)
    assert any("not finite" in one.message for one in expected.starts)
    found = fit_model(model, measured, n_starts=12, client=two)
    assert str(found.starts) == str(expected.starts)  # NaN is not NaN
    assert_same(found, expected)


@pytest.mark.parametrize("n_rows", [3, 200])
def test_slices(n_rows: int, two: Any) -> None:
    model = load_model(
        "p: {Offset: {y0: [3, True]}, Gauss: {A: [9, True], x0: [84, True], SD: [1, True]}}", "p"
    )
    model.set_axes(energy=np.linspace(80.0, 88.0, 60))
    data = np.random.default_rng(3).normal(model.evaluate(), 0.3, (n_rows, 60))
    data[1, 5] = 1e200
    expected = fit_slices(model, Measurement(data=data))
    seen: list[int] = []
    found = fit_slices(
        model, Measurement(data=data), client=two, progress=lambda done, n: seen.append(done)
    )
    assert found.status == expected.status
    assert found.message == expected.message
    for name in expected.names:
        np.testing.assert_array_equal(found.values[name], expected.values[name])
        np.testing.assert_array_equal(found.stderr[name], expected.stderr[name])
    assert seen == list(range(1, n_rows + 1))


def test_bootstraps_and_sweeps(two: Any) -> None:
    model, measurement = CASES["weights and a mask"]()[0]
    result = fit_model(model, measurement)
    seen: list[int] = []
    found = bootstrap(result, 70, seed=2, progress=lambda done, n: seen.append(done), client=two)
    assert list(found) == list(bootstrap(result, 70, seed=2))
    assert seen[-1] == 70
    name = result.free_names[0]
    seeds = [{name: result.values[name] * (1 + 0.01 * k)} for k in range(11)]
    swept = fit_many(model, measurement, seeds, client=two)
    assert list(swept) == list(fit_many(model, measurement, seeds))
    wrong = [measurement, Measurement(np.ones(3)), measurement]
    mixed = fit_many(model, wrong, client=two)
    assert mixed.status == ("converged", "failed", "converged")
    assert str(list(mixed)) == str(list(fit_many(model, wrong)))  # NaN is not NaN


def test_ctrl_c_keeps_what_is_done(two: Any) -> None:
    model, measurement = CASES["a series"]()[0]
    ended = 0

    def interrupt(nfev: int, chisqr: float, best: float) -> None:
        nonlocal ended
        ended += 1
        if ended == 3:
            threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT)).start()
            time.sleep(0.2)

    found = fit_model(model, measurement, n_starts=2000, client=two, progress=interrupt)
    assert found.interrupted
    assert 3 <= len(found.starts) < 2000
    two.run(os.getpid)  # the workers are there for others


def test_workers_that_die_change_nothing() -> None:
    model, measurement = CASES["a series"]()[0]
    expected = fit_model(model, measurement, n_starts=60)
    killed: list[int] = []
    with cluster() as client:

        def kill(nfev: int, chisqr: float, best: float) -> None:
            if not killed:
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

        found = fit_model(model, measurement, n_starts=60, client=client, progress=kill)
    assert killed
    assert_same(found, expected)
    assert found.starts == expected.starts
