"""``pyspec show DATA``: what is in a file, in words and as a picture."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from pyspec.cli.jobs.fields import FlagError, given_options
from pyspec.cli.jobs.job import Place
from pyspec.cli.jobs.loader import select
from pyspec.cli.json_output import data_facts
from pyspec.cli.syntax_hints import READING, for_flags
from pyspec.io import Dataset, read
from pyspec.plot import plot_overview
from pyspec.plot.figure import as_remark, check_folder, check_suffix


def run(args: Namespace) -> int:
    """Prints what a file holds and writes a picture; returns the exit code."""
    path, picture, draw = args.path, args.output, not args.no_picture
    if picture is not None and draw:
        check_suffix(picture)  # before a large file is read
        check_folder(picture)
    refuse_yaml(path)
    dataset = part_of(read(path, **reading_options(args)), args)
    print(for_flags(str(dataset)))
    args.facts.update(data_facts(dataset, for_flags))
    if not draw:
        return 0
    target = picture or Path(f"{Path(path).stem}_data.png")  # STEM.png may be that of a fit
    with as_remark("picture"):
        plot_overview(dataset, save_path=target, dpi_save=150)
        args.facts["picture"] = target
        print(f"\nPicture: {target}")
    return 0


def refuse_yaml(path: str) -> None:
    """Raises :class:`FlagError` for a job, or a file of models, in place of data."""
    if Path(path).suffix.lower() in (".yaml", ".yml") and Path(path).is_file():
        raise FlagError(
            f"{path}: is YAML, no data; 'pyspec fit' runs a job, 'pyspec explain' says what a "
            "model means"
        )


def reading_options(args: Namespace) -> dict[str, Any]:
    """How the file is read: arguments of :func:`pyspec.read`."""
    options = {name: getattr(args, name) for name in READING}
    if args.block is not None and args.block.isdigit():
        options["block"] = int(args.block)
    options["units"] = dict(_unit(text) for text in args.units)
    return given_options(options)


def _unit(text: str) -> tuple[str, str]:
    axis, _, unit = text.partition("=")
    if not axis.strip() or not unit.strip():
        raise FlagError(f"--units {text}: write axis=unit, such as energy=eV")
    return axis.strip(), unit.strip()


def part_of(dataset: Dataset, args: Namespace) -> Dataset:
    """The part that --select, --at, --mean and --rename ask for."""
    for text in args.select:
        axis, _, value = text.partition("=")
        dataset = select(dataset, axis.strip(), place_of(text, value), at="--at {axis}={value}")
    for text in args.at:
        axis, _, value = text.partition("=")
        if not value.strip().isdigit():
            raise FlagError(f"--at {text}: write axis=position, from 0, such as x=10")
        dataset = dataset.at(**{axis.strip(): int(value)})
    if args.mean:
        dataset = dataset.mean(*args.mean)
    pairs = [text.partition("=") for text in args.rename]
    return dataset.rename(**{old: new for old, _, new in pairs}) if pairs else dataset


def place_of(text: str, value: str) -> Place:
    """The value of --select, "10", "0.09" or "281:292"; `text` is all of it."""
    try:
        if ":" in value:
            low, high = (float(part) for part in value.split(":"))
            return low, high
        return int(value) if value.strip().lstrip("+-").isdigit() else float(value)
    except ValueError:
        raise FlagError(
            f"--select {text}: write axis=value, axis=position or axis=from:to, such as x=0.09, "
            "x=10 or energy=281:292"
        ) from None
