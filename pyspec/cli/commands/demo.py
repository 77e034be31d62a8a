"""``pyspec demo``: simulate, fit, compare with the truth, draw."""

from __future__ import annotations

import base64
import math
import os
from argparse import Namespace
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from pyspec.cli.folder import check_folder
from pyspec.cli.jobs.fields import FlagError
from pyspec.errors import FitError, PyspecError
from pyspec.executor import backend_name
from pyspec.fit import FitResult
from pyspec.fit.results.table import text_table
from pyspec.io import write_text
from pyspec.io.parameters import plain_result
from pyspec.plot.figure import as_remark
from pyspec.plot.reports.html import html_rows, section
from pyspec.plot.reports.page import CSS, PAGE
from pyspec.simulate import Problem, problem
from pyspec.workflow import File, Project

#: A fit further from the truth than this, in standard errors, is a failed demo.
MAX_PULL = 5.0

#: What the last column of the table means.
PULL = "pull: (fit - truth) / standard error; of good errors two thirds lie between -1 and +1"


@dataclass(frozen=True)
class Line:
    """One parameter of the demo: truth, start, fit, and the distance in standard errors."""

    name: str
    truth: float
    start: float | None
    value: float
    stderr: float | None
    kind: str

    @property
    def pull(self) -> float:
        """(fit - truth) / standard error; NaN without one."""
        return (self.value - self.truth) / self.stderr if self.stderr else math.nan


def run(given: Namespace) -> int:
    """Runs the demo and writes its files; returns the exit code.

    After Ctrl-C the files hold the best point so far; KeyboardInterrupt is raised at the end.
    """
    task, output = problem("demo"), given.output
    try:
        backend = backend_name(given.backend)
    except PyspecError as error:
        raise FlagError(f"--backend: {error}") from error
    check_folder(output)
    output.mkdir(parents=True, exist_ok=True)
    write_text(output / "models.yaml", task.yaml())
    write_text(
        output / "models_time.yaml", "\n".join(d.yaml(start=True) for d in task.moves.values())
    )
    print(
        f"Simulating {task.time.size} spectra of {task.energy.size} energies, "
        f"Gaussian noise of {task.noise_sd:g} ...",
        flush=True,
    )
    file = load(task, output, backend, given.seed)
    print(f"Fitting {len(file.models['doublet'].opt_param_names)} free parameters ...", flush=True)
    result = file.fit_2d("doublet", seed_source="model", progress=not given.quiet)
    lines = compare(task, result)
    table = text_table(cells(lines), align="<>>>>>")
    given.facts.update(result=plain_result(result), folder=output)
    given.facts["truth"] = [{**asdict(line), "pull": line.pull} for line in lines]
    state = "converged" if result.success else "did NOT converge"
    summary = (
        f"{result.method} on the {result.backend} backend {state}: {result.nfev} evaluations of "
        f"{result.n_data} points in {result.seconds:.3g} s "
        f"({1e3 * result.seconds / max(result.nfev, 1):.2f} ms each).\n"
        f"Reduced χ² {result.redchi:.5f}; the noise put in has a variance of {task.noise_sd**2:g}."
    )
    print(f"\n{table}\n{PULL}\n\n{summary}")
    write_text(output / "report.txt", f"{table}\n{PULL}\n\n{summary}\n\n{result.correlations}\n")
    picture, path = None, output / "demo.png"
    with as_remark("picture"):
        file.plot_fit(
            save_path=path, dpi=130, energy_label="kinetic energy (eV)", time_label="delay (ps)"
        )
        picture = path.read_bytes()
    write_text(output / "report.html", report(lines, summary, picture))
    written = ["demo.png"] * (picture is not None) + ["report.html", "report.txt", "models.yaml"]
    print(f"Written to {output}{os.sep}: {', '.join(written)}, models_time.yaml")
    if result.interrupted:
        raise KeyboardInterrupt
    code = verdict(lines, result)
    print(f"Open {output / 'report.html'} in a browser to see all of it on one page.")
    return code


def load(task: Problem, output: Path, backend: str, seed: int | None) -> File:
    """The File that a user would have: data, axes, a model with two moving parameters."""
    project = Project(path=output, name="demo", backend=backend, show_output=False)
    file = File(
        project, name="simulated doublet", data=task.data(seed), energy=task.energy, time=task.time
    )
    file.load_model("models.yaml", "doublet")
    for name, decay in task.moves.items():
        file.add_time_dependence("doublet", name, "models_time.yaml", decay.name)
    return file


def compare(task: Problem, result: FitResult) -> list[Line]:
    """Every free parameter and follower against the truth."""
    truth = task.model(start=False).values
    return [
        Line(row.name, truth[row.name], row.init, row.value, row.stderr, row.kind)
        for row in result.table
        if row.kind != "fixed"
    ]


def cells(lines: list[Line]) -> list[list[str]]:
    """The table of the demo: head and rows."""
    rows = [["parameter", "truth", "start", "fit", "± 1 s.e.", "pull"]]
    for line in lines:
        start = "tied" if line.kind == "expr" else f"{line.start:.4g}"
        digits = 4 if not line.stderr else max(1 - math.floor(math.log10(line.stderr)), 0)
        error = "" if line.stderr is None else f"{line.stderr:.{digits}f}"
        pull = "" if math.isnan(line.pull) else f"{line.pull:+.2f}"
        rows.append([line.name, f"{line.truth:g}", start, f"{line.value:.{digits}f}", error, pull])
    return rows


def verdict(lines: list[Line], result: FitResult) -> int:
    """Returns 0 if the fit found the truth, else raises what is wrong."""
    far = [line for line in lines if not abs(line.pull) <= MAX_PULL]
    if not result.success:
        raise FitError(f"the demo's fit did not converge: {result.message}")
    if far:
        raise FitError(
            f"the demo's fit missed the truth: {far[0].name} = {far[0].value:g} ± "
            f"{far[0].stderr} against {far[0].truth:g}"
        )
    worst = max(abs(line.pull) for line in lines)
    print(f"Every parameter lies within {worst:.2f} standard errors of the truth.")
    return 0


def report(lines: list[Line], summary: str, picture: bytes | None) -> str:
    """The page as one file, the picture inside, in the look of the reports of fits."""
    image = ""
    if picture is not None:
        encoded = base64.b64encode(picture).decode()
        image = f'<img alt="data, fit and residual" src="data:image/png;base64,{encoded}">'
    head, *rows = cells(lines)
    table = html_rows(head, [("", row) for row in rows], "wide")
    parts = (
        section("", "<br>".join(map(escape, summary.split("\n")))),
        section("", image),
        section("Parameters", f"{table}<p>{escape(PULL)}</p>"),
    )
    return PAGE.format(
        title="pyspec demo", css=CSS, badge="", body="\n".join(parts),
        subtitle="A simulated doublet, fitted and compared with the truth",
    )  # fmt: skip
