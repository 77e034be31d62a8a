"""``pyspec completion SHELL``: a completion script, derived from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pyspec.cli.arguments import build_parser

BASH = """\
# Completion of pyspec; in ~/.bashrc: source <(pyspec completion bash)
_pyspec() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="" one
    for one in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$one" in {names}) command="$one"; break ;; esac
    done
    case "$command $before" in
{values}
    esac
    case "$command" in
{options}
        "") COMPREPLY=($(compgen -W "{words}" -- "$word")) ;;
    esac
}}
complete -o default -F _pyspec pyspec
"""

ZSH = """\
#compdef pyspec
# Completion of pyspec; in ~/.zshrc after compinit: source <(pyspec completion zsh)
autoload -U +X bashcompinit && bashcompinit
{bash}"""


@dataclass(frozen=True)
class Flag:
    """An option of a command: its spellings, help, and the values that it may have."""

    names: tuple[str, ...]
    text: str
    values: tuple[str, ...]
    takes: bool


@dataclass(frozen=True)
class Command:
    """A command with its options, and whether it takes a file."""

    name: str
    text: str
    flags: tuple[Flag, ...]
    words: tuple[str, ...]


def run(given: argparse.Namespace) -> int:
    """Prints the script for a shell."""
    given.facts["script"] = completion(build_parser(), given.shell)
    print(given.facts["script"], end="")
    return 0


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for a shell."""
    from pyspec._library import OPS

    functions = tuple(op.name for op in OPS.values() if not op.derived)
    found = [
        replace(one, words=functions) if one.name == "ops" else one for one in commands(parser)
    ]
    return {"bash": _bash, "zsh": lambda c: ZSH.format(bash=_bash(c)), "fish": _fish}[shell](found)


def commands(parser: argparse.ArgumentParser) -> list[Command]:
    """What the parser knows."""
    (below,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    texts = {one.dest: one.help or "" for one in below._choices_actions}
    return [
        Command(name, texts.get(name, ""), tuple(_flags(one)), tuple(_words(one)))
        for name, one in below.choices.items()
    ]


def _flags(parser: argparse.ArgumentParser) -> Iterable[Flag]:
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            yield Flag(
                tuple(action.option_strings), action.help or "", _values(action), action.nargs != 0
            )


def _words(parser: argparse.ArgumentParser) -> Iterable[str]:
    for action in parser._actions:
        if not action.option_strings:
            yield from _values(action)


def _values(action: argparse.Action) -> tuple[str, ...]:
    """The values of an option: its choices, or those that are offered alone, ``values``."""
    known: Iterable[object] = action.choices or getattr(action, "values", ()) or ()
    return tuple(str(one) for one in known)


def _bash(found: list[Command]) -> str:
    values = [
        f'        "{command.name} {name}") COMPREPLY=($(compgen -W "{" ".join(flag.values)}" -- '
        '"$word")); return ;;'
        for command in found
        for flag in command.flags
        for name in flag.names
        if flag.values
    ]
    options = []
    for command in found:
        flags = " ".join(name for flag in command.flags for name in flag.names)
        words = " ".join((*command.words, flags))
        inner = f'COMPREPLY=($(compgen -W "{words}" -- "$word"))'
        if not command.words:  # without a dash a file is meant: the default of the shell
            inner = f'[[ "$word" == -* ]] && {inner}'
        options.append(f"        {command.name}) {inner} ;;")
    names = [command.name for command in found]
    return BASH.format(
        names="|".join(names),
        values="\n".join(values),
        options="\n".join(options),
        words=" ".join([*names, "--help", "--version", "--traceback"]),
    )


def _fish(found: list[Command]) -> str:
    lines = ["# Completion of pyspec; in config.fish: pyspec completion fish | source"]
    for command in found:
        lines.append(
            f"complete -c pyspec -f -n __fish_use_subcommand -a {command.name} "
            f"-d {_quoted(command.text)}"
        )
        here = f"complete -c pyspec -n '__fish_seen_subcommand_from {command.name}'"
        if command.words:
            lines.append(f"{here} -f -a {_quoted(' '.join(command.words))}")
        for flag in command.flags:
            spelt = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in flag.names
            )
            known = f" -x -a {_quoted(' '.join(flag.values))}" if flag.values else ""
            takes = " -r" if flag.takes and not flag.values else ""
            lines.append(f"{here} {spelt}{known}{takes} -d {_quoted(flag.text)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
