"""The arguments of the command ``pyspec``, with help that teaches."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pyspec._version import VERSION
from pyspec.cli.completion import SHELLS
from pyspec.cli.parser import Parser, WrongArguments

__all__ = ["Parser", "WrongArguments", "build_parser"]

#: As of :data:`pyspec.executor.BACKENDS`, which is not imported for a help text.
BACKENDS = ("compiled", "interpreted", "tree", "compare")

#: As of :data:`pyspec.passes.PASSES`, which is not imported for a help text either.
PASSES = ("fold", "drop", "share", "classify", "separable")

#: The methods that completion offers; lmfit knows more.
METHODS = (
    "native", "leastsq", "least_squares", "nelder", "powell", "lbfgsb", "cobyla", "slsqp",
    "differential_evolution", "basinhopping", "dual_annealing", "shgo", "ampgo", "emcee",
)  # fmt: skip

_TOP = """\
start here:
  pyspec new my_fit          write a commented job, a model and some data
  pyspec fit my_fit/job.yaml fit it; look at my_fit/results/report.html
  pyspec show my_data.csv    what does pyspec see in my file?

exit codes: 0 all well, 1 an error or a damaged archive, 2 wrong arguments, 3 the fit did not
converge, 130 Ctrl-C, 143 SIGTERM
'pyspec COMMAND --help' has examples for each command
"""

_FIT = """\
A job file says what to read, which model to fit, and where to write. 'pyspec new' writes one
with every field explained. The shortest, for one spectrum:

  data: {path: spectrum.csv}
  models: models.yaml
  model: doublet

Written to the output folder: report.html (everything on one page), parameters.csv and .json,
fit.png, and fits.h5, an archive from which the fit can be looked at and repeated.

examples:
  pyspec fit job.yaml
  pyspec fit job.yaml --check                   read job, data and model; fit nothing
  pyspec fit job.yaml --type slices             spectrum by spectrum
  pyspec fit job.yaml --method nelder -o try_2
"""

_NEW = """\
Writes job.yaml and models.yaml, both commented, and data.csv, which is simulated, so that
'pyspec fit' runs at once. Then replace the data by your own and the peaks by yours.

examples:
  pyspec new             into this folder
  pyspec new au_4f
"""

_SIMULATE = """\
Evaluates a model at the values of its file and adds noise. A job file gives model, dynamics and
the axes of its data.

noise: gaussian:0.02   standard deviation, in units of the largest value
       poisson:5       counts for each unit of the data
       counts:1e5      counts in each spectrum
       none

examples:
  pyspec simulate models.yaml --model doublet --energy 80:92:240 -o data.csv
  pyspec simulate models.yaml --model doublet --energy 80:92:240 --time -10:90:200 \\
      --dynamics GLP_01_x0=decay --set GLP_01_A=12 --noise counts:1e5 --seed 7 --picture
  pyspec simulate job.yaml -o data.npz
"""

_EXPLAIN = """\
Prints the components and what each Shirley reads, the parameters, the order in which
expressions are resolved, what moves in time, and the formulas of all functions.

examples:
  pyspec explain models.yaml --model doublet
  pyspec explain models.yaml --model doublet --dynamics GLP_01_x0=decay
  pyspec explain models.yaml --dynamics GLP_01_x0=irf,up,down@0.25 --plan
  pyspec explain job.yaml --graph
  pyspec explain job.yaml --jacobian            how each parameter's derivative is computed
  pyspec explain job.yaml --after=share         the graph once equal nodes have become one
  pyspec explain job.yaml --picture graph.svg   the graph drawn, inputs on the left
"""

_DIFF = """\
Prints what differs between two models as the compiler understands them: values, bounds, nodes and
edges, by name, on axes of a few points. Two models of the same structure share one compiled plan.

examples:
  pyspec diff old.yaml new.yaml
  pyspec diff models.yaml models.yaml --model one --other two
  pyspec diff job.yaml job_2.yaml --after=share   what is left of it behind the passes
"""

_SHOW = """\
Says what was found in a data file, how it was understood and how to say it otherwise, and draws
it: a line, a map, or a map of places beside its spectra.

examples:
  pyspec show scan.csv
  pyspec show map.nc --select x=10 --select y=12     one place (positions from 0)
  pyspec show map.nc --mean x y                      the mean spectrum
  pyspec show data.csv --energy energy.csv --time time.csv -o look.png
"""

_OPS = """\
examples:
  pyspec ops         all functions that a model may name
  pyspec ops GLP     one of them in full
"""


_COMPLETION = """\
bash: add  source <(pyspec completion bash)  to ~/.bashrc
zsh:  add  source <(pyspec completion zsh)  to ~/.zshrc, after compinit
fish: add  pyspec completion fish | source  to config.fish
"""


def build_parser() -> argparse.ArgumentParser:
    """The argument parser."""
    parser = Parser(
        prog="pyspec",
        description="Fits of energy-resolved and time-and-energy-resolved spectra.",
        epilog=_TOP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"pyspec {VERSION}")
    parser.add_argument(
        "--traceback", action="store_true", help="show the Python traceback of an error"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for add in (
        _add_fit,
        _add_new,
        _add_show,
        _add_explain,
        _add_diff,
        _add_simulate,
        _add_ops,
        _add_verify,
        _add_demo,
        _add_completion,
    ):
        add(commands)
    return parser


def _command(commands: Any, name: str, short: str, text: str = "") -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=short,
        description=short[0].upper() + short[1:] + ".",
        epilog=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # After the command as well; SUPPRESS keeps what stood before it.
    command.add_argument(
        "--traceback", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    command.add_argument("--json", action="store_true", help="one JSON object in place of words")
    return command


def _path(text: str) -> Path:
    """A path; an empty word, as of a variable that is not set, would be the working directory."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty; give a name")
    return Path(text)


def _seed(text: str) -> int:
    """A whole number from 0 on."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 on, not {text!r}")
    return int(text)


def _workers(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, not {text!r}")
    return int(text)


def _choose(action: argparse.Action, *values: str) -> None:
    """Values that completion offers; the command itself says what is wrong with others."""
    action.values = values  # type: ignore[attr-defined]


def _add_fit(commands: Any) -> None:
    fit = _command(commands, "fit", "fit what a job file says, write report and results", _FIT)
    fit.add_argument("job", type=Path, metavar="JOB.yaml")
    fit.add_argument("-o", "--output", type=_path, metavar="DIR", help="in place of the job's")
    kind = fit.add_argument("--type", help="2d, spectrum, baseline or slices")
    _choose(kind, "2d", "spectrum", "baseline", "slices")
    method = fit.add_argument(
        "--method", help="native (the default), leastsq, nelder, … any method of lmfit"
    )
    _choose(method, *METHODS)
    linear = fit.add_argument("--linear", help="eliminate: solve for heights, offsets, slopes")
    _choose(linear, "eliminate")
    backend = fit.add_argument("--backend", help="compiled, interpreted, tree or compare")
    _choose(backend, *BACKENDS)
    fit.add_argument("--scheduler", metavar="ADDRESS", help="of a dask cluster that shares the fit")
    fit.add_argument("--workers", type=_workers, metavar="N", help="processes that share the fit")
    fit.add_argument("--check", action="store_true", help="read everything, fit nothing")
    fit.add_argument("-q", "--quiet", action="store_true", help="the result alone")


def _add_new(commands: Any) -> None:
    new = _command(commands, "new", "write a commented job and model to start from", _NEW)
    new.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="DIR")
    new.add_argument("--force", action="store_true", help="overwrite files that are there")


def _add_show(commands: Any) -> None:
    show = _command(commands, "show", "say and draw what is in a data file", _SHOW)
    show.add_argument("path", metavar="DATA")
    show.add_argument("-o", "--output", type=Path, metavar="FILE", help="picture; png, pdf, svg")
    show.add_argument("--no-picture", action="store_true", help="words alone")
    show.add_argument(
        "--select", action="append", default=[], metavar="AXIS=PLACE",
        help="value 0.09, position 10 or range 281:292; may repeat",
    )  # fmt: skip
    show.add_argument(
        "--at", action="append", default=[], metavar="AXIS=POSITION",
        help="the place of this number, from 0; may repeat",
    )  # fmt: skip
    show.add_argument("--mean", nargs="+", metavar="AXIS", help="average over these axes")
    show.add_argument(
        "--rename", action="append", default=[], metavar="OLD=NEW", help="call an axis otherwise"
    )
    show.add_argument("--format", help="name or ending of a format, such as text, vamas, nxs")
    show.add_argument("--energy", help="file of the energy axis, its name inside, or 'index'")
    show.add_argument("--time", help="the same for the time axis")
    show.add_argument("--data", help="name of the data inside (npz, HDF5, NetCDF, NeXus, .mat)")
    show.add_argument("--block", help="of several spectra: a name, or a number from 0")
    show.add_argument("--columns", nargs="+", help="x and y of a table, by name or number")
    show.add_argument("--errors", help="of a table, the column of standard errors; else their name")
    layout = show.add_argument("--layout", help="matrix, columns, points or data")
    _choose(layout, "matrix", "columns", "points", "data")
    scale = show.add_argument("--energy-scale", help="binding or kinetic")
    _choose(scale, "binding", "kinetic")
    show.add_argument("--photon-energy", type=float, metavar="EV", help="for --energy-scale")
    unit = show.add_argument("--to", metavar="UNIT", help="energy axis in eV, meV, nm or cm-1")
    _choose(unit, "eV", "meV", "nm", "cm-1")
    show.add_argument(
        "--units", action="append", default=[], metavar="AXIS=UNIT",
        help="the unit of an axis, where the file does not say; may repeat",
    )  # fmt: skip
    show.add_argument("--delimiter", metavar="SIGN", help="between the numbers of a text")
    show.add_argument("--decimal", metavar="SIGN", help="decimal sign of a text")
    show.add_argument("--transpose", action="store_true", help="exchange time and energy")
    show.add_argument("--sort", action="store_true", help="sort the axes")


def _add_model(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", type=Path, metavar="MODEL.yaml|JOB.yaml")
    command.add_argument("--model", metavar="NAME", help="which model of the file")
    _add_motion(command)


def _add_motion(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--dynamics", action="append", default=[], metavar="PARAMETER=MODEL[@FREQUENCY]",
        help="lets a parameter move in time; may repeat",
    )  # fmt: skip
    command.add_argument(
        "--profile", action="append", default=[], metavar="PARAMETER=MODEL",
        help="lets a parameter differ along the auxiliary axis; may repeat",
    )  # fmt: skip


def _add_explain(commands: Any) -> None:
    explain = _command(commands, "explain", "say what a model means", _EXPLAIN)
    _add_model(explain)
    explain.add_argument("--graph", action="store_true", help="the graph, as text")
    explain.add_argument("--plan", action="store_true", help="the compiled plan, node by node")
    explain.add_argument("--nodes", action="store_true", help="the plan as C sees it")
    explain.add_argument(
        "--jacobian", action="store_true", help="which derivatives are constant, which unknown"
    )
    explain.add_argument(
        "--linear", action="store_true", help="which parameters a fit can eliminate, and why not"
    )
    explain.add_argument("--passes", action="store_true", help="what each pass does to the graph")
    explain.add_argument("--memory", action="store_true", help="what C holds besides the data")
    after = explain.add_argument(
        "--after", metavar="PASS", help=f"the graph after {', '.join(PASSES[:-1])} or {PASSES[-1]}"
    )
    _choose(after, *PASSES)
    explain.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw the graph; svg, pdf, png or dot"
    )


def _add_diff(commands: Any) -> None:
    diff = _command(commands, "diff", "say what differs between two models", _DIFF)
    diff.add_argument("old", type=Path, metavar="A", help="a model file or a job")
    diff.add_argument("new", type=Path, metavar="B", help="a model file or a job")
    diff.add_argument("--model", metavar="NAME", help="which model of the files")
    diff.add_argument("--other", metavar="NAME", help="which model of B; default: --model")
    _add_motion(diff)
    after = diff.add_argument("--after", metavar="PASS", help="compare the graphs behind a pass")
    _choose(after, *PASSES)


def _add_simulate(commands: Any) -> None:
    simulate = _command(commands, "simulate", "write data from a model", _SIMULATE)
    _add_model(simulate)
    for axis in ("energy", "time", "aux"):
        simulate.add_argument(
            f"--{axis}", metavar="FROM:TO:POINTS", help=f"the {axis} axis, or its values 0,1,2"
        )
    simulate.add_argument(
        "--set", action="append", default=[], metavar="PARAMETER=VALUE", help="may repeat"
    )
    simulate.add_argument("--noise", default="gaussian:0.02", help="default: gaussian:0.02")
    simulate.add_argument("--seed", type=_seed, default=None, help="of the noise")
    simulate.add_argument(
        "-o", "--output", type=_path, default=Path("simulated.csv"), metavar="FILE",
        help=".csv, .npz or .h5; default: simulated.csv",
    )  # fmt: skip
    simulate.add_argument("--picture", action="store_true", help="draw it too")


def _add_ops(commands: Any) -> None:
    ops = _command(commands, "ops", "print the table of functions that a model may name", _OPS)
    ops.add_argument("name", nargs="?", help="one function in full")


def _add_verify(commands: Any) -> None:
    verify = _command(commands, "verify", "say whether archives of fits are as they were saved")
    verify.add_argument("archives", nargs="+", type=Path, metavar="FILE", help="archives of fits")


def _add_completion(commands: Any) -> None:
    shell = _command(
        commands, "completion", "print a script that completes commands and options", _COMPLETION
    )
    shell.add_argument("shell", choices=SHELLS)


def _add_demo(commands: Any) -> None:
    demo = _command(
        commands,
        "demo",
        "simulate a time-resolved doublet, fit it, compare with the truth, draw it",
    )
    demo.add_argument(
        "-o", "--output", type=_path, default=Path("demo"), metavar="DIR", help="default: demo"
    )
    backend = demo.add_argument(
        "--backend", default="compiled", help="compiled (default), interpreted, tree or compare"
    )
    _choose(backend, *BACKENDS)
    demo.add_argument("--seed", type=_seed, default=None, help="of the noise")
    demo.add_argument("-q", "--quiet", action="store_true", help="no progress")
