"""The look at all data by reference before a fit, by the workers, where the data are."""

from __future__ import annotations

from collections.abc import Iterator

from pyspec.errors import ClusterError, PyspecError, one_line
from pyspec.executor.cluster.client import need_client
from pyspec.executor.cluster.engine import Client, Future
from pyspec.executor.cluster.rows import chunks_in, ranges
from pyspec.executor.cluster.worker import Computed
from pyspec.executor.protocol import Stored
from pyspec.model import Measurement
from pyspec.model.data.lazy_weights import Beside
from pyspec.model.data.source import Seen, Source, source_of, whole_of
from pyspec.model.data.survey import Rules, Surveyed, joined, survey_rows


def survey_on_workers(client: object, measurement: Measurement) -> None:
    """Finds the survey of a measurement with data by reference. Workers read the rows that they are
    given; of a dask array they read the rows that they hold.

    Raises :class:`DataError` for values that are not finite, or rows that cannot be read.
    """
    source = source_of(measurement.data)
    assert source is not None
    engine = need_client(client)
    rules = measurement.rules()
    if source.collection is not None:
        futures = list(_of_chunks(engine, source, rules))
    else:
        futures = list(_of_store(engine, source, rules, measurement.seen))
    try:
        surveyed = [answer for answer in engine.gather(futures) if isinstance(answer, Surveyed)]
        measurement.survey_of(joined(surveyed))
    except PyspecError:
        raise
    except Exception as error:
        raise ClusterError(
            f"{source.name}: workers cannot look at the data: {one_line(error)}"
        ) from error


def _of_store(client: Client, source: Source, rules: Rules, seen: Seen) -> Iterator[Future]:
    from distributed import futures_of

    workers = sorted(client.nthreads())
    if not workers:
        raise ClusterError("the cluster has no workers; start some, or wait for the first")
    # Who reads rows of a store cannot ask other workers for σ or masks in between.
    for array in map(whole_of, (rules.weight, rules.keep)):
        if isinstance(array, Beside) and futures_of(array.given.collection):
            raise ClusterError(
                f"{array.name}: workers hold these chunks of σ or of a mask, while the data stand "
                "in a store; give an array that is not persisted, or np.asarray(array)"
            )
    for (begin, end), address in zip(
        ranges(rules.begin, rules.end, len(workers)), workers, strict=False
    ):
        args = source, rules.within(begin, end), seen.within(begin, end)
        yield client.submit(
            survey_rows, *args, workers=[address], allow_other_workers=True, pure=False
        )


def _of_chunks(client: Client, source: Source, rules: Rules) -> Iterator[Future]:
    from distributed import futures_of

    array = source.collection
    by_key = {future.key: future for future in futures_of(array)}
    for key, first, _ in chunks_in(array):
        place = source.bounds(first)
        assert place is not None
        begin, end = max(place[1], rules.begin), min(place[2], rules.end)
        if begin < end:
            own = rules.within(begin, end)
            chunk = Computed(source, place)
            yield client.submit(_survey_chunk, chunk, by_key[key], own, pure=False)


def _survey_chunk(chunk: Computed, rows: Stored, own: Rules) -> Surveyed:
    beside = own.beside()
    surveyed = survey_rows(chunk.filled(rows), own.at_hand(), Seen())
    surveyed.beside = beside
    return surveyed
