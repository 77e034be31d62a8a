"""Arguments, exit codes and errors of the command ``pyspec``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pyspec._version import VERSION
from pyspec.errors import PyspecError

#: Exit codes: all well; an error that pyspec explains; wrong arguments (argparse); Ctrl-C.
OK, FAILED, INTERRUPTED = 0, 1, 130


def build_parser() -> argparse.ArgumentParser:
    """The argument parser."""
    parser = argparse.ArgumentParser(
        prog="pyspec",
        description="Fits of energy-resolved and time-and-energy-resolved spectra.",
    )
    parser.add_argument("--version", action="version", version=f"pyspec {VERSION}")
    parser.add_argument(
        "--traceback", action="store_true", help="show the Python traceback of an error"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="simulate a time-resolved doublet, fit it, compare with the truth, draw it",
    )
    demo.add_argument(
        "--output", type=Path, default=Path("demo"), metavar="DIR", help="default: demo"
    )
    demo.add_argument(
        "--backend", default="compiled", help="compiled (default), interpreted, tree or compare"
    )
    demo.add_argument("--seed", type=int, default=None, help="of the noise")
    demo.add_argument("--quiet", action="store_true", help="no progress")
    ops = commands.add_parser("ops", help="print the table of functions that a model may name")
    ops.add_argument("name", nargs="?", help="one function in full")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    parser = build_parser()
    given = parser.parse_args(arguments)
    try:
        if given.command is None:
            parser.print_help()
            return OK
        if given.command == "ops":
            from pyspec.cli.ops import print_ops

            return print_ops(given.name)
        from pyspec.cli.demo import run_demo

        return run_demo(given.output, given.backend, given.seed, progress=not given.quiet)
    except KeyboardInterrupt:
        print("pyspec: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away (pyspec ops | head): nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (PyspecError, OSError) as error:
        if given.traceback:
            raise
        print(f"pyspec: {error}", file=sys.stderr)
        return FAILED
