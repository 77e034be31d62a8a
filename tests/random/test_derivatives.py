"""Random models: the Jacobian is the derivative of the residual, and finite.

Differences are of the model in double precision, extrapolated, with an error of their own; the
residual of them is a formula that is differentiated on paper. A column counts where its difference
is known to 4e-10 of the column. Left out by rule: box widths, which have no derivative; parameters
that change less than 1e-9 of the model, whose column must be as small; registered functions, which
the generator does not draw. An onset that jumps is not left out: no jump lies on a sample.

PYSPEC_DERIVATIVE_MODELS sets how many models the slow run examines.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from support.random_models.slopes import BOUND, Slopes, examine_slopes

MANY = int(os.environ.get("PYSPEC_DERIVATIVE_MODELS", "1200"))


@pytest.fixture(scope="module", params=[40, pytest.param(MANY, marks=pytest.mark.slow)])
def total(request: pytest.FixtureRequest) -> Slopes:
    """What so many models have shown."""
    return examine_slopes((0, request.param))


def lines(total: Slopes) -> str:
    """How many columns were judged, and how well the derivatives agreed."""
    left_out = ", ".join(f"{n} {what}" for what, n in total.excluded.items())
    return (
        f"{total.judged} of {total.columns} columns judged, {total.models} models\n"
        f"worst disagreement: {total.worst:.2g} of the column's scale ({total.worst_of})\n"
        f"left out: {left_out}"
    )


def test_jacobian_is_the_derivative(total: Slopes, closing: Callable[[str], None]) -> None:
    closing(lines(total))
    assert not total.failures, "\n".join(total.failures[:10])
    assert 0.0 < total.worst <= BOUND


def test_most_columns_are_judged(total: Slopes) -> None:
    assert total.models >= 0.8 * (total.models + total.excluded["refused"])
    assert total.judged >= 0.95 * total.columns, total
    for name in ("data:poisson", "data:mask", "data:weight points", "data:columns", "data:rows"):
        assert total.features[name] >= 0.05 * total.models, name
