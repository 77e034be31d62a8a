"""What a function by formula reads, as a text: "A, x0 [eV], w > 0 [eV], 0 <= m <= 1; ref".

Inputs, behind a semicolon, are further arrays along the axis, which are given with the data. Their
values lie on the model, beside its axes. An input has no derivative. Of a function of energy it is
along the energies, of a law along the times, of a profile along the auxiliary axis.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyspec._library import CONSTANTS, Guard, param_name, parse_params
from pyspec.errors import ModelError, suggest
from pyspec.formula.rules import Value

#: A unit behind a name.
UNIT = re.compile(r"\s*\[([^\]]*)\]")

#: The axis of the inputs of a function, by its domain.
AXES = {"energy": "energy", "time": "time", "profile": "auxiliary"}

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


def read_inputs(text: str | None, name: str, domain: str, start: str) -> tuple[str, ...]:
    """The names in the text behind the parameters of a function; none for None.

    Raises :class:`ModelError` for what are no names, too many, or a domain without samples.
    """
    if text is None:
        return ()
    names = tuple(input_name.strip() for input_name in UNIT.sub("", text).split(","))
    if domain not in AXES:
        raise ModelError(
            f"{start}the kernel {name} cannot have inputs: it is a function of the time "
            "difference, at which nothing was measured; make the input part of a law"
        )
    for input_name in names:
        if not input_name.isidentifier() or not input_name.isascii():
            raise ModelError(
                f"{start}cannot read the inputs {text.strip()!r}; give their names, such as 'ref'"
            )
    if len(names) > CONSTANTS["MAX_INPUTS"]:
        raise ModelError(
            f"{start}{name} has {len(names)} inputs, {CONSTANTS['MAX_INPUTS']} is the most; split "
            "it over several components"
        )
    return names


def given_values(name: str, wanted: Sequence[str], inputs: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the inputs of a function. Raises :class:`ModelError` where one is missing."""
    for input_name in wanted:
        if input_name not in inputs:
            raise ModelError(
                f"{name} reads the input {input_name!r}, which has no values"
                f"{suggest(input_name, list(inputs))}; give them, {input_name}=..."
            )
    return {input_name: inputs[input_name] for input_name in wanted}
