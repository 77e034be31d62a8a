"""Binding or kinetic: what the label of energies says they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

#: How files and people call binding and kinetic energies, in small letters.
BINDING = ("binding", "be", "b.e.", "eb", "ebin", "e_bin", "ebind", "e_bind")
KINETIC = ("kinetic", "ke", "k.e.", "ek", "ekin", "e_kin")
#: Words that say so in French and Spanish, and how words of other labels begin, in German too.
_ELSEWHERE = {"binding": ("liaison", "enlace"), "kinetic": ("cinétique", "cinética")}
_BEGINS = {"binding": ("binding", "bindung"), "kinetic": ("kineticen", "kinetisch")}

#: What stands between words.
_WORDS = re.compile(r"[\W\d_]+")

#: "B.E." of CasaXPS, with or without a blank.
_INITIALS = re.compile(r"\b([bk])\.\s*e\b\.?")


@lru_cache(maxsize=64)
def scale_of_label(label: str) -> str:
    """ "binding", "kinetic", or "" where the label does not say."""
    label = _INITIALS.sub(r"\1e ", label.lower())
    words = {
        word for spelling in (label, label.replace("_", "")) for word in _WORDS.split(spelling)
    }
    scales = [
        scale
        for scale, own in (("binding", BINDING), ("kinetic", KINETIC))
        if words & {*own, *_ELSEWHERE[scale]}
        or any(word.startswith(_BEGINS[scale]) for word in words)
    ]
    return scales[0] if len(scales) == 1 else ""


def losses_last(labels: Mapping[str, str], energy: npt.NDArray[np.float64]) -> str | None:
    """Describes the fault of an axis on which losses stand behind their line: "binding energies
    rise" or "kinetic energies fall"; "" where they stand before it, None where nothing says so.

    Energies below 0 are counted from the Fermi edge, whatever they are called: they rise as
    kinetic ones do.
    """
    scale, rises = scale_of_label(labels.get("energy", "")), bool(energy[-1] > energy[0])
    if rises and max(float(energy[0]), float(energy[-1])) < 0.0:
        return ""
    if scale == "binding":
        return "binding energies rise" if rises and energy[0] + energy[-1] > 0.0 else ""
    if scale == "kinetic":
        return "" if rises else "kinetic energies fall"
    return None
