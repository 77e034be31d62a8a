"""Sums of one fit by the workers of a dask cluster.

The plan goes to each worker once, with the rows that it sums; then each evaluation is one task a
worker. The workers return nodes of the tree over the row number. Their sum has the bits of a sum
over all rows in one process.
"""

from pyspec.executor.cluster.client import need_client
from pyspec.executor.cluster.rows import keep_on_workers, rows_that_count
from pyspec.executor.cluster.sums import ClusterSums, Spent
from pyspec.executor.cluster.survey import survey_on_workers

__all__ = [
    "ClusterSums",
    "Spent",
    "keep_on_workers",
    "need_client",
    "rows_that_count",
    "survey_on_workers",
]
