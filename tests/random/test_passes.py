"""Random models: a plan made with any of the passes left out gives the same numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from support.random_models import accepted

from pyspec.executor import CompiledExecutor, InterpretedExecutor, make_plan
from pyspec.passes import PASSES

Array = npt.NDArray[np.float64]

#: All but the empty one: that is what the others are compared with.
SUBSETS = [s for n in range(1, len(PASSES) + 1) for s in combinations(PASSES, n)]

#: Of the largest value. Only one order of additions is another, where components are shared.
SAME = 1e-13


def difference(one: Array, other: Array) -> float:
    """In units of the largest finite value; infinite where they are not finite at the same
    places."""
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(other)):
        return np.inf
    scale = np.abs(one[finite]).max(initial=0.0)
    change = np.abs(one[finite] - other[finite]).max(initial=0.0)
    return float(change / scale) if scale else float(change)


@pytest.mark.parametrize("count", [8, pytest.param(500, marks=pytest.mark.slow)])
def test_the_numbers_do_not_depend_on_the_passes(count: int) -> None:
    worst: list[tuple[float, int, str, tuple[str, ...]]] = []
    models = list(accepted(range(count)))
    assert len(models) > count // 2
    for seed, model in models:
        whole = make_plan(model)
        expected = CompiledExecutor(whole).run(None), InterpretedExecutor(whole).run(None)
        # Every model without any pass and with all but one; the other subsets in turn.
        subsets = {tuple(PASSES), *((name,) for name in PASSES), SUBSETS[seed % len(SUBSETS)]}
        for without in sorted(subsets):
            plan = make_plan(model, without)
            assert plan.opt_param_names == whole.opt_param_names
            assert plan.fixed_names == whole.fixed_names
            values = CompiledExecutor(plan).run(None), InterpretedExecutor(plan).run(None)
            for name, value, known in zip(("compiled", "numpy"), values, expected, strict=True):
                worst.append((difference(known, value), seed, name, without))
    assert max(worst)[0] <= SAME, sorted(worst)[-5:]
