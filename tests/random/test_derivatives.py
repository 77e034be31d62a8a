"""Two thousand random models: the Jacobian is the derivative of the residual, and finite.

The number is PYSPEC_DERIVATIVE_MODELS where that is set. Differences are of the model in double
precision, extrapolated, with an error of their own; the residual of them is a formula that is
differentiated on paper. A column counts where its difference is known to 4e-10 of the column.
Left out by rule: box widths, which have no derivative; parameters that change less than 1e-9 of
the model, whose column must be as small; registered functions, which the generator does not draw.
An onset that jumps is not left out: no jump lies on a sample.
"""

from __future__ import annotations

import os

import pytest
from random_models.slopes import BOUND, Slopes, examine_slopes
from random_models.stash import SLOPES

MODELS = int(os.environ.get("PYSPEC_DERIVATIVE_MODELS", "2000"))
CHUNKS = 10


def _range(chunk: int) -> tuple[int, int]:
    return chunk * MODELS // CHUNKS, (chunk + 1) * MODELS // CHUNKS


@pytest.fixture(scope="module")
def total(request: pytest.FixtureRequest) -> Slopes:
    """Filled chunk by chunk."""
    request.config.stash[SLOPES] = Slopes()
    return request.config.stash[SLOPES]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_jacobian_is_the_derivative(chunk: int, total: Slopes) -> None:
    part = examine_slopes(_range(chunk))
    total.add(part)
    assert not part.failures, "\n".join(part.failures[:10])


def test_most_columns_are_judged(total: Slopes) -> None:
    if total.models < 50:
        pytest.skip("the models were examined elsewhere, or are few")
    assert total.models >= 0.8 * MODELS
    assert total.judged >= 0.95 * total.columns, total
    assert 0.0 < total.worst <= BOUND
    for name in ("data:poisson", "data:mask", "data:weight points", "data:columns", "data:rows"):
        assert total.features[name] >= 0.05 * total.models, name
