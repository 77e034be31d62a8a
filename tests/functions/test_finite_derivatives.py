"""No partial is NaN where the value is finite, and none is infinite within reason; kernels
acting on a trace, instruments and expressions through whole models."""

from __future__ import annotations

import operator
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from support.edged_kernels import EDGED
from support.edged_kernels import convolved as convolved_lines
from support.exact import LIFT, exact_functions
from support.op_formulas import derivatives

from pyspec._library import OPS, RPN, OpDef, call_function, supported_isas
from pyspec.executor import make_executor
from pyspec.functions import outside
from pyspec.functions.masses import MASSES
from pyspec.model import Measurement, Model, load_model, load_time_model

pytestmark = pytest.mark.sweep(4)

BOUND = 1e-9
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
    for guard in op.guards:
        other = params[int(guard.other)] if guard.relative else guard.other
        sign = 1.0 if guard.comparison.startswith(">") else -1.0
        params[guard.param] = other + sign * np.abs(params[guard.param])
    bad = np.asarray(outside(op, list(params))) | ~np.isfinite(params).all(axis=0)
    return params[:, ~(bad & np.ones(n_rows, bool))]


def abscissae(params: np.ndarray, rng: np.random.Generator, decades: float) -> np.ndarray:
    """Any size, special numbers, and on the parameters: centres, onsets and edges."""
    sizes = 10.0 ** rng.uniform(-decades, decades, 8) * rng.choice([-1.0, 1.0], 8)
    on = params[:, rng.integers(0, params.shape[1], 10)].ravel()
    ends = [0.0, -1.0, 1.0, 0.3, 10.0**-decades, -(10.0**decades), 10.0**decades]
    return np.concatenate([ends, sizes, rng.normal(size=6), on])


#: Not what a resolution makes of a function, where the sums take their time at such widths;
#: test_resolution.py goes from 1e-300 to 1e160 in fewer points, and asks for no NaN alone.
SWEEPS = [
    (name, isa)
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


TIME = np.array([-4.0, -2.5, -1.9, -0.3, 0.2, 0.5, 1.7, 2.2, 3.9, 4.0, 6.5, 11.0])


def on_times(text: str, time: np.ndarray = TIME) -> tuple[Model, np.ndarray]:
    """A model over time and the derivatives of its values, (n_free, n_time)."""
    model = load_time_model(f"m:\n{text}", "m")
    model.set_axes(time=time)
    executor: Any = make_executor(model, Measurement(data=np.zeros(time.size)))
    return model, -executor.jacobian(model.theta())


def convolved(name: str, reference_of: Any, y: list[Any], width: Any) -> list[Any]:
    """The operator as written in pyspec.functions.quadrature.convolve, in exact arithmetic; of a
    kernel with an edge the integral of the lines between the samples."""
    if name in EDGED:
        return convolved_lines(name, width, TIME, y)
    t = LIFT(TIME)
    weight = np.array([(t[min(j + 1, t.size - 1)] - t[max(j - 1, 0)]) / 2 for j in range(t.size)])
    left, right = (
        LIFT(mass(away, width))
        for mass, away in zip(MASSES[name], (t - t[0], t[-1] - t), strict=True)
    )
    out = []
    for i, at in enumerate(t):
        row = reference_of(OPS[name], at - t, [width]) * weight
        row[0] += left[i]
        row[-1] += right[i]
        out.append(mp.fdot(row, y) / mp.fsum(row))
    return out


@pytest.mark.parametrize("width", [1e-3, 0.05, 0.4, 1.7, 30.0, 1e4, 1e130])
@pytest.mark.parametrize("name", [op.name for op in OPS.values() if op.kind == "KERNEL"])
def test_kernels_by_their_width_and_what_they_act_on(name: str, width: float) -> None:
    op = OPS[name]
    text = f"  {name}: {{{op.params[0]}: [{width!r}, true]}}\n"
    text += "  expFun: {A: [1.4, true], tau: [3.0, true], t0: [0.3, false]}\n"
    text += "  erfFun: {A: [-0.6, true], SD: [1.1, true], t0: [0.9, true]}\n"
    model, found = on_times(text)
    assert model.opt_param_names[0].endswith(op.params[0])
    assert not op.jumps
    with exact_functions(60) as reference_of:
        theta = [mp.mpf(float(v)) for v in model.theta()]

        def signal(values: list[Any]) -> list[Any]:
            A, tau, B, SD, t0 = values[1:]
            y = []
            for at in TIME:
                t = mp.mpf(float(at))
                law = A * mp.exp(-(t - mp.mpf(0.3)) / tau) if t >= mp.mpf(0.3) else mp.mpf(0)
                y.append(law + B * mp.erfc((t0 - t) / (SD * mp.sqrt(2))) / 2)
            return y

        def run(values: list[Any]) -> list[Any]:
            return convolved(name, reference_of, signal(values), values[0])

        def change(of: Any, k: int) -> np.ndarray:
            step = theta[k] * mp.mpf(10) ** -25
            ends = [of([*theta[:k], theta[k] + s * step, *theta[k + 1 :]]) for s in (-1, 1)]
            return np.array([float((b - a) / (2 * step)) for a, b in zip(*ends, strict=True)])

        for k, column in enumerate(found):
            exact = change(run, k)
            allowed = max(BOUND * np.abs(exact).max(), 1e-25)
            if name in EDGED:  # a sum of changes: rounded as what it acts on, not as what is left
                allowed = max(allowed, 2.0**-52 * np.abs(change(signal, k)).max())
            worst = np.abs(column - exact).max()
            assert worst <= allowed, f"{model.opt_param_names[k]}: {worst:.3g}"


LAWS = {
    "stepFun": {"A": 1.4, "t0": 0.3, "y0": 0.2},
    "linFun": {"m": -0.7, "t0": 0.3, "y0": 0.2},
    "expFun": {"A": 1.4, "tau": 2.1, "t0": 0.3, "y0": 0.2},
    "sinFun": {"A": 1.4, "f": 0.21, "phi": 0.7, "t0": 0.3, "y0": 0.2},
    "dampedSinFun": {"A": 1.4, "f": 0.21, "phi": 0.7, "tau": 2.1, "t0": 0.3, "y0": 0.2},
    "sinDivX": {"A": 1.4, "f": 0.21, "t0": 0.3, "y0": 0.2},
    "erfFun": {"A": 1.4, "SD": 1.1, "t0": 0.3, "y0": 0.2},
    "sqrtFun": {"A": 1.4, "t0": 0.3, "y0": 0.2},
}


@pytest.mark.parametrize("width", [0.01, 0.9, 20.0])
@pytest.mark.parametrize("law", LAWS)
def test_instruments_through_a_model(law: str, width: float) -> None:
    """By the width of the instrument, the onset and all of the law, as theta has them."""
    given = ", ".join(f"{key}: [{value}, true]" for key, value in LAWS[law].items())
    text = f"  gaussIRF: {{SD: [{width}, true]}}\n  {law}: {{{given}}}\n"
    model, found = on_times(text)
    row = OPS[f"{law}_gaussIRF"]
    names = dict.fromkeys(row.params, 0.0)
    instrument = "IRF" if law == "erfFun" else "SD"
    names |= LAWS[law] | {instrument: width}
    exact = np.array(
        [[float(d[1]) for d in derivatives(row.name, at, list(names.values()))] for at in TIME]
    ).T
    for name, column in zip(model.opt_param_names, found, strict=True):
        argument = name.rsplit("_", 1)[1]
        argument = instrument if "gaussIRF" in name else argument
        expected = exact[row.params.index(argument)]
        worst = np.abs(column - expected).max()
        assert worst <= BOUND * np.abs(expected).max(), f"{name}: {worst:.3g}"


#: Formulas for a row of the table, and points (a, b) at which they are differentiated.
SMOOTH = [(0.7, 1.3), (-0.7, 2.6), (12.0, -3.5), (1e-9, 1e9), (-1e5, 1e-5), (0.7, -0.7)]
POSITIVE = [(0.7, 1.3), (12.0, -3.5), (1e-9, 0.5), (1e9, 2.0), (1e-5, 7.0), (3.0, 0.0), (1.0, 9.0)]
EXPRESSIONS: dict[str, tuple[str, Any, list[tuple[float, float]]]] = {
    "CONST": ("3 + 0 * a", lambda a, b: mp.mpf(3), SMOOTH),
    "PARAM": ("a", lambda a, b: a, SMOOTH),
    "ADD": ("a + b", lambda a, b: a + b, SMOOTH),
    "SUB": ("a - b", lambda a, b: a - b, SMOOTH),
    "MUL": ("a * b", lambda a, b: a * b, [*SMOOTH, (0.0, 2.0), (0.0, 0.0)]),
    "DIV": ("a / b", lambda a, b: a / b, [*SMOOTH, (0.0, 2.0)]),
    "NEG": ("-a", lambda a, b: -a, SMOOTH),
    "POW": ("a ** b", lambda a, b: mp.power(a, b), POSITIVE),
    "EXP": ("exp(a)", lambda a, b: mp.exp(a), [p for p in SMOOTH if p[0] > -700]),
    "LOG": ("log(a)", lambda a, b: mp.log(a), POSITIVE),
    "SQRT": ("sqrt(a)", lambda a, b: mp.sqrt(a), POSITIVE),
    "SIN": ("sin(a)", lambda a, b: mp.sin(a), SMOOTH),
    "COS": ("cos(a)", lambda a, b: mp.cos(a), SMOOTH),
    "TAN": ("tan(a)", lambda a, b: mp.tan(a), SMOOTH),
    "ABS": ("abs(a)", lambda a, b: abs(a), SMOOTH),
    "MIN": ("min(a, b)", lambda a, b: min(a, b), SMOOTH),
    "MAX": ("max(a, b)", lambda a, b: max(a, b), SMOOTH),
    "ATAN": ("arctan(a)", lambda a, b: mp.atan(a), SMOOTH),
    "ERFCX": (
        "erfcx(a)",
        lambda a, b: mp.exp(a * a) * mp.erfc(a),
        [(0.7, 1.0), (-2.6, 1.0), (11.9, 1.0), (12.0, 1.0), (40.0, 1.0), (3000.0, 1.0)],
    ),
    "WHERE": ("where(a > 0, a * b, a - b)", lambda a, b: a * b if a > 0 else a - b, SMOOTH),
}


def faddeeva(x: Any, y: Any) -> Any:
    """w(x + i y) = exp(-z^2) erfc(-i z)."""
    z = mp.mpc(x, y)
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def by_x(x: Any, y: Any) -> Any:
    """Its derivative, w' = 2 i / sqrt(pi) - 2 z w."""
    z = mp.mpc(x, y)
    return 2j / mp.sqrt(mp.pi) - 2 * z * faddeeva(x, y)


UPPER = [(0.7, 1.3), (-0.7, 2.6), (0.3, 0.5)]
EXPRESSIONS |= {
    "W_RE": ("wofz_real(a, b)", lambda a, b: faddeeva(a, b).real, UPPER),
    "W_IM": ("wofz_imag(a, b)", lambda a, b: faddeeva(a, b).imag, UPPER),
    "W_REX": ("wofz_real_x(a, b)", lambda a, b: by_x(a, b).real, UPPER),
    "W_REY": ("wofz_real_y(a, b)", lambda a, b: (1j * by_x(a, b)).real, UPPER),
}
#: A comparison chooses: its own slopes are 0 on both sides of the jump.
COMPARISONS = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}
EXPRESSIONS |= {
    name: (
        f"(a {RPN[name].symbol} b) * 3 * a + b",
        lambda a, b, holds=holds: 3 * a * int(holds(a, b)) + b,
        SMOOTH,
    )
    for name, holds in COMPARISONS.items()
}

#: A function that is not listed: mpmath's of that name, where its operands are positive.
EXPRESSIONS |= {
    row.name: (
        f"{row.symbol}({', '.join('ab'[: row.arity])})",
        lambda a, b, row=row: getattr(mp, row.symbol)(*(a, b)[: row.arity]),
        [(0.7, 1.3), (0.02, 0.4), (0.999, 3.0)],
    )
    for row in RPN.values()
    if row.symbol.isidentifier() and row.name not in EXPRESSIONS
}

#: Where there is no derivative: by a and by b, and why.
EDGES = [
    ("abs(a) + b", (0.0, 1.0), (0.0, 1.0), "kink: the mean of both sides"),
    ("min(a, b)", (2.0, 2.0), (1.0, 0.0), "kink: the first one's"),
    ("max(a, b)", (2.0, 2.0), (1.0, 0.0), "kink: the first one's"),
    ("sqrt(a) + b", (0.0, 1.0), (0.0, 1.0), "infinite: 0"),
    ("a ** b", (0.0, 0.5), (0.0, 0.0), "infinite: 0"),
    ("a ** b", (0.0, 1.0), (1.0, 0.0), "from the right"),
    ("a ** b", (0.0, 2.0), (0.0, 0.0), "from the right"),
    ("a ** b", (0.0, 0.0), (0.0, 0.0), "jump: 0"),
    ("a ** b", (-2.0, 3.0), (12.0, 0.0), "by b only whole numbers have a value: 0"),
    ("1 / (1 + exp(a)) + b", (800.0, 1.0), (0.0, 1.0), "exp(a) is beyond the range, the value not"),
    ("exp(-exp(a)) + b", (800.0, 1.0), (0.0, 1.0), "exp(a) is beyond the range, the value not"),
    ("min(exp(a), b)", (800.0, 1.0), (0.0, 1.0), "what is not chosen is beyond the range"),
    ("exp(a) ** -1 + b", (800.0, 1.0), (0.0, 1.0), "exp(a) is beyond the range, the value not"),
]


def slopes_of(formula: str, a: float, b: float) -> dict[str, float]:
    """Derivatives of a formula of a and b, from the Jacobian of a model that shows it."""
    text = f"parameters:\n  a: [{a!r}, true]\n  b: [{b!r}, true]\nm:\n  Offset:\n"
    text += f"    y0: ['{formula} + 0 * a * b']\n"
    model = load_model(text, "m")
    model.set_axes(energy=np.array([0.0, 1.0]))
    executor: Any = make_executor(model, Measurement(data=np.zeros(2)))
    columns = -executor.jacobian(model.theta())
    assert np.array_equal(columns[:, 0], columns[:, 1])
    return dict(zip(model.opt_param_names, columns[:, 0].tolist(), strict=True))


def test_every_instruction_has_a_formula() -> None:
    """CHAIN is the product along the chain rule, which no formula writes."""
    assert set(EXPRESSIONS) | {"CHAIN"} == set(RPN)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_slopes_of_expressions(name: str) -> None:
    formula, function, points = EXPRESSIONS[name]
    for a, b in points:
        found = slopes_of(formula, a, b)
        with mp.workdps(60):
            A, B = mp.mpf(a), mp.mpf(b)
            for argument, h in (("a", (1, 0)), ("b", (0, 1))):
                step = mp.mpf(10) ** -25 * (abs(A if h[0] else B) or 1)
                ends = [function(A + s * h[0] * step, B + s * h[1] * step) for s in (-1, 1)]
                exact = float((ends[1] - ends[0]) / (2 * step))
                error = abs(found[argument] - exact)
                assert error <= 1e-12 * abs(exact) + 1e-290, f"{formula} by {argument} at {a}, {b}"


@pytest.mark.parametrize(("formula", "at", "expected", "reason"), EDGES)
def test_slopes_without_a_derivative(
    formula: str, at: tuple[float, float], expected: tuple[float, float], reason: str
) -> None:
    found = slopes_of(formula, *at)
    assert (found["a"], found["b"]) == expected, reason
