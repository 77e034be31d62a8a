"""Pictures of singular vectors, and of the spectra of a kinetic scheme."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pyspec import File, Project
from pyspec.functions.kinetics import populations
from pyspec.plot import PlotConfig, PlotError, plot_species, plot_svd
from pyspec.plot.amplitudes import draw_amplitudes

MODELS = """
kinetics:
  chain: {A -> B: k1, B: k2}
chained:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0, True],
          spectra: {free: energy}}
equal:
  gaussIRF: {SD: [0.15, False]}
  chain: {k1: [0.7, False], k2: [0.7, False], t0: [0.1, True], spectra: {free: energy}}
lone:
  Offset: {y0: [1, True]}
"""
ENERGY = np.linspace(1.5, 3, 20)
TIME = np.concatenate([np.linspace(-1, 3, 41), np.geomspace(3.2, 100, 20)])


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "models.yaml").write_text(MODELS)
    K = np.array([[-2.0, 0], [2.0, -0.2]])
    spectra = np.array([np.exp(-(((ENERGY - at) / 0.3) ** 2)) for at in (1.9, 2.5)])
    data = populations(TIME - 0.1, K, np.array([1.0, 0]), 0.15) @ spectra
    data += np.random.default_rng(1).normal(0, 0.01, data.shape)
    return File(Project(tmp_path, show_output=False), data=data, energy=ENERGY, time=TIME)


def _fit(file: File, name: str):
    file.load_model("models.yaml", name)
    return file.fit_2d(name)


def test_singular_vectors_of_data_and_residual(file: File) -> None:
    result = _fit(file, "chained")
    figure = plot_svd(result, n=2)
    above, below = figure.axes[:3], figure.axes[3:]
    for line, values in ((above, result.data), (below, result.data - result.fit)):
        drawn = line[0].lines[0].get_ydata()
        singular = np.linalg.svd(values, compute_uv=False)
        np.testing.assert_allclose(drawn, singular[: drawn.size], rtol=1e-9)
        # The data have signals beside the noise; what remains is flat, and needs no decades.
        assert line[0].get_yscale() == ("log" if line is above else "linear")
        vectors = [one for one in line[1].lines if len(one.get_xdata()) == TIME.size]
        assert len(vectors) == 2
        for k, one in enumerate(vectors):
            along = one.get_ydata() @ values
            np.testing.assert_allclose(np.linalg.norm(along), singular[k], rtol=1e-9)
    plt.close(figure)


def test_spectra_of_states_decays_and_evolution(file: File) -> None:
    result = _fit(file, "chained")
    figure = plot_species(result)
    titles = [ax.get_title(loc="left") or ax.get_title() for ax in figure.axes]
    assert titles == ["SAS", "DAS", "EAS"]
    shown = figure.axes[1].lines[1].get_ydata()
    np.testing.assert_array_equal(shown, result.linear.das().values[0])
    fastest = f"τ = {1 / result.linear.das().rates[0]:.4g}"
    assert figure.axes[1].get_legend().get_texts()[0].get_text().startswith(fastest)
    plt.close(figure)


def test_free_spectra_end_where_the_data_do_and_run_their_way(file: File) -> None:
    result = _fit(file, "chained")
    config = PlotConfig(x_dir="rev")
    figure = draw_amplitudes(result, config)
    assert figure.axes[0].get_xlim() == (3.0, 1.5)
    plt.close(figure)


def test_equal_rates_show_the_states_alone(file: File) -> None:
    figure = plot_species(_fit(file, "equal"))
    assert len(figure.axes) == 1
    plt.close(figure)


def test_what_has_no_such_picture(file: File) -> None:
    result = _fit(file, "lone")
    with pytest.raises(PlotError, match="no kinetic scheme"):
        plot_species(result)
    with pytest.raises(PlotError, match="1 or more"):
        plot_svd(result, n=0)
