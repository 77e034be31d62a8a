"""The memory planner: when results are made, how long they are read, and where they lie.

What is computed is a list of steps (:class:`Step`), each of which leaves one result. A plan is made
in three moves, each a choice of its own, so that each can be measured: :func:`order_steps` picks
the order, :func:`find_lifetimes` which results share memory because one is another name of the
other or takes its place, and :func:`place` where each lies. It knows nothing of what the steps
compute: spectrum buffers and registers of formulas are planned with it.
"""

from pyspec.memory.lifetimes import Lifetime, Sharing, find_lifetimes
from pyspec.memory.orders import ORDERS, Order, order_steps
from pyspec.memory.places import FITS, Fit, Layout, place
from pyspec.memory.planner import Choice, MemoryPlan, plan_memory
from pyspec.memory.steps import Step

__all__ = [
    "FITS",
    "ORDERS",
    "Choice",
    "Fit",
    "Layout",
    "Lifetime",
    "MemoryPlan",
    "Order",
    "Sharing",
    "Step",
    "find_lifetimes",
    "order_steps",
    "place",
    "plan_memory",
]
