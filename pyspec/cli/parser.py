"""The parser of the command: what it says of arguments that it does not understand."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, NoReturn

from pyspec.errors import suggest


class WrongArguments(SystemExit):
    """Arguments that are not understood; the exit code is 2."""

    def __init__(self, message: str) -> None:
        super().__init__(2)
        self.message = message


class Parser(argparse.ArgumentParser):
    """A parser whose errors name what was meant."""

    #: The words that are parsed.
    words: tuple[str, ...] = ()

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.words = tuple(sys.argv[1:] if args is None else args)
        return super().parse_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        unknown = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if unknown:
            choices = [choice.strip(" '") for choice in unknown[2].split(",")]
            message += suggest(unknown[1], choices)
        stray = re.search(r"unrecognized arguments: (-\S+)", message)
        if stray and stray[1].startswith("--"):
            message += self._option_hint(stray[1].partition("=")[0])
        elif re.search(r"unrecognized arguments: [^-=]+$", message):
            message += "; a model of a file is chosen by --model NAME; see pyspec COMMAND --help"
        self.print_usage(sys.stderr)
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise WrongArguments(message)

    def _option_hint(self, word: str) -> str:
        """What was meant by an option that the command does not have."""
        nested = [a.choices for a in self._actions if isinstance(a.choices, dict)]
        commands = {name: parser for choices in nested for name, parser in choices.items()}
        command = next((word for word in self.words if word in commands), "")
        with_it = [
            name for name, parser in commands.items() if word in parser._option_string_actions
        ]
        if command in with_it or (not command and with_it):
            return "; write it behind the command"
        if with_it:
            return f"; 'pyspec {command}' has no such option, 'pyspec {with_it[0]}' has"
        parsers = [commands[command]] if command else commands.values()
        return suggest(word, [flag for parser in parsers for flag in parser._option_string_actions])
