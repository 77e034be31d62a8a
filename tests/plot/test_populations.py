"""Pictures of populations, and of the laws, that free spectra are multiplied with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, FitResult, Project
from pyspec.errors import FitError
from pyspec.functions.kinetics import populations
from pyspec.plot import (
    PlotConfig,
    PlotError,
    plot_fit,
    plot_moving,
    plot_populations,
    plot_species,
    plot_traces,
)

MODELS = """
kinetics:
  chain: {A -> B: k1, B: k2}
  lone: {C: k}
parameters:
  chirp: [0.1, True, -1, 1]
  zero: ["0.1 + chirp * (energy - 2.5)"]
chained:
  constFun: {A: {free: energy}}
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0, True],
          spectra: {free: energy}}
chirped:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: ["zero"],
          spectra: {free: energy}}
two:
  gaussIRF: {SD: [0.2, False]}
  chain: {k1: [2, True], k2: [0.3, False], t0: [0.1, False], spectra: {free: energy}}
  lone: {k: [0.01, False], t0: [0.1, False], spectra: {free: energy}}
parallel:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  expFun: {A: {free: energy}, tau: [0.5, True, 0.01, 100], t0: [0, True]}
  expFun: {A: {free: energy}, tau: [5, True, 0.01, 100], t0: ["expFun_01_t0"]}
line:
  Gauss: {A: {free: time}, x0: [1.9, True, 1.5, 3], SD: [0.3, True, 0.05, 1]}
"""
ENERGY = np.linspace(1.5, 3, 20)
TIME = np.concatenate([np.linspace(-1, 3, 41), np.geomspace(3.2, 100, 20)])


def fit(folder: Path, name: str) -> FitResult:
    (folder / "models.yaml").write_text(MODELS)
    K = np.array([[-2.0, 0], [2.0, -0.2]])
    spectra = np.array([np.exp(-(((ENERGY - at) / 0.3) ** 2)) for at in (1.9, 2.5)])
    data = populations(TIME - 0.1, K, np.array([1.0, 0]), 0.15) @ spectra
    data += np.random.default_rng(1).normal(0, 0.01, data.shape)
    units = {"time": "ps", "energy": "eV"}
    project = Project(folder, show_output=False)
    file = File(project, data=data, energy=ENERGY, time=TIME, units=units)
    file.load_model("models.yaml", name)
    result = file.fit_2d(name)
    assert isinstance(result, FitResult)
    return result


def drawn(figure: Any) -> tuple[dict[str, Any], str]:
    """The curves by what the legend calls them, and the title of the legend."""
    legend = figure.axes[0].get_legend()
    curves = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    names = [text.get_text() for text in legend.get_texts()]
    return {name: curves[name] for name in names}, legend.get_title().get_text()


def test_populations_of_states(tmp_path: Path) -> None:
    """They had to be drawn by hand; the baseline is no population."""
    result = fit(tmp_path, "chained")
    figure = plot_populations(result, save_path=tmp_path / "populations.png")
    curves, title = drawn(figure)
    assert list(curves) == ["A", "B"]
    assert not title
    at = result.values
    K = np.array([[-at["chain_k1"], 0], [at["chain_k1"], -at["chain_k2"]]])
    start, width = np.array([1.0, 0]), at["gaussIRF_SD"]
    expected = populations(TIME - at["chain_t0"], K, start, width)
    for k, values in enumerate(curves.values()):
        assert np.allclose(values, expected[:, k], rtol=0, atol=1e-12)
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == (
        "time (ps)",
        "population",
        "symlog",
    )
    assert plot_populations(result, z_label="share", x_lim=(0, 3)).axes[0].get_ylabel() == "share"


def test_a_config_of_data_says_nothing_of_populations(tmp_path: Path) -> None:
    """Its label, limits and scale of the intensity were those of the populations."""
    result = fit(tmp_path, "chained")
    config = PlotConfig(z_label="counts", z_lim=(0, 300), z_type="log", y_lim=(-1, 20))
    ax = plot_populations(result, config=config).axes[0]
    assert (ax.get_ylabel(), ax.get_yscale()) == ("population", "linear")
    assert ax.get_ylim()[1] < 1
    assert ax.get_xlim() == (-1, 20)
    ax = plot_populations(result, config=config, z_lim=(0, 2), z_label="share").axes[0]
    assert (ax.get_ylabel(), ax.get_ylim()) == ("share", (0, 2))


def test_where_time_zero_depends_on_the_energy(tmp_path: Path) -> None:
    result = fit(tmp_path, "chirped")
    assert result.amplitudes is not None
    basis = result.amplitudes.basis["chain_B_A"]
    for energy, column in ((None, 10), (1.6, 1)):
        curves, title = drawn(plot_populations(result, energy=energy))
        assert np.array_equal(curves["B"], basis[column])
        assert title == f"at {ENERGY[column]:.5g} eV"
    with pytest.raises(PlotError, match=r"at 500: the fit window has 1\.5 to 3"):
        plot_populations(result, energy=500.0)


def test_several_schemes_and_laws(tmp_path: Path) -> None:
    assert list(drawn(plot_populations(fit(tmp_path, "two")))[0]) == [
        "chain A",
        "chain B",
        "lone C",
    ]
    figure = plot_populations(fit(tmp_path, "parallel"))
    assert list(drawn(figure)[0]) == ["expFun_01_A", "expFun_02_A"]
    assert figure.axes[0].get_ylabel() == "law"


def test_fits_without_free_spectra(tmp_path: Path) -> None:
    """Of these plot_moving said that they were fits of one spectrum."""
    with pytest.raises(PlotError, match="line has no free spectra"):
        plot_populations(fit(tmp_path, "line"))
    with pytest.raises(PlotError, match="where spectra or traces are free; plot_populations draws"):
        plot_moving(fit(tmp_path, "chained"))


def test_one_of_several_schemes_is_named(tmp_path: Path) -> None:
    """The answer was "say which", without how."""
    result = fit(tmp_path, "two")
    with pytest.raises(
        FitError, match="there are the schemes chain, lone; say which: scheme='chain'"
    ):
        plot_species(result)
    assert plot_species(result, scheme="chain").axes


def test_a_part_of_the_delays_has_the_scale_of_that_part(tmp_path: Path) -> None:
    """A picture up to 3 ps was logarithmic from 1 ps on, without a number above 1."""
    result = fit(tmp_path, "chained")
    near = plot_traces(result, energies=[1.9], x_lim=(-1, 3)).axes[1]
    assert near.get_xscale() == "linear"
    assert near.get_xlim() == (-1, 3)
    far = plot_traces(result, energies=[1.9], x_lim=(-0.5, 60)).axes[1]
    assert far.get_xscale() == "symlog"
    assert 50 in far.get_xticks()
    assert plot_fit(result, y_lim=(-1, 3)).axes[0].get_yscale() == "linear"
    assert plot_fit(result).axes[0].get_yscale() == "symlog"
    asked = plot_traces(result, energies=[1.9], x_lim=(-1, 3), x_type="symlog").axes[1]
    assert asked.get_xscale() == "symlog"
    assert asked.get_xticks()[-1] > 1
