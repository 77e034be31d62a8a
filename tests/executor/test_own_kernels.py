"""Convolution kernels by formula: in all executors what the same kernel of pyspec gives, and what a
direct sum gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate
from support.agreement import BACKENDS, agreed, check_slopes

from pyspec._library import OPS
from pyspec.errors import ModelError
from pyspec.executor import make_executor
from pyspec.formula import Definition, define
from pyspec.model import Measurement, Model, load_model, load_time_model

TIME = np.concatenate([np.linspace(-3.0, 3.0, 61), np.geomspace(3.1, 60.0, 30)])

#: Kernels of the op table without an edge as formulas of a width w.
KERNELS = {
    "gaussCONV": "exp(-(d / w) ** 2 / 2)",
    "expSymCONV": "exp(-abs(d) / w)",
}
#: What their reach and tail are, in the same width.
DECLARED = {
    "gaussCONV": ("9 * w", "w * sqrt(pi / 2) * erfc(d / (sqrt(2) * w))"),
    "expSymCONV": ("60 * w", "w * exp(-d / w)"),
}

LAWS = """
  expFun: {A: [3, True], tau: [2.5, True], t0: [0.0, True], y0: [0.2, True]}
  linFun: {m: [0.1, True], t0: [1.0, False]}
"""


def section(name: str, formula: str, parameters: str, more: str = "") -> str:
    """A section ``functions`` with one kernel."""
    return (
        f"functions:\n  {name}:\n    domain: kernel\n    parameters: {parameters}\n"
        f"    formula: {formula}\n{more}"
    )


def convolved(kernel: str, head: str = "") -> Model:
    """Two laws behind a kernel, which `kernel` writes as a line of a model."""
    model = load_time_model(f"{head}m:\n  {kernel}{LAWS}", "m")
    model.set_axes(time=TIME)
    return model


def value_and_slopes(model: Model, backend: str = "compiled") -> tuple[np.ndarray, np.ndarray]:
    executor = make_executor(model, Measurement(np.zeros(TIME.size)), backend)
    slopes = executor.jacobian(model.theta()) if backend == "compiled" else np.zeros(0)
    return np.asarray(executor.run(None)), np.asarray(slopes)


@pytest.mark.parametrize("declares", [False, True])
@pytest.mark.parametrize("width", [0.003, 0.07, 0.9, 30.0])
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_of_pyspec_as_a_formula_is_the_same(
    name: str, width: float, declares: bool
) -> None:
    (param,) = OPS[name].params
    reach, tail = DECLARED[name]
    more = f"    reach: {reach}\n    tail: {tail}\n" if declares else ""
    value, slopes = value_and_slopes(convolved(f"{name}: {{{param}: [{width}, True]}}"))
    own = convolved(
        f"Own: {{w: [{width}, True]}}", section("Own", KERNELS[name], "w > 0 [ps]", more)
    )
    peak = np.abs(value).max()
    for backend in BACKENDS:
        found, by = value_and_slopes(own, backend)
        assert np.abs(found - value).max() <= 1e-12 * peak, backend
        for one, other in zip(by, slopes, strict=False):
            assert np.abs(one - other).max() <= 1e-12 * max(np.abs(other).max(), peak * 1e-3)


def two_sided(d: np.ndarray, a: float, b: float) -> np.ndarray:
    return np.where(d >= 0, np.exp(-np.abs(d) / a), np.exp(-np.abs(d) / b))


TWO = section("Two", "where(d >= 0, exp(-abs(d) / a), exp(-abs(d) / b))", "a > 0, b > 0")


def test_two_widths_against_a_direct_sum() -> None:
    """The sum that defines a convolution, written out, with integrals of SciPy."""
    a, b = 0.4, 2.5
    model = convolved(f"Two: {{a: [{a}, True], b: [{b}, True]}}", TWO)
    plain = convolved("none:", "")
    signal = np.asarray(make_executor(plain, None).run(None))
    weight = (np.append(np.diff(TIME), 0) + np.insert(np.diff(TIME), 0, 0)) / 2
    expected = np.empty(TIME.size)
    for i, t in enumerate(TIME):
        g = two_sided(t - TIME, a, b) * weight
        left = integrate.quad(lambda d: np.exp(-d / a), t - TIME[0], np.inf, epsabs=1e-14)[0]
        right = integrate.quad(lambda d: np.exp(-d / b), TIME[-1] - t, np.inf, epsabs=1e-14)[0]
        total = g @ signal + left * signal[0] + right * signal[-1]
        expected[i] = total / (g.sum() + left + right)
    found = agreed(model, tolerance=1e-12)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


#: Kernels of any shape, with parameters and values: heavy tails, kinks, shifted, of several scales.
OTHERS = {
    "two widths": (TWO, "Two: {a: [0.4, True], b: [2.5, True]}"),
    "sech": (
        section("Sech", "4 / (exp(d / w) + exp(-d / w)) ** 2", "w > 0"),
        "Sech: {w: [0.7, True]}",
    ),
    "Lorentzian": (section("Lor", "1 / (1 + (d / w) ** 2)", "w > 0"), "Lor: {w: [0.7, True]}"),
    "triangle": (section("Tri", "max(1 - abs(d) / w, 0)", "w > 0"), "Tri: {w: [2.73, True]}"),
    "shifted": (
        section("Late", "exp(-((d - D) / w) ** 2 / 2)", "D, w > 0"),
        "Late: {D: [3.3, True], w: [0.4, True]}",
    ),
    "two parts": (
        section(
            "Foot", "(1 - s) * exp(-(d / w) ** 2 / 2) + s * exp(-abs(d) / u)", "s, w > 0, u > 0"
        ),
        "Foot: {s: [0.1, True], w: [0.3, True], u: [8.0, True]}",
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_executors_agree_and_slopes_are_those_of_differences(kind: str) -> None:
    head, use = OTHERS[kind]
    model = convolved(use, head)
    agreed(model, tolerance=1e-12)
    for name in model.opt_param_names:
        if name.endswith("t0"):  # a jump over the samples
            model.set(name, vary=False)
    check_slopes(model, 1e-7, step=3e-5, halvings=0, least=0.1)


@pytest.mark.parametrize("w", [*np.linspace(3.2, 3.9, 6), 3.5524962653628105])
def test_masses_of_an_edge_at_any_place(w: float) -> None:
    """An edge beyond the last point of a rule used to go unseen, in C too."""
    s = 0.9901930104706482
    head = section("Edge", "where(abs(d) <= w, 1 - s * (d / w) ** 2, 0)", "w > 0, s")
    (kernel, *_) = convolved(f"Edge: {{w: [{w}, True], s: [{s}, True]}}", head).components
    own = kernel.op.own
    assert isinstance(own, Definition)
    away = np.array([0.0, 0.4 * w, 0.9 * w, w, 2.0 * w, 60.0])
    part = np.minimum(away, w)
    exact = w - part - s * (w**3 - part**3) / (3 * w**2)
    for side in (0, 1):
        np.testing.assert_allclose(own.mass(side, away, w, s), exact, rtol=0, atol=1e-12 * w)
    agreed(convolved(f"Edge: {{w: [{w}, True], s: [{s}, True]}}", head), tolerance=1e-12)


@pytest.mark.parametrize(
    ("text", "jumps"),
    [
        ("kernel K(w>0): where(abs(d) < w, 1 - abs(d) / w, 0)", ()),  # a kink
        ("kernel K(w>0): where(d < -w, 0, 1) * (d < 2 * w)", (("w", "1 + abs(w)"),)),
        ("kernel K(w>0, tau>0): where(abs(d) < w, exp(-d / tau), 0)", (("w", "1.0"),)),
        ("kernel K(tau>0): where(d * tau > 0, exp(-d / tau), 0)", ()),  # an edge that stays at 0
    ],
)
def test_jumps_of_kernels_are_derived(text: str, jumps: tuple[tuple[str, str], ...]) -> None:
    assert define(text).jumps == jumps


#: Kernels that have no integral at their start values, or declare what is not so.
UNFIT = {
    "no integral": ("exp(d / w)", "", "the integral of K is not finite"),
    "infinite": ("exp(-abs(d) / w) / sqrt(abs(d))", "", "K is inf at d = 0"),
    "negative": ("-exp(-abs(d) / w)", "", "the integral of K is -2; .* make it positive"),
    "wrong tail": (
        "exp(-abs(d) / w)",
        "    tail: 2 * w * exp(-d / w)\n",
        "the tail at d = 0 is 2, but the integral of the formula from there on is 1",
    ),
    "backwards": ("exp(-abs(d) / w)", "    reach: -w\n", "the reach is -1; it is a distance"),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_what_cannot_convolve_is_refused(kind: str) -> None:
    formula, more, words = UNFIT[kind]
    with pytest.raises(ModelError, match=words) as caught:
        convolved("K: {w: [1, True]}", section("K", formula, "w > 0", more))
    assert "K: with w = 1: " in str(caught.value)


def test_a_kernel_belongs_above_laws() -> None:
    with pytest.raises(ModelError, match="Two is a kernel; it belongs in a dynamics model"):
        load_model(TWO + "m: {Two: {a: [1, True], b: [1, True]}}\n", "m")
    with pytest.raises(ModelError, match="reach: belongs to a kernel; write 'domain: kernel'"):
        load_model("functions: {K: {formula: A * x, reach: 3}}\nm: {K: {A: [1, True]}}\n", "m")
