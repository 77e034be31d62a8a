"""Pictures of singular vectors, and of free spectra with and without a kinetic scheme."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.pictures import BANDS, DELAYS, file_of_states, fit_of, of_states

from pyspec import File, Project
from pyspec.errors import FitError
from pyspec.io import Dataset
from pyspec.plot import PlotError, plot_amplitudes, plot_species, plot_svd


@pytest.fixture
def file() -> File:
    return file_of_states()


def test_singular_vectors_of_data_before_a_fit(file: File) -> None:
    """How many spectra to fit is asked before a fit; the picture took fits alone."""
    figure = plot_svd(file, n=2)
    assert len(figure.axes) == 3
    singular = np.linalg.svd(file.data, compute_uv=False)
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), singular[:12])
    assert [ax.get_xlabel() for ax in figure.axes] == ["component", "time (ps)", "energy (eV)"]
    file.set_fit_limits([1.6, 2.9], time_limits=[-0.5, 10], exclude=[(2.0, 2.1)])
    figure = plot_svd(file)
    assert figure._suptitle.get_text() == "masked: 1 energy left out"
    energies = (BANDS >= 1.6) & (BANDS <= 2.9)
    seen = file.data[(DELAYS >= -0.5) & (DELAYS <= 10)][:, energies]
    out = (BANDS[energies] >= 2.0) & (BANDS[energies] <= 2.1)
    singular = np.linalg.svd(seen[:, ~out], compute_uv=False)
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), singular[:12])


def test_gaps_of_data_before_a_fit_are_filled_in_between(file: File) -> None:
    data = np.outer(np.arange(61.0), np.exp(-BANDS))
    data[7:9, 3] = data[20] = np.nan
    holes = Dataset(data, ("time", "energy"), {"time": np.arange(61.0), "energy": BANDS})
    figure = plot_svd(holes, n=1)
    assert (
        figure._suptitle.get_text() == "masked: 1 time left out, 2 points filled in between times"
    )
    assert figure.axes[0].lines[0].get_ydata()[1] < 1e-12  # of rank 1, as without gaps
    with pytest.raises(PlotError, match="those of a time series; these data are none"):
        plot_svd(File(Project(), data=data[0], energy=BANDS))
    with pytest.raises(PlotError, match="those of a time series; these data are none"):
        plot_svd(Dataset(data[0], ("energy",), {"energy": BANDS}))
    with pytest.raises(PlotError, match="all points are masked"):
        plot_svd(replace(holes, data=np.full_like(data, np.nan)))


def test_singular_vectors_of_data_and_residual() -> None:
    result = of_states("states")
    figure = plot_svd(result, n=2)
    above, below = figure.axes[:3], figure.axes[3:]
    for line, values in ((above, result.data), (below, result.data - result.fit)):
        drawn = line[0].lines[0].get_ydata()
        singular = np.linalg.svd(values, compute_uv=False)
        np.testing.assert_allclose(drawn, singular[: drawn.size], rtol=1e-9)
        # The data have signals beside the noise; what remains is flat, and needs no decades.
        assert line[0].get_yscale() == ("log" if line is above else "linear")
        vectors = [one for one in line[1].lines if len(one.get_xdata()) == DELAYS.size]
        assert len(vectors) == 2
        for k, one in enumerate(vectors):
            along = one.get_ydata() @ values
            np.testing.assert_allclose(np.linalg.norm(along), singular[k], rtol=1e-9)


def test_the_residual_is_in_units_of_declared_noise(file: File) -> None:
    """Noisy energies would be its vectors, whatever is left at the others."""
    sigma = np.where(BANDS < 2, 1.0, 0.01)
    noise = np.random.default_rng(2).normal(0, 1, file.data.shape) * sigma
    file = file_of_states(data=file.data + noise)
    plain = fit_of(file, "states")
    with pytest.raises(PlotError, match="noise of these data was not declared"):
        plot_svd(plain, residual_unit="sigma")
    file.set_noise("gaussian", sigma=sigma)
    result = file.fit_2d("states")
    for unit, values, label in (
        ("auto", (result.data - result.fit) / sigma, "residual / σ: singular value"),
        ("data", result.data - result.fit, "residual: singular value"),
    ):
        figure = plot_svd(result, residual_unit=unit)
        drawn = figure.axes[3].lines[0].get_ydata()
        singular = np.linalg.svd(values, compute_uv=False)
        np.testing.assert_allclose(drawn, singular[: drawn.size], rtol=1e-9)
        assert figure.axes[3].get_ylabel() == label


def test_spectra_of_states_decays_and_evolution() -> None:
    result = of_states("states")
    figure = plot_species(result)
    titles = [ax.get_title(loc="left") or ax.get_title() for ax in figure.axes]
    assert titles == ["SAS", "DAS", "EAS"]
    shown = figure.axes[1].lines[1].get_ydata()
    np.testing.assert_array_equal(shown, result.amplitudes.das().values[0])
    fastest = f"τ = {1 / result.amplitudes.das().rates[0]:.4g}"
    assert figure.axes[1].get_legend().get_texts()[0].get_text().startswith(fastest)


def test_free_spectra_of_parallel_decays_have_time_constants() -> None:
    # plot_species refused them; they were drawn in the report alone.
    result = of_states("parallel")
    tau = [result.values[f"expFun_0{k}_tau"] for k in (1, 2)]
    for draw in (plot_species, plot_amplitudes):
        figure = draw(result)
        (ax,) = figure.axes
        names = ["expFun_01_A", "expFun_02_A", "stepFun_01_A"]
        lines = [one for one in ax.lines if len(one.get_xdata()) == BANDS.size]
        for line, name in zip(lines, names, strict=True):
            np.testing.assert_array_equal(line.get_ydata(), result.amplitudes[name])
        assert len(ax.collections) == 3
        assert [one.get_text() for one in ax.get_legend().get_texts()] == [
            f"expFun_01_A, τ = {tau[0]:.4g} ps", f"expFun_02_A, τ = {tau[1]:.4g} ps",
            "stepFun_01_A",
        ]  # fmt: skip
    figure = plt.figure()
    plot_amplitudes(result, names=["stepFun_01_A"], ax=figure.add_subplot(), title="what stays")
    assert figure.axes[0].get_title(loc="left") == "what stays"
    assert len(figure.axes[0].get_legend().get_texts()) == 1
    with pytest.raises(PlotError, match="did you mean 'stepFun_01_A'"):
        plot_amplitudes(result, names=["stepFun_1_A"])
    with pytest.raises(FitError, match="no kinetic scheme"):
        plot_species(result, scheme="chain")


def test_equal_rates_show_the_states_alone() -> None:
    figure = plot_species(of_states("equal"))
    assert len(figure.axes) == 1


def test_what_has_no_such_picture() -> None:
    result = of_states("still")
    with pytest.raises(PlotError, match="still has no free spectra"):
        plot_species(result)
    with pytest.raises(PlotError, match="still has no free amplitudes"):
        plot_amplitudes(result)
    with pytest.raises(PlotError, match="1 or more"):
        plot_svd(result, n=0)
