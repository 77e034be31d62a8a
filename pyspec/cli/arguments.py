"""The arguments of the command ``pyspec``, with help that teaches."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyspec._version import VERSION
from pyspec.cli import help_texts
from pyspec.cli.parser import Parser

#: The names of :data:`pyspec.executor.BACKENDS`, which a help text does not import.
BACKENDS = ("compiled", "interpreted", "tree", "compare")

#: expand and those of :data:`pyspec.passes.PASSES`, which is not imported for a help text either.
PASSES = ("expand", "fold", "drop", "share", "classify", "separable")

#: As of :data:`pyspec.model.guess.look.KINDS`.
KINDS = ("lines", "moving", "decays", "edge", "step", "survey")


def build_parser() -> argparse.ArgumentParser:
    """The argument parser."""
    parser = Parser(
        prog="pyspec",
        description="Fits of energy-resolved and time-and-energy-resolved spectra.",
        epilog=help_texts.TOP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"pyspec {VERSION}")
    parser.add_argument(
        "--traceback", action="store_true", help="show the Python traceback of an error"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    fit = _command(
        commands, "fit", "fit what a job file describes, write report and results", help_texts.FIT
    )
    fit.add_argument(
        "jobs", type=Path, nargs="+", metavar="JOB.yaml", help="a job, several, or a folder of jobs"
    )
    fit.add_argument(
        "-o",
        "--output",
        type=_path,
        metavar="DIR",
        help="where to write, instead of the job's output",
    )
    _one_of(fit, "--type", ("2d", "spectrum", "baseline", "slices", "trace"))
    fit.add_argument(
        "--method", help="native (the default), leastsq, nelder, … any method of lmfit"
    )
    fit.add_argument("--linear", help="eliminate: solve for heights, offsets and slopes")
    _one_of(fit, "--backend", BACKENDS)
    fit.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of a dask cluster to share the fit"
    )
    fit.add_argument(
        "--workers",
        type=partial(_whole, least=1),
        metavar="N",
        help="processes that share a 2D fit",
    )
    fit.add_argument("--check", action="store_true", help="read everything, fit nothing")
    fit.add_argument("-q", "--quiet", action="store_true", help="print the result only")

    new = _command(commands, "new", "write a commented job and model to start from", help_texts.NEW)
    new.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="DIR")
    new.add_argument(
        "data_paths", nargs="*", metavar="DATA", help="a file to begin with, several, or a folder"
    )
    new.add_argument("--force", action="store_true", help="overwrite files that are there")
    most = partial(_whole, least=1)
    _one_of(new, "--kind", KINDS)
    new.add_argument("--peaks", type=most, metavar="N", help="so many peaks; default: those seen")
    new.add_argument("--decays", type=most, metavar="N", help="so many decays; default: those seen")
    new.add_argument("--survey", action="store_true", help="a job for each window of a survey")
    new.add_argument("--one", action="store_true", help="of several files: one model for all")
    _add_reading(new)

    show = _command(commands, "show", "print and draw what is in a data file", help_texts.SHOW)
    show.add_argument("path", metavar="DATA")
    show.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the picture; png, pdf or svg"
    )
    show.add_argument("--no-picture", action="store_true", help="draw nothing")
    _add_reading(show)

    build = _command(commands, "build", "build a model in the browser", help_texts.BUILD)
    build.add_argument("path", metavar="DATA|JOB.yaml")
    more = "further data or jobs, and the models"
    build.add_argument("more", nargs="*", type=_path, metavar="MODELS.yaml", help=more)
    build.add_argument("--model", metavar="NAME", help="which model of the file")
    build.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    build.add_argument("--port", type=int, default=0, metavar="N", help="default: any that is free")
    build.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="where Save writes to")
    proxy = "a name under which a proxy, as of JupyterHub, reaches this server"
    build.add_argument("--proxy", action="append", metavar="HOST", help=proxy)
    _add_reading(build)

    explain = _command(commands, "explain", "print what a model means", help_texts.EXPLAIN)
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
    after = f"the graph after {', '.join(PASSES[:-1])} or {PASSES[-1]}"
    explain.add_argument("--after", metavar="PASS", help=after)
    explain.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw the graph; svg, pdf, png or dot"
    )

    diff = _command(commands, "diff", "print what differs between two models", help_texts.DIFF)
    diff.add_argument("old", type=Path, metavar="A", help="a model file or a job")
    diff.add_argument("new", type=Path, metavar="B", help="a model file or a job")
    diff.add_argument("--model", metavar="NAME", help="which model of the files")
    diff.add_argument("--other", metavar="NAME", help="which model of B; default: --model")
    _add_motion(diff)
    diff.add_argument("--after", metavar="PASS", help="compare the graphs after this pass")

    simulate = _command(commands, "simulate", "write data from a model", help_texts.SIMULATE)
    _add_model(simulate)
    for axis in ("energy", "time", "aux"):
        simulate.add_argument(
            f"--{axis}", metavar="FROM:TO:POINTS", help=f"the {axis} axis, or its values 0,1,2"
        )
    _several(simulate, "--set", "PARAMETER=VALUE", "another value")
    simulate.add_argument("--noise", default="gaussian:0.02", help="default: gaussian:0.02")
    simulate.add_argument("--seed", type=_whole, help="seed of the noise")
    simulate.add_argument(
        "-o", "--output", type=_path, default=Path("simulated.csv"), metavar="FILE",
        help=".csv, .npz or .h5; default: simulated.csv",
    )  # fmt: skip
    simulate.add_argument("--picture", action="store_true", help="draw the data too")

    ops = _command(
        commands, "ops", "print the table of functions that a model may name", help_texts.OPS
    )
    ops.add_argument("name", nargs="?", metavar="NAME", help="one function in full")

    verify = _command(commands, "verify", "check archives of fits for damage", help_texts.VERIFY)
    verify.add_argument("archives", nargs="+", type=Path, metavar="FILE", help="archives of fits")

    demo = _command(
        commands,
        "demo",
        "simulate a time-resolved doublet, fit it, compare with the truth, draw it",
        help_texts.DEMO,
    )
    demo.add_argument(
        "-o", "--output", type=_path, default=Path("demo"), metavar="DIR", help="default: demo"
    )
    _one_of(demo, "--backend", BACKENDS, default="compiled")
    demo.add_argument("--seed", type=_whole, help="seed of the noise")
    demo.add_argument("-q", "--quiet", action="store_true", help="no progress")
    return parser


def _command(
    commands: argparse._SubParsersAction[Parser], name: str, short: str, text: str = ""
) -> argparse.ArgumentParser:
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
    command.add_argument(
        "--json", action="store_true", help="print one JSON object instead of text"
    )
    return command


def _path(text: str) -> Path:
    """A path; an empty word, as of a variable that is not set, would be the working directory."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty; give a name")
    return Path(text)


def _whole(text: str, least: int = 0) -> int:
    """A whole number from `least` on."""
    if not text.isdigit() or int(text) < least:
        raise argparse.ArgumentTypeError(f"must be a whole number from {least} on, not {text!r}")
    return int(text)


def _one_of(
    command: argparse.ArgumentParser, flag: str, values: Sequence[str], **options: Any
) -> None:
    """An option whose help lists its values. The command itself refuses others, with a hint."""
    help_text = options.pop("help", f"{', '.join(values[:-1])} or {values[-1]}")
    command.add_argument(flag, help=help_text, **options)


def _several(command: argparse.ArgumentParser, flag: str, metavar: str, text: str) -> None:
    """An option that may be given more than once."""
    command.add_argument(
        flag, action="append", default=[], metavar=metavar, help=f"{text}; repeatable"
    )


def _add_reading(command: argparse.ArgumentParser) -> None:
    """How a file is read, and which part of it."""
    _several(command, "--select", "AXIS=PLACE", "a value, x=0.35, or a range, energy=281:292")
    _several(command, "--at", "AXIS=POSITION", "the point at this position, from 0")
    command.add_argument("--mean", nargs="+", metavar="AXIS", help="average over these axes")
    _several(command, "--rename", "OLD=NEW", "rename an axis")
    command.add_argument("--format", help="name or ending of a format, such as text, vamas, nxs")
    command.add_argument("--energy", help="file of the energy axis, its name inside, or 'index'")
    command.add_argument("--time", help="the same for the time axis")
    command.add_argument("--data", help="name of the data inside (npz, HDF5, NetCDF, NeXus, .mat)")
    command.add_argument("--block", help="one of several spectra: its name, or its number from 0")
    command.add_argument(
        "--columns", nargs="+", help="x and y of a table, by name or number from 0"
    )
    command.add_argument("--errors", help="column of a table, or name inside, of standard errors")
    _one_of(command, "--layout", ("matrix", "columns", "points", "data"))
    _one_of(command, "--energy-scale", ("binding", "kinetic"))
    command.add_argument("--photon-energy", type=float, metavar="EV", help="hν, for --energy-scale")
    command.add_argument("--to", metavar="UNIT", help="unit of the energy axis: eV, nm, cm-1 ...")
    _several(command, "--units", "AXIS=UNIT", "the unit of an axis, where the file has none")
    command.add_argument("--delimiter", metavar="SIGN", help="what separates the numbers of a text")
    command.add_argument("--decimal", metavar="SIGN", help="decimal sign of a text")
    command.add_argument("--transpose", action="store_true", help="exchange time and energy")
    command.add_argument("--sort", action="store_true", help="sort the axes")


def _add_model(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", type=Path, metavar="MODEL.yaml|JOB.yaml")
    command.add_argument("--model", metavar="NAME", help="which model of the file")
    _add_motion(command)


def _add_motion(command: argparse.ArgumentParser) -> None:
    law, profile = "PARAMETER=MODEL[@FREQUENCY]", "PARAMETER=MODEL"
    _several(command, "--dynamics", law, "let a parameter move in time")
    _several(command, "--profile", profile, "let a parameter differ along the auxiliary axis")
