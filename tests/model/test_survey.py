"""The look at all data: the same bits in whatever blocks rows come."""

from __future__ import annotations

import itertools
import threading
import zlib
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from pyspec.model.data.checksum import checksums
from pyspec.model.data.source import Seen, Source
from pyspec.model.data.survey import Rules, Surveyed, joined, survey_rows


class Rows(Source):
    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.chunk, self.name = 1, "rows"

    def read(self, begin: int, end: int) -> Any:
        return self.array[begin:end]


@pytest.mark.parametrize("weight", [None, (1, 9), (157, 1), (157, 9)])
@pytest.mark.parametrize("loss_scale", [None, 2.5])
def test_any_parts_in_any_order_have_the_same_bits(weight: Any, loss_scale: Any) -> None:
    rng = np.random.default_rng(4)
    source = Rows(rng.poisson(5.0, (157, 9)) / 3.0)
    keep = rng.uniform(size=source.shape) > 0.3
    keep[40:50] = False
    given = None if weight is None else rng.uniform(1.0, 2.0, weight)
    rules = Rules(slice(1, 8), 0, 157, given, keep, loss_scale).within(3, 150)
    whole = asdict(survey_rows(source, rules, Seen()).survey())
    for _ in range(6):
        cuts = [3, *sorted(rng.choice(np.arange(4, 150), 11, replace=False).tolist()), 150]
        pairs = [(a, b) for a, b in itertools.pairwise(cuts)]
        parts: list[Surveyed] = [survey_rows(source, rules.within(*one), Seen()) for one in pairs]
        rng.shuffle(parts)  # type: ignore[arg-type]
        found = asdict(joined(parts).survey())
        for key, value in whole.items():
            assert np.asarray(found[key]).tobytes() == np.asarray(value).tobytes(), key
    kept = source.array[3:150, 1:8][keep[3:150, 1:8]]
    assert whole["n_points"] == kept.size
    assert whole["mean"] == pytest.approx(kept.mean(), rel=1e-14)
    assert whole["scatter"] == pytest.approx(((kept - kept.mean()) ** 2).sum(), rel=1e-13)
    # Rows that are masked as a whole are not read: they count as 0.
    read = np.where(keep.any(axis=1)[:, None], source.array, 0.0)
    assert whole["checksum"] == zlib.crc32(np.array(checksums(read[3:150]), "<u4").data)


def test_rows_that_nobody_reads_on_wait_for_no_thread() -> None:
    """They waited for the thread that reads ahead, wherever they were collected: in a thread that
    was about to start this could last for ever, and with it the fit that had started it."""
    closed, waited = threading.Event(), []

    class Stuck(Rows):
        def read(self, begin: int, end: int) -> Any:
            if begin:
                waited.append(not closed.wait(5.0))
            return super().read(begin, end)

    blocks = Stuck(np.ones((3, 2))).blocks(step=1)
    next(blocks)
    del blocks
    closed.set()
    assert waited in ([], [False])
