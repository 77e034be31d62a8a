"""Sums over chunks to the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspec.executor.chunks import Chunk, chunk_nodes
from pyspec.executor.nodes import collect
from pyspec.executor.store import Job

Array = Any


def sum_chunks(
    executor: Any, theta: Any, chunks: Iterable[Chunk], fixed: Any = None, form: str = "gram"
) -> Array:
    """chi², Jᵀr and JᵀJ over chunks that are all of the window: a packed triangle."""
    nodes = chunk_nodes(executor, Job(0, theta, fixed, form, False), chunks)
    return collect(nodes, len(executor.opt_param_names), form)
