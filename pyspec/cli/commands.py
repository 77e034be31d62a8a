"""Arguments, exit codes and errors of the command ``pyspec``."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from pyspec.cli.arguments import WrongArguments, build_parser
from pyspec.cli.facts import Facts, hush
from pyspec.cli.spoken import for_fields, for_flags
from pyspec.errors import PyspecError

__all__ = ["FAILED", "INTERRUPTED", "NOT_CONVERGED", "OK", "build_parser", "main"]

#: Exit codes: all well; an error that pyspec explains; wrong arguments; a fit that
#: did not converge; Ctrl-C.
OK, FAILED, WRONG, NOT_CONVERGED, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    parser = build_parser()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        given = parser.parse_args(join_values(words))
    except WrongArguments as wrong:
        if "--json" in words:
            command = next((word for word in words if not word.startswith("-")), None)
            Facts(error=wrong.message).show(command, WRONG)
        raise
    if given.command is None:
        parser.print_help()
        return OK
    given.facts = facts = Facts()
    code = FAILED
    try:
        with warnings.catch_warnings(), facts.instead_of_words(given.json):
            if not given.traceback:
                warnings.showwarning = _show_warning
            code = COMMANDS[given.command](given)
    except KeyboardInterrupt:
        print("pyspec: interrupted", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:
        hush()
        return OK
    except (PyspecError, OSError) as error:
        if given.traceback:
            raise
        from pyspec.cli.fields import FlagError, JobError

        spoken = isinstance(error, (FlagError, JobError))
        turned = for_fields if given.command == "fit" else for_flags
        facts["error"] = str(error) if spoken else turned(str(error))
        print(f"pyspec: {facts['error']}", file=sys.stderr)
    except MemoryError as error:
        if given.traceback:
            raise
        what = f" ({error})" if str(error) else ""
        facts["error"] = f"not enough memory{what}; take fewer points"
        print(f"pyspec: {facts['error']}", file=sys.stderr)
    except Exception as error:
        if given.traceback:
            raise
        print(
            f"pyspec: unexpected {type(error).__name__}: {error}\nThis is a mistake of pyspec; "
            f"please report what 'pyspec --traceback {given.command} ...' prints.",
            file=sys.stderr,
        )
        facts["error"] = f"unexpected {type(error).__name__}: {error}"
    if given.json:
        try:
            facts.show(given.command, code)
        except BrokenPipeError:
            hush()
    return code


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


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Warnings as a line for people, without file and source."""
    print(f"pyspec: warning: {message}", file=sys.stderr)


def _fit(given: Any) -> int:
    from pyspec.cli.fit import run_fit

    return run_fit(given.job, given, given.facts)


def _new(given: Any) -> int:
    from pyspec.cli.new import new_folder

    return new_folder(given.folder, given.force, given.facts)


def _simulate(given: Any) -> int:
    from pyspec.cli.simulate import run_simulate

    return run_simulate(
        given.path,
        name=given.model,
        dynamics=given.dynamics,
        profiles=given.profile,
        energy=given.energy,
        time=given.time,
        aux=given.aux,
        values=given.set,
        noise=given.noise,
        seed=given.seed,
        output=given.output,
        picture=given.picture,
        facts=given.facts,
    )


def _explain(given: Any) -> int:
    from pyspec.cli.explain import explain

    return explain(
        given.path,
        given.model,
        given.dynamics,
        given.profile,
        graph=given.graph,
        plan=given.plan,
        jacobian=given.jacobian,
        linear=given.linear,
        passes=given.passes,
        nodes=given.nodes,
        memory=given.memory,
        last=given.after,
        picture=given.picture,
        facts=given.facts,
    )


def _diff(given: Any) -> int:
    from pyspec.cli.diff import print_diff

    return print_diff(
        (given.old, given.model),
        (given.new, given.other or given.model),
        given.dynamics,
        given.profile,
        last=given.after,
        facts=given.facts,
    )


def _show(given: Any) -> int:
    from pyspec.cli.fields import given as given_options
    from pyspec.cli.show import show_data

    names = ("format", "energy", "time", "data", "columns", "layout", "energy_scale", "transpose")
    more = ("sort", "photon_energy", "to", "delimiter", "decimal", "errors")
    options = {name: getattr(given, name) for name in (*names, *more)}
    block = given.block
    options["block"] = int(block) if block is not None and block.isdigit() else block
    options["units"] = dict(_pair("--units", text) for text in given.units)
    return show_data(
        given.path,
        given_options(options),
        places=given.select,
        positions=given.at,
        mean=given.mean or [],
        rename=given.rename,
        picture=given.output,
        draw=not given.no_picture,
        facts=given.facts,
    )


def _pair(flag: str, text: str) -> tuple[str, str]:
    from pyspec.cli.fields import FlagError

    name, _, value = text.partition("=")
    if not name.strip() or not value.strip():
        raise FlagError(f"{flag} {text}: write axis=unit, such as energy=eV")
    return name.strip(), value.strip()


def _ops(given: Any) -> int:
    from pyspec.cli.ops import print_ops

    return print_ops(given.name, given.facts)


def _verify(given: Any) -> int:
    from pyspec.cli.verify import verify

    return verify(given.archives, given.facts)


def _demo(given: Any) -> int:
    from pyspec.cli.demo import run_demo

    progress = not given.quiet
    return run_demo(given.output, given.backend, given.seed, progress, given.facts)


def _completion(given: Any) -> int:
    from pyspec.cli.completion import completion

    given.facts["script"] = completion(build_parser(), given.shell)
    print(given.facts["script"], end="")
    return OK


COMMANDS: dict[str, Callable[[Any], int]] = {
    "fit": _fit,
    "new": _new,
    "simulate": _simulate,
    "explain": _explain,
    "diff": _diff,
    "show": _show,
    "ops": _ops,
    "verify": _verify,
    "demo": _demo,
    "completion": _completion,
}
