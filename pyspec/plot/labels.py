"""Axis labels and directions from what a file says of its axes."""

from __future__ import annotations

from typing import Any

from pyspec.plot.config import PlotConfig

#: How files call energies and what stands at the axis then.
_WORDS = {
    "be": "binding energy",
    "ebin": "binding energy",
    "e_bin": "binding energy",
    "binding": "binding energy",
    "ke": "kinetic energy",
    "ekin": "kinetic energy",
    "e_kin": "kinetic energy",
    "kinetic": "kinetic energy",
    "wl": "wavelength",
    "lambda": "wavelength",
}


def axis_label(dataset: Any, dim: str, default: str) -> str:
    """ "binding energy (eV)": the file's word, or `default`, and the unit."""
    own, unit = str(dataset.labels.get(dim, "")).strip(), str(dataset.units.get(dim, "")).strip()
    word = _WORDS.get(own.lower(), own)
    if not word or word.lower() in (unit.lower(), dim) or len(word) > 40:
        word = default
    return f"{word} ({unit})" if unit and f"({unit})" not in word else word


def config_for(dataset: Any, config: PlotConfig | None = None, given: Any = ()) -> PlotConfig:
    """`config` with labels and directions of a Dataset; fields named in `given` stay."""
    x_label = axis_label(dataset, "energy", "energy")
    found = {
        "x_label": x_label,
        "y_label": axis_label(dataset, "time", "time"),
        "z_label": axis_label(dataset, "data", "intensity"),
        "x_dir": "rev" if x_label.lower().startswith("binding") else "def",
    }
    base = config or PlotConfig()
    return base.copy(**{name: value for name, value in found.items() if name not in given})
