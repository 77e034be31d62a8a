"""Several fits and a cluster: starts whose rows are shared, and fits that dask itself hands out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.clusters import assert_same, cluster
from support.later import later
from support.native_cases import CASES

from pyspec.fit import fit_joint, fit_model
from pyspec.model import Measurement

later("distributed")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    with cluster() as client:
        yield client


@pytest.mark.parametrize("name", ["a series", "three files"])
def test_each_of_several_starts_shares_its_rows(name: str, two: Any) -> None:
    pairs = CASES[name]()
    fit: Any = partial(fit_model, *pairs[0]) if len(pairs) == 1 else partial(fit_joint, pairs)
    expected = fit(n_starts=3, seed=3)
    alone = fit(client=two)
    found = fit(n_starts=3, seed=3, client=two)
    assert_same(found, expected)
    facts = [(one.start, one.values, one.chisqr, one.success, one.agrees) for one in found.starts]
    assert facts == [
        (one.start, one.values, one.chisqr, one.success, one.agrees) for one in expected.starts
    ]
    assert found.spent.evaluations > 2 * alone.spent.evaluations  # all of them were shared


def test_dask_fits_many_measurements_by_itself(two: Any) -> None:
    """As docs/howto/cluster.md says: all that it needs is that these pickle."""
    model, measurement = CASES["one spectrum"]()[0]
    rng = np.random.default_rng(1)
    measurements = [Measurement(rng.normal(np.asarray(measurement.data), 0.1)) for _ in range(5)]
    results = two.gather(two.map(partial(fit_model, model), measurements))
    for result, own in zip(results, measurements, strict=True):
        assert_same(result, fit_model(model, own))
