"""States of kinetic schemes under a measured instrument: reference and kernel against the equations
solved with 50 digits, slopes against differences of these."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from support.kernel_calls import KernelCall

from pyspec._library import OpDef
from pyspec.formula import instrument_text, op_of, scheme_of
from pyspec.functions.response_rows import response

pytestmark = pytest.mark.sweep(17)

RESPONSES = {
    "uneven": ([-0.31, -0.2, -0.05, 0.0, 0.02, 0.2, 0.7], [0, 0.2, 0.9, 1.0, 0.7, 0.3, 0]),
    "jumps": ([-0.1, 0.05, 0.4], [2, 1, 0.5]),
}
BODIES = {
    "chain": "A -> B = k1; B -> C = k2; C = k3; start A = 1",
    "back": "A -> B = k1; B -> A = k2; B -> C = k3; C = k4; start A = q; start C = 0.25",
    "ring": "A -> B = k1; B -> C = k2; C -> A = k3; start A = q; start B = 0.1",
    "both ways": (
        "A -> B = k1; B -> A = k2; B -> C = k3; C -> B = k4; C -> A = k1; A -> C = k2; start A = 1"
    ),
    "ring that leaks": "A -> B = k1; B -> C = k2; C -> A = k3; C -> D = k3; D = k4; start A = 1",
    "branched": "A -> B = k1; A -> C = k2; B -> D = k3; C -> D = k2; D = k4; start A = 1",
    "three": "A -> B = k1; B -> A = k2; B -> C = k3; C -> B = k4; C = q; start A = 1",
}
#: Rates far apart, coinciding and near to it, far faster and slower than the response, and none.
RATES = {
    "apart": {"k1": 3.0, "k2": 0.7, "k3": 0.11, "k4": 0.02, "q": 0.8},
    "turning": {"k1": 30.0, "k2": 30.0, "k3": 30.0, "k4": 0.3, "q": 1.0},
    "equal": {"k1": 0.9, "k2": 0.9, "k3": 0.9, "k4": 0.9, "q": 1.0},
    "close": {"k1": 0.9, "k2": 0.9 + 1e-9, "k3": 0.9 - 1e-6, "k4": 0.8999, "q": 1.0},
    "fast": {"k1": 2e4, "k2": 900.0, "k3": 0.5, "k4": 1e-3, "q": 1.0},
    "slow": {"k1": 1e-5, "k2": 1e-6, "k3": 1e-7, "k4": 0.0, "q": 0.1},
    "far": {"k1": 1e6, "k2": 1e3, "k3": 1.0, "k4": 5e-3, "q": 0.8},
}
FOUR = ("branched", "ring that leaks")
CASES = [(body, state) for body in BODIES for state in ("ABCD" if body in FOUR else "ABC")]
TIME = np.array([-0.4, -0.18, 0.0, 0.123, 0.14, 0.3, 0.83001, 2.0, 40.0])
ONSET, HEIGHT = 0.123, 1.3


def _op(body: str, state: str, name: str) -> tuple[OpDef, OpDef]:
    law = op_of(f"kinetics x({state}): {BODIES[body]}")
    row = response(law, op_of(instrument_text(*RESPONSES[name], "test")))
    assert row is not None
    return law, row


def _exact(
    law: OpDef, name: str, values: dict[str, Any], state: str, times: np.ndarray = TIME
) -> list[Any]:
    """dc/du = K c + r(u) c0, of c, r and the slope of r together, from sample to sample."""
    scheme = scheme_of(law)
    assert scheme is not None
    n, place = len(scheme.states), {one: k for k, one in enumerate(scheme.states)}
    K = mpmath.zeros(n + 2)
    for begin, end, rate in scheme.steps:
        K[place[begin], place[begin]] -= values[rate]
        if end:
            K[place[end], place[begin]] += values[rate]
    for one, start in scheme.start:
        K[place[one], n] = values[start] if start in values else mpmath.mpf(start)
    K[n, n + 1] = 1
    s, r = (list(map(mpmath.mpf, row)) for row in RESPONSES[name])
    area = sum((b - a) * (p + q) / 2 for a, b, p, q in zip(s, s[1:], r, r[1:], strict=False))
    at, nodes = mpmath.zeros(n + 2, 1), []
    for k, begin in enumerate(s):
        last = k + 1 == len(s)
        at[n] = 0 if last else r[k] / area
        at[n + 1] = 0 if last else (r[k + 1] - r[k]) / (s[k + 1] - begin) / area
        nodes.append(at.copy())
        if not last:
            at = mpmath.expm(K * (s[k + 1] - begin)) * at
    found = []
    for t in times:
        u = mpmath.mpf(float(t)) - values["t0"]
        k = sum(1 for one in s if one <= u) - 1
        whole = mpmath.expm(K * (u - s[k])) * nodes[k] if k >= 0 else mpmath.zeros(n + 2, 1)
        found.append(values["A"] * whole[place[state]])
    return found


def _values(rates: str) -> dict[str, Any]:
    return {"A": HEIGHT, "t0": ONSET, **RATES[rates]}


def _kernel(row: OpDef, values: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    params = np.array([values[name] for name in row.params])[:, None]
    value, slopes = np.empty((1, TIME.size)), np.empty((len(params), 1, TIME.size))
    KernelCall(row, TIME, params, value, slopes).run()
    return value[0], slopes[:, 0]


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize(("body", "state"), CASES)
def test_values_solve_the_equations(body: str, state: str, rates: str, name: str) -> None:
    law, row = _op(body, state, name)
    values = _values(rates)
    with mpmath.workdps(50):
        given = {key: mpmath.mpf(one) for key, one in values.items()}
        exact = np.array([float(one) for one in _exact(law, name, given, state)])
    size = np.max(np.abs(exact))
    assert size > 0
    value, _ = _kernel(row, values)
    np.testing.assert_allclose(value, exact, rtol=0, atol=1e-12 * size)
    reference = row.own(TIME, *(values[one] for one in row.params))
    # Squarings used to double the rounding: 1e-9 was lost at fast rates, 1e-12 at others.
    np.testing.assert_allclose(reference, exact, rtol=0, atol=2e-14 * size)


@pytest.mark.parametrize(
    "rates",
    [
        pytest.param("apart", marks=pytest.mark.slow),
        "equal",
        "far",
        pytest.param("fast", marks=pytest.mark.slow),
        pytest.param("turning", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("chain", "C"), ("back", "B"), ("branched", "D"), ("ring", "A"), ("both ways", "C"),
        ("ring that leaks", "D"), ("three", "C"),
    ],
)  # fmt: skip
def test_slopes_are_those_of_the_solution(body: str, state: str, rates: str) -> None:
    """By differences of solutions over a step, relative to each parameter."""
    law, row = _op(body, state, "uneven")
    values, at = _values(rates), slice(0, 9, 2)
    _, slopes = _kernel(row, values)
    with mpmath.workdps(60):
        given = {key: mpmath.mpf(one) for key, one in values.items()}
        for k, param in enumerate(row.params):
            h = mpmath.mpf("1e-22") * max(given[param], mpmath.mpf("1e-3"))
            high, low = (
                _exact(law, "uneven", given | {param: given[param] + side}, state, TIME[at])
                for side in (h, -h)
            )
            exact = np.array([float((a - b) / (2 * h)) for a, b in zip(high, low, strict=True)])
            size = np.max(np.abs(exact))
            np.testing.assert_allclose(slopes[k, at], exact, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize("n_rows", [1, 11])
def test_times_in_any_order_and_without_sense(n_rows: int) -> None:
    """Each time by itself, whatever stands beside it; nothing before the response."""
    _, row = _op("back", "B", "uneven")
    values = _values("apart")
    time = np.array([2.0, -9.0, np.nan, 0.3, 40.0, -0.18, 0.3, 900.0, 41.0, 0.83, np.inf, 901.0])
    params = np.repeat(np.array([values[name] for name in row.params])[:, None], n_rows, axis=1)
    params[1, n_rows // 2 :] *= 1.5
    params[row.params.index("t0")] += 0.3 * np.arange(n_rows)
    found, alone = np.full((n_rows, time.size), 7.0), np.empty((n_rows, 1))
    slopes = np.full((len(params), n_rows, time.size), 7.0)
    slopes_alone = np.empty((len(params), n_rows, 1))
    KernelCall(row, time, params, found, slopes).run()
    for k, at in enumerate(time):
        KernelCall(row, np.array([at]), params, alone, None).run()
        np.testing.assert_array_equal(found[:, k], alone[:, 0])
        KernelCall(row, np.array([at]), params, alone, slopes_alone).run()
        np.testing.assert_array_equal(found[:, k], alone[:, 0])
        np.testing.assert_array_equal(slopes[..., k], slopes_alone[..., 0])
    assert not found[:, 1].any()
    assert not slopes[..., 1].any()
    assert np.isnan(found[:, 2]).all()
    assert np.isnan(slopes[..., 2]).all()
    assert np.isfinite(np.delete(found, 2, axis=1)).all()
