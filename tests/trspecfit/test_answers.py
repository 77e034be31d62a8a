"""What a File and a list of fits answer under the names of trspecfit."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from support.two_lines import ENERGY, MODELS, TIME

from pyspec.errors import FitError
from pyspec.trspecfit import File, FitResults, Project

pytest.importorskip("pandas")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setitem(mpl.rcParams, "backend", "agg")
    (tmp_path / "models.yaml").write_text(MODELS)
    project = Project(tmp_path, show_output=0)
    line = np.exp(-((ENERGY - 84.8) ** 2) / 2) + 0.2 * np.exp(-((ENERGY - 87) ** 2) / 2)
    noise = np.random.default_rng(1).normal(0.0, 0.1, (TIME.size, ENERGY.size))
    file = File(project, name="scan", data=1 + 5 * line + noise, energy=ENERGY, time=TIME)
    file.define_baseline(0, 4, time_type="ind")
    for name in ("one", "two"):
        file.load_model("models.yaml", name)
        file.fit_baseline(name)
    file.fit_slice_by_slice("one")
    return project


def test_a_list_of_fits_answers_as_the_file(project: Project) -> None:
    results, file = project.results, project[0]
    assert isinstance(results, FitResults)
    own = file.get_parameters(model="two", fit_type="baseline")
    assert own.equals(results.get_parameters(file="scan", model="two", fit_type="baseline"))
    assert own.set_index("name").loc["Gauss_02_SD", "expr"] == "Gauss_01_SD"
    matrix = results.get_correlations(file=file, fit_type="baseline")
    assert np.allclose(np.diag(matrix), 1.0)
    with pytest.raises(FitError, match="slices have no correlations"):
        file.get_correlations(fit_type="sbs")
    with pytest.raises(FitError, match=r"has no samples; call result\.sample"):
        results.get_mcmc(fit_type="baseline")
    with pytest.raises(FitError, match="has one value for each parameter"):
        file.plot_param_evolution(fit_type="baseline")


def test_columns_of_far_levels_have_names_of_their_own(project: Project) -> None:
    """From five standard deviations on they were called 100.00%, and one of them was left."""
    table = project[0].get_confidence_intervals(fit_type="baseline", model="one", sigmas=[1, 5, 6])
    levels = ["68.27%", "99.999943%", "99.99999980%"]
    below = [f"-{level}" for level in reversed(levels)]
    assert list(table.columns) == [*below, "best", *(f"+{level}" for level in levels)]
    assert (np.diff(table.to_numpy(), axis=1) > 0).all()


def test_residuals_of_two_models(project: Project) -> None:
    figure = project.results.plot_residuals(file="scan", fit_type="baseline", figsize=(9, 4))
    assert len(figure.axes) == 4
    assert tuple(figure.get_size_inches()) == (9, 4)
    with pytest.raises(FitError, match="choose one fit_type"):
        project.results.plot_residuals(file="scan")


def test_a_spectrum_is_saved_with_its_components(project: Project, tmp_path: Path) -> None:
    path = project[0].save_baseline_fit(tmp_path)
    head = path.read_text().splitlines()[0]
    assert head == "energy,sum,Offset,Gauss_01,Gauss_02"
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    assert np.allclose(table[:, 1], table[:, 2:].sum(axis=1), rtol=1e-5)
