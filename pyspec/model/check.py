"""What must hold between the parameters of a model: names, circles, what may move."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pyspec._library import OPS
from pyspec.errors import ModelError
from pyspec.model.build import similar
from pyspec.model.tree import Dynamics, Par

_LAW = re.compile(r"(?P<function>[A-Za-z0-9]+?)(?:_[0-9]{2,})?_(?P<argument>[A-Za-z0-9]+)")


def localise(dynamics: Dynamics) -> None:
    """Gives local names in the expressions of a dynamics model (expFun_01_A) their full form."""
    prefix = f"{dynamics.target}_"
    local = {par.name.removeprefix(prefix): par.name for par in dynamics.parameters}
    for par in dynamics.parameters:
        if par.formula is not None:
            par.formula = par.formula.rename(local)


def check_names(parameters: Mapping[str, Par], complete: bool) -> None:
    """Every name in an expression is a parameter; unless `complete`, it may be one that
    dynamics still to be added will bring."""
    for par in parameters.values():
        for name in par.formula.names if par.formula is not None else ():
            if name in parameters:
                continue
            target = _awaited(name, parameters)
            if target is not None and not complete:
                continue
            known = list(parameters)
            if "_" in par.name:  # local names of a dynamics model are known too
                known += [_local(other, par) for other in parameters if _local(other, par)]
            remedy = (
                f"; it comes with dynamics of {target}: add those first"
                if target is not None
                else similar(name, known) or f"; there are {', '.join(parameters)}"
            )
            raise ModelError(
                f"{par.place}: expression {par.expr!r} names an unknown parameter {name!r}{remedy}"
            )


def _local(name: str, par: Par) -> str:
    """`name` as an expression of `par`'s dynamics model may write it, or ""."""
    for target in _targets(par.name):
        if name.startswith(f"{target}_"):
            return name.removeprefix(f"{target}_")
    return ""


def _targets(name: str) -> list[str]:
    """What may stand before a law in a parameter's name."""
    parts = name.split("_")
    cuts = range(1, len(parts))
    return ["_".join(parts[:k]) for k in cuts if _is_law("_".join(parts[k:]))]


def _is_law(rest: str) -> bool:
    match = _LAW.fullmatch(rest)
    op = OPS.get(match["function"]) if match is not None else None
    return (
        op is not None
        and match is not None
        and (op.domain == "TIME" and match["argument"] in op.params)
    )


def _awaited(name: str, parameters: Mapping[str, Par]) -> str | None:
    """The parameter whose dynamics would bring `name`, if it has none yet."""
    for target in _targets(name):
        if target in parameters and parameters[target].dynamics is None:
            return target
    return None


def resolution_order(parameters: Mapping[str, Par]) -> list[Par]:
    """The parameters that follow expressions, each after those it refers to.

    Raises :class:`ModelError` where expressions run in a circle, which it prints.
    """
    order: list[Par] = []
    done: set[str] = set()
    for start in parameters:
        trail: dict[str, Iterator[str]] = {start: _references(parameters, start)}
        while trail and start not in done:
            name, waiting = next(reversed(trail.items()))
            used = next((other for other in waiting if other not in done), None)
            if used is None:
                done.add(name)
                del trail[name]
                if name in parameters and parameters[name].formula is not None:
                    order.append(parameters[name])
            elif used in trail:
                names = list(trail)
                _refuse_circle([*names[names.index(used) :], used], parameters)
            else:
                trail[used] = _references(parameters, used)
    return order


def _references(parameters: Mapping[str, Par], name: str) -> Iterator[str]:
    formula = parameters[name].formula if name in parameters else None
    return iter(formula.names if formula is not None else ())


def _refuse_circle(names: list[str], parameters: Mapping[str, Par]) -> None:
    par = parameters[names[0]]
    raise ModelError(
        f"{par.place}: expressions run in a circle: {' -> '.join(names)}; give one of them a value"
    )


def movers(name: str, parameters: Mapping[str, Par]) -> list[str]:
    """The parameters with dynamics on which `name` depends, itself included."""
    found: list[str] = []
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        par = parameters.get(current)
        if par is None or current in seen:
            continue
        seen.add(current)
        if par.dynamics is not None:
            found.append(current)
        if par.formula is not None:
            waiting.extend(reversed(par.formula.names))
    return found


def check_laws(parameters: Mapping[str, Par]) -> None:
    """The parameters of a law must not move themselves."""
    for moved in list(parameters.values()):
        for par in moved.dynamics.parameters if moved.dynamics is not None else ():
            causes = movers(par.name, parameters)
            if causes:
                raise ModelError(
                    f"{par.place}: {par.name} = {par.expr!r} belongs to a time law and must not "
                    f"change in time, but it depends on {causes[0]}, which has dynamics; refer to "
                    f"a parameter without dynamics, or remove the dynamics of {causes[0]}"
                )
