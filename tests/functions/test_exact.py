"""Kernels against the references in 50 digits, for every row of the table with a closed form.

Parameters are drawn from the row's guards: a new row is covered at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
from support.exact import exact_functions
from support.guarded import drawn
from support.kernel_calls import call_function

from pyspec._library import OPS, OpDef, supported_isas
from pyspec.functions import outside
from pyspec.functions.grid import shirley_shares

pytestmark = pytest.mark.sweep(5)

UNIT = 2.0**-52
STEP = mpmath.mpf(10) ** -20
X = np.concatenate([np.linspace(-5.0, 5.0, 33), [-1e3, -37.5, 24.0, 2e2]])
N_ROWS = 9
#: What the references gave: every instruction set is compared with the same values.
KNOWN: dict[tuple[Any, ...], Any] = {}


@pytest.fixture
def exact() -> Iterator[Callable[..., Any]]:
    """``exact(op, x, params, spectrum)``: the reference in 50 digits, an object array."""
    with exact_functions() as reference_of:

        def run(op: OpDef, x: Any, params: Any, spectrum: Any) -> Any:
            given = [mpmath.mpf(value) for value in params]
            key = (op.name, x.tobytes(), *given, None if spectrum is None else spectrum.tobytes())
            if key not in KNOWN:
                KNOWN[key] = reference_of(op, x, given, spectrum)
            return KNOWN[key]

        yield run


def draw(op: OpDef, rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """(n_params, n_rows) inside the domain; what is bounded by a number spans four decades."""
    params = drawn(op, rng, n_rows, lambda _: 10.0 ** rng.uniform(-2.0, 2.0, n_rows))
    assert not np.any(outside(op, list(params)))
    return params


def shares_of(op: OpDef, x: np.ndarray = X) -> np.ndarray | None:
    """What the points of x count in a Shirley: the axis has uneven steps."""
    return shirley_shares(x) if op.kind == "SPECTRUM_FED" else None


def doubles(values: Any) -> np.ndarray:
    return np.array([float(value) for value in values])


#: Not what an instrument makes of others: some references integrate numerically.
CASES = [
    (name, isa)
    for name, op in OPS.items()
    if op.kind not in ("IRF", "RESPONSE", "RESOLVED")
    for isa in supported_isas()
]


@pytest.mark.parametrize(("name", "isa"), CASES)
def test_value(name: str, isa: str, exact: Callable[..., Any]) -> None:
    """To the row's tolerance in units of 2^-52 of the largest value, and to one rounding of
    each parameter: exp(-x) and sin(x) cannot know x better than it is given."""
    op = OPS[name]
    rng = np.random.default_rng(23)
    params = draw(op, rng, N_ROWS)
    spectrum = rng.uniform(0.0, 1.0, (N_ROWS, X.size)) if op.spectrum_fed else None
    given: dict[str, Any] = {"isa": isa, "shares": shares_of(op)}
    rows, partials = call_function(name, X, params, spectrum, partials=True, **given)
    assert partials is not None
    for k in range(N_ROWS):
        fed = None if spectrum is None else spectrum[[k]]
        one, _ = call_function(name, X, params[:, [k]], fed, **given)
        expected = doubles(exact(op, X, params[:, k], None if fed is None else fed[0]))
        finite = np.isfinite(expected)
        assert finite.mean() > 0.9
        peak = np.abs(expected[finite]).max() or 1.0
        inputs = np.abs(partials[:, k] * params[:, [k]]).sum(axis=0)[finite]
        allowed = op.tolerance * peak + inputs
        for value, how in ((rows[k], "rows in lanes"), (one[0], "one row")):
            units = np.abs(value[finite] - expected[finite]) / UNIT
            excess = ((units - inputs) / peak).max()
            assert np.all(units <= allowed), f"{name}, {how}: {excess:.3g} at {params[:, k]}"


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "isa"), CASES)
def test_partials(name: str, isa: str, every: int, exact: Callable[..., Any]) -> None:
    """To 1e-9 of the column's scale. Where both sides differ (a kink, a jump), finite."""
    op = OPS[name]
    rng = np.random.default_rng(29)
    params, x = draw(op, rng, N_ROWS), X[:: 1 + every // 2]
    spectrum = rng.uniform(0.0, 1.0, (N_ROWS, x.size)) if op.spectrum_fed else None
    given: dict[str, Any] = {"isa": isa, "shares": shares_of(op, x)}
    values, rows = call_function(name, x, params, spectrum, partials=True, **given)
    assert rows is not None
    for k in range(0, N_ROWS, every):
        fed = None if spectrum is None else spectrum[[k]]
        _, one = call_function(name, x, params[:, [k]], fed, partials=True, **given)
        assert one is not None
        assert not np.isnan(rows[:, k, np.isfinite(values[k])]).any()
        for j, param in enumerate(op.params):
            sides = []
            for sign in (-1, 0, 1):
                moved = [mpmath.mpf(value) for value in params[:, k]]
                moved[j] += sign * STEP
                sides.append(exact(op, x, moved, None if fed is None else fed[0]))
            left, right = (sides[1] - sides[0]) / STEP, (sides[2] - sides[1]) / STEP
            expected, bend = doubles((left + right) / 2), doubles(right - left)
            finite = np.isfinite(expected) & np.isfinite(values[k])
            scale = max(np.abs(expected[finite]).max(), 1e-300)
            smooth = finite & (np.abs(bend) <= 1e-12 * scale)
            assert smooth.mean() > 0.9, f"{name}.{param}"
            for column, how in ((rows[j, k], "rows in lanes"), (one[j, 0], "one row")):
                worst = np.abs(column[smooth] - expected[smooth]).max() / scale
                assert worst <= 1e-9, f"{name}.{param}, {how}: {worst:.3g} at {params[:, k]}"
