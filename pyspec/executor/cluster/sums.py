"""Sums of the files of one fit by the workers of a cluster: one task a worker and evaluation."""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pyspec.errors import ClusterError, PyspecError
from pyspec.executor.cluster.client import agree, need_client, of_engine
from pyspec.executor.cluster.engine import Client, Future
from pyspec.executor.cluster.rows import placed_rows, without_data
from pyspec.executor.cluster.worker import Answer, Share, hold, sum_share
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.nodes import Nodes, all_nodes
from pyspec.executor.store import Job

#: After so many seconds without an answer the workers are looked at.
PATIENCE = 0.5

#: So many seconds a scheduler may not answer, or no worker be there.
GONE = 30.0

#: After so many seconds nobody computes a lost chunk anew.
LOST = 20.0

#: So often one share may be lost in one evaluation.
MOST_LOSSES = 6


@dataclass
class Spent:
    """Where the time of the sums of a fit went.

    Attributes
    ----------
    workers : processes that sum
    isa : build of the kernels that they agreed on
    evaluations : how many sums were asked for
    sums : seconds that the slowest worker took, of all evaluations
    outside : all other seconds: messages, waiting, joining
    moved : shares that another worker took over
    """

    workers: int
    isa: str
    evaluations: int = 0
    sums: float = 0.0
    outside: float = 0.0
    moved: int = 0

    def __str__(self) -> str:
        each = 1e3 / max(self.evaluations, 1)
        moved = f", {self.moved} shares moved to another worker" if self.moved else ""
        return (
            f"{self.workers} worker{'s' * (self.workers != 1)} ({self.isa}): {self.evaluations} "
            f"sums, each {self.sums * each:.3g} ms on the slowest worker and "
            f"{self.outside * each:.3g} ms outside of the sums{moved}"
        )


class Placed:
    """A share on its worker; `futures` are the chunks of dask that it holds."""

    def __init__(self, client: Client, share: Share, futures: Sequence[Future]) -> None:
        self.client, self.share, self.futures = client, share, list(futures)
        self.address = ""
        self.held: Future | None = None

    def place(self, address: str) -> None:
        """Sends the share to a worker, which opens its files."""
        self.address = address
        sent = self.client.scatter(self.share, workers=[address], hash=False)
        self.held = self.client.submit(hold, sent, *self.futures, workers=[address], pure=False)

    def submit(self, jobs: Sequence[Job]) -> Future:
        """A future of the sums."""
        own = self.share.jobs(jobs)
        return self.client.submit(sum_share, self.held, own, workers=[self.address], pure=False)

    def refuse_lost(self) -> None:
        """Raises :class:`ClusterError` for chunks of dask that nobody can make again; the engine
        calls chunks lost until it begins to compute them anew."""
        deadline = time.monotonic() + LOST
        for future in self.futures:
            while future.status == "lost" and time.monotonic() < deadline:
                time.sleep(0.05)
            if future.status in ("lost", "cancelled"):
                raise ClusterError(
                    f"chunk {future.key} was lost with its worker and cannot be made again; "
                    "scatter it again, or make the array from a store: dask.array.from_zarr"
                )


class ClusterSums:
    """The files of one fit, shared among the workers of a client.

    A worker that dies is replaced: its rows go to a new worker, or to another one until there is a
    new one. The tree over the row number makes the bits the same.

    Parameters
    ----------
    client : a dask.distributed.Client
    executors : of each file, with its data

    Raises
    ------
    ClusterError
        no client, no workers, or workers with another pyspec
    """

    def __init__(self, client: object, executors: Sequence[CompiledExecutor]) -> None:
        self.client = need_client(client)
        self.terms = agree(self.client)
        self._looked = 0.0
        workers = self._alive()
        self.placed: list[Placed] = []
        files = [without_data(executor) for executor in executors]
        rows = placed_rows(self.client, files, executors, workers)
        for address, (shares, futures) in rows.items():
            placed = Placed(self.client, Share(self.terms, shares), futures)
            placed.place(address)
            self.placed.append(placed)
        self.spent = Spent(len(self.placed), self.terms.isa)

    @property
    def isa(self) -> str:
        """The build of the kernels that all workers run."""
        return self.terms.isa

    def nodes(self, jobs: Sequence[Job]) -> list[Nodes]:
        """The nodes of each job over all rows of its file.

        Raises :class:`ClusterError` where the scheduler, all workers or data are gone, and what a
        worker raises where rows cannot be read.
        """
        begin = time.perf_counter()
        self._spread()
        answers = self._answers(jobs)
        nodes_by_job = []
        for k in range(len(jobs)):
            parts = [nodes for answer in answers if (nodes := answer.nodes[k]) is not None]
            nodes_by_job.append(all_nodes(parts))
        slowest = max(answer.seconds for answer in answers)
        self.spent.evaluations += 1
        self.spent.sums += slowest
        self.spent.outside += time.perf_counter() - begin - slowest
        return nodes_by_job

    def _answers(self, jobs: Sequence[Job]) -> list[Answer]:
        done: queue.Queue[Future] = queue.Queue()
        waiting: dict[str, Placed] = {}
        losses: dict[int, int] = {}
        answers: list[Answer] = []

        def ask(placed: Placed) -> None:
            future = placed.submit(jobs)
            waiting[future.key] = placed
            future.add_done_callback(done.put)

        def again(placed: Placed) -> None:
            losses[id(placed)] = losses.get(id(placed), 0) + 1
            if losses[id(placed)] > MOST_LOSSES:
                raise ClusterError(
                    f"the rows of one share were lost {MOST_LOSSES} times with their workers in "
                    "one evaluation; look at the logs of the workers, memory may be short"
                )
            self._move(placed)
            ask(placed)

        for placed in self.placed:
            ask(placed)
        while waiting:
            try:
                future = done.get(timeout=PATIENCE)
            except queue.Empty:
                alive = self._alive()
                for key, placed in list(waiting.items()):
                    if placed.address not in alive:
                        del waiting[key]
                        again(placed)
                continue
            if future.key not in waiting:
                continue
            placed = waiting.pop(future.key)
            answer = self._result(future, placed)
            if answer is None:
                again(placed)
            else:
                answers.append(answer)
        return answers

    def _result(self, future: Future, placed: Placed) -> Answer | None:
        """What a worker answered; None where it was lost."""
        try:
            answer = future.result()
        except PyspecError:
            raise
        except Exception as error:
            alive = self._alive()
            if future.status == "error" and placed.address in alive and not of_engine(error):
                raise ClusterError(
                    f"worker {placed.address} cannot sum: {type(error).__name__}: {error}"
                ) from error
            return None
        assert isinstance(answer, Answer)
        if answer.terms != self.terms:
            raise ClusterError(
                f"worker {placed.address} sums with another pyspec than the fit began with; such "
                "sums are not joined"
            )
        return answer

    # workers that come and go

    def _alive(self) -> list[str]:
        """Addresses of the workers. Raises :class:`ClusterError` where there are none for a
        while."""
        deadline, reason = time.monotonic() + GONE, "there are no workers"
        while self.client.status in ("running", "connecting"):
            try:
                ask = self.client.scheduler.ncores
                cores = self.client.sync(ask, callback_timeout=5.0)
                if cores:
                    return sorted(cores)
                reason = "there are no workers"
            except Exception as error:
                reason = f"{type(error).__name__} {error}".strip()
            if time.monotonic() > deadline:
                break
            time.sleep(0.2)
        raise ClusterError(
            f"the cluster is gone ({reason}): no worker could be asked for {GONE:g} s; start it "
            "again and go on from the best point"
        )

    def _move(self, placed: Placed) -> None:
        """Gives a share to the worker with the fewest, a new one first."""
        placed.refuse_lost()
        for _ in range(MOST_LOSSES):
            alive = self._alive()
            load = dict.fromkeys(alive, 0)
            for other in self.placed:
                if other is not placed and other.address in load:
                    load[other.address] += 1
            try:
                placed.place(min(alive, key=lambda address: load[address]))
                self.spent.moved += 1
                return
            except Exception as error:  # it died meanwhile
                reason = error
                time.sleep(0.2)
        raise ClusterError(f"rows could not be sent to any worker: {reason}") from reason

    def _spread(self) -> None:
        """Once in a second, gives a worker that has no share one of those that share a worker."""
        addresses = [placed.address for placed in self.placed]
        crowded = [p for p in self.placed if addresses.count(p.address) > 1]
        if not crowded or time.monotonic() < self._looked + 1.0:
            return
        self._looked = time.monotonic()
        if set(self._alive()) - set(addresses):
            self._move(crowded[0])

    def close(self) -> None:
        """Lets the workers forget the fit."""
        self.placed = []
