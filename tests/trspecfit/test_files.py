"""The names under which scripts of trspecfit read a File, a Project and a settings file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyspec import BackendError, DataError, ModelWarning
from pyspec.trspecfit import File, Project

ENERGY = np.linspace(90.0, 80.0, 51)  # falling, as binding energies are
TIME = np.linspace(-4.0, 5.0, 10)

MODELS = """
line:
  Offset: {y0: [1.0, True, 0, 10]}
  Gauss: {A: [5.0, True, 0, 50], x0: [85.0, True, 82, 88], SD: [1.0, True, 0.2, 3]}
other:
  Gauss: {A: [5.0, True, 0, 50], x0: [85.0, True, 82, 88], SD: [1.0, True, 0.2, 3]}
"""
LAW = """
rise:
  erfFun: {A: [1.0, True, -5, 5], SD: [0.8, True, 0.1, 5], t0: [0.3, True, -2, 2]}
"""


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "models.yaml").write_text(MODELS)
    (tmp_path / "laws.yaml").write_text(LAW)
    step = 3.0 / (1.0 + np.exp(-TIME))
    line = np.exp(-(((ENERGY - 84.5) / 1.1) ** 2) / 2)
    data = 2.0 + (20.0 + step)[:, None] * line
    data += np.random.default_rng(1).normal(0, 0.05, data.shape)
    return File(Project(tmp_path, show_output=0), "scan", data=data, energy=ENERGY, time=TIME)


def test_data_and_corrections(file: File) -> None:
    assert file.p is file.project
    assert file.dim == 2
    assert file.dark is not None
    assert file.calibration is not None
    assert np.array_equal(file.dark, np.zeros(51))
    assert np.array_equal(file.calibration, np.ones(51))
    file.subtract_dark(np.full(51, 0.5))
    file.calibrate_data(np.full(51, 2.0))
    assert file.dark[3] == 0.5
    assert file.calibration[3] == 2.0
    assert file.data_raw is not None
    assert file.data is not None
    assert np.allclose(file.data, (file.data_raw - 0.5) / 2.0)
    empty = File(file.project, "no data", energy=ENERGY)
    assert (empty.dim, empty.dark, empty.data_raw) == (0, None, None)


def test_windows_as_indices_and_as_values(file: File) -> None:
    assert (file.e_lim, file.t_lim) == ((0, 51), (0, 10))
    assert (file.e_lim_abs, file.t_lim_abs) == ((80.0, 90.0), (-4.0, 5.0))
    file.set_fit_limits([82.0, 88.0], time_limits=[-1.0, 3.0])
    assert np.array_equal(ENERGY[slice(*file.e_lim)], ENERGY[(ENERGY >= 82) & (ENERGY <= 88)])
    assert (file.t_lim, file.t_lim_abs) == ((3, 8), (-1.0, 3.0))
    assert (file.data_base, file.base_t_ind, file.base_t_abs) == (None, (), ())
    file.define_baseline(-4, -2)
    assert (file.base_t_ind, file.base_t_abs) == ((0, 3), (-4.0, -2.0))
    assert file.data_base is not None
    assert file.data is not None
    assert np.allclose(file.data_base, file.data[:3].mean(axis=0))


def test_models_of_the_last_fits(file: File) -> None:
    assert file.model_active is None
    assert file.model_base is None
    assert file.model_2d is None
    line = file.load_model("models.yaml", "line")
    file.load_model("models.yaml", "other")
    assert file.model_active is file.models["other"] is file.models[-1]
    assert file.models[0] is line
    file.set_active_model("line")
    assert file.model_active is line
    with pytest.raises(KeyError):
        file.models[7]
    file.define_baseline(-4, -2)
    result = file.fit_baseline("line")
    assert file.model_base is line
    assert line.values["Gauss_01_A"] == result.values["Gauss_01_A"]
    spectrum = file.fit_spectrum("line", time_point=4.0)
    assert file.model_spec is line
    assert file.data is not None
    assert file.data_spec is not None
    assert np.array_equal(file.data_spec, file.data[8])
    assert (file.spec_t_ind, file.spec_t_abs) == ([8, 9], [4.0, 4.0])
    slices = file.fit_slice_by_slice("line")
    assert file.model_sbs is line
    assert file.results_sbs == list(slices)
    file.add_time_dependence("line", "Gauss_01_A", "laws.yaml", "rise")
    assert file.fit_2d("line").success
    assert file.model_2d is line
    file.delete_model("line")
    assert file.model_spec is spectrum.model  # the copy that was fitted
    assert file.select_model(0) is file.model_active
    assert "other" in file.describe_model(detail=1)
    assert "scan" in file.project.describe(detail=1)
    assert "Gauss_01_A" in file.export_fit("sbs", filepath="slices.json").read_text()
    file.reset_models()
    assert not file.models
    path = file.save_fit("fits.h5", overwrite=True, show_output=1)
    assert len(file.project.load_fits(path)) == 4


def test_a_model_that_replaces_another_says_so(file: File) -> None:
    file.load_model("models.yaml", "line")
    file.load_model("models.yaml", "other")
    says = "file 'scan': the model 'line' replaces"
    with pytest.warns(ModelWarning, match=says) as found:
        again = file.load_model("models.yaml", "line")
    assert found[0].filename == __file__
    assert file.models["line"] is again
    file.add_model(again)  # itself: nothing is replaced


@pytest.mark.parametrize("given", [(3.0, 1.0), (8, 2)])
def test_a_time_range_that_runs_backwards_is_refused(
    file: File, given: tuple[float, float]
) -> None:
    file.load_model("models.yaml", "line")
    kind = "abs" if isinstance(given[0], float) else "ind"
    with pytest.raises(DataError, match=r"runs backwards; give the earlier end first"):
        file.fit_spectrum("line", time_range=given, time_type=kind)
    assert file.fit_spectrum("line", time_range=given[::-1], time_type=kind).success
    assert file.fit_spectrum("line", time_range=(0, -1), time_type="ind").success


def test_what_a_settings_file_of_trspecfit_holds(tmp_path: Path) -> None:
    (tmp_path / "project.yaml").write_text(
        "show_output: 0\nspec_fun_str: fit_model_gir\nx-lim: [82, 88]\nz_lim: null\n"
        "e_label: Energy (eV)\nnum_fmt: '%.4e'\ndelim: ';'\n"
        "noise_type: gaussian\nsigma_data: 0.25\nsigma_source: user_supplied\n"
        "sigma_type: constant\nnoise_scale: null\n"
    )
    project = Project(tmp_path)
    assert (project.backend, project.spec_fun_str) == (None, "fit_model_gir")
    assert (project.num_fmt, project.delim) == ("%.4e", ";")
    assert project.plot_config.x_lim == (82.0, 88.0)
    file = File(project, "a", data=np.ones(51), energy=ENERGY)
    assert (file.noise_type, file.sigma_data) == ("gaussian", 0.25)
    project.noise_type, project.sigma_data, project.noise_scale = "poisson", float("nan"), 3.0
    assert File(project, "b", data=np.ones(51), energy=ENERGY).noise_scale == 3.0
    with pytest.raises(DataError, match="counts, but 51 value"):
        File(project, "c", data=-np.ones(51), energy=ENERGY)
    (tmp_path / "project.yaml").write_text("noise_type: gaussian\n")
    with pytest.raises(DataError, match=r"project.yaml: .* needs sigma="):
        Project(tmp_path)


def test_names_of_backends_in_trspecfit() -> None:
    project = Project()
    names = ("fit_model_mcp", "fit_model_c", "fit_model_compare", "fit_model_gir")
    for name, backend in zip(names, ("tree", "compiled", "compare", None), strict=True):
        project.spec_fun_str = name
        assert (project.backend, project.spec_fun_str) == (backend, name)
    project.spec_fun_str = "fit_model_jax"
    assert (project.backend, project.spec_fun_str) == (None, "fit_model_gir")
    with pytest.raises(BackendError, match=re.escape("did you mean 'fit_model_mcp'?")):
        project.spec_fun_str = "fit_model_mpc"
