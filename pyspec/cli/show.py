"""``pyspec show DATA``: what is in a file, in words and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspec.cli.facts import Facts, data_facts
from pyspec.cli.prepare import select
from pyspec.cli.spoken import for_flags
from pyspec.errors import DataError
from pyspec.io import Dataset, read
from pyspec.plot import PlotError, plot_overview
from pyspec.plot.figure import check_suffix


def show_data(
    path: str,
    options: dict[str, Any],
    *,
    places: list[str],
    mean: list[str],
    rename: list[str],
    picture: Path | None,
    draw: bool,
    facts: Facts,
) -> int:
    """Prints what a file holds and writes a picture; returns the exit code."""
    if picture is not None and draw:
        check_suffix(picture)  # before a large file is read
    dataset = part_of(read(path, **options), places, mean, rename)
    print(for_flags(str(dataset)))
    facts.update(data_facts(dataset))
    if not draw:
        return 0
    target = picture or Path(f"{Path(path).stem}_data.png")  # STEM.png may be that of a fit
    try:
        plot_overview(dataset, save_path=target, dpi_save=150)
    except PlotError as error:
        print(f"No picture: {error}")
        return 0
    facts["picture"] = target
    print(f"\nPicture: {target}")
    return 0


def part_of(dataset: Dataset, places: list[str], mean: list[str], rename: list[str]) -> Dataset:
    """The part that --select, --mean and --rename ask for."""
    for text in places:
        axis, _, value = text.partition("=")
        dataset = select(dataset, axis.strip(), _place(text, value))
    if mean:
        dataset = dataset.mean(*mean)
    pairs = [text.partition("=") for text in rename]
    return dataset.rename(**{old: new for old, _, new in pairs}) if pairs else dataset


def _place(text: str, value: str) -> Any:
    """ "10", "0.09" or "281:292"."""
    try:
        if ":" in value:
            low, high = (float(part) for part in value.split(":"))
            return low, high
        return int(value) if value.strip().lstrip("+-").isdigit() else float(value)
    except ValueError:
        raise DataError(
            f"--select {text}: write axis=value, axis=position or axis=from:to, such as x=0.09, "
            "x=10 or energy=281:292"
        ) from None
