"""Energy axes: binding or kinetic, and from one unit to another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeGuard, cast

import numpy as np

from pyspec.errors import DataError, suggest
from pyspec.io.dataset import Array, Dataset
from pyspec.io.units import show_unit
from pyspec.model.data.energy_scale import scale_of_label
from pyspec.model.data.source import source_of

# Exact by the definition of the SI (2019): J s, m/s, C.
_H, _C, _E = 6.62607015e-34, 299792458.0, 1.602176634e-19
#: Photon energy times wavelength, in eV nm.
HC = _H * _C / _E * 1e9
#: Units proportional to the energy: how many of them are one eV.
_PER_EV = {"eV": 1.0, "meV": 1e3, "keV": 1e-3, "cm⁻¹": 1e7 / HC, "THz": _E / _H * 1e-12}
#: Units of the wavelength: how many of them are one nm.
_PER_NM = {"nm": 1.0, "µm": 1e-3, "Å": 10.0}
#: What the axis is called after a change between energy, wavelength and wavenumber.
_LABELS = {"nm": "wavelength", "µm": "wavelength", "Å": "wavelength", "cm⁻¹": "wavenumber"}
_SCALES = ("binding", "kinetic")
#: What a file says of an experiment in eV, and how it may say it: "1.4866 keV".
_IN_EV = ("photon_energy", "work_function")
_QUANTITY = re.compile(r"([\d.]+(?:[eE][+-]?\d+)?)\s*[\[(]?([^\s\])]*)[\])]?")
#: Differences of energies below this part of them are rounding.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


def in_unit(dataset: Dataset, to: str, *, jacobian: bool = False) -> Dataset:
    """The data on an energy axis in another unit: "eV", "meV", "nm" or "cm-1" (also keV, µm, Å
    and THz), with ``E = hc/λ``.

    With `jacobian` the data and their errors are multiplied by ``|dx_old/dx_new|``, which keeps
    areas: counts per nm become counts per eV (``λ²/(hc)`` from nm to eV). Without, values stay:
    right for a transmission or a difference of absorbances.

    Raises :class:`DataError` where the unit of the axis is not known, or a value has none in the
    other unit.
    """
    axis, where = _energy(dataset, "to="), dataset.source or dataset.name
    new, old = show_unit(to), dataset.units.get("energy", "")
    units = [*_PER_EV, *_PER_NM]
    if new not in units:
        raise DataError(
            f"{where}: to= is one of {', '.join(units)}, not {to!r}{suggest(to, units)}"
        )
    if old not in units:
        has = f"the unit {old!r}" if old else "no unit"
        raise DataError(
            f"{where}: the energy axis has {has}, so it cannot be turned into {new}; say "
            f"units={{'energy': 'eV'}} or another of {', '.join(units)}"
        )
    reciprocal = (old in _PER_NM) != (new in _PER_NM)
    scale = scale_of(dataset)
    if reciprocal and scale:
        raise DataError(
            f"{where}: the axis is a {scale} energy of electrons, which has no wavelength; leave "
            "to= out, or convert to eV or meV"
        )
    if reciprocal and not (axis > 0).all():
        raise DataError(
            f"{where}: the energy axis begins at {axis.min():g} {old}; only positive values can "
            f"be turned into {new}; cut the file, or leave to= out"
        )
    in_ev = axis / _PER_EV[old] if old in _PER_EV else HC / (axis / _PER_NM[old])
    values = in_ev * _PER_EV[new] if new in _PER_EV else HC / in_ev * _PER_NM[new]
    labels = dict(dataset.labels)
    if (_LABELS.get(new) != _LABELS.get(old)) and not scale:
        labels["energy"] = _LABELS.get(new, "photon energy" if old in _PER_NM else "energy")
    data, errors, note = dataset.data, dataset.errors, f"energies in {new}, converted from {old}"
    if jacobian:
        if source_of(data) is not None:
            raise DataError(f"{where}: jacobian= needs the data in memory; leave lazy= out")
        factor = _slope(axis, old) / _slope(values, new)
        factor = factor.reshape(-1, *[1] * (data.ndim - 1 - dataset.dims.index("energy")))
        data = np.asarray(data * factor)
        errors = None if errors is None else np.asarray(errors * factor)
        note += f"; values multiplied by |d({old})/d({new})|, so that areas are kept"
    return replace(
        dataset,
        data=data,
        errors=errors,
        axes={**dataset.axes, "energy": values},
        units={**dataset.units, "energy": new},
        labels=labels,
        notes=(*dataset.notes, note),
    )


def _slope(axis: Array, unit: str) -> Array:
    """``|dx/dE|`` of an axis in units per eV."""
    if unit in _PER_EV:
        return np.full(axis.shape, _PER_EV[unit])
    return np.asarray(axis**2 / (HC * _PER_NM[unit]))


def scale_of(dataset: Dataset) -> str:
    """ "binding", "kinetic", or "" where the file does not say."""
    return scale_of_label(dataset.labels.get("energy", ""))


def on_scale(
    dataset: Dataset,
    wanted: str,
    photon_energy: float | None = None,
    work_function: float | None = None,
) -> Dataset:
    """Binding or kinetic energies: ``E_binding = hν - φ - E_kinetic``.

    Without `photon_energy` hν is the one of the file; φ is `work_function`, 0 without, because
    analysers write kinetic energies that count from the Fermi level. If the file does not state its
    scale, `photon_energy` declares its energies to be on the other one.

    Raises :class:`DataError` where the photon energy is not known, and for an axis that is no
    energy.
    """
    where = dataset.source or dataset.name
    if wanted not in _SCALES:
        raise DataError(
            f"{where}: energy_scale is 'binding' or 'kinetic', not {wanted!r}"
            f"{suggest(str(wanted), list(_SCALES))}"
        )
    axis = _energy(dataset, "energy_scale=")
    unit, now = dataset.units.get("energy", ""), scale_of(dataset)
    own = _stated_energy(dataset, "photon_energy")
    photon = _number(where, "photon_energy", photon_energy) or own
    work = _number(where, "work_function", work_function) or 0.0
    other = _SCALES[1 - _SCALES.index(wanted)]
    label = dataset.labels.get("energy", "")
    if now == wanted:
        return dataset
    if unit and unit not in _PER_EV:
        raise DataError(
            f"{where}: cannot give {wanted} energies: the axis {label!r} is in {unit}; leave "
            "energy_scale= out"
        )
    if not now and photon_energy is None:
        raise DataError(
            f"{where}: cannot give {wanted} energies: the file calls its axis {label!r}, not "
            f"binding or kinetic; if these are {other} energies, say photon_energy= in eV"
        )
    if photon is None:
        raise DataError(
            f"{where}: cannot give {wanted} energies: the file does not say the photon energy; "
            "say photon_energy= in eV"
        )
    factor = _PER_EV.get(unit, 1.0)
    minus = f" - {work:g} eV" if work else ""
    own = _stated_energy(dataset, "work_function")
    hint = f" (work function of the file, not subtracted: {own:g} eV)" if own and not work else ""
    top = (photon - work) * factor
    values = top - axis
    values[np.abs(values) <= ROUNDING * abs(top)] = 0.0  # below the rounding of hν
    return replace(
        dataset,
        axes={**dataset.axes, "energy": values},
        units={**dataset.units, "energy": unit or "eV"},
        labels={**dataset.labels, "energy": f"{wanted} energy"},
        notes=(
            *dataset.notes,
            f"{wanted} energy = {photon:g} eV{minus} - {other} energy{hint}",
        ),
    )


def scale_note(dataset: Dataset) -> str:
    """How to get the other scale, where that is possible."""
    now, photon = scale_of(dataset), _stated_energy(dataset, "photon_energy")
    if not now or photon is None or dataset.energy is None:
        return ""
    other = _SCALES[1 - _SCALES.index(now)]
    return (
        f"{now} energies as in the file (source {photon:g} eV); for the others say "
        f"energy_scale={other!r}"
    )


def _energy(dataset: Dataset, subject: str) -> Array:
    if dataset.energy is None:
        raise DataError(
            f"{dataset.source or dataset.name}: {subject} needs an energy axis; the data have "
            f"{', '.join(dataset.dims)}"
        )
    return dataset.energy


def _number(where: str, keyword: str, value: object) -> float | None:
    """A number in eV that is given. Raises :class:`DataError` where it is none, or not positive."""
    if value is not None and not _is_energy(value):
        raise DataError(f"{where}: {keyword}= is a positive number in eV, not {value!r}")
    return None if value is None else float(value)


def _stated_energy(dataset: Dataset, key: str) -> float | None:
    """What the file says in eV; None where that is no positive number."""
    value = dataset.meta.get(key)
    return float(value) if _is_energy(value) else None


def _is_energy(value: object) -> TypeGuard[float]:
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    return is_number and not isinstance(value, bool) and 0 < float(cast(float, value)) < np.inf


def with_energies(meta: Mapping[str, object]) -> dict[str, object]:
    """Metadata with photon energy and work function in eV: a text such as "1.4866 keV" becomes a
    number. Other text, such as "Al Ka", stays."""
    converted = dict(meta)
    for key in _IN_EV:
        parts = _QUANTITY.fullmatch(str(meta.get(key, "")).strip())
        per_ev = _PER_EV.get(show_unit(parts[2]) or "eV") if parts else None
        if parts and per_ev is not None:
            with suppress(ValueError):
                converted[key] = float(parts[1]) / per_ev
    return converted
