"""What ``pyspec new`` writes: its files, and commands as a shell takes them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from pyspec.cli.shell import word
from pyspec.cli.syntax_hints import READING
from pyspec.errors import DataError
from pyspec.io import write_text


def command_of(args: Namespace) -> str:
    """The command that began a job, with what decided it, as a shell takes it."""
    words = ["pyspec new", word(args.folder), word(args.data_path), *options_of(args)]
    for flag in ("kind", "peaks", "decays"):
        value = getattr(args, flag)
        if value is not None:
            words += [f"--{flag}", str(value)]
    return " ".join(words)


def options_of(args: Namespace) -> list[str]:
    """How data are read, as words of a command."""
    words = []
    for name in ("select", "at", "rename", "mean", "units", *READING):
        flag, value = f"--{name.replace('_', '-')}", vars(args)[name]
        if name in ("select", "at", "rename", "units"):
            for text in value:
                words += [flag, word(text)]
        elif value is True:
            words.append(flag)
        elif value not in (None, False):
            words += [flag, *map(word, value if isinstance(value, list) else [value])]
    return words


def write_folder(folder: Path, texts: Mapping[str, str], force: bool) -> None:
    """Writes the files of a new job."""
    taken = [name for name in texts if (folder / name).exists()]
    if taken and not force:
        raise DataError(
            f"{folder}: holds {', '.join(taken)} already; choose another folder, or --force"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror})") from error
    for name, text in texts.items():
        write_text(folder / name, text)
