"""States of kinetic schemes in C: against exact arithmetic, scipy.linalg.expm and the reference."""

import mpmath
import numpy as np
import pytest
from support.kernel_calls import KernelCall

from pyspec._library import supported_isas
from pyspec.errors import ModelError
from pyspec.formula import op_of

pytestmark = pytest.mark.sweep(7)

#: The law of one state, what moves it, and which of the parameters are populations.
SCHEMES = {
    "sequential": "kinetics s(C): A -> B = k1; B -> C = k2; C = k3; start A = 1",
    "middle": "kinetics s(B): A -> B = k1; B -> C = k2; C = k3; start A = 1",
    "parallel": "kinetics s(B): A = k1; B = k2; start A = 1; start B = 0.5",
    "branched": "kinetics s(D): A -> B = k1; A -> C = k2; B -> D = k3; C -> D = k4; start A = 1",
    "reversible": "kinetics s(C): A -> B = k1; B -> A = k2; B -> C = k3; C = k4; start A = 1",
    "equilibrium": "kinetics s(B): A -> B = k1; B -> A = k2; start A = f",
    "chain": (
        "kinetics s(C): A -> B = k1; B -> A = k2; B -> C = k3; C -> B = k4; C = k5; start A = 1"
    ),
    "shared": "kinetics s(C): A -> B = k1; B -> C = k1; C = k2; start A = f; start B = 0.25",
    "driven": "kinetics s(A): A -> B = k1; B -> C = k2; C -> A = k3; start A = 1",
    "lossy": "kinetics s(B): A -> B = k1; B -> C = k2; C -> A = k3; C = k4; start A = f",
    "both ways": (
        "kinetics s(C): A -> B = k1; B -> A = k2; B -> C = k3; C -> B = k4; C -> A = k5; "
        "A -> C = k6; start A = 1; start B = 0.25"
    ),
    "behind": (
        "kinetics s(E): Z -> A = k1; A -> B = k2; B -> C = k3; C -> D = k4; D -> A = k5; "
        "D -> E = k6; start Z = f; start B = 0.25"
    ),
}
#: Those whose populations may oscillate.
CIRCLES = ("driven", "lossy", "both ways", "behind")
#: Rates in reciprocal units of time, as many as are needed.
RATES = {
    "equal": np.full(6, 0.7),
    "nearly": 0.7 * (1 + 1e-9 * np.arange(6)),
    "close": 0.7 * (1 + 1e-4 * np.arange(6)),
    "apart": np.array([2.1, 0.3, 0.9, 0.05, 0.4, 1.3]),
    "far": np.array([900.0, 3.0, 0.02, 30.0, 0.7, 8.0]),
}
TIMES = np.array([-0.6, 0.4, 2.8, 3.4, 12.0])
ONSET, WIDTH, HEIGHT = 0.1, 0.3, 1.7


def _case(scheme: str, rates: str, under: bool):
    text = SCHEMES[scheme]
    op = op_of(text.replace("):", ", gaussIRF):", 1) if under else text)
    values = dict(zip([p for p in op.params if p.startswith("k")], RATES[rates], strict=False))
    values |= {"A": HEIGHT, "t0": ONSET, "SD": WIDTH, "f": 0.8}
    return op, np.array([values[name] for name in op.params])


def _run(op, params, slopes=True, time=TIMES):
    value = np.empty((1, time.size))
    partials = [np.empty((1, time.size)) if slopes else None for _ in op.params]
    KernelCall(op, time, np.ascontiguousarray(params[:, None]), value, partials).run()
    return value[0], np.array([one[0] for one in partials]) if slopes else None


def _exact(op, params, times, digits=16):
    """The height times the population at each time, in exact arithmetic: by the matrix exponential,
    or by the responses of distinct exponentials (eigenvalues are set apart at so many digits)."""
    values = dict(zip(op.params, params, strict=True))
    scheme, state = op.own.scheme, op.own.state
    order = {one: k for k, one in enumerate(scheme.states)}
    K, start = mpmath.zeros(len(order)), mpmath.zeros(len(order), 1)
    for begin, end, rate in scheme.steps:
        own = values.get(rate, mpmath.mpf(0))
        K[order[begin], order[begin]] -= own
        if end:
            K[order[end], order[begin]] += own
    for one, value in scheme.start:
        start[order[one]] = values[value] if value in values else mpmath.mpf(value)
    row, height = order[state], values["A"]
    since = [mpmath.mpf(time) - values["t0"] for time in times]
    if not op.own.under:
        return [
            height * (mpmath.expm(K * u) * start)[row] if u >= 0 else mpmath.mpf(0) for u in since
        ]
    width = values["SD"]
    apart = mpmath.diag([mpmath.mpf(10) ** -digits * (k + 1) * (k + 2) for k in order.values()])
    roots, vectors = mpmath.eig(K + apart)
    weights = mpmath.lu_solve(vectors, start)

    def seen(x, u):
        late = mpmath.erfc(-(u + x * width**2) / (width * mpmath.sqrt(2)))
        return mpmath.exp(x * u + (x * width) ** 2 / 2) * late / 2

    return [
        height
        * mpmath.re(sum(vectors[row, j] * seen(x, u) * weights[j] for j, x in enumerate(roots)))
        for u in since
    ]


def _exact_slopes(op, params, index, times, step="1e-12", digits=16):
    """By differences of exact values, over a step whose square is below rounding."""
    high, low = list(params), list(params)
    high[index], low[index] = high[index] + mpmath.mpf(step), low[index] - mpmath.mpf(step)
    sides = zip(_exact(op, high, times, digits), _exact(op, low, times, digits), strict=True)
    return [float((above - below) / (2 * mpmath.mpf(step))) for above, below in sides]


@pytest.mark.parametrize("under", [False, True], ids=["sharp", "under"])
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_values_equal_exact_arithmetic(scheme: str, rates: str, under: bool) -> None:
    op, params = _case(scheme, rates, under)
    value, _ = _run(op, params, slopes=False)
    with mpmath.workdps(70 if under else 40):
        exact = np.array(_exact(op, [mpmath.mpf(p) for p in params], TIMES.tolist()), float)
    size = np.max(np.abs(exact))
    np.testing.assert_allclose(value, exact, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(op.own(TIMES, *params), exact, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("under", [False, True], ids=["sharp", "under"])
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("scheme", ["sequential", "branched", "reversible", "shared", *CIRCLES])
def test_derivatives_equal_exact_arithmetic(scheme: str, rates: str, under: bool) -> None:
    """In units of the value over the parameter, the size that a derivative by it has."""
    op, params = _case(scheme, rates, under)
    value, slopes = _run(op, params)
    size = np.max(np.abs(value))
    with mpmath.workdps(70 if under else 40):
        given = [mpmath.mpf(p) for p in params]
        for k, slope in enumerate(slopes):
            expected = _exact_slopes(op, given, k, TIMES[1::2].tolist())
            for exact, found in zip(expected, slope[1::2].tolist(), strict=True):
                assert abs(found - exact) <= 1e-9 * max(abs(exact), size / abs(params[k]))


#: Three and more states that exchange, several ways to one state, several starts, two pairs.
MIXED = {name: SCHEMES[name] for name in ("chain", *CIRCLES)} | {
    "long": (
        "kinetics s(D): A -> B = k1; B -> A = k2; B -> C = k3; C -> B = k4; C -> D = k5; "
        "D -> C = k6; start A = 1"
    ),
    "star": (
        "kinetics s(C): A -> B = k1; B -> A = k2; A -> C = k3; C -> A = k4; A -> D = k5; "
        "D -> A = k6; start B = 1"
    ),
    "merged": (
        "kinetics s(E): A -> B = k1; A -> C = k2; B -> D = k3; C -> D = k4; B -> E = k5; "
        "D -> E = k6; C -> E = k7; E = k8; start A = 1"
    ),
    "starts": (
        "kinetics s(D): A -> B = k4; B -> C = k2; C -> D = k3; D -> E = k1; E = k5; start A = 1; "
        "start B = 0.5; start C = 0.25"
    ),
    "pairs": (
        "kinetics s(F): A -> B = k1; B -> A = k2; B -> C = k3; C -> D = k4; D -> C = k5; "
        "D -> E = k6; E -> F = k7; F -> E = k8; start A = 1"
    ),
}
#: Populations that go one way from one start, past a pair of states that exchange at most.
ONE_WAY = {
    "sequence": (
        "kinetics s(E): A -> B = k1; B -> C = k2; C -> D = k3; D -> E = k4; E = k5; start A = 1"
    ),
    "behind a pair": (
        "kinetics s(D): A -> B = k1; B -> A = k2; B -> C = k3; C -> D = k4; D = k5; start A = 1"
    ),
}


@pytest.mark.parametrize("under", [False, True], ids=["sharp", "under"])
@pytest.mark.parametrize("apart", [pytest.param(1e4, marks=pytest.mark.slow), 1e8])
@pytest.mark.parametrize("scheme", [*MIXED, *ONE_WAY])
def test_mixed_schemes_keep_slow_rates_beside_fast_ones(
    scheme: str, apart: float, under: bool
) -> None:
    """Interpolation at the eigenvalues had no digit of derivatives at rates 1e4 apart."""
    text, allowed = (MIXED | ONE_WAY)[scheme], 1e-12 if scheme in MIXED else 1e-7
    op = op_of(text.replace("):", ", gaussIRF):", 1) if under else text)
    rates = apart ** -np.array([0.0, 0.3, 0.7, 1.0, 0.2, 0.85, 0.95, 0.55])
    values = {f"k{k + 1}": rate for k, rate in enumerate(rates.tolist())}
    values |= {"A": HEIGHT, "t0": 0.0, "SD": 0.3, "f": 0.8}
    params = np.array([values[name] for name in op.params])
    times = np.array([0.3, 4.0, apart**0.5, apart, 10 * apart])
    value, slopes = _run(op, params, time=times)
    np.testing.assert_allclose(op.own(times, *params), value, rtol=0, atol=1e-12)
    with mpmath.workdps(110):
        given = [mpmath.mpf(p) for p in params]
        exact = np.array(_exact(op, given, times.tolist(), 50), float)
        np.testing.assert_allclose(value, exact, rtol=0, atol=1e-13 * HEIGHT)
        for k in (k for k, name in enumerate(op.params) if name.startswith("k")):
            step = mpmath.mpf("1e-15") * given[k]
            late = _exact_slopes(op, given, k, times.tolist()[2:], step, 50)
            for slope, found in zip(late, slopes[k, 2:].tolist(), strict=True):
                assert abs(found - slope) <= allowed * max(abs(slope), HEIGHT / params[k])


@pytest.mark.parametrize("under", [False, True], ids=["sharp", "under"])
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-30, 1e12, 1e100])
def test_extreme_rates_are_finite(scale: float, under: bool) -> None:
    """Rates that are 0, or out of all proportion to the times and the instrument."""
    for scheme in SCHEMES:
        op, params = _case(scheme, "apart", under)
        for k, name in enumerate(op.params):
            params[k] *= scale if name.startswith("k") else 1.0
        value, slopes = _run(op, params)
        assert np.all(np.isfinite(value))
        assert np.all(np.abs(value) <= HEIGHT * 1.5 * (1 + 1e-9))
        assert np.all(np.isfinite(slopes))


@pytest.mark.parametrize("under", [False, True], ids=["sharp", "under"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_onset_that_is_not_a_number_gives_none(scheme: str, under: bool) -> None:
    """Branched schemes and circles used to give the populations of the longest time, or 0."""
    op, params = _case(scheme, "apart", under)
    params[op.params.index("t0")] = np.nan
    value, slopes = _run(op, params)
    assert np.all(np.isnan(value))
    assert np.all(np.isnan(slopes))


@pytest.mark.parametrize("isa", supported_isas())
def test_the_time_at_which_an_instrument_has_passed(isa: str) -> None:
    """9.5 widths after the onset; rounded once, it lay before: NaN where rates are fast."""
    op = op_of(SCHEMES["branched"].replace("):", ", gaussIRF):", 1))
    given = {"A": 1.0, "t0": 0.05, "SD": 0.1, "k1": 1e17, "k2": 1.0, "k3": 1.0, "k4": 1.0}
    params = np.array([[given[name]] for name in op.params])
    time = 0.05 + 9.5 * 0.1 * (1 + np.arange(-4, 5) * 2.0**-52)
    value = np.empty((1, time.size))
    KernelCall(op, time, params, value, None, isa=isa).run()
    exact = 1 - np.exp(-0.95 + 0.1**2 / 2)  # B is there at once, and becomes D
    np.testing.assert_allclose(value[0], exact, rtol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_bits_of_the_value_do_not_depend_on_slopes_or_neighbours(scheme: str) -> None:
    for under in (False, True):
        op, params = _case(scheme, "apart", under)
        alone, _ = _run(op, params, slopes=False)
        np.testing.assert_array_equal(_run(op, params)[0], alone)
        rows = np.repeat(params[:, None], 3, axis=1)
        rows[op.params.index("t0")] += [0.0, 0.2, 0.0]
        rows[1] *= [1.0, 1.0, 3.0]
        value = np.empty((3, TIMES.size))
        KernelCall(op, TIMES, rows, value, None).run()
        np.testing.assert_array_equal(value[0], alone)
        third = rows[:, 2]
        np.testing.assert_array_equal(value[2], _run(op, third, slopes=False)[0])


@pytest.mark.parametrize("under", [False, True], ids=["sharp", "under"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_long_axes_in_any_order(scheme: str, under: bool) -> None:
    """What is kept from one time to the next changes no bit, and slopes those of one time alone."""
    op, params = _case(scheme, "apart", under)
    up = np.concatenate([[-0.2, 0.1, 0.1], np.geomspace(0.2, 3e5, 40), [np.nan, 1e17, 1e300]])
    time = np.random.default_rng(5).permutation(np.concatenate([up, up[::2]]))
    found = _run(op, params, time=time)
    for k, at in enumerate(time):
        value, slopes = _run(op, params, time=np.array([at]))
        np.testing.assert_array_equal(found[0][k], value[0])
        np.testing.assert_array_equal(found[1][:, k], slopes[:, 0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kinetics s(B): A -> B = k1; C -> B = k2; start A = 1", "C is never populated"),
        ("kinetics s(A): A -> A = k1; start A = 1", "leads nowhere"),
        ("kinetics s(A): A = k1; A = k2; start A = 1", "given twice"),
        ("kinetics s(A): A = A2; start A = 1; start B = 1", "which no step does"),
        ("kinetics s(A): A = t0; start A = 1", "is the onset"),
        ("kinetics s(A): A = B; B = k; start A = 1; start B = 1", "names a state and a parameter"),
        ("kinetics s(X): A = k; start A = 1", "there is no state 'X'"),
        ("kinetics s(A) A = k", "cannot read the kinetic scheme"),
    ],
)
def test_schemes_that_cannot_be_run_are_refused(text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        op_of(text)
