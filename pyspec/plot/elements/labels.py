"""Axis labels and directions from what data say of themselves: their labels and units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from pyspec.model import Model
from pyspec.model.data.energy_scale import BINDING, KINETIC
from pyspec.model.units import parameter_units
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.figure import Sheet
from pyspec.plot.look import config_of

#: How files call a quantity and what stands at the axis then.
_WORDS = {
    **dict.fromkeys(BINDING, "binding energy"),
    **dict.fromkeys(KINETIC, "kinetic energy"),
    "wl": "wavelength",
    "lambda": "wavelength",
    "dt": "delay",
    "td": "delay",
}

#: The quantity that a unit measures along the energy axis, if not an energy.
_BY_UNIT = {
    "nm": "wavelength",
    "µm": "wavelength",
    "Å": "wavelength",
    "cm⁻¹": "wavenumber",
    "THz": "frequency",
}
_DEFAULTS = {"energy": "energy", "time": "time", "data": "intensity"}

#: Longer words of a file are sentences, not labels.
_LONGEST = 40


def axis_label(source: object, dim: str, default: str = "") -> str:
    """ "binding energy (eV)": the word of `source` for an axis, and its unit.

    `source` has mappings `labels` and `units`, or none. Without a word the label follows from the
    unit ("wavelength (nm)"), or is `default`.
    """
    own, unit = _text(source, "labels", dim), _text(source, "units", dim)
    word = _WORDS.get(own.lower(), own)
    if word.lower() in (*_WORDS.values(), *_BY_UNIT.values(), *_DEFAULTS.values()):
        word = word.lower()  # "Binding Energy" of one instrument, "binding energy" of another
    if not word or word.lower() in (unit.lower(), dim) or len(word) > _LONGEST:
        fallback = default or _DEFAULTS.get(dim, dim)
        word = _BY_UNIT.get(unit, fallback) if dim == "energy" else fallback
    return f"{word} ({unit})" if unit and f"({unit})" not in word else word


def unit_of(source: object, dim: str) -> str:
    """The unit of an axis or of the data; "" where it is not known."""
    return _text(source, "units", dim)


def units_of_parameters(source: object) -> dict[str, str]:
    """Name → unit of the parameters of a fit, by its model and the units of its data; of anything
    else none."""
    model = getattr(source, "model", None)
    if not isinstance(model, Model):
        return {}
    return parameter_units(model, getattr(source, "units", None) or {})


def named(names: Iterable[str], source: object) -> dict[str, str]:
    """Name → "GLP_01_x0 (eV)", what stands at the parameters of a fit; a name alone without a
    unit."""
    units = units_of_parameters(source)
    return {name: f"{name} ({units[name]})" if units.get(name) else name for name in names}


def place_text(value: float, axis: npt.ArrayLike, digits: int = 5) -> str:
    """A value of an axis as text, with `digits`, or as many as tell it from its neighbours. A value
    that is zero up to rounding is 0."""
    steps = np.abs(np.diff(axis))
    steps = steps[steps > 0]
    if not steps.size:
        return f"{value:.{digits}g}"
    needed = math.log10(float(np.max(np.abs(axis))) / float(np.median(steps)))
    digits = min(max(digits, math.ceil(needed) + 1), 15)
    return f"{0.0 if abs(value) < 1e-6 * steps.min() else value:.{digits}g}"


def with_unit(text: str, unit: str) -> str:
    """ "0.5 ps"; the text alone without a unit."""
    return f"{text} {unit}" if unit else text


def opened(
    source: object, options: PlotOptions, *, over_time: bool = False, over_energy: bool = False
) -> tuple[Sheet, PlotConfig]:
    """Where a picture goes and how it looks, from its options and the labels of what it shows;
    `over_time` are curves whose horizontal axis is time, `over_energy` those without times."""
    look = config_of(options, over_time=over_time, over_energy=over_energy)
    look = labelled(source, look)
    place = options.get("ax"), options.get("fig"), options.get("save_path")
    return Sheet(*place, options.get("show", False), options.get("figsize")), look


def labelled(source: object, config: PlotConfig) -> PlotConfig:
    """`config` with the labels that it leaves empty, and binding energies from high to low.

    The kind of energies is known from the data; the label of the picture counts only where the data
    say nothing.
    """
    look = config.copy(
        x_label=config.x_label or axis_label(source, "energy"),
        y_label=config.y_label or axis_label(source, "time"),
        z_label=config.z_label or axis_label(source, "data"),
    )
    if look.x_dir == "def" and _is_binding(_energies(source) or look.x_label):
        look.x_dir = "rev"
    return look


def labels_with(source: object, config: PlotConfig) -> dict[str, str]:
    """The labels of data with those that a project gives, which go first. Only the label of data
    that says whether energies are binding energies stays: their direction hangs on it."""
    by_dim = {"energy": config.x_label, "time": config.y_label, "data": config.z_label}
    labels = {dim: label for dim, label in by_dim.items() if label}
    own = _energies(source)
    if own and _is_binding(own) != _is_binding(labels.get("energy", own)):
        del labels["energy"]
    return {**(getattr(source, "labels", None) or {}), **labels}


def _energies(source: object) -> str:
    """What data say of their energies; "" where that is no more than their unit or "energy"."""
    own, unit = _text(source, "labels", "energy"), unit_of(source, "energy")
    return "" if own.lower() in ("energy", unit.lower()) else own


def _is_binding(label: str) -> bool:
    """Whether a label is that of binding energies, which are drawn from high to low."""
    return _WORDS.get(label.lower(), label).lower().startswith("binding")


def _text(source: object, field: str, dim: str) -> str:
    texts: Mapping[str, str] = getattr(source, field, None) or {}
    return str(texts.get(dim, "")).strip()
