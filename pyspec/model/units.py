"""Units of the parameters of a model, from those of its data and the op table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspec.model.model_tree import ModelTree
from pyspec.model.tree import Owned, walk

_POWERS = {"2": "²", "3": "³"}


def parameter_units(model: ModelTree, units: Mapping[str, str]) -> dict[str, str]:
    """The unit of each parameter by its name; "" where there is none or it is not known.

    `units` are those of "energy", "time" and "data", as data carry them, and "aux". Laws have the
    units of the parameter that they move and of the times. A quantity that parameters take
    unchanged has their unit if they agree.
    """
    by_name: dict[str, str] = {}
    _add(by_name, walk(model.components), units)
    own = {par.name: par for par in model.quantities}
    taken: dict[str, set[str]] = {}
    for par in model.parameters.values():
        if par.name not in own and par.formula is not None:
            whole = par.formula.text.strip()
            taken.setdefault(whole, set()).add(by_name.get(par.name, ""))
    for name in own:
        agreed = taken.get(name, set())
        by_name[name] = agreed.pop() if len(agreed) == 1 else ""
    _add(by_name, walk((), model.quantities), units)
    return by_name


def _add(by_name: dict[str, str], owned: Iterable[Owned], units: Mapping[str, str]) -> None:
    """Those of the parameters of components; the unit of what these move is known."""
    for component, target, _ in owned:
        op = component.op
        value = units.get("data", "") if target is None else by_name[target.name]
        words = op.units or ("?",) * len(op.params)
        for par, word in zip(component.pars, words, strict=True):
            if par is not None:
                by_name[par.name] = unit_text(word, units.get(op.domain.lower(), ""), value)


def unit_text(word: str, axis: str, value: str) -> str:
    """A unit of the op table in the units of an axis and of what the function adds to.

    "y/x" is "counts/eV", "y x" is "counts eV" and "x^2" is "eV²"; "" where a unit that it needs is
    not known.
    """
    if word.startswith("["):
        return word[1:-1]
    above, _, below = word.partition("/")
    units = {"x": axis, "y": value, "1": "1", "K": "K", "rad": "rad", "?": ""}
    factors, divisors = (
        [_power(*part.partition("^")[::2], units) for part in parts.split()]
        for parts in (above, below)
    )
    if not all(factors + divisors) or (factors == ["1"] and not divisors):
        return ""
    if len(factors + divisors) == 1 and "^" not in word:
        return units[above]
    return "/".join([" ".join(factors), *divisors])


def _power(base: str, power: str, units: Mapping[str, str]) -> str:
    unit = units[base]
    plain = f"({unit})" if unit and unit != "1" and not unit.isalpha() else unit
    if power == "0.5":
        return plain and f"√{plain}"
    return plain and plain + _POWERS.get(power, "")
