"""Which functions a model has, and what moves or differs: names before any value."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from pyspec._library import OPS, OpDef
from pyspec.functions.response_rows import response
from support.random_models.draft import Draft

PEAKS = [op.name for op in OPS.values() if op.kind == "PEAK"]
BACKGROUNDS = [op.name for op in OPS.values() if op.kind == "BACKGROUND" or op.spectrum_fed]
LAWS = [op.name for op in OPS.values() if op.kind == "DYNAMICS"]
MOVING_LAWS = [name for name in LAWS if OPS[name].params]
KERNELS = [op.name for op in OPS.values() if op.kind == "KERNEL"]
INSTRUMENTS = [op.name for op in OPS.values() if op.kind == "IRF"]
#: Laws that may stand behind every instrument.
RESPONDING = [
    name for name in MOVING_LAWS if all(response(OPS[name], OPS[irf]) for irf in INSTRUMENTS)
]
STILL_LAWS = [name for name in LAWS if name not in MOVING_LAWS]
PROFILES = [op.name for op in OPS.values() if op.kind == "PROFILE"]


INSTRUMENT = OPS["resolution"]
#: What may stand below a resolution; of that what it blurs in closed form, and what by sums that
#: take the references a hundred times as long.
BLURRED = [name for name in PEAKS + BACKGROUNDS if response(OPS[name], INSTRUMENT) is not None]
SUMMED = [name for name in BLURRED if OPS[f"{name}_resolution"].formula.startswith("int ")]
FED = [name for name in BACKGROUNDS if OPS[name].spectrum_fed]


@dataclass
class Function:
    """One function of a model: its name and the parameters that are written down."""

    op: str
    name: str
    arguments: tuple[str, ...]
    subcycle: int = 0


@dataclass
class Motion:
    """A dynamics model: its parts, the first one for all times, and the frequency."""

    parts: list[list[Function]]
    frequency: float = -1.0

    @property
    def functions(self) -> list[Function]:
        """Those of all parts, in order."""
        return [function for part in self.parts for function in part]


@dataclass
class Structure:
    """All of a model but its numbers."""

    components: list[Function]
    dynamics: dict[str, Motion] = field(default_factory=dict)
    profiles: dict[str, list[Function]] = field(default_factory=dict)
    quantities: list[str] = field(default_factory=list)


class Namer:
    """Numbers functions as the loader does."""

    def __init__(self, draft: Draft, prefix: str) -> None:
        self.draft, self.prefix = draft, prefix
        self.seen: Counter[str] = Counter()

    def function(self, op_name: str, subcycle: int = 0) -> Function:
        """The next function of this kind."""
        op = OPS[op_name]
        self.seen[op_name] += 1
        number = self.seen[op_name]
        short = f"{op_name}_{number:02d}" if op.numbered or number > 1 else op_name
        arguments = op.params
        if op.kind == "IRF":
            arguments = op.params[:1] if number == 1 else self._further(op)
        elif op.n_required < len(op.params):
            given = self.draft.chance(0.4)
            self.draft.features.add("law:y0" if given else "law:no y0")
            arguments = op.params if given else op.params[: op.n_required]
        return Function(op_name, self.prefix + short, arguments, subcycle)

    def _further(self, op: OpDef) -> tuple[str, ...]:
        """The parameters of a further Gaussian of an instrument."""
        self.draft.features.add("law:several gaussians")
        return op.params if self.draft.chance(0.6) else op.params[:2]


def draw_structure(draft: Draft) -> Structure:
    """Components in any order; for each what may move, whether it does."""
    namer = Namer(draft, "")
    rng = draft.rng
    quantities = [f"q{k}" for k in range(1, 1 + rng.randint(1, 3))] if draft.chance(0.3) else []
    if draft.kind == "TIME_1D":
        return Structure(_laws(draft, namer), quantities=quantities)
    names = [rng.choice(PEAKS) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
    # Shirley reads the others: it is drawn more often than each of them.
    fed = ["Shirley"] * (len(BACKGROUNDS) // 3)
    names += [rng.choice(BACKGROUNDS + fed) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    if draft.chance(0.06 * len(BACKGROUNDS)):
        names += [rng.choice(BACKGROUNDS)] * 2
    if not names:
        names = [rng.choice(PEAKS + BACKGROUNDS)]
    rng.shuffle(names)
    if draft.chance(0.06):
        names = _under_a_resolution(draft, names)
    names = _above_a_spectrum(draft, names)
    structure = Structure([namer.function(name) for name in names], quantities=quantities)
    parameters = [f"{c.name}_{a}" for c in structure.components for a in c.arguments]
    _draw_profiles(draft, structure, parameters)
    if draft.kind == "2D":
        _draw_dynamics(draft, structure, parameters)
    return structure


def _above_a_spectrum(draft: Draft, names: list[str]) -> list[str]:
    """The names in an order in which the last one reads no spectrum."""
    others = [k for k, name in enumerate(names) if name not in FED]
    if not others:
        return [*names, draft.rng.choice(PEAKS)]
    last = others[-1]
    return [*names[:last], *names[last + 1 :], names[last]]


def _under_a_resolution(draft: Draft, names: list[str]) -> list[str]:
    """The names with a resolution among them; what it does not blur stands above it."""
    allowed = set(BLURRED) if draft.chance(0.1) else set(BLURRED) - set(SUMMED)
    place = draft.rng.randint(0, len(names) - 1)
    below = [name for name in names[place:] if name in allowed or name in FED]
    above = names[:place] + [name for name in names[place:] if name not in below]
    if not set(below) & allowed:
        below.append(draft.rng.choice(sorted(allowed)))
    return [*above, INSTRUMENT.name, *below]


def _draw_profiles(draft: Draft, structure: Structure, parameters: list[str]) -> None:
    rng = draft.rng
    if not draft.chance(0.35):
        return
    count = min(rng.choice([1, 1, 2, 3]), len(parameters))
    targets = rng.sample(parameters, count)
    if "Shirley_pShirley" in parameters and draft.chance(0.3):  # one of many, and the one that sums
        targets = list(dict.fromkeys([*targets, "Shirley_pShirley"]))
    for target in targets:
        namer = Namer(draft, f"{target}_")
        functions = [rng.choice(PROFILES) for _ in range(rng.choice([1, 1, 2]))]
        structure.profiles[target] = [namer.function(name) for name in functions]


def _draw_dynamics(draft: Draft, structure: Structure, parameters: list[str]) -> None:
    rng = draft.rng
    if draft.chance(0.12):
        return
    profiled = list(structure.profiles)
    targets = rng.sample(parameters, min(rng.choice([1, 1, 2, 3]), len(parameters)))
    own = [
        f"{f.name}_{a}" for part in structure.profiles.values() for f in part for a in f.arguments
    ]
    if own and draft.chance(0.6):
        targets.append(rng.choice(own))
    if profiled and draft.chance(0.4):
        targets.append(rng.choice(profiled))
    if structure.quantities and draft.chance(0.06):
        targets.append(structure.quantities[0])
    for target in dict.fromkeys(targets):
        structure.dynamics[target] = _motion(draft, target)


def _motion(draft: Draft, target: str) -> Motion:
    rng, namer = draft.rng, Namer(draft, f"{target}_")
    if not draft.chance(0.4):
        return Motion([_laws(draft, namer)])
    parts = [_laws(draft, namer, irf=False)]
    if draft.chance(0.4):
        namer.seen.clear()
        parts = [[namer.function("none")]]
        if draft.chance(0.3):
            parts[0].insert(0, namer.function(rng.choice(KERNELS)))
    n_subcycles = rng.choice([1, 2, 2, 2, 3, 4])
    seen_by = rng.randint(0, n_subcycles) if draft.chance(0.25) else -1
    if seen_by >= 0:
        return _instrument_cycles(draft, Namer(draft, f"{target}_"), n_subcycles, seen_by)
    for subcycle in range(1, n_subcycles + 1):
        if draft.chance(0.12):
            parts.append([namer.function("none", subcycle)])
            continue
        part = [
            namer.function(rng.choice(MOVING_LAWS), subcycle) for _ in range(rng.choice([1, 1, 2]))
        ]
        if draft.chance(0.12):
            kernel = namer.function(rng.choice(KERNELS), subcycle)
            part.insert(rng.randint(0, len(part)), kernel)
        parts.append(part)
    return Motion(parts, _frequency(draft))


def _frequency(draft: Draft) -> float:
    _, length = draft.duration
    return float(f"{10.0 ** draft.rng.uniform(-0.4, 0.7) / length:.5g}")


def _instrument_cycles(draft: Draft, namer: Namer, n_subcycles: int, place: int) -> Motion:
    """Sub-cycles behind an instrument that stands in the part `place`: only laws that go on as
    themselves have an exact response."""
    rng = draft.rng
    parts = [[namer.function(rng.choice(RESPONDING + STILL_LAWS))]]
    if draft.chance(0.3):
        parts[0].insert(0, namer.function(rng.choice(KERNELS)))
    for subcycle in range(1, n_subcycles + 1):
        laws = ["none"] if draft.chance(0.1) else [name for name, op in OPS.items() if op.later]
        parts.append([namer.function(rng.choice(laws), subcycle)])
    first = 1 if parts[place][0].op in KERNELS else rng.randint(0, 1)
    parts[place][first:first] = [namer.function(name, place) for name in _instrument(draft)]
    return Motion(parts, _frequency(draft))


def _instrument(draft: Draft) -> list[str]:
    """The rows of an instrument: now and then several Gaussians, by a generator of its own, so that
    models of one Gaussian stay as they are."""
    name = draft.rng.choice(INSTRUMENTS)
    own = random.Random(repr(draft.rng.getstate()))
    several = "share" in OPS[name].params and own.random() < 0.25
    return [name] * (own.choice([2, 2, 3]) if several else 1)


def _laws(draft: Draft, namer: Namer, irf: bool = True) -> list[Function]:
    """Laws, some under kernels or an instrument; now and then a kernel with nothing to act on."""
    rng = draft.rng
    names = [rng.choice(MOVING_LAWS) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    if draft.chance(0.06):
        names.insert(rng.randint(0, len(names)), "none")
    kind = rng.random()
    if irf and kind < 0.4:
        place = rng.randint(0, len(names) - 1) if draft.chance(0.5) else 0
        place = len(names) if draft.chance(0.02) else place
        behind = [
            name if name in RESPONDING + STILL_LAWS else rng.choice(RESPONDING)
            for name in names[place:]
        ]
        names[place:] = [*_instrument(draft), *behind]
        if draft.chance(0.15):
            names.insert(rng.randint(0, place), rng.choice(KERNELS))
    elif kind < 0.75:
        for _ in range(rng.choice([1, 1, 1, 2])):
            last = len(names) if draft.chance(0.05) else len(names) - 1
            names.insert(rng.randint(0, last), rng.choice(KERNELS))
    return [namer.function(name) for name in names]
