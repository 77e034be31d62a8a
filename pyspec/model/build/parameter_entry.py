"""One parameter as a model file gives it: ``[value, vary, min, max]`` and its short forms."""

from __future__ import annotations

import math
from collections.abc import Collection

from pyspec.errors import ModelError, suggest
from pyspec.formula import parse_given
from pyspec.model.build.free import read_free
from pyspec.model.tree import Par
from pyspec.model.yaml.reader import Entry, Mapping, Node, Scalar, Sequence, Source
from pyspec.model.yaml.scalars import bound_of, is_null, read_number, value_of, vary_of

_SHAPES = '[value, vary], [value, vary, min, max] or ["expression"]'


def similar(word: str, names: list[str]) -> str:
    """Like :func:`pyspec.errors.suggest`, but a difference in case or order alone always
    matches."""
    for name in names:
        if name.lower() == word.lower() or sorted(name.lower()) == sorted(word.lower()):
            return f"; did you mean {name!r}?"
    return suggest(word, names)


def entries_of(
    file: Source, node: Mapping, owner: str, names: Collection[str] | None = None, lacks: str = ""
) -> dict[str, Entry]:
    """The entries of a mapping by name.

    Raises :class:`ModelError`, starting with file, line and the entry of `owner`, for one that is
    given twice, and for one that is not in `names`: "GLP has no parameter" is what it `lacks`.
    """
    entries: dict[str, Entry] = {}
    for key, value in node.items:
        place = f"{file.at(key.line)}: {owner and f'{owner}.'}{key.text}"
        if names is not None and key.text not in names:
            raise ModelError(
                f"{place}: {lacks} {key.text!r}; it has {', '.join(names) or 'none'}"
                f"{similar(key.text, list(names))}"
            )
        if key.text in entries:
            first = file.at(entries[key.text][0].line)
            raise ModelError(f"{place}: given twice, first at {first}; remove one")
        entries[key.text] = key, value
    return entries


def fill(par: Par, spec: Node, low: float, high: float) -> None:
    """Reads one parameter: ``[value, vary, min, max]`` and its short forms. It must lie in
    [low, high]."""
    place = par.place
    par.min, par.max, par.free = low, high, None
    if isinstance(spec, Mapping) and any(key.text == "free" for key, _ in spec.items):
        par.free = read_free(spec, place)
        par.value, par.vary, par.scope = 1.0, False, "static"
        return
    if not isinstance(spec, Sequence):
        number = read_number(spec)
        example = "" if number is None else f"; write [{number:g}, True]"
        raise ModelError(f"{place}: a parameter is a list, {_SHAPES}{example}")
    items = spec.items
    if len(items) == 1:
        node = items[0]
        if not isinstance(node, Scalar) or is_null(node):
            raise ModelError(f"{place}: a parameter is a list, {_SHAPES}")
        if node.plain and read_number(node) is not None:
            raise ModelError(
                f"{place}: says not whether it varies; write [{node.text}, True] or "
                f"[{node.text}, False]"
            )
        par.formula = parse_given(node.text, place)
        par.value, par.vary, par.scope = math.nan, False, "static"
        return
    if len(items) not in (2, 4):
        hint = "check the commas"
        if len(items) == 3:
            hint = "give both bounds or none; .inf is no bound"
        numbers = [read_number(item) is not None for item in items]
        if len(items) in (3, 5) and numbers[:3] == [True, True, False]:
            hint = "a decimal point is written ., not a comma"
        raise ModelError(f"{place}: has {len(items)} entries; write {_SHAPES}; {hint}")
    par.value = value_of(items[0], place)
    par.vary, par.scope = vary_of(items[1], place)
    if len(items) == 4:
        _fill_bounds(par, bound_of(items[2], place, "min"), bound_of(items[3], place, "max"))


def _fill_bounds(par: Par, low: float, high: float) -> None:
    if not low < high:
        remedy = (
            f"to hold it fixed write [{par.value:g}, False]"
            if low == high
            else "exchange them; the order is [value, vary, min, max]"
        )
        raise ModelError(f"{par.place}: min {low:g} is not below max {high:g}; {remedy}")
    for name, bound, is_outside, end in (
        ("min", low, low < par.min, f"starts at {par.min:g}; raise it"),
        ("max", high, high > par.max, f"ends at {par.max:g}; lower it"),
    ):
        if is_outside and math.isfinite(bound):
            raise ModelError(
                f"{par.place}: {name} {bound:g} lies outside of the function's domain, which {end}"
            )
    par.min, par.max = max(low, par.min), min(high, par.max)
    if not par.min <= par.value <= par.max:
        raise ModelError(
            f"{par.place}: value {par.value:g} is outside of its bounds [{par.min:g}, "
            f"{par.max:g}]; move the value or the bounds"
        )
