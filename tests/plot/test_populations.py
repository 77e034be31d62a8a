"""Pictures of populations, and of the laws, that free spectra are multiplied with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.pictures import BANDS, DELAYS, of_states

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


def drawn(figure: Any) -> tuple[dict[str, Any], str]:
    """The curves by what the legend calls them, and the title of the legend."""
    legend = figure.axes[0].get_legend()
    curves = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    names = [text.get_text() for text in legend.get_texts()]
    return {name: curves[name] for name in names}, legend.get_title().get_text()


def test_populations_of_states() -> None:
    """They had to be drawn by hand; the baseline is no population."""
    result = of_states("chained")
    figure = plot_populations(result)
    curves, title = drawn(figure)
    assert list(curves) == ["A", "B"]
    assert not title
    at = result.values
    K = np.array([[-at["chain_k1"], 0], [at["chain_k1"], -at["chain_k2"]]])
    start, width = np.array([1.0, 0]), at["gaussIRF_SD"]
    expected = populations(DELAYS - at["chain_t0"], K, start, width)
    for k, values in enumerate(curves.values()):
        assert np.allclose(values, expected[:, k], rtol=0, atol=1e-12)
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == (
        "time (ps)",
        "population",
        "symlog",
    )
    assert plot_populations(result, z_label="share", x_lim=(0, 3)).axes[0].get_ylabel() == "share"


def test_a_config_of_data_says_nothing_of_populations() -> None:
    """Its label, limits and scale of the intensity were those of the populations."""
    result = of_states("chained")
    config = PlotConfig(z_label="counts", z_lim=(0, 300), z_type="log", y_lim=(-1, 20))
    ax = plot_populations(result, config=config).axes[0]
    assert (ax.get_ylabel(), ax.get_yscale()) == ("population", "linear")
    assert ax.get_ylim()[1] < 1
    assert ax.get_xlim() == (-1, 20)
    ax = plot_populations(result, config=config, z_lim=(0, 2), z_label="share").axes[0]
    assert (ax.get_ylabel(), ax.get_ylim()) == ("share", (0, 2))


def test_where_time_zero_depends_on_the_energy() -> None:
    result = of_states("chirped")
    basis = result.amplitudes.basis["chain_B_A"]
    for energy, column in ((None, 10), (1.6, 1)):
        curves, title = drawn(plot_populations(result, energy=energy))
        assert np.array_equal(curves["B"], basis[column])
        assert title == f"at {BANDS[column]:.5g} eV"
    with pytest.raises(PlotError, match=r"at 500: the fit window has 1\.5 to 3"):
        plot_populations(result, energy=500.0)


def test_several_schemes_and_laws() -> None:
    assert list(drawn(plot_populations(of_states("two")))[0]) == [
        "chain A",
        "chain B",
        "lone C",
    ]
    with pytest.raises(FitError, match="the schemes chain, lone; say which: scheme='chain'"):
        plot_species(of_states("two"))
    figure = plot_populations(of_states("parallel"))
    assert list(drawn(figure)[0]) == ["expFun_01_A", "expFun_02_A", "stepFun_01_A"]
    assert figure.axes[0].get_ylabel() == "law"


def test_fits_without_free_spectra() -> None:
    """Of these plot_moving said that they were fits of one spectrum."""
    with pytest.raises(PlotError, match="line has no free spectra"):
        plot_populations(of_states("line"))
    with pytest.raises(PlotError, match="where spectra or traces are free; plot_populations draws"):
        plot_moving(of_states("chained"))


def test_a_part_of_the_delays_has_the_scale_of_that_part() -> None:
    """A picture up to 3 ps was logarithmic from 1 ps on, without a number above 1."""
    result = of_states("chained")
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
