"""Where programs of this kind have given wrong numbers, fallen back to a slow path, or refused:
what pyspec answers instead. Names say what used to go wrong elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyspec.errors import DataError, ModelError
from pyspec.executor import (
    AGREEMENT,
    CompiledExecutor,
    make_executor,
    make_joint_executor,
    worst_difference,
)
from pyspec.fit import fit_model
from pyspec.model import (
    Measurement,
    Model,
    load_dynamics,
    load_model,
    load_profile,
)

ENERGY = np.linspace(78.0, 94.0, 81)
TIME = np.linspace(-10.0, 40.0, 51)

PEAK = "  GLP: {A: [12, true], x0: [84, true], F: [1.1, true], m: [0.3, true]}\n"
TIED = (
    '  GLP: {A: ["3/4 * GLP_01_A"], x0: ["GLP_01_x0 + 3.67"], F: ["GLP_01_F"], m: ["GLP_01_m"]}\n'
)
OFFSET = "  Offset: {y0: [1.5, true]}\n"
SHIRLEY = "  Shirley: {pShirley: [0.004, true]}\n"
LINBACK = "  LinBack: {m: [0.1, true], b: [1, true], xStart: [80, false], xStop: [92, false]}\n"

LAWS = """
decay:
  expFun: {A: [1.0, true], tau: [8.0, true], t0: [0.3, false]}
smeared:
  gaussCONV: {SD: [1.5, true]}
  expFun: {A: [1.0, true], tau: [8.0, true], t0: [0.3, false]}
middle:
  stepFun: {A: [0.6, true], t0: [0.3, false]}
  gaussCONV: {SD: [2.0, true]}
  expFun: {A: [2.0, true], tau: [8.0, true], t0: [0.3, false]}
two:
  gaussCONV: {SD: [2.0, true]}
  boxCONV: {width: [6.1, true]}
  expFun: {A: [2.0, true], tau: [8.0, true], t0: [0.3, false]}
neg:
  expFun: {A: [-1.5, true], tau: [0.7, true], t0: [0, false]}
pos:
  expFun: {A: ["-expFun_02_A"], tau: [0.9, true], t0: [0, false]}
"""


def build(*components: str, **dynamics: Any) -> Model:
    model = load_model("m:\n" + "".join(components), "m")
    for target, laws in dynamics.items():
        frequency = -1.0 if isinstance(laws, str) else 0.05
        model.add_dynamics(target, load_dynamics(LAWS, laws, target, frequency))
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def compiled(model: Model) -> np.ndarray:
    """The compiled answer, after the tree agreed; a model that falls back would raise."""
    executor = make_executor(model, None, "compiled")
    assert isinstance(executor, CompiledExecutor)
    spectrum = executor.run(model.theta())
    tree = make_executor(model, None, "tree").run(model.theta())
    assert worst_difference(tree, spectrum) <= AGREEMENT
    return spectrum


# ---- wrong numbers, silently --------------------------------------------------------------


def test_a_follower_of_a_convolved_parameter_moves_with_it() -> None:
    model = build(OFFSET, PEAK, TIED, GLP_01_x0="smeared")
    compiled(model)
    executor = make_executor(model)
    traces = executor.traces(model.theta())  # type: ignore[attr-defined]
    rows = executor.plan.row_names  # type: ignore[attr-defined]
    leader, follower = traces[rows.index("GLP_01_x0_resolved")], traces[rows.index("GLP_02_x0")]
    assert np.ptp(leader) > 0.5
    np.testing.assert_array_equal(follower, leader + 3.67)


def test_parameters_are_bound_by_name_not_by_their_order_in_the_file() -> None:
    given = "  Gauss: {SD: [0.8, true], A: [10, true], x0: [84, true]}\n"
    value = compiled(build(given))[0]
    np.testing.assert_allclose(value, 10 * np.exp(-(((ENERGY - 84) / 0.8) ** 2) / 2), atol=1e-13)


@pytest.mark.parametrize(
    "components",
    [
        (SHIRLEY, OFFSET, PEAK),
        (SHIRLEY, LINBACK, PEAK, TIED),
        (PEAK, SHIRLEY, OFFSET, PEAK),
        (OFFSET, SHIRLEY, SHIRLEY, PEAK),
    ],
)
def test_components_in_any_order_mean_the_same_in_every_executor(
    components: tuple[str, ...],
) -> None:
    compiled(build(*components))


@pytest.mark.parametrize("laws", ["middle", "two"])
def test_kernels_anywhere_in_a_dynamics_model_and_several_of_them(laws: str) -> None:
    compiled(build(OFFSET, PEAK, GLP_01_x0=laws))


def test_a_second_background_or_kernel_is_added_not_exchanged() -> None:
    model = build("  Offset: {y0: [5, true]}\n", "  Offset: {y0: [2, true]}\n", PEAK)
    assert {"Offset_y0", "Offset_02_y0"} <= set(model.parameters)
    assert compiled(model)[0, -1] == pytest.approx(7.0, abs=0.1)
    assert {"GLP_01_x0_gaussCONV_SD", "GLP_01_x0_boxCONV_width"} <= set(
        build(PEAK, GLP_01_x0="two").parameters
    )


def test_a_free_step_onset_is_found_and_has_no_error() -> None:
    """Between two samples a step does not depend on its onset: finite differences see nothing.
    The native solver searches the intervals between samples and says which; MINPACK stays where it
    began and its fit names the parameter. Under gaussIRF the onset is determined."""
    laws = "d:\n{irf}  stepFun: {{A: [3.0, true], t0: [0.4, true, -5, 5]}}\n"
    truth = build(OFFSET, PEAK)
    truth.add_dynamics("GLP_01_A", load_dynamics(laws.format(irf=""), "d", "GLP_01_A"))
    truth.set_values({"GLP_01_A_stepFun_01_t0": 2.4})
    clean = make_executor(truth).run(truth.theta())
    rng = np.random.default_rng(0)
    data = clean + rng.normal(0, 0.1, clean.shape)
    start = build(OFFSET, PEAK)
    start.add_dynamics("GLP_01_A", load_dynamics(laws.format(irf=""), "d", "GLP_01_A"))
    result = fit_model(start, Measurement(data=data))
    low, high = result.intervals["GLP_01_A_stepFun_01_t0"]
    assert low < 2.4 <= high
    assert result.stderr["GLP_01_A_stepFun_01_t0"] is None
    stuck = fit_model(start, Measurement(data=data), method="leastsq")
    assert not stuck.success
    assert "GLP_01_A_stepFun_01_t0" in stuck.without_effect

    irf = "  gaussIRF: {SD: [0.8, true, 0.05, 5]}\n"
    smooth = build(OFFSET, PEAK)
    smooth.add_dynamics("GLP_01_A", load_dynamics(laws.format(irf=irf), "d", "GLP_01_A"))
    smooth.set_values({"GLP_01_A_stepFun_01_t0": 2.4})
    clean = make_executor(smooth).run(smooth.theta())
    smooth.set_values({"GLP_01_A_stepFun_01_t0": 1.0, "GLP_01_A_gaussIRF_SD": 1.3})
    result = fit_model(smooth, Measurement(data=clean + rng.normal(0, 0.1, clean.shape)))
    assert result.success
    pull = result.values["GLP_01_A_stepFun_01_t0"] - 2.4
    assert abs(pull) < 4 * result.stderr["GLP_01_A_stepFun_01_t0"]


def test_axes_that_are_out_of_order_are_refused() -> None:
    model = load_model("m:\n" + PEAK, "m")
    with pytest.raises(DataError, match="time axis goes from"):
        model.set_axes(time=[0.0, 2.0, 1.0])
    with pytest.raises(DataError, match="time axis goes from"):
        model.set_axes(time=[3.0, 2.0, 1.0])
    with pytest.raises(DataError, match="energy axis goes from"):
        model.set_axes(energy=[0.0, 2.0, 1.0])


def test_a_shirley_sums_from_the_high_index_whatever_the_direction() -> None:
    """The convention is one sentence in the manual; a descending axis is the same sum."""
    rising = load_model("m:\n" + SHIRLEY + PEAK, "m")
    rising.set_axes(energy=ENERGY)
    falling = load_model("m:\n" + SHIRLEY + PEAK, "m")
    falling.set_axes(energy=ENERGY[::-1])
    up, down = (make_executor(m).run(m.theta()) for m in (rising, falling))
    assert up[0] > up[-1]  # the background lies at the low index
    assert down[0] > down[-1]


# ---- slow paths ---------------------------------------------------------------------------


def test_an_instrument_response_with_sub_cycles_compiles() -> None:
    compiled(build(OFFSET, PEAK, GLP_01_x0=["smeared", "neg", "pos"]))


def test_several_files_are_one_compiled_residual() -> None:
    parts = []
    for seed in range(3):
        model = build(OFFSET, PEAK, GLP_01_x0="smeared")
        model.parameters["GLP_01_x0_expFun_01_tau"].scope = "project"
        data = np.random.default_rng(seed).normal(size=(TIME.size, ENERGY.size))
        parts.append((model, Measurement(data=data)))
    joint = make_joint_executor(parts)
    assert all(isinstance(executor, CompiledExecutor) for executor in joint.executors)
    assert joint.opt_param_names.count("GLP_01_x0_expFun_01_tau") == 1


def test_functions_in_expressions_compile() -> None:
    tied = (
        '  GLP: {A: ["3 * sqrt(GLP_01_A)"], x0: ["GLP_01_x0 + max(4, GLP_01_F)"], '
        'F: ["exp(-GLP_01_m) + 0.3"], m: ["abs(sin(GLP_01_m))"]}\n'
    )
    compiled(build(OFFSET, PEAK, tied, GLP_01_A="decay"))


# ---- limits of the model ------------------------------------------------------------------

PROFILE = """
ramp:
  pLinear: {m: [0.4, true], b: [0, false]}
"""


def profiled(*targets: str, weights: Any = None, **dynamics: Any) -> Model:
    model = load_model("m:\n" + OFFSET + PEAK + TIED, "m")
    for target in targets:
        model.add_profile(target, load_profile(PROFILE, "ramp", target))
    for target, laws in dynamics.items():
        frequency = -1.0 if isinstance(laws, str) else 0.05
        model.add_dynamics(target, load_dynamics(LAWS, laws, target, frequency))
    aux = np.array([0.0, 0.5, 2.0])
    model.set_axes(energy=ENERGY, time=TIME, aux=aux, aux_weights=weights)
    return model


def test_dynamics_and_profile_on_one_parameter() -> None:
    compiled(profiled("GLP_01_x0", GLP_01_x0="smeared"))


def test_dynamics_on_a_parameter_of_a_profile_sub_cycles_too() -> None:
    compiled(profiled("GLP_01_x0", GLP_01_x0_pLinear_01_m="smeared"))
    compiled(profiled("GLP_01_x0", GLP_01_x0_pLinear_01_m=["smeared", "neg", "pos"]))


def test_chains_of_expressions_through_moving_and_profiled_parameters() -> None:
    third = '  GLP: {A: [3, true], x0: ["GLP_02_x0 - 1"], F: ["GLP_02_F * 2"], m: [0.5, false]}\n'
    model = load_model("m:\n" + OFFSET + PEAK + TIED + third, "m")
    model.add_profile("GLP_01_x0", load_profile(PROFILE, "ramp", "GLP_01_x0"))
    model.add_dynamics("GLP_01_x0", load_dynamics(LAWS, "smeared", "GLP_01_x0"))
    model.set_axes(energy=ENERGY, time=TIME, aux=[0.0, 1.0])
    compiled(model)


def test_a_follower_takes_no_motion_of_its_own_and_the_remedy_is_said() -> None:
    model = load_model("m:\n" + PEAK + TIED, "m")
    dynamics = load_dynamics(LAWS, "decay", "GLP_02_x0")
    profile = load_profile(PROFILE, "ramp", "GLP_02_x0")
    with pytest.raises(ModelError, match="add them to what it refers to"):
        model.add_dynamics("GLP_02_x0", dynamics)
    with pytest.raises(ModelError, match="add it to what it refers to"):
        model.add_profile("GLP_02_x0", profile)


def test_a_law_takes_no_parameter_that_moves_or_is_profiled() -> None:
    model = load_model("m:\n" + PEAK, "m")
    model.add_profile("GLP_01_F", load_profile(PROFILE, "ramp", "GLP_01_F"))
    law = 'd:\n  expFun: {A: [1, true], tau: ["GLP_01_F"], t0: [0, false]}\n'
    with pytest.raises(ModelError, match="GLP_01_F, which has a profile"):
        model.add_dynamics("GLP_01_A", load_dynamics(law, "d", "GLP_01_A"))


def test_time_constants_onsets_and_widths_are_shared_through_expressions() -> None:
    model = build(OFFSET, PEAK, GLP_01_x0="smeared")
    other = (
        'd:\n  gaussCONV: {SD: ["GLP_01_x0_gaussCONV_SD"]}\n  expFun: {A: [2, true], '
        'tau: ["2 * GLP_01_x0_expFun_01_tau"], t0: ["GLP_01_x0_expFun_01_t0"]}\n'
    )
    model.add_dynamics("GLP_01_A", load_dynamics(other, "d", "GLP_01_A"))
    compiled(model)
    assert model.values["GLP_01_A_gaussCONV_SD"] == 1.5


def test_energy_and_dynamics_parameters_refer_to_each_other() -> None:
    tied = '  Gauss: {A: [3, true], x0: [90, true], SD: ["GLP_01_A_expFun_01_tau / 8"]}\n'
    model = load_model("m:\n" + PEAK + tied, "m")
    law = 'd:\n  expFun: {A: ["GLP_01_F * 2"], tau: [8, true], t0: [0.3, false]}\n'
    model.add_dynamics("GLP_01_A", load_dynamics(law, "d", "GLP_01_A"))
    model.set_axes(energy=ENERGY, time=TIME)
    compiled(model)


def test_the_average_over_the_auxiliary_axis_takes_weights() -> None:
    even, uneven = profiled("GLP_01_x0"), profiled("GLP_01_x0", weights=[1.0, 3.0, 0.0])
    assert np.abs(compiled(even) - compiled(uneven)).max() > 0.1


def test_points_are_masked_one_by_one() -> None:
    model = build(OFFSET, PEAK)
    data = make_executor(model).run(model.theta()) + 1.0
    keep = np.random.default_rng(0).uniform(size=data.shape) > 0.5
    data[~keep] = np.nan
    residual = make_executor(model, Measurement(data=data, keep=keep)).residual(model.theta())
    np.testing.assert_allclose(residual, keep.ravel().astype(float), atol=1e-12)


@pytest.mark.parametrize("backend", ["tree", "interpreted", "compiled"])
def test_every_executor_checks_what_a_function_needs(backend: str) -> None:
    model = build(LINBACK, PEAK)
    fixed = {"LinBack_xStart": 92.0, "LinBack_xStop": 92.0}
    assert np.isnan(make_executor(model, None, backend).run(model.theta(), fixed)).all()
    moved = build(PEAK, GLP_01_A="smeared")
    theta = moved.theta()
    theta[moved.opt_param_names.index("GLP_01_A_gaussCONV_SD")] = 0.0
    assert np.isnan(make_executor(moved, None, backend).run(theta)).all()


# Not there, and why: a convolution along the energy axis (the line shapes that have one, Voigt
# and SkewGauss, carry their broadening themselves), iterative Shirley and Tougaard backgrounds
# (each point depends on the data, not on the model alone), and a second auxiliary axis of one
# file (register a function, or average outside).


def test_a_kernel_in_an_energy_model_is_refused_with_a_reason() -> None:
    with pytest.raises(ModelError, match="gaussCONV is a kernel; it belongs in a dynamics model"):
        load_model("m:\n  gaussCONV: {SD: [1, true]}\n" + PEAK, "m")
