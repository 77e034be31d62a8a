"""What ``pyspec new`` saw in a file, in a few lines."""

from __future__ import annotations

from argparse import Namespace

import numpy as np

from pyspec.cli.commands.new_from_data import Begun
from pyspec.cli.shell import word
from pyspec.io import Dataset
from pyspec.io.units import TAKEN
from pyspec.model.data.energy_scale import scale_of_label
from pyspec.model.guess.humps import noise_of
from pyspec.model.guess.texts import listed, rounded

#: So many windows are listed.
SHOWN = 5


def seen_text(begun: Begun) -> str:
    """What was seen, a line each."""
    dataset, first = begun.dataset, begun.first
    lines = [f"{dataset.name}: {first.kind}"]
    lines += [f"  {axis:7} {_axis(dataset, axis)}" for axis in dataset.dims]
    lines.append(f"  {'data':7} {_data(dataset)}")
    lines += [f"  {'seen' if k == 0 else '':7} {line}" for k, line in enumerate(first.seen)]
    width = max((len(doubt.what) for doubt in first.unsure), default=0)
    lines += [
        f"  {'unsure' if k == 0 else '':7} {doubt.what:{min(width, 60)}}  {doubt.option}"
        for k, doubt in enumerate(first.unsure)
    ]
    return "\n".join(lines)


def seen_facts(begun: Begun) -> dict[str, object]:
    """The same for programs."""
    first = begun.first
    return {
        "kind": first.kind,
        "seen": first.seen,
        "unsure": [{"what": doubt.what, "option": doubt.option} for doubt in first.unsure],
        "windows": [(window.low, window.high) for window in first.windows],
    }


def _axis(dataset: Dataset, axis: str) -> str:
    """Ends, unit and direction of an axis, and how it was told."""
    values = dataset.axes[axis]
    unit, label = dataset.units.get(axis, ""), dataset.labels.get(axis, "")
    ends = f"{values[0]:.6g} to {values[-1]:.6g}{f' {unit}' if unit else ''}, {values.size} values"
    scale = scale_of_label(label) if axis == "energy" else ""
    kind = f"{scale} energy" if scale else label if label.lower() != axis else ""
    direction = "falls" if values[-1] < values[0] else "rises"
    why = f"{label!r} says so" if label else "the file says so"
    if axis == "energy" and any(TAKEN in note for note in dataset.notes):
        why = "nothing says what it is; of times say --rename energy=time"
    unknown = "" if unit else "; unit unknown"
    return ", ".join(part for part in (ends, kind, direction) if part) + f" ({why}{unknown})"


def _data(dataset: Dataset) -> str:
    """What the values are, and their noise."""
    data = np.asarray(dataset.data, np.float64)
    finite = data[np.isfinite(data)]
    label, unit = dataset.labels.get("data", ""), dataset.units.get("data", "")
    parts = [f"{label}{f' ({unit})' if unit else ''}" if label else unit]
    if finite.size:
        parts.append(f"{rounded(float(finite.min())):g} to {rounded(float(finite.max())):g}")
        rows = data if data.ndim == 2 else data[None]
        noises = [noise_of(row[np.isfinite(row)]) for row in rows if np.isfinite(row).sum() > 5]
        noise = float(np.median(noises)) if noises else 0.0
        whole = bool((finite >= 0).all() and (finite == np.rint(finite)).all())
        if dataset.errors is not None:
            parts.append("standard errors from the file")
        elif whole:
            parts.append("whole numbers: counts, if so say noise: {type: poisson} in job.yaml")
        else:
            parts.append(f"noise about {noise:.2g}")
    if dataset.n_bad:
        parts.append(f"{dataset.n_bad} values are NaN")
    return ", ".join(part for part in parts if part)


def windows_text(begun: Begun, args: Namespace) -> str:
    """The windows of a survey with a command for each."""
    windows = begun.first.windows
    if not windows:
        return ""
    path = word(args.data_path)
    lines = ["Windows that hold lines, the strongest first; --survey writes a job for each:\n\n"]
    for window in windows[:SHOWN]:
        name = f"at_{window.lines[0]:.0f}"
        command = f"pyspec new {name} {path} --select energy={window.low:g}:{window.high:g}"
        lines.append(f"  {command}\n      lines at {listed(window.lines, 4)}\n")
    if len(windows) > SHOWN:
        lines.append(f"  and {len(windows) - SHOWN} more\n")
    lines.append("\n")
    return "".join(lines)
