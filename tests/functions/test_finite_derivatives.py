"""No partial is NaN where the value is finite, and none is infinite within reason; kernels
acting on a trace, which test_edged_kernels.py has of those with an edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.guarded import inside
from support.kernel_calls import call_function

from pyspec._library import OPS, OpDef, supported_isas
from pyspec.functions import outside, reference

pytestmark = pytest.mark.sweep(4)

#: Numbers that a formula may single out, and the ends of the range.
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0)
ENDS = (1e-300, 1e300, 1e-160, 1e160, 1e-154, 1e154)
#: Mixings and asymmetries: beyond 10 they mean nothing, and their power is beyond any range.
SHAPES = {
    ("GLS", "m"),
    ("GLP", "m"),
    ("DS", "alpha"),
    ("DSBinding", "alpha"),
    ("SkewGauss", "b"),
}


def draw(op: OpDef, rng: np.random.Generator, decades: float, n_rows: int = 300) -> np.ndarray:
    """(n_params, n) inside the domain: any size, usual ones, and special numbers."""
    shape = (len(op.params), n_rows)
    params = 10.0 ** rng.uniform(-decades, decades, shape) * rng.choice([-1.0, 1.0], shape)
    usual, special = rng.random(shape) < 0.5, rng.random(shape) < 0.15
    params[usual] = (rng.normal(size=shape) * 10.0 ** rng.choice([-3, -1, 0, 0, 1, 3], shape))[
        usual
    ]
    ends = [end for end in ENDS if abs(np.log10(end)) <= decades]
    params[special] = rng.choice([*SPECIAL, *ends], shape)[special]
    inside(op, params, lambda param: np.abs(params[param]))
    bad = np.asarray(outside(op, list(params))) | ~np.isfinite(params).all(axis=0)
    return params[:, ~(bad & np.ones(n_rows, bool))]


def abscissae(params: np.ndarray, rng: np.random.Generator, decades: float) -> np.ndarray:
    """Any size, special numbers, and on the parameters: centres, onsets and edges."""
    sizes = 10.0 ** rng.uniform(-decades, decades, 8) * rng.choice([-1.0, 1.0], 8)
    on = params[:, rng.integers(0, params.shape[1], 10)].ravel()
    ends = [0.0, -1.0, 1.0, 0.3, 10.0**-decades, -(10.0**decades), 10.0**decades]
    return np.concatenate([ends, sizes, rng.normal(size=6), on])


#: A response without a closed form: its sums take seconds at such widths.
SUMMED = "sinDivX_gaussIRF"

#: Not what a resolution makes of a function, where the sums take their time at such widths;
#: test_resolution.py goes from 1e-300 to 1e160 in fewer points, and asks for no NaN alone.
SWEEPS = [
    pytest.param(name, isa, marks=[pytest.mark.slow] if name == SUMMED else [])
    for name, op in OPS.items()
    if op.params and op.kind != "RESOLVED"
    for isa in supported_isas()
]


ROUNDS = pytest.mark.parametrize("rounds", [3, pytest.param(12, marks=pytest.mark.slow)])


@ROUNDS
@pytest.mark.parametrize(("name", "isa"), SWEEPS)
def test_no_nan_over_the_range_of_doubles(name: str, isa: str, rounds: int) -> None:
    """Parameters and places from 1e-300 to 1e300: a number wherever the value is one."""
    sweep(OPS[name], isa, 300.0, np.isnan, rounds)


@ROUNDS
@pytest.mark.parametrize(("name", "isa"), SWEEPS)
def test_none_is_infinite(name: str, isa: str, rounds: int) -> None:
    """From 1e-60 to 1e60 no derivative leaves the range, where the value is below 1e200."""
    sweep(OPS[name], isa, 60.0, lambda partial: ~np.isfinite(partial), rounds)


def sweep(op: OpDef, isa: str, decades: float, wrong: Any, rounds: int) -> None:
    rng = np.random.default_rng(op.index)
    judged = 0
    for _ in range(rounds):
        params = draw(op, rng, decades)
        if decades < 100:
            for k, param in enumerate(op.params):
                if (op.name, param) in SHAPES:
                    params[k] = np.clip(params[k], -10.0, 10.0)
        x = abscissae(params, rng, decades)
        shape = (params.shape[1], x.size)
        fed = 10.0 ** rng.uniform(-decades / 2, decades / 2, shape) if op.spectrum_fed else None
        value, partials = call_function(op.name, x, params, fed, partials=True, isa=isa)
        assert partials is not None
        known = np.abs(value) < (1e200 if decades < 100 else np.inf)
        if op.linear:  # a height of 0 hides a shape that is infinite, as its slope by the height is
            known &= ~((params[0] == 0)[:, None] & np.isinf(partials[0]))
        judged += int(known.sum())
        for k, param in enumerate(op.params):
            bad = np.argwhere(wrong(partials[k]) & known)
            assert not bad.size, f"{op.name}.{param} at {params[:, bad[0][0]]}, {x[bad[0][1]]}"
        for row in range(0, params.shape[1], 7):
            one, slopes = call_function(
                op.name,
                x,
                params[:, [row]],
                None if fed is None else fed[[row]],
                partials=True,
                isa=isa,
            )
            assert slopes is not None
            assert not (wrong(slopes[:, 0]) & known[row] & np.isfinite(one[0])).any(), op.name
    assert judged > 10_000


@pytest.mark.parametrize("isa", supported_isas())
def test_where_a_power_law_is_0_it_has_no_derivative(isa: str) -> None:
    """With any exponent: NaN, as of an expression that has no value, gave 0 and a slope of NaN."""
    params = np.array([[2.0], [3.0], [np.nan]])
    value, partials = call_function("PowerBack", [-1.0, 0.0, 2.0], params, partials=True, isa=isa)
    assert partials is not None
    np.testing.assert_array_equal(value[0], [0.0, 0.0, np.nan])
    assert not partials[:, 0, :2].any()


#: Parameters behind the height A, and places where the shape is infinite.
ENDLESS: dict[str, tuple[list[float], list[float]]] = {
    "ExpBack": ([100.0, 3.0], [-900.0, -700.0]),
    "ExpBack_resolution": ([0.0, 30.0, 5.0], [-5.0, 1.0]),
    "PowerBack": ([10.0, -400.0], [1e5, 1e200]),
    "pExpDecay": ([0.01], [-50.0, -8.0]),
    "GLP": ([0.0, 0.1, 1.5], [-50.0, 40.0]),
}


@pytest.mark.parametrize("isa", supported_isas())
@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("n_rows", [1, 11])
@pytest.mark.parametrize("height", [0.0, -0.0])
def test_a_height_of_zero(name: str, isa: str, n_rows: int, height: float) -> None:
    """Value and slopes are 0 also where the shape has left the range of doubles, where 0 times
    infinity was NaN; only the slope by the height is the shape."""
    others, x = ENDLESS[name]
    params = np.repeat(np.array([[height], *([other] for other in others)]), n_rows, axis=1)
    params[0, 1:] = 1.0  # neighbours, which are infinite
    value, partials = call_function(name, x, params, partials=True, isa=isa)
    assert partials is not None
    assert not value[0].any()
    assert not partials[1:, 0].any()
    assert np.isposinf(partials[0]).all()
    assert np.isposinf(value[1:]).all()
    with np.errstate(over="ignore"):
        assert not reference(name)(np.array(x), height, *others).any()
        assert np.isposinf(reference(name)(np.array(x), 1.0, *others)).all()
