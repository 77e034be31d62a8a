"""What columns of standard errors are called, in some languages."""

from __future__ import annotations

import re

from pyspec.io.units import split_unit

#: Their names, without spaces, points and hyphens.
_ERRORS = (
    "err error errors stderr std stdev stddev stderror standarderror standarddeviation sd sigma σ "
    "unc uncertainty uncertainties dy errorbar errorbars "
    "fehler messfehler standardfehler standardabweichung stdabw stabw unsicherheit "
    "messunsicherheit fehlerbalken "
    "erreur erreurtype erreurs écarttype ecarttype incertitude "
    "errore incertezza deviazionestandard errorestándar incertidumbre desviación "
    "desviaciónestándar"
)


def holds_errors(name: str, value: str) -> bool:
    """Whether a column of that name holds standard errors of the column `value`: "sigma", or
    "counts_err" beside "counts"."""
    name, value = ((split_unit(one)[0] or one).strip().lower() for one in (name, value))
    beside = (name, name.removeprefix(value), name.removesuffix(value))
    words = [re.sub(r"[\s_.-]+", "", word) for word in beside]
    known = _ERRORS.split()
    return any(word in known or word.strip("y") in known for word in words)
