"""What random models have found, as small models: the executors mean the same there now."""

from __future__ import annotations

import numpy as np
import pytest
from support.random_models.values import conditioned

from pyspec._library import call_function
from pyspec.errors import DataError
from pyspec.executor import CompiledExecutor, TreeExecutor, make_executor, make_plan
from pyspec.functions import reference
from pyspec.model import Measurement, Model, load_dynamics, load_model, load_profile

ENERGY = np.linspace(80.0, 90.0, 9)
TIME = np.linspace(-4.7, 25.1, 12)
PEAK = "m:\n  Gauss:\n    A: [5.0, True]\n    x0: [85.0, True]\n    SD: [1.5, True]\n"
STEP = "d:\n  stepFun:\n    A: [0.4, True]\n    t0: [1.0, True]\n"


def moved(
    *parts: str,
    text: str = PEAK,
    target: str = "Gauss_01_SD",
    frequency: float = -1.0,
    time: np.ndarray = TIME,
) -> Model:
    """The peak, with dynamics of these parts."""
    model = load_model(text, "m")
    names = [f"d{k}" for k in range(len(parts))]
    laws = "".join(f"{name}:\n{part}" for name, part in zip(names, parts, strict=True))
    model.add_dynamics(target, load_dynamics(laws, names, target, frequency))
    model.set_axes(energy=ENERGY, time=time)
    return model


def agreed(model: Model, **values: float) -> np.ndarray:
    """The spectra, after tree, interpreted and compiled agreed on them."""
    theta = dict(zip(model.opt_param_names, model.theta().tolist(), strict=True))
    assert set(values) <= set(theta)
    return make_executor(model, None, "compare").run({**theta, **values})


def law(name: str, **values: float) -> str:
    lines = [f"    {key}: [{value!r}, True]\n" for key, value in values.items()]
    return f"  {name}:\n" + "".join(lines) if lines else f"  {name}:\n"


def test_dynamics_of_a_quantity() -> None:
    text = "parameters:\n  width: [1.5, True]\n" + PEAK.replace("[1.5, True]", "['width']")
    by_quantity = agreed(moved(law("stepFun", A=0.4, t0=1.0), text=text, target="width"))
    np.testing.assert_array_equal(by_quantity, agreed(moved(law("stepFun", A=0.4, t0=1.0))))


@pytest.mark.parametrize("kernel", [law("gaussCONV", SD=1.0), law("gaussIRF", SD=1.0)])
def test_a_kernel_with_nothing_after_it_is_zero(kernel: str) -> None:
    value = agreed(moved(law("stepFun", A=0.4, t0=1.0) + kernel))
    np.testing.assert_array_equal(value, agreed(moved(law("stepFun", A=0.4, t0=1.0))))
    if "CONV" in kernel:
        assert np.isnan(agreed(moved(kernel), Gauss_01_SD_gaussCONV_SD=-1.0)).all()


@pytest.mark.parametrize("kernel", ["expSymCONV", "expDecayCONV", "expRiseCONV"])
def test_a_kernel_on_a_single_time_changes_nothing(kernel: str) -> None:
    one = np.array([3.3])
    value = agreed(moved(law(kernel, tau=2.0) + law("stepFun", A=0.4, t0=1.0), time=one))
    np.testing.assert_allclose(
        value, agreed(moved(law("stepFun", A=0.4, t0=1.0), time=one)), rtol=1e-14
    )


def test_a_law_outside_of_its_domain_under_an_instrument_is_nan() -> None:
    model = moved(law("gaussIRF", SD=1.0) + law("expFun", A=0.3, tau=4.0, t0=1.0))
    assert np.isnan(agreed(model, Gauss_01_SD_expFun_01_tau=-4.0)).all()
    assert np.isfinite(agreed(model)).all()


def test_a_law_of_a_sub_cycle_outside_of_its_domain_spoils_its_own_rows() -> None:
    model = moved(law("none"), law("expFun", A=0.3, tau=4.0, t0=0.1), law("none"), frequency=0.05)
    bad = np.isnan(agreed(model, Gauss_01_SD_expFun_01_tau=-4.0)).all(axis=1)
    np.testing.assert_array_equal(bad, (TIME >= 0) & (TIME % 20.0 < 10.0))
    assert bad.any()


def test_slopes_outside_of_a_spoiled_sub_cycle_are_finite() -> None:
    spoiled = law("expFun", A=0.3, t0=0.1) + '    tau: ["log(Gauss_01_A)"]\n'
    model = moved(law("none"), spoiled, law("none"), frequency=0.05)
    values = agreed(model, Gauss_01_A=-5.0)
    assert np.isnan(values).any()
    measurement = Measurement(data=np.zeros(values.shape))
    slopes = CompiledExecutor(make_plan(model), measurement).jacobian({"Gauss_01_A": -5.0})
    np.testing.assert_array_equal(np.isnan(slopes[0]), np.isnan(values).ravel())


def test_a_kernel_spreads_nan_to_all_times() -> None:
    parts = law("gaussCONV", SD=0.2) + law("none"), law("expFun", A=0.3, tau=4.0, t0=0.1)
    model = moved(*parts, frequency=0.05)
    assert np.isnan(agreed(model, Gauss_01_SD_expFun_01_tau=-4.0)).all()


@pytest.mark.parametrize("width", [0.5, 5.0, 40.0, 1e30])
def test_an_instrument_on_sub_cycles_may_widen(width: float) -> None:
    """Which cycles count does not depend on the width, at the start or later."""
    model = moved(
        law("gaussIRF", SD=0.5), law("stepFun", A=0.3, t0=0.1), law("none"), frequency=0.3
    )
    agreed(model, Gauss_01_SD_gaussIRF_SD=width)


@pytest.mark.parametrize(
    ("late", "amplitude"),
    [
        (law("expFun", A=0.3, tau=0.1, t0=20.0), "expFun_01_A"),  # e^120 before its onset
        (law("linFun", m=0.3, t0=1e30), "linFun_01_m"),
    ],
)
def test_a_law_that_never_sets_in_within_its_sub_cycle_is_nothing(
    late: str, amplitude: str
) -> None:
    """It went on to its onset backwards, to 1e52, which took all digits from the other laws."""
    step = law("stepFun", A=0.4, t0=0.1)
    model = moved(law("gaussIRF", SD=0.5), late, step, frequency=0.05)
    without = agreed(model, **{f"Gauss_01_SD_{amplitude}": 0.0})
    np.testing.assert_allclose(agreed(model), without, rtol=1e-13)
    assert np.ptp(without, axis=0).max() > 0.1


def test_cycles_without_end_are_refused() -> None:
    parts = law("gaussIRF", SD=0.5), law("stepFun", A=0.3, t0=0.1)
    model = moved(*parts, frequency=1e6)
    for backend in ("tree", "interpreted", "compiled"):
        with pytest.raises(DataError, match="cycles of 1e-06 are too many"):
            make_executor(model, None, backend).run(model.theta())


def test_names_that_come_with_a_profile_and_its_dynamics() -> None:
    """The law refers to a parameter that two further calls bring."""
    model = load_model(PEAK)
    model.add_dynamics(
        "Gauss_01_SD",
        load_dynamics(
            "d:\n  stepFun:\n    A: [0.4, True]\n"
            "    t0: ['Gauss_01_x0_pLinear_01_m_stepFun_01_t0']\n",
            "d",
            "Gauss_01_SD",
        ),
    )
    profile = "p:\n" + law("pLinear", m=0.5, b=0.1)
    model.add_profile("Gauss_01_x0", load_profile(profile, "p", "Gauss_01_x0"))
    target = "Gauss_01_x0_pLinear_01_m"
    model.add_dynamics(target, load_dynamics(STEP, "d", target))
    model.set_axes(energy=ENERGY, time=TIME, aux=[0.0, 1.0])
    assert np.isfinite(agreed(model)).all()


@pytest.mark.parametrize(
    ("name", "values"), [("sqrtFun", {"A": 0.02}), ("sinDivX", {"A": 0.4, "f": 0.07})]
)
def test_a_narrow_instrument_shows_the_law(name: str, values: dict[str, float]) -> None:
    """The quadrature lost a width of 1e-6 of the time, and all of one of 1e-16."""
    late = np.linspace(2.0, 25.0, 12)
    expected = agreed(moved(law(name, **values, t0=1.0), time=late))
    for width in (1e-7, 1e-30):
        seen = agreed(moved(law("gaussIRF", SD=width) + law(name, **values, t0=1.0), time=late))
        np.testing.assert_allclose(seen, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("turns", [206.0, 208.0, 1e4, 1e30])
def test_a_fast_cardinal_sine_under_an_instrument(turns: float) -> None:
    """By quadrature below 1300 / (2 pi) turns in a width, by a series above."""
    times, row = np.linspace(-9.0, 9.0, 37), [1.5, turns, 0.2, 1.0, 0.0]
    expected = reference("sinDivX_gaussIRF")(times, *row)
    value, _ = call_function("sinDivX_gaussIRF", times, np.array(row)[:, np.newaxis])
    np.testing.assert_allclose(value[0], expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    density = np.exp(-((times - 0.2) ** 2) / 2) / np.sqrt(2 * np.pi)
    leading = 1.5 * density / (4 * turns)
    np.testing.assert_allclose(
        expected, leading, rtol=0, atol=(2.0 / turns + 1e-14) * leading.max()
    )


@pytest.mark.parametrize("alpha", [1e7, 1e10, 1.3e12, 1.7e13, 5e14])
def test_a_line_of_absurd_asymmetry_has_the_sign_of_its_cosine(alpha: float) -> None:
    """The phase was held at 1e12. It has 16 digits: no more is known of the cosine."""
    line, at = [1.0, 85.0, 0.6, alpha], np.array([84.9, 85.0, 85.8])
    phase = np.pi * alpha / 2 + (1 - alpha) * np.arctan((at - 85.0) / 0.6)
    radius = (0.36 + (at - 85.0) ** 2) ** ((alpha - 1) / 2)
    value, _ = call_function("DS", at, np.array(line)[:, np.newaxis])
    sure = np.abs(np.cos(phase)) > 4.0 * 2.0**-52 * alpha
    assert sure.any()
    assert (np.sign(value[0]) == np.sign(np.cos(phase)))[sure & (radius > 0.0)].all()


def settled(model: Model, **values: float) -> bool:
    """Whether the last bits leave the spectrum as it is, as far as executors must agree."""
    theta = {**dict(zip(model.opt_param_names, model.theta().tolist(), strict=True)), **values}
    tree, numbers = TreeExecutor(model), np.array(list(theta.values()))
    return conditioned(tree, numbers, None, tree.run(numbers), 1e-10)


def test_what_rounding_decides_has_no_right_answer() -> None:
    """(1 - m) g + m l of a GLS for m = 1e15, and the far tail of a kernel under a signal of 1e40
    are what the last bit of a step says; what a fit meets is not."""
    line = load_model("m:\n" + law("GLS", A=5.0, x0=85.0, F=2.0, m=0.4))
    line.set_axes(energy=ENERGY)
    assert settled(line)
    assert not settled(line, GLS_01_m=1e15, GLS_01_F=1e8)
    step = moved(law("gaussCONV", SD=0.5) + law("stepFun", A=0.4, t0=20.0))
    assert settled(step)
    assert settled(step, Gauss_01_SD_stepFun_01_A=1e3)
    assert not settled(step, Gauss_01_SD_stepFun_01_A=1e40)
    cycles = moved(
        law("gaussIRF", SD=0.5) + law("stepFun", A=0.4, t0=0.1), law("none"), frequency=0.05
    )
    assert settled(cycles)


def test_nan_and_huge_values() -> None:
    model = moved(law("gaussIRF", SD=1.0) + law("sinDivX", A=0.4, f=0.07, t0=30.0))
    assert np.isnan(agreed(model, Gauss_01_SD_sinDivX_01_f=np.nan)).all()
    model = moved(law("gaussIRF", SD=1.0) + law("expFun", A=0.4, tau=3.0, t0=1.0))
    agreed(model, Gauss_01_SD_expFun_01_tau=1e200, Gauss_01_SD_gaussIRF_SD=1e200)
    text = "m:\n" + law("SkewGauss", A=1.0, x0=85.0, w=1.0, b=0.3)
    for name in ("A", "x0", "b"):
        skewed = load_model(text)
        skewed.set_axes(energy=ENERGY)
        assert np.isnan(agreed(skewed, **{f"SkewGauss_01_{name}": np.nan})).all()
    voigt = moved(
        law("stepFun", A=-0.5, t0=1.0),
        text="m:\n" + law("Voigt", A=1.0, x0=85.0, SD=0.5, W=0.2),
        target="Voigt_01_SD",
    )
    assert np.isnan(agreed(voigt)[TIME >= 1.0]).all()
