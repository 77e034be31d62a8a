"""``pyspec new DIR DATA``: a job and a model for a file of one's own, which fit at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from pyspec import load_fit, read
from pyspec.cli import main
from pyspec.cli.arguments import build_parser
from pyspec.cli.commands.show import part_of
from pyspec.cli.jobs.job import read_job
from pyspec.cli.jobs.loader import load_data

pytestmark = pytest.mark.usefixtures("numbers_alone")

ENERGY = np.linspace(95.0, 80.0, 301)  # binding energies, which fall


def line(x0: float, fwhm: float) -> np.ndarray:
    return np.exp(-4 * np.log(2) * ((ENERGY - x0) / fwhm) ** 2)


def spectrum(heights: tuple[float, float] = (400.0, 250.0)) -> np.ndarray:
    peaks = heights[0] * line(84.0, 1.2) + heights[1] * line(87.7, 1.2)
    return 50.0 + peaks + 0.01 * np.cumsum(peaks[::-1])[::-1]


@pytest.fixture
def single(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spectrum of two lines with their loss, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    data = spectrum() + np.random.default_rng(3).normal(0, 3.0, ENERGY.size)
    (tmp_path / "scans").mkdir()
    path = tmp_path / "scans" / "gold.csv"
    np.savetxt(path, np.c_[ENERGY, data], "%.3f,%.4f", header="binding energy (eV),counts")
    return path


@pytest.fixture
def series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, np.ndarray]:
    """A series whose first line decays, and the times."""
    monkeypatch.chdir(tmp_path)
    time = np.linspace(-5.0, 45.0, 51)
    first = 300.0 + np.where(time < 0, 0.0, 100.0 * np.exp(-np.clip(time, 0, None) / 8.0))
    rows = np.array([50 + a * line(84.0, 1.2) + 200 * line(87.7, 1.2) for a in first])
    rows += np.random.default_rng(4).normal(0, 2.0, rows.shape)
    path = tmp_path / "scan.npz"
    np.savez(path, data=rows, energy=ENERGY, time=time)
    return path, time


def test_a_spectrum_is_fitted_with_what_was_written(
    single: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "au", "scans/gold.csv"]) == 0
    assert "read off the data" in capsys.readouterr().out
    job = read_job("au/job.yaml")
    assert (job.fit.type, job.model, job.name) == ("spectrum", "peaks", "gold")
    assert job.data.path.resolve() == single.resolve()
    model = yaml.safe_load(Path("au/models.yaml").read_text().replace("  GLP:", "  A:", 1))
    assert list(model["peaks"]) == ["Offset", "Shirley", "A", "GLP"]
    assert main(["fit", "au/job.yaml", "--quiet"]) == 0
    result = load_fit("au/results/fits.h5")
    for name, truth in {"GLP_01_x0": 84.0, "GLP_02_x0": 87.7, "GLP_01_F": 1.2}.items():
        assert abs(result.values[name] - truth) < 5 * result.stderr[name]


@pytest.mark.slow
def test_the_heights_of_a_series_are_free_at_each_time(series: tuple[Path, np.ndarray]) -> None:
    path, time = series
    assert main(["new", "au", str(path)]) == 0
    assert main(["fit", "au/job.yaml", "--quiet"]) == 0
    result = load_fit("au/results/fits.h5")
    assert result.amplitudes is not None
    heights, error = result.amplitudes["GLP_01_A"], result.amplitudes.stderr["GLP_01_A"]
    truth = 300.0 + np.where(time < 0, 0.0, 100.0 * np.exp(-np.clip(time, 0, None) / 8.0))
    assert np.abs((heights - truth) / error).max() < 5.0


@pytest.mark.slow
def test_the_law_that_is_written_beside_them_fits_too(series: tuple[Path, np.ndarray]) -> None:
    main(["new", "au", str(series[0])])
    job, models = Path("au/job.yaml"), Path("au/models.yaml")
    text = job.read_text().replace("# dynamics:", "dynamics:").replace("#   - {", "  - {")
    job.write_text(text)
    text = models.read_text()
    level = text[text.index("A: [") : text.index("]   in place") + 1]
    text = text.replace("A: {free: time, min: 0}", level)
    text = text.replace("y0: {free: time}", "y0: [50, True]")
    models.write_text(text.replace("{free: time}", "[0, True]"))
    assert main(["fit", "au/job.yaml", "--quiet"]) == 0
    result = load_fit("au/results/fits.h5")
    tau = "GLP_01_A_expFun_01_tau"
    assert abs(result.values[tau] - 8.0) < 5 * result.stderr[tau]


def test_how_the_file_was_read_stands_in_the_job(tmp_path: Path, single: Path) -> None:
    table = np.c_[np.loadtxt(single, delimiter=","), np.zeros(ENERGY.size)][:, [2, 0, 1]]
    np.savetxt(tmp_path / "wide.txt", table, "%.4f", header="other energy counts", comments="")
    words = ["--columns", "1", "2", "--units", "energy=eV", "--select", "energy=81:93"]
    assert main(["new", "au", "wide.txt", *words, "--peaks", "1"]) == 0
    data = yaml.safe_load(Path("au/job.yaml").read_text())["data"]
    assert data == {
        "path": "../wide.txt",
        "columns": ["1", "2"],
        "units": {"energy": "eV"},
        "select": {"energy": [81, 93]},
    }
    assert Path("au/models.yaml").read_text().count("GLP:") == 1
    assert main(["fit", "au/job.yaml", "--check"]) == 0


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--at", "time=010"], {"at": {"time": 10}}),
        (["--select", "time=010."], {"select": {"time": 10.0}}),
        (["--select", "energy=082:+9e1"], {"select": {"energy": [82, 90.0]}}),
    ],
)
def test_the_job_reads_what_the_options_read(
    words: list[str], field: object, series: tuple[Path, np.ndarray]
) -> None:
    assert main(["new", "au", str(series[0]), *words]) == 0
    data = yaml.safe_load(Path("au/job.yaml").read_text())["data"]
    assert {key: value for key, value in data.items() if key != "path"} == field
    given = build_parser().parse_args(["new", "au", str(series[0]), *words])
    told, fitted = part_of(read(series[0]), given), load_data(read_job("au/job.yaml"))
    assert np.array_equal(told.data, fitted.data)


def test_values_that_are_nan_are_left_out(single: Path) -> None:
    rows = np.loadtxt(single, delimiter=",")
    rows[100, 1] = np.nan
    np.savetxt(single, rows, "%.3f,%.4f", header="binding energy (eV),counts")
    assert main(["new", "au", str(single)]) == 0
    assert yaml.safe_load(Path("au/job.yaml").read_text())["data"]["mask"] == "nan"
    assert main(["fit", "au/job.yaml", "--quiet"]) == 0


@pytest.mark.parametrize("slope", [8.0, -25.0])
def test_the_higher_end_of_a_background_is_no_peak(slope: float, single: Path) -> None:
    data = spectrum((400.0, 250.0)) + slope * (ENERGY - 80.0) + 400.0
    np.savetxt("slope.csv", np.c_[ENERGY, data], "%.4f", ",")
    assert main(["new", "au", "slope.csv"]) == 0
    assert Path("au/models.yaml").read_text().count("GLP:") == 2
    assert main(["fit", "au/job.yaml", "--quiet"]) == 0
    result = load_fit("au/results/fits.h5")
    assert abs(result.values["GLP_01_x0"] - 84.0) < 0.2
    assert abs(result.values["GLP_02_x0"] - 87.7) < 0.2


@pytest.mark.parametrize(
    ("signs", "times"),
    [((-1.0, -1.0), 0), ((1.0, -1.0), 0), pytest.param((-1.0, 0.5), 12, marks=pytest.mark.slow)],
)
def test_dips_below_zero_are_peaks_of_negative_height(
    signs: tuple[float, float], times: int, single: Path
) -> None:
    data = 1e-3 * (signs[0] * line(84.0, 1.2) + signs[1] * line(88.0, 1.5))
    data = data + np.random.default_rng(2).normal(0, 1e-5, (max(times, 1), ENERGY.size))
    path = Path("dips.npz")
    axes = {"energy": ENERGY, "time": np.arange(12.0)} if times else {"energy": ENERGY}
    np.savez(path, data=data if times else data[0], **axes)
    assert main(["new", "au", str(path)]) == 0
    assert Path("au/models.yaml").read_text().count("GLP:") == 2
    assert main(["fit", "au/job.yaml", "--quiet"]) == 0
    result = load_fit("au/results/fits.h5")
    truth = {"GLP_01_x0": 84.0, "GLP_02_x0": 88.0, "GLP_01_F": 1.2, "GLP_02_F": 1.5}
    if not times:
        truth |= {"GLP_01_A": 1e-3 * signs[0], "GLP_02_A": 1e-3 * signs[1]}
    for name, value in truth.items():
        assert abs(result.values[name] / value - 1.0) < 0.05


@pytest.mark.parametrize("zeros", [0, 1])
def test_standard_errors_of_zero_are_left_out(zeros: int, single: Path) -> None:
    rows = np.loadtxt(single, delimiter=",")
    errors = np.full(ENERGY.size, 3.0)
    errors[:zeros] = 0.0
    table = np.c_[rows, errors]
    np.savetxt(single, table, "%.4f", ",", header="binding energy (eV),counts,sigma", comments="")
    assert main(["new", "au", str(single)]) == 0
    noise = yaml.safe_load(Path("au/job.yaml").read_text()).get("noise")
    assert noise == ({"type": "none"} if zeros else None)
    assert main(["fit", "au/job.yaml", "--quiet"]) == 0


@pytest.mark.parametrize("n", [7, 12, 15])
def test_few_points_are_fitted_with_as_many_peaks_as_they_allow(n: int, single: Path) -> None:
    energy = np.linspace(80.0, 92.0, n)
    np.savetxt("few.csv", np.c_[energy, np.where(np.arange(n) % 4 == 2, 400.0, 100.0)], "%.5f")
    assert main(["new", "au", "few.csv"]) == 0
    assert Path("au/models.yaml").read_text().count("GLP:") <= (n - 3) // 4
    assert main(["fit", "au/job.yaml", "--check"]) == 0


def test_counts_are_offered_their_noise(tmp_path: Path) -> None:
    """The first fit of counts cautions to declare them, and the job did not say where."""
    counts = np.random.default_rng(1).poisson(spectrum())
    np.savetxt(tmp_path / "n.csv", np.c_[ENERGY, counts], "%.2f,%d", header="BE (eV),counts")
    assert main(["new", str(tmp_path / "a"), str(tmp_path / "n.csv")]) == 0
    job = tmp_path / "a" / "job.yaml"
    assert "these are whole numbers: of counts take the # away" in job.read_text()
    job.write_text(job.read_text().replace("# noise", "noise"))
    assert main(["fit", str(job), "--quiet"]) == 0
    assert 0.7 < load_fit(tmp_path / "a/results/fits.h5").redchi < 1.4


def test_widths_lie_within_their_bounds_for_any_steps(single: Path) -> None:
    for energy in (np.linspace(80.0, 92.0, 21), np.array([80, 80.1, 80.2, 81.2, 82.2, 83.2, 84.2])):
        peaks = "4" if energy.size > 20 else "1"
        data = np.exp(-((energy - 82.0) ** 2))
        np.savetxt("few.csv", np.c_[energy, data], "%.5f")
        assert main(["new", "au", "few.csv", "--peaks", peaks, "--force"]) == 0
        assert main(["fit", "au/job.yaml", "--check"]) == 0
