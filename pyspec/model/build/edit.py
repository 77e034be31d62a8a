"""Changing one parameter of a model, by the checks of the loader."""

from __future__ import annotations

import math

from pyspec.errors import ModelError
from pyspec.model.build.check import check_parameters, localise
from pyspec.model.build.components import check_domain
from pyspec.model.build.parameter_entry import fill
from pyspec.model.data.axes import Unchanged
from pyspec.model.model_tree import ModelTree
from pyspec.model.parts import owner_of, retell
from pyspec.model.tree import Par
from pyspec.model.yaml.reader import Scalar, Sequence
from pyspec.model.yaml.scalars import given_number
from pyspec.model.yaml.to_yaml import model_text

_CHANGED = ("value", "vary", "scope", "min", "max", "formula", "free")


def change(
    model: ModelTree,
    par: Par,
    value: float | None,
    low: float | Unchanged | None,
    high: float | Unchanged | None,
    vary: bool | str | None,
    expr: str | None,
) -> None:
    """Changes the entry of a parameter as :meth:`Model.set` does. After an error the parameter is
    as before. Raises :class:`ModelError`."""
    owner, part = owner_of(par, model)
    before = {name: getattr(par, name) for name in _CHANGED}
    limits = (-math.inf, math.inf) if owner is None else owner.op.default_bounds(par.argument)
    entry = _entry(par, limits, value, low, high, vary, expr)
    try:
        par.formula = None
        fill(par, entry, *limits)
        if owner is not None:
            check_domain(owner)
        if part is not None:
            localise(part)
        check_parameters(model.parameters, complete=False)
    except ModelError:
        for name, old in before.items():
            setattr(par, name, old)
        raise
    if part is not None:
        retell(part)
    else:
        model.text = model_text(model.name, model.components, model.quantities)


def _entry(
    par: Par,
    limits: tuple[float, float],
    value: float | None,
    low: float | Unchanged | None,
    high: float | Unchanged | None,
    vary: bool | str | None,
    expr: str | None,
) -> Sequence:
    """The entry of the parameter in a model file after the change. Without bounds of its own the
    parameter has these `limits`."""
    has_bounds = not (isinstance(low, Unchanged) and isinstance(high, Unchanged))
    if expr:
        if value is not None or vary is not None or has_bounds:
            raise ModelError(
                f"{par.place}: follows expr={expr!r} alone; leave value, vary, min and max out"
            )
        if par.dynamics is not None or par.profile is not None:
            raise ModelError(
                f"{par.place}: has dynamics or a profile and cannot follow an expression too"
            )
        return Sequence((Scalar(str(expr), False, 0),), 0)
    if par.formula is not None and (expr is None or value is None):
        raise ModelError(
            f"{par.place}: follows the expression {par.expr!r}; to give it a value of its own, "
            "write set(name, value, expr='')"
        )
    flag = par.scope if par.formula is None else "True"
    if vary is not None and not (vary is True and par.scope == "project"):
        flag = str(vary)
    flag = "True" if flag == "file" else flag
    words = [_word(par, "value", par.value if value is None else value), flag]
    bounds = [
        _word(par, what, old if isinstance(new, Unchanged) else open_end if new is None else new)
        for what, new, old, open_end in (
            ("min", low, par.min, -math.inf),
            ("max", high, par.max, math.inf),
        )
    ]
    if has_bounds or (par.min, par.max) != limits:
        words += bounds
    return Sequence(tuple(Scalar(word, True, 0) for word in words), 0)


def _word(par: Par, what: str, number: object) -> str:
    found = given_number(number)
    if math.isnan(found):
        raise ModelError(f"{par.place}: {what} is {number!r}, not a number")
    return repr(found).replace("inf", ".inf")
