"""Laws under a measured instrument: reference and kernel against integrals with 40 digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from support.kernel_calls import KernelCall

from pyspec._library import OPS, OpDef
from pyspec.formula import instrument_text, op_of
from pyspec.functions import reference
from pyspec.functions.response_rows import response

pytestmark = pytest.mark.sweep(11)

LAWS = ("stepFun", "linFun", "expFun", "sinFun", "dampedSinFun")

#: Responses (time, response): smooth and uneven, with jumps at both ends, one piece, with a part
#: below 0, and one that is over before the zero of its own axis.
RESPONSES = {
    "uneven": ([-0.31, -0.2, -0.05, 0.0, 0.02, 0.2, 0.7], [0, 0.2, 0.9, 1.0, 0.7, 0.3, 0]),
    "jumps": ([-0.1, 0.05, 0.4], [2, 1, 0.5]),
    "box": ([-0.25, 0.25], [1, 1]),
    "negative": ([-0.4, -0.1, 0.1, 0.3, 0.5], [0, 1, 2, -0.5, 0]),
    "early": ([-3, -2.5, -1], [0, 1, 0]),
}

#: Parameters without y0: a law as slow as the response, far slower and far faster.
PARAMS: dict[str, list[tuple[float, ...]]] = {
    "stepFun": [(1.7, 0.13)],
    "linFun": [(-2.3, 0.13)],
    "expFun": [(1.4, tau, 0.13) for tau in (0.3, 1e-3, 1e-7, 50.0, 1e5, 1e9)],
    "sinFun": [(1.2, f, 0.7, 0.13) for f in (0.0, 1.3, -40.0, 1e-6, 3000.0)],
    "dampedSinFun": [
        (1.2, f, 0.7, tau, 0.13)
        for f in (0.0, 1.3, -40.0, 1e-6)
        for tau in (0.3, 1e-3, 1e-7, 50.0, 1e5)
    ],
}
Y0 = 0.35
CASES = [(law, params) for law in LAWS for params in PARAMS[law]]
IDS = [f"{law}{params}" for law, params in CASES]

TIME = np.unique(
    np.concatenate([np.linspace(-3.2, 3, 36), np.array([-0.18, 0.13, 0.8300001, 7.0, 40.0])])
)
#: For slopes, which take two exact values of each parameter.
FEWER = TIME[::2]


def _exact(law: str, params: tuple[float, ...], name: str) -> np.ndarray:
    """At TIME, in closed form per piece with 60 digits."""
    with mpmath.workdps(60):
        return np.array([float(one) for one in _values(law, params, name, TIME)])


def _values(law: str, params: Sequence, name: str, times: np.ndarray) -> list:
    time, given = (list(map(mpmath.mpf, row)) for row in RESPONSES[name])
    pieces = list(zip(time, time[1:], given, given[1:], strict=False))
    area = sum((b - a) * (p + q) / 2 for a, b, p, q in pieces)
    found = []
    for t in times:
        u, total = mpmath.mpf(float(t)) - mpmath.mpf(params[-1]), mpmath.mpf(0)
        for a, b, p, q in pieces:
            if u > a:
                total += _piece(law, params, u, a, min(u, b), p, (q - p) / (b - a))
        found.append(total / area)
    return found


def _piece(law: str, params: Sequence, u: Any, a: Any, end: Any, p: Any, slope: Any) -> Any:
    """int_a^end (p + slope (s - a)) (f(u - s) + y0) ds."""
    d = end - a
    step = d * p + slope * d**2 / 2
    height, y0 = mpmath.mpf(params[0]), mpmath.mpf(Y0)
    if law == "stepFun":
        return (height + y0) * step
    if law == "linFun":  # u - s = (u - a) - v
        ramp = (u - a) * step - p * d**2 / 2 - slope * d**3 / 3
        return height * ramp + y0 * step
    if law == "sinFun" and params[1] == 0:
        return (height * mpmath.sin(mpmath.mpf(params[2])) + y0) * step
    k = mpmath.mpc(0)
    if law == "expFun":
        k = 1 / mpmath.mpf(params[1])
    if "sin" in law.lower():
        k -= 2j * mpmath.pi * mpmath.mpf(params[1])
    if law == "dampedSinFun":
        k += 1 / mpmath.mpf(params[3])

    def primitive(s: Any) -> Any:
        return mpmath.exp(-k * (u - s)) * ((p + slope * (s - a)) / k - slope / k**2)

    made = primitive(end) - primitive(a)
    if "sin" in law.lower():
        made = (mpmath.exp(1j * mpmath.mpf(params[2])) * made).imag
    return height * made + y0 * step


def _kernel(op: OpDef, x: np.ndarray, params: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    params = np.ascontiguousarray(params, np.float64)
    value = np.empty((params.shape[1], x.size))
    partials = np.empty((len(op.params), *value.shape))
    KernelCall(op, np.ascontiguousarray(x), params, value, partials).run()
    return value, partials


def _op(law: str, name: str) -> OpDef:
    irf = op_of(instrument_text(*RESPONSES[name], "test"))
    row = response(OPS[law], irf)
    assert row is not None
    return row


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize(("law", "params"), CASES, ids=IDS)
def test_values_are_the_integral(law: str, params: tuple[float, ...], name: str) -> None:
    exact = _exact(law, params, name)
    op = _op(law, name)
    size = np.max(np.abs(exact))
    assert size > 0
    value, _ = _kernel(op, TIME, np.array([*params, Y0])[:, None])
    np.testing.assert_allclose(value[0], exact, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(op.own(TIME, *params, Y0), exact, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize(("law", "params"), CASES, ids=IDS)
def test_slopes_are_those_of_the_integral(law: str, params: tuple[float, ...], name: str) -> None:
    """By differences with 60 digits; times near a jump of the response are left out for the onset
    alone, whose derivative jumps there."""
    op = _op(law, name)
    given = (*params, Y0)
    _, slopes = _kernel(op, FEWER, np.array(given)[:, None])
    edges = np.array(RESPONSES[name][0])
    far = np.min(np.abs((FEWER - params[-1])[:, None] - edges), axis=1) > 1e-9
    with mpmath.workdps(80):
        for k in range(len(params)):
            step = mpmath.mpf(10) ** -25 * max(abs(params[k]), 1e-9)
            rise = _difference(law, params, name, k, step)
            size = np.max(np.abs(rise))
            kept = far if k == len(params) - 1 else np.ones(FEWER.size, bool)
            np.testing.assert_allclose(slopes[k, 0, kept], rise[kept], rtol=0, atol=1e-9 * size)
    unit, _ = _kernel(op, FEWER, np.array([0.0, *params[1:], 1.0])[:, None])
    np.testing.assert_allclose(slopes[-1, 0], unit[0], rtol=0, atol=1e-14)


def _difference(law: str, params: Sequence[float], name: str, k: int, step: Any) -> np.ndarray:
    found = []
    for sign in (1, -1):
        moved = list(map(mpmath.mpf, params))
        moved[k] += sign * step
        found.append(_values(law, moved, name, FEWER))
    return np.array([float((a - b) / (2 * step)) for a, b in zip(*found, strict=True)])


def test_a_gaussian_that_is_sampled_finely_is_gaussIRF() -> None:
    """The error of straight lines falls with the square of the step."""
    SD, params = 0.2, (1.4, 0.9, 0.13)
    exact = reference("expFun_gaussIRF")(TIME, *params, SD, Y0)
    errors = []
    for n in (101, 201, 401):
        s = np.linspace(-8 * SD, 8 * SD, n)
        irf = op_of(instrument_text(s.tolist(), np.exp(-((s / SD) ** 2) / 2).tolist(), "test"))
        row = response(OPS["expFun"], irf)
        assert row is not None
        errors.append(np.max(np.abs(row.own(TIME, *params, Y0) - exact)))
    assert errors[-1] < 1e-4
    np.testing.assert_allclose(np.array(errors[:-1]) / errors[1:], 4.0, rtol=0.05)


def test_rows_with_other_rates_and_onsets_are_those_alone() -> None:
    """To the last bit: rows that share a rate share what is prepared."""
    for law, case in (("expFun", 0), ("sinFun", 1), ("dampedSinFun", 5)):
        params = PARAMS[law][case]
        op = _op(law, "negative")
        given = np.repeat(np.array([*params, Y0])[:, None], 6, axis=1)
        given[0] *= np.linspace(1, 2, 6)
        given[1] *= [1, 1, 1.5, 1.5, 1, 0.3]
        given[-2] += [0, 0.1, 0.1, 0.2, 0, 0]
        if law == "dampedSinFun":
            given[3] *= [1, 1.3, 1, 1, 1, 1.3]
        value, slopes = _kernel(op, TIME, given)
        for row in range(6):
            alone, own = _kernel(op, TIME, given[:, [row]])
            np.testing.assert_array_equal(value[row], alone[0])
            np.testing.assert_array_equal(slopes[:, row], own[:, 0])


def test_an_instrument_is_straight_lines_between_its_samples_of_area_1() -> None:
    own = op_of(instrument_text([-1.0, 0.0, 2.0], [0.0, 3.0, 0.0], "test")).own
    found = own(np.array([-2.0, -1.0, -0.5, 0.0, 1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found, np.array([0, 0, 1, 2, 1, 0, 0]) / 3, rtol=1e-15)
