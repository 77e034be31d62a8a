"""``pyspec new`` over several files, or the windows of a survey: a job for each."""

from __future__ import annotations

import copy
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from pyspec.cli.commands.new_files import command_of, write_folder
from pyspec.cli.commands.new_from_data import Begun, begin
from pyspec.cli.commands.new_summary import seen_facts
from pyspec.cli.dispatch import FAILED, OK
from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.shell import word
from pyspec.cli.table import table
from pyspec.errors import PyspecError


def files_of(paths: Sequence[str]) -> list[Path]:
    """The files that these paths name, those of a folder in alphabetical order."""
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.is_file())
            files += [file for file in inside if not file.name.startswith(".")]
        else:
            files.append(path)
    if not files:
        raise FlagError(f"{paths[0]}: holds no file; name a file, or a folder with some")
    return files


def names_of(files: Sequence[Path]) -> list[str]:
    """A name for each file, no two alike."""
    stems = [path.stem for path in files]
    names = [
        stem if stems.count(stem) == 1 else path.name.replace(".", "_")
        for stem, path in zip(stems, files, strict=True)
    ]
    return [name if names.count(name) == 1 else f"{name}_{k}" for k, name in enumerate(names, 1)]


def run_many(args: Namespace, files: Sequence[Path]) -> int:
    """A job for each file, in a folder of its name, and one table of what was seen."""
    rows: list[Sequence[str]] = []
    entries: list[dict[str, object]] = []
    model = ""
    for path, name in zip(files, names_of(files), strict=True):
        own = copy.copy(args)
        own.folder, own.data_path = args.folder / name, str(path)
        try:
            begun = begin(own, command_of(own))
            texts = dict(begun.texts)
            if args.one:
                if not model:
                    model = texts["models.yaml"]
                    write_folder(args.folder, {"models.yaml": model}, args.force)
                texts["job.yaml"] = texts["job.yaml"].replace(
                    "models: models.yaml", "models: ../models.yaml"
                )
                del texts["models.yaml"]
            write_folder(own.folder, texts, args.force)
        except PyspecError as error:
            rows.append((path.name, "failed", str(error).splitlines()[0]))
            entries.append({"source": path, "error": str(error)})
            continue
        rows.append((path.name, begun.first.kind, "; ".join(begun.first.seen)))
        entries.append({"source": path, "folder": own.folder, **seen_facts(begun)})
    return _finish(args, rows, entries)


def run_survey(args: Namespace) -> int:
    """A job for each window of a survey."""
    whole = begin(args, command_of(args))
    if not whole.first.windows:
        raise FlagError(f"{args.data_path}: is no survey ({whole.first.kind}); leave --survey out")
    rows: list[Sequence[str]] = []
    entries: list[dict[str, object]] = []
    for window in whole.first.windows:
        own = copy.copy(args)
        own.folder = args.folder / f"at_{window.lines[0]:.0f}"
        own.select = [*args.select, f"energy={window.low:g}:{window.high:g}"]
        own.kind = args.kind if args.kind != "survey" else None
        begun: Begun = begin(own, command_of(own))
        write_folder(own.folder, begun.texts, args.force)
        ends = f"{window.low:g} to {window.high:g}"
        rows.append((ends, begun.first.kind, "; ".join(begun.first.seen)))
        entries.append({"window": ends, "folder": own.folder, **seen_facts(begun)})
    return _finish(args, rows, entries)


def _finish(
    args: Namespace, rows: Sequence[Sequence[str]], entries: list[dict[str, object]]
) -> int:
    """Prints the table and what to do next."""
    failed = sum(row[1] == "failed" for row in rows)
    args.facts.update(folder=args.folder, files=entries, failed=failed)
    print(table(("data", "kind", "seen"), sorted(rows, key=lambda row: row[1] != "failed")))
    if failed == len(rows):
        return FAILED
    print(f"\nWritten to {args.folder}: a folder with a job for each of {len(rows) - failed}")
    if failed:
        print(f"{failed} failed, as the table says; 'pyspec show FILE' looks at one")
    print(f"Next:\n\n  pyspec fit {word(args.folder)}\n      fit all; one page, one table")
    return FAILED if failed else OK
