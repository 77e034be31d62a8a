"""What must hold between the parameters of a model: names, circles, what may move."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyspec._library import OPS
from pyspec.errors import ModelError
from pyspec.formula import has_pairs
from pyspec.functions.response_rows import response
from pyspec.model.build.free import depending, has_free_spectra, refuse_uses
from pyspec.model.build.instruments import SHARE, check_shares, seen_by
from pyspec.model.build.parameter_entry import similar
from pyspec.model.tree import ENERGY, Component, Dynamics, Par, Profile

#: What :func:`movers` looks for: parameters that move in time, or differ along the auxiliary axis.
DYNAMICS, PROFILE = "dynamics", "profile"

#: Kinds of functions that do something to what stands below them.
_ACTING = ("KERNEL", "IRF", "RESOLUTION")

#: A parameter of a law behind its target; more may follow where the law moves, too.
_LAW = re.compile(r"(?P<function>[A-Za-z0-9]+)(?:_[0-9]{2,})?_(?P<argument>[A-Za-z0-9]+)(?:_|$)")


def localise(dynamics: Dynamics | Profile) -> None:
    """Gives local names in the expressions of a dynamics model or profile (expFun_01_A) their
    full form."""
    prefix = f"{dynamics.target}_"
    local = {par.name.removeprefix(prefix): par.name for par in dynamics.parameters}
    for par in dynamics.parameters:
        if par.formula is not None:
            par.formula = par.formula.rename(local)


def check_parameters(parameters: Mapping[str, Par], complete: bool) -> None:
    """Checks that the names in expressions are known and not circular, and that no parameter of a
    law moves. Unless `complete`, dynamics may be added later. Raises :class:`ModelError`."""
    check_names(parameters, complete)
    resolution_order(parameters)
    check_laws(parameters)


def is_idle(components: Sequence[Component]) -> bool:
    """Whether the last component acts on what stands below it, where there is nothing."""
    op = components[-1].op
    return op.spectrum_fed or op.kind in _ACTING


def refuse_idle(*groups: Sequence[Component]) -> None:
    """Raises :class:`ModelError` where the last component of a group acts on what stands below it,
    such as a Shirley at the end of a model or a kernel at the end of its dynamics."""
    for components in groups:
        if not components or not is_idle(components):
            continue
        last, above = components[-1], components[0]
        does = "reads" if last.op.spectrum_fed else "convolves"
        if last.op.spectrum_fed:
            above = next((c for c in components if not c.op.spectrum_fed), above)
        remedy = "add what it is to read below it"
        if above is not last:
            remedy = f"move it above {above.name}" + (f" ({above.where})" if above.where else "")
        place = f"{last.where}: {last.name}" if last.where else last.name
        raise ModelError(f"{place}: {does} what stands below it, and nothing does; {remedy}")


def check_names(parameters: Mapping[str, Par], complete: bool) -> None:
    """Every name in an expression is a parameter, or the energy where spectra are free. Unless
    `complete`, it may belong to dynamics that are added later."""
    disperses = has_free_spectra(parameters)
    for par in parameters.values():
        for name in par.formula.names if par.formula is not None else ():
            if name in parameters or (name == ENERGY and disperses):
                continue
            target = _awaited(name, parameters)
            if target is not None and not complete:
                continue
            # Local names of a dynamics model are known too.
            prefixes = [f"{owner}_" for owner in parameters if par.name.startswith(f"{owner}_")]
            local = [n.removeprefix(p) for p in prefixes for n in parameters if n.startswith(p)]
            names = [*parameters, *local]
            remedy = (
                f"; it comes with dynamics of {target}: add those first"
                if target is not None
                else similar(name, names) or f"; there are {', '.join(parameters)}"
            )
            raise ModelError(
                f"{par.place}: expression {par.expr!r} names an unknown parameter {name!r}{remedy}"
            )


def used_names(own: Iterable[Par], extra: Mapping[str, Par]) -> set[str]:
    """The names of `extra` on which the parameters `own` depend, directly, through others, or
    through the laws and profiles of these."""
    return {par.name for par in followed(own, extra, with_laws=True)} & extra.keys()


def used_quantities(own: Mapping[str, Par], quantities: Sequence[Par]) -> list[Par]:
    """The quantities that belong to a model with the parameters `own`, in their order. These are
    the ones that `own` depends on, fixed ones, and derived ones whose names are all known.

    Data cannot determine a free quantity on which nothing depends: it belongs to dynamics that are
    added later, or to another model of the file.
    """
    if not quantities:
        return []
    extra = {par.name: par for par in quantities}
    used = used_names(own.values(), extra)
    kept = {n: p for n, p in extra.items() if n in used or p.formula is not None or not p.vary}
    named = {name for par in kept.values() if par.formula is not None for name in par.formula.names}
    idle = {name: par for name, par in kept.items() if name not in used}
    lost = depending(idle, named - own.keys() - kept.keys())
    return [par for name, par in kept.items() if name not in lost]


def _awaited(name: str, parameters: Mapping[str, Par]) -> str | None:
    """The parameter whose dynamics or profile would bring `name`, if it has none yet: that of
    "GLP_01_x0_expFun_01_tau" or "expFun_01_tau_gaussCONV_SD"."""
    for target, par in parameters.items():
        match = _LAW.match(name, len(target) + 1) if name.startswith(f"{target}_") else None
        op = None if match is None else OPS.get(match["function"])
        if match is None or op is None or match["argument"] not in op.params:
            continue
        if {"TIME": par.dynamics, "AUX": par.profile}.get(op.domain, par) is None:
            return target
    return None


def free_names(parameters: Mapping[str, Par]) -> tuple[str, ...]:
    """The free parameters, in the order of theta."""
    return tuple(p.name for p in parameters.values() if p.vary and p.formula is None)


def resolution_order(parameters: Mapping[str, Par]) -> list[Par]:
    """The parameters that follow expressions, each after those it refers to.

    Raises :class:`ModelError` where expressions run in a circle, which it prints.
    """
    following = {n: p.formula for n, p in parameters.items() if p.formula is not None}
    order: list[Par] = []
    done: set[str] = set()
    for start, formula in following.items():
        trail: dict[str, Iterator[str]] = {start: iter(formula.names)}
        while trail and start not in done:
            name, waiting = next(reversed(trail.items()))
            used = next((n for n in waiting if n in following and n not in done), None)
            if used is None:
                done.add(name)
                del trail[name]
                order.append(parameters[name])
            elif used in trail:
                names = [*trail, used]
                circle = names[names.index(used) :]
                raise ModelError(
                    f"{parameters[used].place}: expressions run in a circle: "
                    f"{' -> '.join(circle)}; give one of them a value"
                )
            else:
                trail[used] = iter(following[used].names)
    return order


def followed(
    own: Iterable[Par], parameters: Mapping[str, Par], *, with_laws: bool = False
) -> Iterator[Par]:
    """Parameters, those that their expressions name, and so on, each once; `with_laws` those of
    their laws and profiles, too."""
    waiting, seen = list(own), set[str]()
    while waiting:
        par = waiting.pop()
        if par.name not in seen:
            seen.add(par.name)
            yield par
            for part in (par.dynamics, par.profile) if with_laws else ():
                waiting += () if part is None else part.parameters
            names = () if par.formula is None else reversed(par.formula.names)
            waiting += [parameters[name] for name in names if name in parameters]


def movers(name: str, parameters: Mapping[str, Par], how: str = DYNAMICS) -> list[str]:
    """The parameters with dynamics, or a profile, on which `name` depends, itself included."""
    own = [parameters[name]] if name in parameters else []
    return [par.name for par in followed(own, parameters) if getattr(par, how) is not None]


def check_laws(parameters: Mapping[str, Par]) -> None:
    """Parameters of a law cannot move, those of laws and profiles cannot have a profile, and
    nothing can depend on an amplitude that is free along an axis."""
    refuse_uses(parameters)
    moves = {DYNAMICS: ("change in time", "dynamics"), PROFILE: ("differ along aux", "a profile")}
    for owner in parameters.values():
        laws = [(par, DYNAMICS, "a time law") for par in getattr(owner.dynamics, "parameters", ())]
        laws += [(par, PROFILE, role) for par, _, role in laws]
        own = getattr(owner.profile, "parameters", ())
        for par, how, role in [*laws, *((par, PROFILE, "a profile") for par in own)]:
            for source in movers(par.name, parameters, how)[:1]:
                depends = f" = {par.expr!r}" if par.expr else ""
                verb, cause = moves[how]
                raise ModelError(
                    f"{par.place}: {par.name}{depends} belongs to {role} and must not {verb}, but "
                    f"it depends on {source}, which has {cause}; refer to a parameter without, or "
                    f"remove {cause} of {source}"
                )


def check_kernels(components: Sequence[Component]) -> None:
    """An exact response (IRF) acts on laws that have one, not on kernels or sub-cycles. Several in
    a row are one instrument."""
    _, rows, below = seen_by(components)
    if not rows:
        return
    irf = rows[0]
    for after in below:
        reason = remedy = ""
        if after.function == irf.function and SHARE in irf.op.params:
            how = "them one directly after the other, and what it does not act on above them"
            if after.subcycle != rows[-1].subcycle:
                how = "it once, in the first model of the list, for the laws of all"
            raise ModelError(
                f"{after.where}: {after.name}: does not stand directly below {rows[-1].name}; "
                f"several {irf.op.name} are one instrument, which acts on all laws below it: "
                f"write {how}"
            )
        if after.op.kind in ("KERNEL", "IRF"):
            reason = f"{after.name} stands after it"
        elif after.subcycle and after.op.params and not after.op.later:
            reason = f"{after.op.name} in a sub-cycle has no exact response"
        elif after.op.params and response(after.op, irf.op) is None:
            why = (
                " belongs to a scheme with steps of two states, and" if has_pairs(after.op) else ""
            )
            reason = f"{after.op.name}{why} has no exact response"
            remedy = f", or write {after.name} above it, where it stays as it is"
        if reason:
            raise ModelError(
                f"{irf.where}: {irf.name}: {reason}; use gaussCONV instead, which convolves "
                f"the samples of any signal{remedy}"
            )
    check_shares(rows)
