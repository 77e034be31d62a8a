"""Steps of two states: against closed forms, exact arithmetic and the reference."""

import mpmath
import numpy as np
import pytest
from support.kernel_calls import KernelCall

from pyspec.formula import op_of

TIMES = np.concatenate([[0.0], np.geomspace(1e-3, 1e6, 55)])
A, B, K, K1 = 2.0, 0.5, 0.7, 0.3


def _run(op, params, times=TIMES):
    value = np.empty((1, times.size))
    slopes = [np.empty((1, times.size)) for _ in op.params]
    KernelCall(op, times, np.ascontiguousarray(np.array(params)[:, None]), value, slopes).run()
    return value[0], dict(zip(op.params, (one[0] for one in slopes), strict=True))


def _found(text: str, times=TIMES, **values):
    op = op_of(text)
    given = {"A": 1.0, "t0": 0.0, "a": A, "b": B, "k": K, "k1": K1, "SD": 0.3} | values
    return _run(op, [given[name] for name in op.params], times)


def test_two_of_a_kind_that_leave_one() -> None:
    """dX/dt = -k X^2: a / (1 + a k t), with all derivatives."""
    value, slope = _found("kinetics s(X): X + X -> X = k; start X = a")
    part = 1 / (1 + A * K * TIMES)
    np.testing.assert_allclose(value, A * part, rtol=0, atol=1e-14 * A)
    np.testing.assert_allclose(slope["k"], -A * A * TIMES * part**2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(slope["a"], part**2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(slope["t0"], A * A * K * part**2, rtol=0, atol=1e-10)


def test_fission_and_fusion_in_exact_arithmetic() -> None:
    def change(_, c):
        born, fused = 2 * c[0], mpmath.mpf("0.7") * c[1] ** 2
        return [-born + fused, 2 * born - 2 * fused - mpmath.mpf("0.3") * c[1]]

    times = np.array([0.3, 2.0])
    text = "kinetics s({}): S -> T + T = k2; T + T -> S = k; T = k1; start S = 1"
    found = [_found(text.format(state), times, k2=2.0)[0] for state in "ST"]
    with mpmath.workdps(20):
        solution = mpmath.odefun(change, 0, [mpmath.mpf(1), mpmath.mpf(0)])
        solved = [solution(time) for time in times.tolist()]
    for k, exact in enumerate(solved):
        for own, want in zip(found, exact, strict=True):
            assert abs(own[k] - float(want)) <= 1e-13


#: Schemes with rates of any ratio.
SCHEMES = {
    "fusion": "S2 -> S1 = k1; S1 -> X = k2; X = k3; X + X -> S1 = k4; S1 = k5; start S2 = 1",
    "balance": "Y -> B = k1; B -> Y = k2; B + B -> X = k3; X -> Y = k4; start Y = 1",
    "circle": "X + Y -> Z = k1; Y + Z -> X = k2; Z + X -> Y = k3; start X = 1; start Y = a",
    "quenched": "X = k1; X + Q -> Q = k2; start X = 1; start Q = b",
    "grows": "Y + X -> X + X = k1; X = k2; start Y = 1; start X = 0.001",
}
RATES = {
    "near": {"k1": 2.1, "k2": 0.3, "k3": 0.9, "k4": 1.3, "k5": 0.4},
    "stiff": {"k1": 1e6, "k2": 2e3, "k3": 1e-3, "k4": 5.0, "k5": 30.0},
    "slow": {"k1": 1.0, "k2": 1e-4, "k3": 0.3, "k4": 1e-6, "k5": 0.0},
}


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_reference_agrees(scheme: str, rates: str) -> None:
    """By other points, for times up to 1e12 of the fastest rate; and as an instrument sees them."""
    times = np.concatenate([[-0.5, -0.1], TIMES[::9]])
    for head in ("kinetics s(X): ", "kinetics s(X, gaussIRF): "):
        op = op_of(head + SCHEMES[scheme])
        given = {"A": 1.0, "t0": 0.05, "a": 0.3, "b": B, "SD": 0.3} | RATES[rates]
        params = [given[name] for name in op.params]
        value, _ = _run(op, params, times)
        np.testing.assert_allclose(value, op.own(times, *params), rtol=0, atol=3e-13)


@pytest.mark.parametrize("under", [False, True], ids=["sharp", "under"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_derivatives_are_differences(scheme: str, under: bool) -> None:
    op = op_of(f"kinetics s(X{', gaussIRF' if under else ''}): {SCHEMES[scheme]}")
    times = np.array([-0.4, 0.02, 0.31, 0.9, 2.7, 8.0, 40.0, 300.0])
    given = {"A": 1.3, "t0": 0.05, "a": 0.3, "b": B, "SD": 0.3} | RATES["near"]
    params = [given[name] for name in op.params]
    _, slopes = _run(op, params, times)
    for k, name in enumerate(op.params):
        h = 1e-3 * max(abs(params[k]), 0.05)
        sides = [
            _run(op, [p + n * h * (j == k) for j, p in enumerate(params)], times)[0]
            for n in (-3, -2, -1, 1, 2, 3)
        ]
        weights = np.array([-1, 9, -45, 45, -9, 1]) / (60 * h)
        expected = weights @ np.array(sides)
        size = max(np.max(np.abs(expected)), 1e-3)
        np.testing.assert_allclose(slopes[name], expected, rtol=0, atol=1e-8 * size)


@pytest.mark.parametrize("under", [False, True], ids=["sharp", "under"])
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-30, 1e12])
def test_extreme_rates_are_finite(scale: float, under: bool) -> None:
    for text in SCHEMES.values():
        op = op_of(f"kinetics s(X{', gaussIRF' if under else ''}): {text}")
        given = {"A": 1.0, "t0": 0.1, "a": 0.3, "b": B, "SD": 0.3}
        given |= {name: scale * rate for name, rate in RATES["near"].items()}
        value, slopes = _run(
            op, [given[name] for name in op.params], np.array([-0.6, 0.4, 2.8, 12.0])
        )
        assert np.all(np.isfinite(value))
        assert np.all((value >= -1e-12) & (value <= 1.6))
        assert np.all(np.isfinite(list(slopes.values())))
