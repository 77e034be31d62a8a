"""What a job may not say: the answer names the line, the field and what to write."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from pyspec.cli import main
from pyspec.cli.commands.new import JOB, MODELS, example_texts, write_folder

LAWS = """
decay: {expFun: {A: [1, True, 0, 9], tau: [2, True, 0.1, 50], t0: [0, False]}}
depth: {pLinear: {m: [1, True], b: [0, False]}}
"""
SPECTRA = "data: {path: data.csv}\nmodels: models.yaml\nmodel: doublet\n"
SPECTRUM = "data: {path: table.csv, columns: [energy, s1]}\nmodels: peak.yaml\n"
TRACE = "data: {path: trace.csv}\nmodels: laws.yaml\nmodel: decay\n"
MAP = "data: {path: map.h5"
PROFILE = "profiles: {parameter: GLP_01_x0, model: "

#: Lines, or a text of the template and what stands in its place, and the answer.
WRONG: list[tuple[str | tuple[str, str], str]] = [
    # fields
    ("modls: a\n" + SPECTRA, "job.yaml:1: modls: a job has no field 'modls'; did you mean 'mod"),
    ("fits: {}\n" + SPECTRA, "it has name, data, model, models, dynamics, profiles, auxiliary"),
    ("models: m.yaml\n", "data: is missing; give 'data:'"),
    ("data: {path: d.csv}\n", "'models:' is missing"),
    ("data: {path: t.csv}\nmodel: m.yaml\n", "job.yaml:1: 'models:' is missing; give"),
    (SPECTRA + "data: {path: e.csv}\n", "data: given twice, first in line 1"),
    ("data: {path: d, format: cvs}\nmodels: m\n", "did you mean 'csv'"),
    ("data: {path: d, select: {x: ten}}\nmodels: m\n", "data.select.x: give a number or"),
    ("data: {path: d, at: {x: 1.5}}\nmodels: m\n", "gives positions, whole numbers"),
    ("data: scan.csv\nmodels: models.yaml\n", "such as 'data: {path: scan.csv}'"),
    ("data: {path: a}\nmodels: {path: m}\n", "give one word, 'models: …', not fields"),
    ("- a\n", "is no job, which has the fields"),
    ("a: [\n", "not valid YAML"),
    (SPECTRA + "limits: {energy: [1, 2, 3]}", "job.yaml:4: limits.energy: give two numbers"),
    (SPECTRA + "limits: [1, 2]", "limits: holds fields"),
    (SPECTRA + "limits: {exclude: [1, 2]}", "limits.exclude: give a list of ranges"),
    (SPECTRA + "limits: {exclude: [[1, a]]}", "limits.exclude: give a finite number, not 'a'"),
    (SPECTRA + "noise: {type: poisson, sigma: 1}", "counts have no sigma"),
    (SPECTRA + "noise: {sigma: true}", "noise.sigma: give a finite number"),
    (SPECTRA + "noise: {sigma: errors.csv}", "errors.csv"),
    (SPECTRA + "plot: {x_dir: down}", "plot.x_dir: PlotConfig: x_dir must be one of"),
    (SPECTRA + "dynamics: [fade]", "dynamics: holds a list"),
    (SPECTRA + "dynamics: fade", "each entry in a line '- {parameter: …, model: fade}'"),
    (SPECTRA + "dynamics: {model: fade}", "dynamics[0]: 'parameter:' is missing"),
    (SPECTRA + "dynamics: {parameter: a}", "dynamics[0].model: is missing"),
    (SPECTRA + "dynamics: [GLP_01_A: fade]", "dynamics[0].GLP_01_A: write '-"),
    (SPECTRA + "auxiliary: {values: [0, 1], points: 9}", "auxiliary: give 'values:"),
    (SPECTRA + "output: {archive: yes}", "output.archive: give true or false"),
    # fits and their options
    (SPECTRA + "fit: 2d", "such as 'fit: {type: 2d}'"),
    (SPECTRA + "fit: {method: [nelder, leastsqq]}", "fit.method: unknown fit method 'leastsqq"),
    (SPECTRA + "fit:\n  stages: 2", "job.yaml:5: fit.stages: "),
    (SPECTRA + "fit:\n  backend: compild", "job.yaml:5: fit.backend: unknown backend"),
    (SPECTRA + "fit: {options: {ftoll: 1}}", "fit.options.ftoll: fit: native takes no option"),
    (SPECTRA + "fit: {max_evaluations: 0}", "whole number of at least 1"),
    (SPECTRA + "fit: {n_starts: 3}", "fit.n_starts: is an option: write 'options: {n_starts: …}'"),
    (SPECTRA + "fit: {options: {n_starts: many}}", "fit.options.n_starts: give a whole"),
    (SPECTRA + "fit: {options: {linear: eliminat}}", "job.yaml:4: fit.options.linear"),
    (SPECTRA + "fit: {options: {n_start: 3}}", "fit.options.n_start: fit: fits have no"),
    (SPECTRA + "fit: {options: {max_seconds: -1}}", "job.yaml:4: fit.options.max_seconds: "),
    (SPECTRA + "fit: {options: {seed: -1}}", "fit.options.seed: seed must be a whole"),
    (SPECTRA + "fit: {options: {sigma: 2}}", "no option; write 'noise: {sigma: 0.4}'"),
    # These were taken and had no effect.
    (SPECTRUM + "noise: {type: gaussian, sigma: 5, scale: 3}", "scale belongs to 'type"),
    (SPECTRUM + "noise: {type: none, sigma: 5}", "sigma belongs to 'type: gaussian'"),
    (SPECTRA + "fit: {type: 2d, spectrum: 1}", "fit: 'spectrum:' belongs to 'type: spectrum'"),
    (SPECTRA + "fit: {workers: 2}", "C uses the threads that PYSPEC_NUM_THREADS allows"),
    # what data and models show
    (("path: data.csv", "path: dta.csv"), "did you mean 'data.csv'"),
    (("path: data.csv", "to: nm\n  path: data.csv"), "say units: {energy: eV} or another of"),
    (("path: data.csv", "shift: {enrgy: 1}\n  path: data.csv"), "did you mean 'energy'"),
    (("models: models.yaml", "models: model.yaml"), "did you mean 'models.yaml'"),
    (("model: doublet", "model: dublet"), "did you mean 'doublet'"),
    (("model: doublet", "#"), "models: models.yaml: has the models doublet, second; say which"),
    (("model: doublet", "model: fade"), "job.yaml:24: model: models.yaml:27: fade: has laws of"),
    (("GLP_01_A, model: fade", "GLP_1_A, model: fade"), "did you mean 'GLP_01_A'"),
    (("model: fade}", "model: fad}"), "dynamics[0].model: "),
    (("energy: [1.0, 19.0]", "energy: [30, 40]"), "limits: no point of the energy axis"),
    (("19.0]", "9]\n  exclude: [[null, 12]]"), "limits: exclude: leaves no point of"),
    (("baseline: [-10, -1]", "baseline: [-90, -80]"), "baseline: no point of the time axis"),
    (("type: 2d", "type: spectrum"), "which spectrum? write"),
    (("type: 2d", "type: trace"), "fit: the data are spectra over time; take one energy for a"),
    (SPECTRA + "fit: {type: baseline}", "type baseline needs"),
    (("output: results ", "output: job.yaml "), "job.yaml: is a file; the output is a"),
    (
        ("limits:", PROFILE + "depth}\nlimits:"),
        "profiles[0].model: file 'data' has no auxiliary ax",
    ),
    (("limits:", "auxiliary: {values: [0, 1, 1]}\nlimits:"), "auxiliary: the auxiliary axis has"),
    # Of several profiles the first was taken, in silence.
    (
        ("limits:", f"{PROFILE}[a, b]}}\nauxiliary: {{values: [0, 1]}}\nlimits:"),
        "profiles[0].model: profile_model is ['a', 'b']; name one model",
    ),
    # what one spectrum does not have
    ("data: {path: table.csv}\nmodels: peak.yaml\n", "data.path: has more than one column"),
    (SPECTRUM + "fit: {type: 2d}", "needs a time axis: write type: spectrum"),
    (SPECTRUM + "fit: {spectrum: 3}", "leave 'spectrum:' out"),
    (SPECTRUM + "limits: {time: [0, 1]}", "leave 'time:' out"),
    (SPECTRUM + "baseline: [0, 1]", "leave it out"),
    (SPECTRUM + "dynamics: {parameter: Offset_y0, model: fade}", "nothing moves in time"),
    # a map needs a place
    (MAP + "}\nmodels: peak.yaml\n", "'at: {y: 1, x: 1}'"),
    (MAP + ", select: {x: 99, y: 0}}\nmodels: peak.yaml\n", "no position (0 to 2)"),
    # what a trace does not have
    (TRACE + "fit: {type: 2d}", "fit: the data are one trace; type 2d needs an energy axis: write"),
    (TRACE + "fit: {spectrum: 0.0}", "fit: the data are one trace; leave 'spectrum:' out"),
    (TRACE + "limits: {energy: [1, 2]}", "limits: the data are one trace; leave 'energy:' out"),
    (TRACE + "baseline: [-2, -1]", "baseline: the data are one trace; leave it out"),
    (TRACE + "dynamics: {parameter: a, model: b}", "its time laws are the model: leave it out"),
    (TRACE + "noise: {type: poisson}", "noise: 'type: poisson' needs counts"),
    (
        TRACE + PROFILE.replace("GLP_01_x0", "expFun_01_A") + "depth}",
        "profiles[0].model: laws.yaml",
    ),
    ("data: {path: trace.csv}\nmodels: peak.yaml\n", "if it is energy, write 'rename: {time"),
    # ``--check`` said that all is well.
    (TRACE + "limits: {time: [0.0, 0.1]}", "fit: decay: 1 points cannot determine 2 free"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Spectra over time, a spectrum and a trace with their models."""
    folder = tmp_path_factory.mktemp("jobs")
    beside = "second: {Offset: {y0: [1, True]}}\n" + LAWS
    write_folder(folder, {**example_texts(), "models.yaml": MODELS + beside}, force=False)
    (folder / "laws.yaml").write_text(LAWS)
    (folder / "peak.yaml").write_text("line: {Offset: {y0: [1, True]}}\n")
    (folder / "table.csv").write_text("energy,s1,s2\n1,5,0.5\n2,6,0.6\n3,7,0.7\n")
    with h5py.File(folder / "map.h5", "w") as file:
        file["counts"] = np.ones((2, 3, 9))
        for k, (name, size) in enumerate({"y": 2, "x": 3, "energy": 9}.items()):
            file[name] = np.arange(float(size))
            file[name].make_scale(name)
            file["counts"].dims[k].attach_scale(file[name])
    time = np.linspace(-2, 20, 111)
    table = np.c_[time, 3 * np.exp(-time / 4) - 1]
    np.savetxt(folder / "trace.csv", table, delimiter=",", header="delay (ps),dA", comments="")
    return folder


def answer(job: str, capsys: pytest.CaptureFixture[str], *check: str) -> str:
    Path("job.yaml").write_text(job, encoding="utf-8")
    assert main(["fit", "job.yaml", "-q", *check]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize(("job", "says"), WRONG)
def test_the_answer_says_where_and_what_to_write(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    job: str | tuple[str, str],
    says: str,
) -> None:
    monkeypatch.chdir(home)
    assert isinstance(job, str) or job[0] in JOB
    text = job if isinstance(job, str) else JOB.replace(*job, 1)
    assert says in answer(text, capsys)
    assert says in answer(text, capsys, "--check")


def test_what_only_the_fit_refuses(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It did not say where that stands."""
    monkeypatch.chdir(home)
    job = JOB.replace("method: native", "options: {ftoll: 1}\n  method: leastsq")
    assert "job.yaml:44: fit: doublet: leastsq: leastsq() got an unexpected" in answer(job, capsys)
