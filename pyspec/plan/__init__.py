"""The plan: what to compute, in which order, for the optimizer."""

from pyspec.plan.can_lower import Lowering, can_lower_1d, can_lower_2d
from pyspec.plan.compiled import CompiledModel, compile_graph, compile_model
from pyspec.plan.pack import PackedPlan, check, pack
from pyspec.plan.schedule import schedule, schedule_1d, schedule_2d
from pyspec.plan.scheduled import ScheduledPlan, ScheduledPlan1D, ScheduledPlan2D

__all__ = [
    "CompiledModel",
    "Lowering",
    "PackedPlan",
    "ScheduledPlan",
    "ScheduledPlan1D",
    "ScheduledPlan2D",
    "can_lower_1d",
    "can_lower_2d",
    "check",
    "compile_graph",
    "compile_model",
    "pack",
    "schedule",
    "schedule_1d",
    "schedule_2d",
]
