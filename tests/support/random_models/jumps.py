"""Keeps what jumps away from samples: there the last bit decides, in any program."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyspec._library import OPS
from support.random_models.draft import Draft
from support.random_models.structure import Structure

#: Least distance of a jump from a sample, in units of the axis.
CLEARANCE = 1e-9


def _near(axis: Any, value: float, length: float) -> bool:
    return bool(np.abs(np.asarray(axis) - value).min() < CLEARANCE * length)


def clear_of_jumps(draft: Draft, structure: Structure) -> bool:
    """Whether onsets, box edges, centres of GaussAsym and boundaries of sub-cycles lie clear."""
    for slot in draft.slots.values():
        if slot.argument == "t0" and _near(draft.time, slot.value, draft.duration[1]):
            return False
        if slot.function == "GaussAsym" and slot.argument == "x0":
            centres = [slot.value]
            if _near(draft.energy, centres[0], draft.span[1]):
                return False
        op = OPS.get(slot.function)
        if op is not None and op.kind == "KERNEL" and op.jumps:
            apart = np.abs(np.subtract.outer(draft.time, draft.time))
            if _near(apart, slot.value / float(op.jumps[0][1]), draft.duration[1]):
                return False
    for motion in structure.dynamics.values():
        if motion.frequency > 0:
            count = len(motion.parts) - 1
            turns = np.asarray(draft.time) * motion.frequency * count
            later = turns[turns > -CLEARANCE]
            clearance = CLEARANCE * draft.duration[1] * motion.frequency * count
            if later.size and np.abs(later - np.round(later)).min() < clearance:
                return False
            if _near(draft.time, 0.0, draft.duration[1]):
                return False
    return True
