"""Measured instruments and their responses to laws: from text to a row like those of the op table.

    measured instrument(-0.2 0.0 0.3; 0.0 1.0 0.0)

is the instrument with these times and responses, `measured expFun(...)` what it makes of expFun,
`measured state(...): kinetics ...` what it makes of a state of a kinetic scheme. The text says
everything: numbers are written so that they are read back to the same bits.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, OPS, OpDef
from pyspec.errors import ModelError
from pyspec.formula.definitions.scheme import KINETICS, State, define_state
from pyspec.formula.rules import Value
from pyspec.functions import measured

Array = npt.NDArray[np.float64]

#: What a model calls the instrument, how its text begins, and what stands for it there.
MEASURED_IRF, MEASURED, _ALONE, _STATE = "measuredIRF", "measured ", "instrument", "state"

#: Samples that an instrument may have.
MOST_SAMPLES = int(CONSTANTS["MEASURED_SAMPLES"])

#: What has a response, in the order of its number in csrc/kinetics/measured.h.
LAWS = (*measured.LAWS, _STATE)

_TEXT = re.compile(r"measured (\w+)\(([^;]*); ([^;)]*)\)(?:: (.*))?", re.S)


@dataclass(frozen=True)
class Measured:
    """A measured instrument, or its response to a law or state. `time` and `values` are the samples
    as they were given."""

    text: str
    law: OpDef | None = field(compare=False, repr=False)
    time: tuple[float, ...] = field(compare=False, repr=False)
    values: tuple[float, ...] = field(compare=False, repr=False)

    @cached_property
    def normalised(self) -> tuple[Array, Array]:
        """Times and responses of area 1."""
        time, response = np.array(self.time), np.array(self.values)
        return time, response / area_of(time, response)

    def response(self, name: str) -> OpDef | None:
        """What the instrument makes of the law of that name, or of the state of a scheme of that
        text; None for one without closed form."""
        if self.law is not None:
            return None
        if name.startswith(KINETICS):
            if has_pairs(define_state(name)):
                return None
            return define_measured(f"{self.text.replace(_ALONE, _STATE, 1)}: {name}")
        return define_measured(self.text.replace(_ALONE, name, 1)) if name in LAWS else None

    def __call__(self, x: Value, *params: Value) -> Value:
        """The value at times x: an instrument's response, a law ``f(t, ..., t0, y0)`` or a state
        ``f(t, A, rates..., t0)``."""
        time, values = self.normalised
        if self.law is None:
            return np.interp(x, time, values, left=0.0, right=0.0)
        if isinstance(self.law.own, State):
            u, *arguments = self.law.own.parts(x, params)
            populations = measured.populations(u, time, values, *arguments)
            return np.where(u < time[0], 0.0, params[0] * self.law.own.chosen(populations))
        *own, onset, y0 = params
        return measured.seen(self.law.name, np.subtract(x, onset), time, values, *own, y0)

    @cached_property
    def words(self) -> npt.NDArray[np.int64]:
        """The program that the library runs, see csrc/kinetics/measured.h."""
        assert self.law is not None
        scheme = np.empty(0, np.int64) if self.law.own is None else self.law.own.words
        kind = LAWS.index(self.law.name if self.law.own is None else _STATE)
        n = len(self.time)
        head = [CONSTANTS["MEASURED_HEAD"] + 2 * n + scheme.size, len(self.law.params), kind, n]
        numbers = np.concatenate(self.normalised).view(np.int64)
        return np.concatenate([np.array(head, np.int64), numbers, scheme])


def has_pairs(law: OpDef) -> bool:
    """Whether a law is a state of a scheme in which two states meet, which has no response."""
    return isinstance(law.own, State) and law.own.scheme.has_pairs


def area_of(time: Array, response: Array) -> float:
    """The area below straight lines from sample to sample."""
    return math.fsum((np.diff(time) * (response[1:] + response[:-1]) / 2).tolist())


def instrument_text(time: Sequence[float], response: Sequence[float], place: str) -> str:
    """The text of an instrument. Raises :class:`ModelError`, starting with `place`, for samples
    that are no response."""
    check_samples(time, response, place)
    numbers = (" ".join(repr(float(number)) for number in row) for row in (time, response))
    return f"{MEASURED}{_ALONE}({'; '.join(numbers)})"


def check_samples(time: Sequence[float], response: Sequence[float], place: str) -> None:
    """Raises :class:`ModelError`, starting with `place`, for samples that are no response."""
    if len(time) != len(response):
        raise ModelError(
            f"{place}: has {len(time)} times and {len(response)} responses; give one response for "
            "each time"
        )
    if not 2 <= len(time) <= MOST_SAMPLES:
        remedy = "leave out samples: between two of them a straight line is taken"
        if len(time) < 2:
            remedy = "a response has a width; give its rise and its fall"
        raise ModelError(
            f"{place}: has {len(time)} sample{'s' * (len(time) != 1)}; 2 to {MOST_SAMPLES} can be "
            f"had; {remedy}"
        )
    for k, sample in enumerate(zip(time, response, strict=True), start=1):
        for quantity, number in zip(("time", "response"), sample, strict=True):
            if not math.isfinite(number):
                raise ModelError(f"{place}: sample {k}: the {quantity} is {number}; give a number")
        if k > 1 and not time[k - 2] < time[k - 1]:
            raise ModelError(
                f"{place}: sample {k}: the time {time[k - 1]:g} is not behind {time[k - 2]:g}; "
                "sort the samples by time, and give each time once"
            )
    with np.errstate(all="ignore"):
        area = area_of(np.array(time), np.array(response))
        slopes = np.diff(np.array(response) / area) / np.diff(time)
    if not area > 0:
        raise ModelError(
            f"{place}: the area of the response is {area:g}; it must be above 0: subtract the "
            "background, or change the sign"
        )
    if not (math.isfinite(area) and np.all(np.isfinite(slopes))):
        raise ModelError(
            f"{place}: the samples are too large, or too close to each other, to compute with; "
            "choose other units"
        )


@lru_cache(maxsize=1024)
def define_measured(text: str) -> OpDef:
    """The instrument or response that a text defines, as a row like those of the op table. Raises
    :class:`ModelError` for a text that defines none."""
    fault = ModelError(f"cannot read the measured instrument {text[:80]!r}")
    match = _TEXT.fullmatch(text)
    if match is None or match[1] not in (_ALONE, *LAWS):
        raise fault
    if (match[4] is not None) != (match[1] == _STATE):
        raise fault
    try:
        time, response = (tuple(map(float, part.split())) for part in match.group(2, 3))
    except ValueError:
        raise fault from None
    check_samples(time, response, MEASURED_IRF)
    if match[1] == _ALONE:
        shown = f"{len(time)} samples from {time[0]:g} to {time[-1]:g}, {INSTRUMENT.formula}"
        own = Measured(text, None, time, response)
        return dataclasses.replace(INSTRUMENT, formula=shown, own=own)
    law = define_state(match[4]) if match[1] == _STATE else OPS[match[1]]
    if has_pairs(law):
        raise ModelError(
            f"{law.name}: has steps of two states, and no exact response to {MEASURED_IRF}"
        )
    return dataclasses.replace(
        law,
        index=CONSTANTS["OP_MEASURED"],
        name=f"{law.name}_{MEASURED_IRF}",
        kind="RESPONSE",
        jumps=(),
        tolerance=float("inf"),
        formula=f"int r(s) {law.name}(t - s) ds, r the response of a measured instrument",
        own=Measured(text, law, time, response),
    )


#: The instrument before it has samples: what a model may name.
INSTRUMENT = OpDef(
    index=CONSTANTS["OP_MEASURED"],
    name=MEASURED_IRF,
    kind="IRF",
    domain="TIME",
    params=(),
    n_required=0,
    guards=(),
    linear=(),
    formula="straight lines between them, area 1, exact on the laws after it",
)
