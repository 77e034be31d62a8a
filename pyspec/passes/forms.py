"""The form of each column of the Jacobian over time and energy.

A spectrum, or its derivative, is a sum of terms ``trace(t) shape(e)``; a term without a trace is
one whose shape moves. How many traces and shapes differ decides the form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspec.functions.slopes import amplitude, bends, interacting
from pyspec.ir import DomainKind, GraphIR, NodeKind
from pyspec.passes.motion import STILL, Motion, Motions, Moves
from pyspec.passes.sums import Call, Sum

#: The words of which a form consists: one of these, then any of :data:`MARKS`.
FORMS = {
    "zero": "the model does not depend on the parameter",
    "trace": "one value for each time: a model of time laws",
    "static": "a spectrum that is the same at all times, or has no time axis",
    "outer product": "trace(t) × shape(e): the shape along energy does not move",
    "sum of outer products": "several shapes, each with a trace of its own",
    "row-scaled": "the shape moves: at each time the derivative of a spectrum × a number",
    "finite differences": "no derivative is known (class fallback)",
}

#: What the derivative has passed on its way.
MARKS = {
    "convolved": "the derivative of a trace, through a kernel or an instrument response",
    "fed": "through a background that reads the spectrum below it",
    "weighted sum over aux": "averaged over the auxiliary axis",
}

CONVOLVED, FED, AVERAGED = MARKS


@dataclass(frozen=True)
class Term:
    """``trace × shape``: `trace` as the factors of a motion, None for a shape that moves."""

    trace: tuple[int, ...] | None
    shape: Any

    def times(self, motion: Motion) -> Term:
        """The term scaled by what moves."""
        if self.trace is None:
            return self
        return Term(tuple(sorted(self.trace + motion.factors)), self.shape)


Terms = frozenset[Term]


@dataclass
class Spectrum:
    """Terms of a spectrum and of its derivatives, and what each derivative has passed."""

    value: Terms = frozenset()
    slopes: dict[str, Terms] = field(default_factory=dict)
    marks: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, other: Spectrum) -> None:
        """Adds another spectrum to this one."""
        self.value |= other.value
        for theta, terms in other.slopes.items():
            self.note(theta, terms, other.marks[theta])

    def note(self, theta: str, terms: Terms, marks: Iterable[str]) -> None:
        """Adds terms to one derivative."""
        self.slopes[theta] = self.slopes.get(theta, frozenset()) | terms
        self.marks[theta] = self.marks.get(theta, frozenset()) | frozenset(marks)


def forms(graph: GraphIR, parts: Mapping[int, Sum]) -> dict[str, str]:
    """The form of the column of every free parameter on which the model depends.

    `parts` are the :func:`~pyspec.passes.sums.sums` of the graph.
    """
    motions = Motions(graph, parts)
    assert graph.result is not None
    if graph.domain is DomainKind.TIME_1D:
        moves = motions[graph.result.id]
        return {
            theta: _label("trace", [CONVOLVED] * (theta in moves.convolved))
            for theta in moves.slopes
        }
    spectra: dict[int, Spectrum] = {}
    for number, part in parts.items():
        if number not in motions:
            spectra[number] = _spectrum(graph, number, part, spectra, motions)
    result = spectra[graph.result.id]
    return {
        theta: _label(_base(terms), result.marks[theta]) for theta, terms in result.slopes.items()
    }


def _base(terms: Terms) -> str:
    traces = {term.trace for term in terms}
    if None in traces:
        return "row-scaled"
    if traces <= {()}:
        return "static"
    if len(traces) == 1 or len({term.shape for term in terms}) == 1:
        return "outer product"
    return "sum of outer products"


def _label(base: str, marks: Iterable[str]) -> str:
    present = frozenset(marks)
    return ", ".join([base, *(mark for mark in MARKS if mark in present)])


def _spectrum(
    graph: GraphIR, number: int, part: Sum, spectra: Mapping[int, Spectrum], motions: Motions
) -> Spectrum:
    spectrum = Spectrum()
    for addend in part.addends:
        spectrum.add(spectra[addend])
    for call in part.calls:
        spectrum.add(_Component(number, call, spectra, motions).spectrum())
    if graph.nodes[number].kind is NodeKind.PROFILE_AVERAGE:
        spectrum.marks = {theta: marks | {AVERAGED} for theta, marks in spectrum.marks.items()}
    return spectrum


class _Component:
    """One call of a function over energy."""

    def __init__(
        self, number: int, call: Call, spectra: Mapping[int, Spectrum], motions: Motions
    ) -> None:
        self.number, self.op, self.motions = number, call.op, motions
        self.fed = len(call.arguments) > len(call.op.params)
        taken = call.arguments[: len(call.op.params)]
        self.params: Sequence[Moves] = [motions.total(ids) for ids in taken]
        self.values = [moves.value or STILL for moves in self.params]
        self.read = Spectrum()
        if self.fed:
            for source in call.arguments[-1]:
                self.read.add(spectra[source])
            self.values.append(STILL)
        #: Whether it is not linear in the spectrum that it reads: then it has shapes of its own.
        self.bends = bends(self.op)

    def spectrum(self) -> Spectrum:
        """Value and derivatives."""
        made = Spectrum(self._terms("value", self._outer(None), self.read.value))
        for index, moves in enumerate(self.params):
            outer = self._outer(index)
            for theta, slope in moves.slopes.items():
                scaled = None if outer is None else outer * slope
                terms = self._terms(index, scaled, self.read.value)
                marks = [CONVOLVED] * (theta in moves.convolved) + [FED] * self.fed
                made.note(theta, terms, marks)
        for theta, read in self.read.slopes.items():
            terms = self._terms("read", self._outer(len(self.params)), read)
            made.note(theta, terms, self.read.marks[theta] | {FED})
        return made

    def _outer(self, index: int | None) -> Motion | None:
        """How the value, or the derivative by an argument, moves; None if its shape does."""
        if self.op.external and self.op.own is None:  # nothing is known of a registered function
            return None
        if self.bends and any(term.trace != () for term in self.read.value):
            return None  # bent in another way at each time
        if index is None:
            return self.motions.output(self.op, self.values)
        return self.motions.partial(self.op, index, self.values)

    def _terms(self, place: int | str, motion: Motion | None, read: Terms) -> Terms:
        """The terms of value or derivative: one shape of its own, or those of what it reads."""
        motion = self._averaged(place, motion)
        if not self.fed or (self.bends and place != "read"):
            trace = None if motion is None else motion.factors
            return frozenset({Term(trace, (self.number, place))})
        if motion is None:
            return frozenset(Term(None, (self.number, term.shape)) for term in read)
        return frozenset(Term(t.trace, (self.number, t.shape)).times(motion) for t in read)

    def _averaged(self, place: int | str, motion: Motion | None) -> Motion | None:
        """The motion of an average over the auxiliary axis. A motion may differ along this axis by
        more than a factor. On a shape that does not differ there, it leaves a trace of its own. A
        shape that differs there is moved by it."""
        if motion is None or not motion.mixed:
            return motion
        scale = amplitude(self.op)
        reads = interacting(self.op)[place] if isinstance(place, int) else range(len(self.params))
        others = [k for k in reads if k != scale and k < len(self.params)]
        return None if any(self.params[k].sampled for k in others) else self.motions.fresh()
