"""Sums of one fit by the workers of a dask cluster.

The plan goes to each worker once, with the rows that it sums; then each evaluation is one task a
worker. The workers return nodes of the tree over the row number. Their sum has the bits of a sum
over all rows in one process.
"""

from pyspec.executor.cluster.client import (
    Agreement,
    agree,
    agree_on_fits,
    need_client,
    of_engine,
    refuse_other,
)
from pyspec.executor.cluster.rows import keep_on_workers, rows_that_count
from pyspec.executor.cluster.sums import ClusterSums, Spent
from pyspec.executor.cluster.survey import survey_on_workers

__all__ = [
    "Agreement",
    "ClusterSums",
    "Spent",
    "agree",
    "agree_on_fits",
    "keep_on_workers",
    "need_client",
    "of_engine",
    "refuse_other",
    "rows_that_count",
    "survey_on_workers",
]
