"""The parameters of a function by formula as a text: "A, x0 [eV], w > 0 [eV], 0 <= m <= 1"."""

from __future__ import annotations

import re

from pyspec._library import Guard, param_name, parse_params
from pyspec.errors import ModelError

#: A unit behind a name.
UNIT = re.compile(r"\s*\[([^\]]*)\]")

#: Two words, of which the text without spaces would make one.
_TWO_WORDS = re.compile(r"[\w.]\s+[\w.]")


def read_signature(text: str, start: str = "") -> tuple[tuple[str, ...], tuple[Guard, ...]]:
    """Names and bounds of the parameters. Raises :class:`ModelError`, beginning with `start`."""
    plain = UNIT.sub(" ", text)
    try:
        if _TWO_WORDS.search(plain):
            raise ValueError
        params, n_required, guards = parse_params("".join(plain.split()))
    except ValueError:
        raise ModelError(
            f"{start}cannot read the parameters {text!r}; write them as "
            "'A, x0 [eV], w > 0, 0 <= m <= 1', with commas"
        ) from None
    if n_required < len(params):
        raise ModelError(f"{start}parameters of a formula have no default; remove '='")
    return params, guards


def units_of(text: str) -> dict[str, str]:
    """The units of the parameters that have one."""
    matches = ((part, UNIT.search(part)) for part in text.split(","))
    return {param_name(part): unit[1] for part, unit in matches if unit}
