"""Arguments, exit codes and errors of the command ``pyspec``."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module

from pyspec.cli.arguments import build_parser
from pyspec.cli.json_output import Facts, hush, lacks_letters, reader_left
from pyspec.cli.parser import WrongArguments
from pyspec.cli.syntax_hints import for_fields, for_flags
from pyspec.errors import PyspecError

#: Exit codes: all well; an error that pyspec explains; wrong arguments; a fit that
#: did not converge; Ctrl-C.
OK, FAILED, WRONG, NOT_CONVERGED, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    parser = build_parser()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        args = parser.parse_args(join_values(words))
    except WrongArguments as wrong:
        if "--json" in words:
            command = next((word for word in words if not word.startswith("-")), None)
            Facts(error=wrong.message).show(command, WRONG)
        raise
    if args.command is None:
        parser.print_help()
        return OK
    args.facts = facts = Facts()
    code = FAILED
    # Letters that the terminal lacks are written out from here on: chi2 for χ². Bytes of names that
    # are no UTF-8 are escapes, which JSON understands, too.
    from pyspec.calls.terminal import PLAIN

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN if lacks_letters() else "backslashreplace")
    try:
        printed = io.StringIO() if args.json else sys.stdout  # instead of words one JSON object
        with warnings.catch_warnings(), redirect_stdout(printed):
            if not args.traceback:
                warnings.showwarning = _show_warning
            # Each command has a module of its name, imported only where it is asked for.
            code = import_module(f"pyspec.cli.commands.{args.command}").run(args)
    except KeyboardInterrupt:
        print("pyspec: interrupted", file=sys.stderr)
        code = INTERRUPTED
    except Exception as error:
        if reader_left(error):
            hush()
            return OK
        if args.traceback:
            raise
        facts["error"] = _words(error, args.command)
        print(f"pyspec: {facts['error']}", file=sys.stderr)
    if args.json:
        try:
            facts.show(args.command, code)
        except OSError as error:
            hush()
            if not reader_left(error):
                print(f"pyspec: the output cannot be written ({error.strerror})", file=sys.stderr)
                code = code or FAILED
    return code


def _words(error: Exception, command: str) -> str:
    """The message of an error, with hints in the syntax of the command line, or for a fit in that
    of its job."""
    from pyspec.cli.jobs.fields import FlagError, JobError

    if isinstance(error, (FlagError, JobError)):
        return str(error)
    if isinstance(error, (PyspecError, OSError)):
        return for_fields(str(error)) if command == "fit" else for_flags(str(error))
    if isinstance(error, MemoryError):
        detail = f" ({error})" if str(error) else ""
        return f"not enough memory{detail}; take fewer points"
    return (
        f"unexpected {type(error).__name__}: {error}\nThis is a mistake of pyspec; please report "
        f"what 'pyspec --traceback {command} ...' prints."
    )


def join_values(arguments: Sequence[str]) -> list[str]:
    """``--time -10:90:200`` as ``--time=-10:90:200``: argparse takes the value for an option."""
    joined: list[str] = []
    for argument in arguments:
        before = joined[-1] if joined else ""
        if before in ("--energy", "--time", "--aux") and re.match(r"-[\d.]", argument):
            joined[-1] = f"{before}={argument}"
        else:
            joined.append(argument)
    return joined


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Warnings as a line for people, without file and source."""
    print(f"pyspec: warning: {message}", file=sys.stderr)
