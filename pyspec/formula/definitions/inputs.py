"""Inputs of a formula: further arrays along its axis, which are given with the data.

    energy Reference(A; ref): A * ref

The text names them behind the parameters; their values lie on the model, beside its axes. An input
has no derivative. Of a function of energy it is along the energies, of a law along the times, of a
profile along the auxiliary axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pyspec._library import CONSTANTS
from pyspec.errors import ModelError, suggest
from pyspec.formula.definitions.signature import UNIT
from pyspec.formula.rules import Value

#: The axis of the inputs of a function, by its domain.
AXES = {"energy": "energy", "time": "time", "profile": "auxiliary"}

#: No inputs.
NOTHING: Mapping[str, Value] = MappingProxyType({})


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
