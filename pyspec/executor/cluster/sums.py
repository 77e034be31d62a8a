"""Sums of the files of one fit by the workers of a cluster: one task a worker and evaluation."""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspec.errors import ClusterError
from pyspec.executor.cluster.client import agree, need_client
from pyspec.executor.cluster.rows import pieces, without_data
from pyspec.executor.cluster.worker import Answer, FileShare, Job, Share, hold, sum_share
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.nodes import Nodes, all_nodes

#: After so many seconds without an answer the workers are looked at.
PATIENCE = 1.0

#: So long a scheduler may not answer, or no worker be there.
GONE = 30.0


@dataclass
class Spent:
    """Where the time of a fit went.

    Attributes
    ----------
    evaluations : how many sums were asked for
    sums : seconds that the slowest worker took, of all evaluations
    outside : all other seconds: messages, waiting, joining
    moved : shares that another worker took over
    """

    evaluations: int = 0
    sums: float = 0.0
    outside: float = 0.0
    moved: int = 0


class Placed:
    """A share on its worker."""

    def __init__(self, client: Any, share: Share, address: str) -> None:
        self.client, self.share = client, share
        self.place(address)

    def place(self, address: str) -> None:
        """Sends the share to a worker."""
        self.address = address
        sent = self.client.scatter(self.share, workers=[address], hash=False)
        self.held = self.client.submit(hold, sent, workers=[address], pure=False)

    def submit(self, jobs: Sequence[Job]) -> Any:
        """A future of the sums."""
        return self.client.submit(sum_share, self.held, jobs, workers=[self.address], pure=False)


class ClusterSums:
    """The files of one fit, shared among the workers of a client.

    Parameters
    ----------
    client : a dask.distributed.Client
    executors : of each file, with its data

    Raises
    ------
    ClusterError
        no client, no workers, or workers with another pyspec
    """

    def __init__(self, client: Any, executors: Sequence[CompiledExecutor]) -> None:
        self.client = need_client(client)
        self.terms = agree(client)
        self.spent = Spent()
        self.is_open = True
        workers = self._workers()
        files = [without_data(executor) for executor in executors]
        shares = [Share(self.terms, {}) for _ in workers]
        for k, executor in enumerate(executors):
            for share, piece in zip(shares, pieces(executor, len(workers)), strict=False):
                share.files.setdefault(k, FileShare(files[k])).pieces.append(piece)
        self.placed = [
            Placed(client, share, address)
            for share, address in zip(shares, workers, strict=True)
            if share.files
        ]

    @property
    def n_workers(self) -> int:
        """Workers that sum."""
        return len({placed.address for placed in self.placed})

    def sum(self, jobs: Sequence[Job]) -> list[Nodes]:
        """The nodes of each job over all rows of its file."""
        begin = time.perf_counter()
        answers = self._answers(jobs)
        found = []
        for k in range(len(jobs)):
            parts = [nodes for answer in answers if (nodes := answer.nodes[k]) is not None]
            found.append(all_nodes(parts))
        slowest = max(answer.seconds for answer in answers)
        self.spent.evaluations += 1
        self.spent.sums += slowest
        self.spent.outside += time.perf_counter() - begin - slowest
        return found

    def _answers(self, jobs: Sequence[Job]) -> list[Answer]:
        done: queue.Queue[Any] = queue.Queue()
        waiting: dict[Any, Placed] = {}

        def ask(placed: Placed) -> None:
            future = placed.submit(jobs)
            waiting[future.key] = placed
            future.add_done_callback(done.put)

        for placed in self.placed:
            ask(placed)
        answers = []
        while waiting:
            future = done.get()
            placed = waiting.pop(future.key)
            answers.append(self._result(future))
        return answers

    def _result(self, future: Any) -> Answer:
        answer: Answer = future.result()
        if answer.terms != self.terms:
            raise ClusterError("a worker answers with another library than it began with")
        return answer

    def _workers(self) -> list[str]:
        return sorted(self.client.nthreads())

    def close(self) -> None:
        """Lets the workers forget the fit."""
        self.is_open = False
        self.placed = []
