"""Models lowered once: plans by the structure of the model they come from.

A graph, its passes, a schedule and a packed plan take milliseconds, longer than the fit of one
spectrum, and depend on no number of the model. They are kept by the
:class:`~pyspec.model.outline.Outline` of the model; what a model adds are its values and its axes,
which are put into a copy of the plan, and its jumps, which are looked for at its values.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import cached_property

import numpy as np

from pyspec.ir import build_graph
from pyspec.model import Model, Par
from pyspec.model.kept import Kept
from pyspec.model.outline import Outline, outline_of
from pyspec.passes import Jumps
from pyspec.passes.sequence import VARIABLE
from pyspec.plan.pack import PackedPlan, pack
from pyspec.plan.pinned import PinnedAxes, pin_axes
from pyspec.plan.schedule import schedule_1d, schedule_2d
from pyspec.plan.scheduled import ScheduledPlan

#: Structures that are kept; those used least recently go first. A plan takes some kilobytes.
MOST = 64


class Lowered:
    """What all models of one structure share."""

    def __init__(self, model: Model, without: Collection[str] | str) -> None:
        self._graph = build_graph(model)
        one_axis = model.is_time_model or model.dimension == 1
        schedule = schedule_1d if one_axis else schedule_2d
        self._plan: ScheduledPlan = schedule(self._graph, without)
        _ = self._plan.jumps  # found here, it goes with the plan to all models
        self._pinned: PinnedAxes | None = None

    @cached_property
    def packed(self) -> PackedPlan:
        """The plan in the form of C, which holds neither axes nor values."""
        return pack(self._plan)

    def pinned(self, plan: ScheduledPlan) -> PinnedAxes:
        """The axes of a plan of :meth:`plan` in the form of C; those of the last one are kept."""
        known = self._pinned
        if known is None or not known.is_of(plan):
            known = self._pinned = pin_axes(plan)
        return known

    @cached_property
    def _jumps(self) -> Jumps:
        return Jumps(self._graph)

    def plan(self, model: Model, parameters: Mapping[str, Par] | None = None) -> ScheduledPlan:
        """The plan with the values and the axes of `model`; `parameters` are those of the model,
        where they are known."""
        parameters, plan = parameters or model.parameters, self._plan
        theta = np.array([parameters[name].value for name in plan.opt_param_names], np.float64)
        fixed = np.array([parameters[name].value for name in plan.fixed_names], np.float64)
        axes = (model.energy, model.time, model.aux, model.aux_weights)
        return plan.with_inputs(theta, fixed, *axes, model.inputs)

    def jump_parameters(self, model: Model) -> tuple[str, ...]:
        """The free parameters that move a discontinuity at the values of `model`, see
        :func:`pyspec.passes.jump_parameters`."""
        parameters = model.parameters.values()
        return self._jumps.at({par.name: par.value for par in parameters if par.formula is None})


_KEPT: Kept[Lowered] = Kept()


def lower(
    model: Model, without: Collection[str] | str = (), outline: Outline | None = None
) -> Lowered:
    """A model lowered through the passes but those in `without`, or one of the same structure that
    was lowered before; `outline` is that of the model, where it is known.

    Raises :class:`ModelError` or :class:`PlanError` where it cannot be lowered.
    """
    passes = frozenset({without} if isinstance(without, str) else without)
    key = outline or outline_of(model), passes, os.environ.get(VARIABLE)
    return _KEPT.get(key) or _KEPT.keep(key, Lowered(model, without), MOST)
