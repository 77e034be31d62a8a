"""A kinetic scheme and the population of each of its states: from text to a row like those of the
op table.

    kinetics cascade(B): A -> B = k1; B -> C = k2; C = k3; start A = 1

is the law of state B in a scheme in which A becomes B at the rate k1, and so on; C leaves what is
seen at the rate k3. `A + B -> C = k4` is a step of two states, k4 a b times in a unit of time. Its
parameters are the height, the rates and populations that B depends on, and the onset; behind
`B, gaussIRF` also the width of the instrument. The text says everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, OPS, Guard, OpDef
from pyspec.errors import ModelError
from pyspec.formula.parser import CONSTANTS as NUMBERS
from pyspec.formula.parser import FUNCTIONS
from pyspec.formula.rules import Value
from pyspec.functions.kinetics import populations, reacting

Array = npt.NDArray[np.float64]

#: Words that name neither a state nor a rate.
HEIGHT, ONSET, WIDTH, ALL = "A", "t0", "SD", "spectra"
_TAKEN = {ONSET: "is the onset", WIDTH: "is the width of the instrument", ALL: "is all spectra"}

#: States and steps that a scheme may have, and parameters of one law.
MOST_STATES, MOST_PARAMS = int(CONSTANTS["SCHEME_STATES"]), int(CONSTANTS["MAX_PARAMS"])
MOST_STEPS = int(CONSTANTS["SCHEME_STEPS"])

#: What stands between two states on one side of a step.
AND = " + "

#: How the text of a state begins.
KINETICS = "kinetics "

#: The instrument that has an exact response.
INSTRUMENT = "gaussIRF"

_HEAD = re.compile(r"kinetics (\w+)\((\w+)(, gaussIRF)?\): (.*)", re.S)
_NUMBER = re.compile(r"[0-9.][0-9.e+-]*")


@dataclass(frozen=True)
class Scheme:
    """States and steps. `steps` are (from, to, rate); to "" is out of sight, and either may be two
    states, "A + B". `start` holds the population of states at the onset, a number or the name of a
    parameter; of others it is 0."""

    name: str
    steps: tuple[tuple[str, str, str], ...]
    start: tuple[tuple[str, str], ...]

    @property
    def states(self) -> tuple[str, ...]:
        """All states, in the order in which they are named."""
        named = [state for begin, end, _ in self.steps for state in (*sides(begin), *sides(end))]
        return tuple(dict.fromkeys([*(state for state, _ in self.start), *named]))

    @property
    def has_pairs(self) -> bool:
        """Whether two states stand on one side of a step: the rate equations have no matrix."""
        return any(AND in begin or AND in end for begin, end, _ in self.steps)

    @property
    def rates(self) -> tuple[str, ...]:
        """The rates by name."""
        return tuple(dict.fromkeys(rate for _, _, rate in self.steps))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Rates and populations by name."""
        names = [value for _, value in self.start if not _NUMBER.fullmatch(value)]
        return tuple(dict.fromkeys([*self.rates, *names]))

    @property
    def body(self) -> str:
        """The steps and the start, as the text of a state says them."""
        steps = [f"{a} -> {b} = {rate}" if b else f"{a} = {rate}" for a, b, rate in self.steps]
        return "; ".join([*steps, *(f"start {state} = {value}" for state, value in self.start)])

    def text(self, state: str, under: bool = False) -> str:
        """The text that defines one state."""
        return f"kinetics {self.name}({state}{', gaussIRF' if under else ''}): {self.body}"

    def before(self, state: str) -> tuple[str, ...]:
        """The states that `state` depends on, and itself, in an order in which steps lead forward
        or stay in a block (see :meth:`blocks`)."""
        reach = self._reach()
        own = [other for other in self.states if state in reach[other]]
        # A state that reaches more comes first; those of a block reach the same.
        ahead = {other: len(reach[other] & set(own)) for other in own}
        first = {a: next(b for b in own if a in reach[b] and b in reach[a]) for a in own}
        place = own.index
        return tuple(sorted(own, key=lambda a: (-ahead[a], place(first[a]), place(a))))

    def blocks(self, states: Iterable[str]) -> list[list[str]]:
        """The states in blocks of those that become one another."""
        reach, grouped = self._reach(), list[list[str]]()
        for state in states:
            first = grouped[-1][0] if grouped else state
            if grouped and first in reach[state] and state in reach[first]:
                grouped[-1].append(state)
            else:
                grouped.append([state])
        return grouped

    def _reach(self) -> dict[str, set[str]]:
        """What each state becomes, or meets in a step of two, itself included."""
        reach = {state: {state} for state in self.states}
        ways = [
            (source, other)
            for begin, end, _ in self.steps
            for source in sides(begin)
            for other in (*sides(begin), *sides(end))
        ]
        for _ in self.states:
            for begin, end in ways:
                for state in self.states:
                    if begin in reach[state]:
                        reach[state] |= reach[end]
        return reach

    def populated(self) -> set[str]:
        """The states that are ever populated, whatever the rates are."""
        reached = {state for state, _ in self.start}
        for _ in self.steps:
            for begin, end, _ in self.steps:
                if reached.issuperset(sides(begin)):
                    reached.update(sides(end))
        return reached

    def matrix(self, rates: Mapping[str, Value]) -> Array:
        """The rate matrix K[to, from] of all states: dc/dt = K c. For schemes without pairs."""
        place = {state: k for k, state in enumerate(self.states)}
        rate_matrix = np.zeros((len(place), len(place)))
        for begin, end, rate in self.steps:
            rate_matrix[place[begin], place[begin]] -= rates[rate]
            if end:
                rate_matrix[place[end], place[begin]] += rates[rate]
        return rate_matrix

    def moves(self, rates: Mapping[str, Value]) -> list[tuple[list[int], list[int], float]]:
        """The steps as places of their states, from and to, with the rate."""
        place = {state: k for k, state in enumerate(self.states)}
        return [
            ([place[a] for a in sides(begin)], [place[b] for b in sides(end)], rates[rate])
            for begin, end, rate in self.steps
        ]

    def populations(self, values: Mapping[str, Value]) -> Array:
        """The populations of all states at the onset."""
        starts = [dict(self.start).get(state, "0") for state in self.states]
        return np.array(
            [float(start if _NUMBER.fullmatch(start) else values[start]) for start in starts]
        )


def sides(text: str) -> tuple[str, ...]:
    """The states on one side of a step: none, one or two."""
    return tuple(text.split(AND)) if text else ()


@dataclass(frozen=True)
class State:
    """One state of a scheme as a law: what a row of the op table has beside its row."""

    scheme: Scheme
    state: str
    under: bool
    params: tuple[str, ...] = field(compare=False)

    @property
    def text(self) -> str:
        return self.scheme.text(self.state, self.under)

    def response(self, irf: str) -> OpDef | None:
        """The law as an instrument sees it."""
        if irf != INSTRUMENT or self.under:
            return None
        return define_state(self.scheme.text(self.state, True))

    def __call__(self, x: Value, *params: Value) -> Value:
        """The height times the population, in NumPy: ``f(t, A, rates..., t0[, SD])``."""
        width, scheme = params[-1] if self.under else None, self.scheme
        values = dict(zip(self.params, params, strict=True))
        if scheme.has_pairs:
            rates = dict.fromkeys(scheme.parameters, 0.0) | values
            u = np.asarray(x, np.float64) - values[ONSET]
            by_state = reacting(u, scheme.moves(rates), scheme.populations(rates), width)
            return params[0] * np.asarray(by_state[..., scheme.states.index(self.state)])
        # The rates at which the states that lead to this one become what does not.
        states = scheme.before(self.state)
        out = [(a, r) for a, b, r in scheme.steps if a in states and b not in states]
        lost = np.array([sum(values[r] for a, r in out if a == state) for state in states], float)
        return params[0] * self.chosen(populations(*self.parts(x, params), width, lost))

    def parts(self, x: Value, params: Sequence[Value]) -> tuple[Array, Array, Array]:
        """Times after the onset, rate matrix and start of the states that lead to this one."""
        values = dict(zip(self.params, params, strict=True))
        place = [self.scheme.states.index(state) for state in self.scheme.before(self.state)]
        rates = dict.fromkeys(self.scheme.parameters, 0.0) | values
        u = np.asarray(x, np.float64) - values[ONSET]
        matrix, start = self.scheme.matrix(rates), self.scheme.populations(rates)
        return u, matrix[np.ix_(place, place)], start[place]

    def chosen(self, populations: Array) -> Array:
        """That of this state among the populations (..., n) of the states before it."""
        return np.asarray(populations[..., self.scheme.before(self.state).index(self.state)])

    @cached_property
    def words(self) -> npt.NDArray[np.int64]:
        """The program that the library runs, see csrc/kinetics/scheme.h."""
        states = self.scheme.before(self.state)
        place = {state: k for k, state in enumerate(states)}
        param = {name: k for k, name in enumerate(self.params)}
        steps = [
            (_side_word(begin, place), _side_word(end, place), param[rate])
            for begin, end, rate in self.scheme.steps
            if place.keys() >= set(sides(begin))
        ]
        starts = []
        for state, value in self.scheme.start:
            if state in place:
                number = float(value) if _NUMBER.fullmatch(value) else 0.0
                bits = int(np.float64(number).view(np.int64))
                starts.append((place[state], param.get(value, -1), bits))
        blocks = [len(block) for block in self.scheme.blocks(states)]
        size = CONSTANTS["SCHEME_HEAD"] + 3 * len(steps) + 3 * len(starts) + len(blocks)
        head = [
            size, len(self.params), len(states), place[self.state], int(self.under), len(steps),
            len(starts), len(blocks),
        ]  # fmt: skip
        flat = [word for group in (*steps, *starts) for word in group]
        return np.array([*head, *flat, *blocks], np.int64)


def _side_word(side: str, place: Mapping[str, int]) -> int:
    """The code of the states on a side of a step: -1 for none, or for states that nothing depends
    on; see csrc/kinetics/scheme.h for two states."""
    places = [place[state] for state in sides(side) if state in place]
    return places[0] + MOST_STATES * (1 + places[1]) if len(places) == 2 else (places or [-1])[0]


@lru_cache(maxsize=1024)
def define_state(text: str) -> OpDef:
    """The law that a text defines, as a row like those of the op table. Raises
    :class:`ModelError` for a text that defines none."""
    match = _HEAD.fullmatch(text)
    if match is None:
        raise ModelError(f"cannot read the kinetic scheme {text[:80]!r}")
    name, state, under, body = match.groups()
    steps, start = [], []
    for part in body.split("; "):
        left, _, right = part.partition(" = ")
        if left.startswith("start "):
            start.append((left.removeprefix("start "), right))
        else:
            begin, _, end = left.partition(" -> ")
            steps.append((begin, end, right))
    scheme = Scheme(name, tuple(steps), tuple(start))
    check_scheme(scheme, name)
    if state not in scheme.states:
        raise ModelError(f"{name}: there is no state {state!r}")
    own = set(scheme.before(state))
    needed = {rate for begin, _, rate in scheme.steps if own.issuperset(sides(begin))}
    begins = {value for starting, value in scheme.start if starting in own}
    inner = [param for param in scheme.parameters if param in needed | begins]
    params = (HEIGHT, *inner, ONSET, *([WIDTH] if under else []))
    if len(params) > MOST_PARAMS:
        raise ModelError(
            f"{name}: {state} depends on {len(inner)} rates and populations; "
            f"{MOST_PARAMS - 2 - bool(under)} is the most"
        )
    guards = [Guard(k, ">=", 0.0, False) for k, param in enumerate(params) if param in needed]
    if under:
        guards.append(Guard(len(params) - 1, ">", 0.0, False))
    population = dict(scheme.start).get(state)
    jumps = ((ONSET, f"A * {population}"),) if population and not under else ()
    return OpDef(
        index=CONSTANTS["OP_SCHEME"],
        name=f"{name}_{state}",
        kind="RESPONSE" if under else "DYNAMICS",
        domain="TIME",
        params=params,
        n_required=len(params),
        guards=tuple(guards),
        linear=(HEIGHT,),
        jumps=jumps,
        formula=f"A times the population of {state}: {scheme.body}",
        units=("y", *("1/x" if p in needed else "1" for p in inner), *["x"] * (1 + bool(under))),
        own=State(scheme, state, bool(under), params),
    )


def check_scheme(scheme: Scheme, place: str) -> None:
    """Raises :class:`ModelError`, starting with `place`, for a scheme that cannot be run."""
    if not scheme.steps:
        raise ModelError(f"{place}: has no step; write one, such as 'A -> B: k1'")
    for word in (*scheme.states, *scheme.parameters):
        if not word.isascii() or not word.isidentifier():
            step = "; a step is 'A -> B: k1'" if set(word) & set(">=\u2192") else ""
            first = ", a letter first" if word[:1].isdigit() else ""
            raise ModelError(
                f"{place}: {word!r} cannot be a name; use letters and digits{first}{step}"
            )
        if word in _TAKEN or word in NUMBERS or word in FUNCTIONS:
            meaning = _TAKEN.get(word, "has a meaning in formulas")
            raise ModelError(f"{place}: {word!r} {meaning}; choose another name")
    both = set(scheme.states) & set(scheme.parameters)
    if both:
        shared = sorted(both)[0]
        raise ModelError(
            f"{place}: {shared!r} names a state and a parameter; rename one of the two"
        )
    if HEIGHT in scheme.parameters:
        raise ModelError(f"{place}: 'A' is the height of a law; choose another name for the rate")
    if len(scheme.states) > MOST_STATES:
        raise ModelError(f"{place}: has {len(scheme.states)} states; {MOST_STATES} is the most")
    if len(scheme.steps) > MOST_STEPS:
        raise ModelError(f"{place}: has {len(scheme.steps)} steps; {MOST_STEPS} is the most")
    _check_steps(scheme, place)
    named = {state for begin, end, _ in scheme.steps for state in (*sides(begin), *sides(end))}
    for state, _ in scheme.start:
        if state not in named:
            raise ModelError(f"{place}: start names {state!r}, which no step does")
    populated = scheme.populated()
    for state in scheme.states:
        if state not in populated:
            raise ModelError(
                f"{place}: {state} is never populated; let a step lead there, or name it in start"
            )


def _check_steps(scheme: Scheme, place: str) -> None:
    earlier = set[tuple[tuple[str, ...], tuple[str, ...]]]()
    for begin, end, _ in scheme.steps:
        step = f"{begin} -> {end}" if end else begin
        both = tuple(sorted(sides(begin))), tuple(sorted(sides(end)))
        if len(both[0]) > 2 or len(both[1]) > 2:
            raise ModelError(
                f"{place}: the step {step} has three states on a side; write it as steps of two"
            )
        if both[0] == both[1]:
            raise ModelError(f"{place}: the step {step} leads nowhere; remove it")
        if len(both[0]) == 1 and both[0][0] in both[1]:
            raise ModelError(
                f"{place}: the step {step} keeps {begin} and adds to it without end; name what "
                f"{begin} becomes"
            )
        if both in earlier:
            raise ModelError(f"{place}: the step {step} is given twice; remove one")
        earlier.add(both)


def scheme_of(op: OpDef) -> Scheme | None:
    """The scheme that a law belongs to, or None."""
    return op.own.scheme if isinstance(op.own, State) else None


def check_name(name: str, place: str) -> None:
    """Raises :class:`ModelError` where `name` cannot be that of a scheme."""
    if not name.isascii() or not name.isidentifier() or "_" in name or name in OPS:
        raise ModelError(
            f"{place}: {name!r} cannot name a scheme; use letters and digits, and no name of a "
            "function"
        )
