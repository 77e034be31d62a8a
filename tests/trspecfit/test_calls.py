"""A script as users of trspecfit write it: only the import is changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.later import later

from pyspec import load_dynamics, load_model
from pyspec.trspecfit import File, Project, Simulator

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("h5py")
later("pandas")

pytestmark = pytest.mark.usefixtures("quick_figures")

ENERGY_MODELS = """
base:
    Offset:
        y0: [2, True, 0, 20]
    Shirley:
        pShirley: [4.0E-4, True, 1.0E-6, 1.0E-2]
    GLP:
        A: [15, True, 5, 30]
        x0: [84.6, True, 82, 88]
        F: [1.0, True, 0.3, 3]
        m: [0.3, True, 0, 1]
moving:
    Offset:
        y0: [2, False]
    Shirley:
        pShirley: [4.0E-4, False]
    GLP:
        A: [17, False]
        x0: [84.5, True, 82, 88]
        F: [1.0, False]
        m: [0.3, False]
"""
TIME_MODELS = """
MonoExp:
    expFun:
        A: [1, True, 0, 5]
        tau: [3, True, 0.5, 20]
        t0: [0, False]
"""
PROJECT = """
show_output: 0
spec_fun_str: fit_model_gir
e_label: Binding energy (eV)
t_label: Time (ps)
x_dir: rev
"""
TRUTH = {
    "Offset_y0": 3.0,
    "Shirley_pShirley": 8e-4,
    "GLP_01_A": 20.0,
    "GLP_01_x0": 84.0,
    "GLP_01_F": 1.2,
    "GLP_01_m": 0.4,
    "GLP_01_x0_expFun_01_A": 1.5,
    "GLP_01_x0_expFun_01_tau": 5.0,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models_energy.yaml").write_text(ENERGY_MODELS)
    (tmp_path / "models_time.yaml").write_text(TIME_MODELS)
    (tmp_path / "project.yaml").write_text(PROJECT)
    return tmp_path


def measured() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    energy, time = np.linspace(90.0, 80.0, 101), np.linspace(-5.0, 15.0, 41)
    model = load_model(ENERGY_MODELS, "base")
    law = load_dynamics(TIME_MODELS, "MonoExp", model.parameters["GLP_01_x0"])
    model.add_dynamics("GLP_01_x0", law)
    model.set_values(TRUTH)
    model.set_axes(energy=energy, time=time)
    _, data, _ = Simulator(model, noise_level=0.01, seed=3).simulate()
    return data, energy, time


def test_quick_start(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, energy, time = measured()
    matplotlib.use("Agg")

    project = Project(path=folder, name="quick_start")
    assert project.backend is None
    assert project.spec_fun_str == "fit_model_gir"
    file = File(
        parent_project=project, path="simulated_dataset", data=data, energy=energy, time=time
    )
    file.describe()
    file.define_baseline(time_start=-5, time_stop=-0.5, time_type="abs", show_plot=False)
    file.load_model(model_yaml="models_energy.yaml", model_info=["base"])
    file.describe_model(model_info="base", detail=0)
    file.set_fit_limits(energy_limits=[89, 81], time_limits=[-4, 14], show_plot=False)
    file.fit_baseline(model_name="base", stages=2, try_ci=0)
    file.load_model(model_yaml="models_energy.yaml", model_info=["moving"])
    file.add_time_dependence(
        target_model="moving",
        target_parameter="GLP_01_x0",
        dynamics_yaml="models_time.yaml",
        dynamics_model=["MonoExp"],
    )
    file.fit_2d(model_name="moving", stages=2, try_ci=0)
    file.fit_slice_by_slice(model_name="base", stages=1, seed_source="baseline", try_ci=0)
    file.fit_spectrum("base", time_range=(5, 10), time_type="abs", stages=1, show_plot=False)

    frame = file.get_parameters(model="moving", fit_type="2d")
    table = frame.set_index("name")
    for name, true in TRUTH.items():
        if "expFun" in name:
            value, error = table.loc[name, "value"], table.loc[name, "stderr"]
            assert abs(value - true) < 5 * error + 0.01 * abs(true)
    assert list(frame["name"])[:2] == ["Offset_y0", "Shirley_pShirley"]
    columns = ["name", "value", "stderr", "init_value", "min", "max", "vary", "expr"]
    assert list(frame.columns) == columns
    slices = file.get_parameters(fit_type="sbs")
    assert len(slices) == 37
    assert list(slices.columns) == list(file.models["base"].parameters)
    assert file.get_correlations(model="moving", fit_type="2d").shape == (3, 3)
    intervals = file.get_confidence_intervals(model="moving", fit_type="2d", sigmas=[1])
    assert list(intervals.index) == list(file.get_result(fit_type="2d").free_names)

    figure = file.plot_fit(model="moving", fit_type="2d", show_plot=False)
    assert any("Binding energy" in axes.get_xlabel() for axes in figure.axes)
    file.plot_fit(fit_type="baseline", show_plot=False, full_range=True, show_init=None)
    file.plot_param_evolution(model="base", params=["GLP_01_x0"], show_plot=False)

    file.plot_sbs_slices(model="base", slices=[0, 10, 30], show_plot=False)

    comparison = file.compare_models("base", "moving", fit_type=["baseline", "2d"])
    assert set(comparison["model"]) == {"base", "moving"}
    file.save_fit(folder / "fits.h5", overwrite=True, show_output=1)
    path = file.export_fit("2d", filepath=folder / "moving.csv", overwrite=True)
    assert "GLP_01_x0_expFun_01_tau" in path.read_text()
    file.export_fit("sbs", filepath=folder / "slices.json")
    results = project.load_fits(folder / "fits.h5", fit_type="2d")
    assert len(results) == 1
    again = results[0].refit()
    assert again.values == pytest.approx(file.get_result(fit_type="2d").values, rel=1e-6)

    with pytest.raises(Exception, match="no fit"):
        file.get_parameters(handle="ffffffffffffffffffff")
    file.set_active_model("base")
    assert file.select_model(0).name == "base"
    file.delete_model("moving")
    assert list(file.models) == ["base"]
    file.reset_models()
    assert "2d fit of" not in capsys.readouterr().err


def test_several_files(folder: Path) -> None:
    data, energy, time = measured()
    project = Project(folder, "several")
    text = ENERGY_MODELS.replace("x0: [84.5, True, 82, 88]", 'x0: [84.5, "project", 82, 88]')
    (folder / "models_energy.yaml").write_text(text)
    for index in range(2):
        File(project, path=f"scan_{index}", data=data, energy=energy, time=time)
    project.load_models(model_yaml="models_energy.yaml", model_info="base")
    project.define_baselines(time_start=-5, time_stop=-0.5)
    project.set_fit_limits([89, 81], time_limits=[-4, 14])
    project.fit_baselines(model_name="base", stages=1)
    project.load_models(model_yaml="models_energy.yaml", model_info=["moving"])
    project.add_time_dependences(
        target_model="moving",
        target_parameter="GLP_01_x0",
        dynamics_yaml="models_time.yaml",
        dynamics_model="MonoExp",
        frequency=-1,
    )
    joint = project.fit_2d(model_name="moving", stages=1)
    assert set(joint.free_names) == {
        "GLP_01_x0",
        "file00_GLP_01_x0_expFun_01_A",
        "file00_GLP_01_x0_expFun_01_tau",
        "file01_GLP_01_x0_expFun_01_A",
        "file01_GLP_01_x0_expFun_01_tau",
    }
    # The same data twice: the values of one fit, errors of the shared parameter / sqrt(2) or so.
    assert joint[0].values == pytest.approx(joint[1].values, rel=1e-6)
    single = project["scan_0"].fit_2d("moving")
    assert joint[0].values == pytest.approx(single.values, rel=1e-5)
    ratio = joint.stderr["GLP_01_x0"] / single.stderr["GLP_01_x0"]
    assert ratio == pytest.approx(2**-0.5, rel=0.01)
    project.save_fits(folder / "all.h5")
    assert len(project.load_fits(folder / "all.h5")) == len(project.results) == 5
    project.describe(detail=1)
