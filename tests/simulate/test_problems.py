"""Problems with a known truth, simulated and fitted."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.errors import ModelError
from pyspec.fit import fit_model
from pyspec.model import Measurement
from pyspec.simulate import PROBLEMS, problem


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_are_as_they_say(name: str) -> None:
    """440 x 400, at least 12 free parameters, every start at least 10 % off the truth."""
    task = problem(name)
    start, truth = task.model(start=True), task.model(start=False)
    assert (task.time.size, task.energy.size) == (440, 400)
    assert len(start.opt_param_names) >= 12
    for parameter in start.opt_param_names:
        off = abs(start.values[parameter] / truth.values[parameter] - 1)
        assert off >= 0.1, parameter


def test_an_unknown_problem_is_met_with_a_known_one() -> None:
    with pytest.raises(ModelError, match="did you mean 'demo'"):
        problem("demon")


@pytest.mark.parametrize("name", PROBLEMS)
def test_fits_find_the_truth(name: str) -> None:
    task = problem(name)
    truth = task.model(start=False).values
    result = fit_model(task.model(), Measurement(data=task.data(0)))
    assert result.success
    assert not result.at_bound
    pulls = [
        (row.value - truth[row.name]) / row.stderr for row in result.table if row.kind != "fixed"
    ]
    assert np.abs(pulls).max() < 4.5
    assert result.redchi == pytest.approx(task.noise_sd**2, rel=0.02)
