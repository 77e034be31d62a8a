"""FitResults: finding, comparing, labelling, dropping and exporting the fits of a project."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from support.later import later
from support.two_lines import ENERGY, MODELS, TIME

from pyspec import CallError, DataError, File, FitError, FitResults, Project
from pyspec.model import load_model
from pyspec.workflow.results.identity import handle_of

pytestmark = pytest.mark.usefixtures("quick_figures")

pandas = later("pandas")
pytest.importorskip("matplotlib")
pytest.importorskip("h5py")


def measured(seed: int) -> np.ndarray:
    model = load_model(MODELS, "two")
    model.set_values({"Gauss_01_A": 20.0, "Gauss_01_x0": 84.4, "Gauss_02_A": 6.0})
    model.set_axes(energy=ENERGY, time=TIME)
    noise = np.random.default_rng(seed).normal(0, 0.3, (TIME.size, ENERGY.size))
    return np.asarray(model.evaluate() + noise)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("project")
    (folder / "models.yaml").write_text(MODELS)
    project = Project(folder, "many", show_output=0)
    for seed in (1, 2):
        file = File(project, f"scan_{seed}", data=measured(seed), energy=ENERGY, time=TIME)
        file.set_noise("gaussian", sigma=0.3)
        file.define_baseline(-2, 2)
        for name in ("one", "two"):
            file.load_model("models.yaml", name)
            file.fit_baseline(name)
    project[0].fit_slice_by_slice("one")
    project[0].fit_slice_by_slice("two")
    project[0].fit_2d("two")
    return project


def test_find_get_and_what_there_is(project: Project) -> None:
    results = project.results
    assert isinstance(results, FitResults)
    assert results == project.results
    assert results is not project.results
    assert results.files() == ["scan_1", "scan_2"]
    assert results.models(file=project[1]) == ["one", "two"]
    assert [fit.file_name for fit in results.find(model="one", fit_type="baseline")] == [
        "scan_1", "scan_2",
    ]  # fmt: skip
    found = results.get(file="scan_1", model="two", fit_type="2d")
    assert found is project[0].results[-1]
    with pytest.raises(FitError, match=r"several such fits: .* name one by handle="):
        results.get(model="one")
    with pytest.raises(FitError, match="no such fit; there are"):
        results.get(file="scan_2", fit_type="2d")
    html = results.find(file="scan_1")._repr_html_()
    assert html.count("<tr>") == 6
    assert "12 of 12" in html


def test_compare_models(project: Project) -> None:
    frame = project.results.compare_models(fit_type="baseline", file="scan_1")
    assert list(frame["model"]) == ["one", "two"]
    assert frame["aic"][1] < frame["aic"][0]
    # The baseline is a mean of five spectra.
    assert np.allclose(frame["sigma_eff"], 0.3 / np.sqrt(5))
    long = project[0].compare_models(fit_type="sbs", sbs_aggregation="long")
    assert len(long) == 24
    assert list(long["slice_index"][:4]) == [0, 0, 1, 1]
    assert set(long["model"][:2]) == {"one", "two"}
    whole = project[0].compare_models(fit_type="sbs", sbs_aggregation="sum")
    parts = [one.result for one in project.results.get(fit_type="sbs", model="two")]
    left = sum(one.n_data - one.n_free for one in parts)
    expected = sum(one.chisqr for one in parts) / left
    assert np.isclose(whole.set_index("model").loc["two", "chi2_red"], expected)
    assert len(project.results.compare_models(models=["none"])) == 0


def test_a_comparison_says_what_was_fitted_and_whether_it_converged() -> None:
    """A fit that had not converged stood among the others without a word."""
    file = File(data=measured(3)[:3], energy=ENERGY, time=TIME[:3], name="scan")
    for name, steps in (("one", None), ("two", 2)):
        file.load_model(MODELS, name)
        file.fit_spectrum(name, time_point=TIME[0], max_nfev=steps)
    file.fit_slice_by_slice("two")
    frame = file.compare_models().set_index(["fit_type", "model"])
    free = [frame.loc[("spectrum", name), "n_free"] for name in ("one", "two")]
    assert free == [fit.n_free for fit in file.results[:2]]
    assert free[0] < free[1] == frame.loc[("sbs", "two"), "n_free"]
    assert frame.loc[("spectrum", "one"), "success"]
    assert not frame.loc[("spectrum", "two"), "success"]
    assert frame.loc[("sbs", "two"), "success"]
    assert (
        list(file.compare_models(fit_type="sbs", sbs_aggregation="long")["success"]) == [True] * 3
    )


def test_variants_and_differences(project: Project) -> None:
    file = project[1]
    before = list(file.results)
    file.models["one"].set("Gauss_01_SD", max=2.5)
    file.fit_baseline("one")
    table = project.results.variants(file=file, model="one", fit_type="baseline")
    assert len(table) == 2
    assert table["Gauss_01_SD.max"].tolist() == [3.0, 2.5]
    assert "Gauss_01_A.max" not in table  # the same in both
    difference = project.results.diff(*table["handle"]).set_index("field")
    assert difference.loc["Gauss_01_SD.max", "section"] == "input"
    with pytest.raises(FitError, match="name the same fit"):
        project.results.diff(table["handle"][0], table["handle"][0])
    with pytest.raises(FitError, match="variants are those of one file"):
        project.results.variants(model="one")
    project.drop_fits(table["handle"][1])
    assert file.results == before
    file.models["one"].set("Gauss_01_SD", max=3.0)


def test_sums_of_different_kinds_are_not_compared(project: Project) -> None:
    # AIC of counts and of squares used to stand in one column, the smaller one first.
    model = load_model(MODELS, "one")
    model.set_axes(energy=ENERGY)
    counts = np.random.default_rng(1).poisson(np.asarray(model.evaluate()) + 5.0)
    file = File(data=counts, energy=ENERGY, name="counts")
    for name, noise in (("one", "poisson"), ("two", "unknown")):
        file.load_model(MODELS, name)
        file.set_noise(noise)
        file.fit_spectrum(name)
    for compare in (file.compare_models, FitResults(file.results).compare_models):
        with pytest.raises(FitError, match="deviance of counts and squares of unknown noise, so"):
            compare()
        assert len(compare(metrics=["r2", "chi2_raw"])) == 2


def test_labels(project: Project) -> None:
    results = project.results
    handle = results.variants(file="scan_1", model="two", fit_type="2d")["handle"][0]
    results.set_label(handle, "chosen")
    assert project.results.get(handle="chosen") is results.get(handle=handle)
    assert project[0].get_result(handle="chosen") is results.get(handle=handle)
    other = results.variants(file="scan_2", model="two", fit_type="baseline")["handle"][0]
    chosen = project.results.get(handle="chosen")
    assert chosen.label == "chosen"
    assert chosen.timestamp.endswith("+00:00")
    slices = project.results.get(fit_type="sbs", model="two")
    assert slices.label is None
    with pytest.raises(FitError, match="'chosen' is the label of"):
        results.set_label(other, "chosen")
    with pytest.raises(FitError, match="is no label"):
        results.set_label(other, "best")


def test_fits_that_differ_in_their_errors_alone_have_handles_of_their_own(tmp_path: Path) -> None:
    """They had the same, so that get(handle=...) gave the later one."""
    (tmp_path / "models.yaml").write_text(MODELS)
    project = Project(tmp_path, show_output=0)
    file = File(project, data=measured(1)[0], energy=ENERGY)
    file.load_model("models.yaml", "one")

    file.set_noise("gaussian", sigma=0.3)
    scaled, absolute = (
        handle_of(file.fit_spectrum("one", seed_source="model", scale_covar=one))
        for one in (True, False)
    )
    assert scaled != absolute
    first, last = (project.results.get(handle=one) for one in (scaled, absolute))
    assert first.values == last.values
    assert first.stderr != last.stderr
    assert "scale_covar" in set(project.results.diff(scaled, absolute)["field"])


def rows_of(path: Path) -> list[list[str]]:
    with path.open() as stream:
        return list(csv.reader(stream))


def test_exported_folders(project: Project, tmp_path: Path) -> None:
    folder = project[0].export_fit("2d", filepath=tmp_path)
    names = {path.name for path in folder.iterdir()}
    assert names >= {
        "params.csv", "metrics.csv", "correl.csv", "fit_2d.csv", "observed_2d.csv", "energy.csv",
        "time.csv", "fit_info.csv", "2D_data_fit_res.png",
    }  # fmt: skip
    assert folder.relative_to(tmp_path).parts[:3] == ("files", "scan_1", "two")
    assert np.allclose(np.loadtxt(folder / "energy.csv"), ENERGY)
    assert np.loadtxt(folder / "fit_2d.csv", delimiter=",").shape == (12, 61)
    with pytest.raises(DataError, match="exists already"):
        project[0].export_fit("2d", filepath=tmp_path)
    assert project[0].export_fit("2d", filepath=tmp_path, overwrite=True, pictures=False) == folder
    assert not (folder / "2D_data_fit_res.png").exists()
    paths = project.export_fits(tmp_path / "all", pictures=False)
    assert len(paths) == len(set(paths)) == len(project.results)
    slices = next(path for path in paths if (path / "fit_pars.csv").exists())
    assert len(rows_of(slices / "metrics_per_slice.csv")) == 13


@pytest.mark.parametrize(
    ("given", "model", "fit_type"),
    [
        ({}, "two", "2d"),
        ({"ref": "sbs"}, "two", "sbs"),
        ({"ref": "one"}, "one", "sbs"),
        ({"model": "one", "fit_type": "baseline"}, "one", "baseline"),
    ],
)
def test_the_last_fit_of_the_kind_is_exported(
    project: Project, tmp_path: Path, given: dict[str, str], model: str, fit_type: str
) -> None:
    folder = project[0].export_fit(**given, filepath=tmp_path, pictures=False)
    info = dict(row for row in rows_of(folder / "fit_info.csv") if len(row) == 2)
    assert (info["model"], info["fit_type"]) == (model, fit_type)


def test_one_fit_is_named_for_an_export(project: Project, tmp_path: Path) -> None:
    folder = project.export_fit("2d", filepath=tmp_path, pictures=False)
    assert ["fit_type", "2d"] in rows_of(folder / "fit_info.csv")
    with pytest.raises(CallError, match="not both"):
        project[0].export_fit("two", model="one")
    with pytest.raises(FitError, match="no fit"):
        project[1].export_fit("2d")


def test_an_exported_folder_says_how_the_fit_ended(tmp_path: Path) -> None:
    """A fit that was no success, and what it cautions about, looked like any other; slices that had
    failed were rows without values."""
    data = measured(3)[:4]
    data[1, 20] = 90.0
    file = File(Project(tmp_path, show_output=0), "scan", data=data, energy=ENERGY, time=TIME[:4])
    file.load_model(MODELS, "one")
    stopped = file.fit_spectrum("one", time_point=TIME[0], max_nfev=2)
    info = rows_of(file.export_fit(pictures=False) / "fit_info.csv")
    assert ["success", "False"] in info
    assert ["message", " ".join(stopped.message.split())] in info
    slices = file.fit_slice_by_slice("one", progress=lambda done, total: interrupt(done == 3))
    folder = file.export_fit(pictures=False)
    info = rows_of(folder / "fit_info.csv")
    assert ["message", "3 converged, 1 not run"] in info
    told = [text for field, text in info if field == "finding"]
    assert told == list(map(str, slices.findings)) != []
    rows = rows_of(folder / "metrics_per_slice.csv")[1:]
    assert [row[-3] for row in rows] == list(slices.status)
    assert rows[3][1:-3] == [""] * 7
    assert "before it ended" in rows[3][-2]
    each = [() if one.result is None else one.result.findings for one in slices]
    assert [row[-1] for row in rows] == [" | ".join(map(str, one)) for one in each]


def interrupt(now: bool) -> None:
    if now:
        raise KeyboardInterrupt


def test_a_joint_fit_is_dropped_and_exported_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(MODELS)
    project = Project(tmp_path, "joint", show_output=0)
    for seed in (1, 2):
        File(project, f"scan_{seed}", data=measured(seed), energy=ENERGY, time=TIME)
    project.load_models(model_yaml="models.yaml", model_info="shared")
    joint = project.fit_2d(model_name="shared")
    results = project.results
    assert results.find_joint(files=["scan_2", "scan_1"]) == [joint]
    assert results.find_joint(files=["scan_1"]) == []
    assert results.get_joint(model="shared") is joint
    handle = results.variants(file="scan_1")["handle"][0]
    with pytest.raises(FitError, match=r"goes as a whole: drop_fits\('(.*)'\)") as error:
        project.drop_fits(handle)
    whole = str(error.value).split("'")[-2]
    folder = project.export_fit(whole, pictures=False)
    assert sorted(path.name for path in (folder / "files").iterdir()) == ["scan_1", "scan_2"]
    project.drop_fits(whole)
    assert project.results == []
    assert project.joint_results == []
    assert len(results) == 2  # a list of before keeps what it had


def test_tables_tell_energies_of_hard_x_rays_apart(tmp_path: Path) -> None:
    """Seven digits left 20000.00 and 20000.01 for 20000.004 and 20000.006, and of a position less
    than its standard error."""
    energy = 20000 + 0.002 * np.arange(40)
    lines = "peak: {Gauss: {A: [9, True], x0: [20000.04, True, 19999, 20001], SD: [0.01, True]}}\n"
    (tmp_path / "models.yaml").write_text(lines)
    noise = np.random.default_rng(3).normal(0, 0.01, energy.size)
    data = 10 * np.exp(-0.5 * ((energy - 20000.0412345) / 0.012) ** 2) + noise
    file = File(Project(tmp_path, show_output=0), "hard", data=data, energy=energy)
    file.load_model("models.yaml", "peak")
    result = file.fit_spectrum("peak")
    folder = file.export_fit(pictures=False)
    axis = [float(row[0]) for row in rows_of(folder / "fit_1d.csv")[1:]]
    np.testing.assert_allclose(axis, energy, rtol=0, atol=1e-5)
    values = {row[0]: float(row[1]) for row in rows_of(folder / "params.csv")[1:]}
    away = abs(values["Gauss_01_x0"] - result.values["Gauss_01_x0"])
    assert away < 0.5 * result.stderr["Gauss_01_x0"]


def test_of_many_fits_twenty_are_named(project: Project) -> None:
    """A message about 2,000 fits named all of them, in 80,000 letters."""
    many = FitResults([project[0].results[0]] * 23)
    assert repr(many).endswith("(baseline of one to scan_1), and 3 more>")
    assert repr(many).count("scan_1") == 20
    with pytest.raises(FitError, match=r"no such fit; there are: .*, and 3 more$"):
        many.get(file="scan_9")
    with pytest.raises(FitError, match=r"no fit yet to scan_9; fits so far: baseline of one$"):
        many.last(file="scan_9")
    with pytest.raises(FitError, match=r"no fit 'zz'; there are: .*, and 3 more$"):
        many.get(handle="zz")
    assert repr(FitResults()) == "<FitResults: 0 fits>"
