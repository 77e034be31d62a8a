"""``pyspec demo``: simulate, fit, compare with the truth, draw."""

from __future__ import annotations

import math
import os
from argparse import Namespace
from typing import Any

from pyspec.cli.folder import check_folder
from pyspec.cli.jobs.fields import FlagError
from pyspec.errors import FitError, PyspecError
from pyspec.executor import backend_name
from pyspec.fit.results.table import text_table
from pyspec.io import write_text
from pyspec.io.parameters import plain_result
from pyspec.plot import report
from pyspec.plot.figure import as_remark
from pyspec.simulate import problem
from pyspec.workflow import File, Project

#: A fit further from the truth than this, in standard errors, is a failed demo.
MAX_PULL = 5.0

#: What the last column of the table means.
PULL = "pull: (fit - truth) / standard error; of good errors two thirds lie between -1 and +1"

#: The axes of its pictures.
LABELS = {"energy": "kinetic energy (eV)", "time": "delay (ps)"}


def run(args: Namespace) -> int:
    """Runs the demo and writes its files; returns the exit code.

    After Ctrl-C the files hold the best point so far; KeyboardInterrupt is raised at the end.
    """
    task, output = problem("demo"), args.output
    try:
        backend = backend_name(args.backend)
    except PyspecError as error:
        raise FlagError(f"--backend: {error}") from error
    check_folder(output)
    output.mkdir(parents=True, exist_ok=True)
    write_text(output / "models.yaml", task.yaml())
    laws = "\n".join(law.yaml(start=True) for law in task.moves.values())
    write_text(output / "models_time.yaml", laws)
    print(
        f"Simulating {task.time.size} spectra of {task.energy.size} energies, "
        f"Gaussian noise of {task.noise_sd:g} ...",
        flush=True,
    )
    project = Project(path=output, name="demo", backend=backend, show_output=False)
    file = File(
        project, name="simulated doublet", data=task.data(args.seed), energy=task.energy,
        time=task.time, labels=LABELS,
    )  # fmt: skip
    file.load_model("models.yaml", "doublet")
    for name, decay in task.moves.items():
        file.add_time_dependence("doublet", name, "models_time.yaml", decay.name)
    print(f"Fitting {len(file.models['doublet'].opt_param_names)} free parameters ...", flush=True)
    result = file.fit_2d("doublet", seed_source="model", progress=not args.quiet)
    truth = task.model(start=False).values
    lines: list[dict[str, Any]] = [
        {"name": row.name, "truth": truth[row.name], "start": row.init, "value": row.value,
         "stderr": row.stderr, "kind": row.kind,
         "pull": (row.value - truth[row.name]) / row.stderr if row.stderr else math.nan}
        for row in result.table if row.kind != "fixed"
    ]  # fmt: skip
    rows = [["parameter", "truth", "start", "fit", "± 1 s.e.", "pull"]]
    for line in lines:
        digits = 4 if not line["stderr"] else max(1 - math.floor(math.log10(line["stderr"])), 0)
        start = "tied" if line["kind"] == "expr" else f"{line['start']:.4g}"
        numbers = [f"{line['value']:.{digits}f}", f"{line['stderr'] or math.nan:.{digits}f}"]
        rows.append([line["name"], f"{line['truth']:g}", start, *numbers, f"{line['pull']:+.2f}"])
    table = text_table(rows, align="<>>>>>")
    args.facts.update(result=plain_result(result), folder=output, truth=lines)
    state = "converged" if result.success else "did NOT converge"
    summary = (
        f"{result.method} on the {result.backend} backend {state}: {result.nfev} evaluations of "
        f"{result.n_data} points in {result.seconds:.3g} s "
        f"({1e3 * result.seconds / max(result.nfev, 1):.2f} ms each).\n"
        f"Reduced χ² {result.redchi:.5f}; the noise put in has a variance of {task.noise_sd**2:g}."
    )
    print(f"\n{table}\n{PULL}\n\n{summary}")
    write_text(output / "report.txt", f"{table}\n{PULL}\n\n{summary}\n\n{result.correlations}\n")
    with as_remark("picture"):
        file.plot_fit(save_path=output / "demo.png", dpi=130)
    notes = [*summary.split("\n"), PULL]
    notes += [
        f"{line['name']}: truth {line['truth']:g}, pull {line['pull']:+.2f}" for line in lines
    ]
    report(result, output / "report.html", title="pyspec demo", notes=notes)
    names = ("demo.png", "report.html", "report.txt", "models.yaml", "models_time.yaml")
    written = [name for name in names if (output / name).exists()]
    print(f"Written to {output}{os.sep}: {', '.join(written)}")
    if result.interrupted:
        raise KeyboardInterrupt
    if not result.success:
        raise FitError(f"the demo's fit did not converge: {result.message}")
    for line in lines:
        if not abs(line["pull"]) <= MAX_PULL:
            raise FitError(
                f"the demo's fit missed the truth: {line['name']} = {line['value']:g} ± "
                f"{line['stderr']} against {line['truth']:g}"
            )
    worst = max(abs(line["pull"]) for line in lines)
    print(f"Every parameter lies within {worst:.2f} standard errors of the truth.")
    print(f"Open {output / 'report.html'} in a browser to see all of it on one page.")
    return 0
