"""Changing one parameter of a model, by the checks of the loader."""

from __future__ import annotations

import math

from pyspec.errors import ModelError
from pyspec.model.build.check import check_parameters, localise
from pyspec.model.build.components import check_domain
from pyspec.model.build.describe import Expression, Number, entry, number
from pyspec.model.build.parameter_entry import fill
from pyspec.model.data.axes import Unchanged
from pyspec.model.model_tree import ModelTree
from pyspec.model.parts import owner_of
from pyspec.model.tree import Par
from pyspec.model.yaml.to_yaml import model_text, retell

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
    limits = (-math.inf, math.inf) if owner is None else owner.op.default_bounds(par.argument)
    new: Number | Expression
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
        new = Expression(str(expr))
    elif par.formula is not None and (expr is None or value is None):
        raise ModelError(
            f"{par.place}: follows the expression {par.expr!r}; to give it a value of its own, "
            "write set(name, value, expr='')"
        )
    else:
        scope = par.scope if par.formula is None else "file"
        if vary is not None and not (vary is True and par.scope == "project"):
            scope = str(vary)
        ends: list[float | None] = [None, None]
        if has_bounds or (par.min, par.max) != limits:
            ends = [par.min if isinstance(low, Unchanged) else low,
                    par.max if isinstance(high, Unchanged) else high]  # fmt: skip
        start = par.value if value is None else value
        new = number(start, *ends, scope=scope, place=par.place)
    before = {name: getattr(par, name) for name in _CHANGED}
    try:
        par.formula = None
        fill(par, entry(new), *limits)
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
        retell(part, is_changed=True)
    else:
        model.text = model_text(model.name, model.components, model.quantities)
