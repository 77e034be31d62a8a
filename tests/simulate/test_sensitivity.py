"""What a measurement can reach: bounds in closed form, and the scatter of real fits."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import (
    DataError,
    Measurement,
    Model,
    ModelError,
    ModelWarning,
    Simulator,
    fit_model,
    load_dynamics,
    load_model,
    sensitivity,
)

ENERGY = np.linspace(75.0, 95.0, 401)
TEXT = """
line:
  Offset: {{y0: [{y0}, {free}, 0, 100]}}
  Gauss: {{A: [50.0, True, 0, 500], x0: [85.0, True, 80, 90], SD: [1.5, True, 0.2, 5]}}
"""


def line(y0: float = 0.0, free: bool = False) -> Model:
    model = load_model(TEXT.format(y0=y0, free=free), "line")
    model.set_axes(energy=ENERGY)
    return model


def test_a_line_without_background_in_closed_form() -> None:
    """Photons of a Gaussian line tell its place to SD / sqrt(N), its width to SD / sqrt(2 N)."""
    bounds = sensitivity.crb(line(), 1e4)
    assert bounds["Gauss_01_x0"] == pytest.approx(1.5 / 100, rel=1e-6)
    assert bounds["Gauss_01_SD"] == pytest.approx(1.5 / np.sqrt(2e4), rel=1e-6)
    assert bounds["Gauss_01_A"] == pytest.approx(50 * np.sqrt(1.5) / 100, rel=1e-6)


def test_the_matrix_is_symmetric_and_knows_its_counts() -> None:
    info, names, meta = sensitivity.fisher_matrix(line(5.0, free=True), 1e5)
    assert names == ["Offset_y0", "Gauss_01_A", "Gauss_01_x0", "Gauss_01_SD"]
    assert np.allclose(info, info.T)
    area = 50 * 1.5 * np.sqrt(2 * np.pi) / 0.05  # of the line, in steps of the axis
    assert meta["counts_in_peaks"] / 1e5 == pytest.approx(area / (area + 5 * 401), rel=1e-6)
    assert meta["n_bins"] == 401
    part, _, _ = sensitivity.fisher_matrix(line(5.0, free=True), 1e5, ["Gauss_01_x0"])
    assert part[0, 0] == pytest.approx(info[2, 2], rel=1e-12)


def test_the_report() -> None:
    pytest.importorskip("pandas")
    model = line(5.0, free=True)
    frame = sensitivity.sensitivity_report(model, 1e4)
    assert list(frame["name"]) == list(model.opt_param_names)
    assert np.allclose(frame["sigma"] / frame["sigma_uncorrelated"], frame["correlation_penalty"])
    assert frame.attrs["counts"] == 1e4
    some = sensitivity.sensitivity_report(model, 1e4, ["Gauss_01_x0"])
    assert some["sigma"][0] == frame.set_index("name").loc["Gauss_01_x0", "sigma"]


def test_what_no_counts_determine_is_infinite_and_named() -> None:
    text = TEXT.format(y0=5.0, free=True) + "  Offset: {y0: [1.0, True, 0, 100]}\n"
    lines = text.splitlines()
    lines.insert(2, lines.pop())  # a peak comes last
    model = load_model("\n".join([*lines, ""]), "line")
    model.set_axes(energy=ENERGY)
    with pytest.warns(ModelWarning, match="Offset_02_y0: no number of counts") as seen:
        bounds = sensitivity.crb(model, 1e4)
    assert seen[0].filename == __file__
    assert np.isinf(bounds["Offset_y0"])
    assert np.isinf(bounds["Offset_02_y0"])
    assert bounds["Gauss_01_x0"] == pytest.approx(
        sensitivity.crb(line(6.0, free=True), 1e4)["Gauss_01_x0"], rel=1e-9
    )


def test_mistakes() -> None:
    model = line(5.0)
    with pytest.raises(DataError, match="counts must be finite and positive"):
        sensitivity.crb(model, 0)
    with pytest.raises(ModelError, match="did you mean 'Gauss_01_x0'"):
        sensitivity.crb(model, 1e4, ["Gauss_1_x0"])
    with pytest.raises(ModelError, match="Offset_y0 is fixed or follows an expression"):
        sensitivity.crb(model, 1e4, ["Offset_y0"])
    with pytest.raises(ModelError, match=r"give a list of parameters, \['Gauss_01_x0'\]"):
        sensitivity.crb(model, 1e4, fixed="Gauss_01_x0")
    model.set_values({"Offset_y0": -5.0})
    with pytest.raises(DataError, match="the model falls to -5, and counts cannot be negative"):
        sensitivity.fisher_matrix(model, 1e4)


def test_fits_of_counts_reach_the_bound_in_two_dimensions() -> None:
    model = load_model(TEXT.format(y0=5.0, free=True), "line")
    law = "decay: {expFun: {A: [20.0, True, 0, 99], tau: [4.0, True, 0.5, 50], t0: [0, False]}}\n"
    model.add_dynamics("Gauss_01_A", load_dynamics(law, "decay", "Gauss_01_A"))
    model.set_axes(energy=ENERGY[::8], time=np.linspace(-2.0, 12.0, 15))
    simulator = Simulator(model, "photon_counting", counts_per_delay=4000, seed=2)
    clean, noisy, _ = simulator.simulate_n(60)
    scale = simulator.noise_model["scale"]
    bounds = sensitivity.crb(model, float(clean.sum() * scale))
    fits = [fit_model(model, Measurement(one, loss="poisson", loss_scale=scale)) for one in noisy]
    for name, bound in bounds.items():
        errors = np.array([fit.stderr[name] for fit in fits])
        assert np.median(errors) == pytest.approx(bound, rel=0.05)
        scatter = np.std([fit.values[name] for fit in fits])
        assert scatter == pytest.approx(bound, rel=0.35)  # 60 fits tell it to 9 %
