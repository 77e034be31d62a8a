"""What a cluster cannot do is one clear error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.clusters import cluster, long_series
from support.later import later
from support.native_cases import CASES

from pyspec.errors import ClusterError, DataError, FitError
from pyspec.executor.cluster import client as of_client
from pyspec.fit import fit_model
from pyspec.io import by_reference
from pyspec.model import Measurement

later("distributed")


def test_something_else_than_a_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model, measurement = CASES["a series"]()[0]
    with pytest.raises(ClusterError, match=r"client must be a dask.distributed.Client, not str"):
        fit_model(model, measurement, client="tcp://127.0.0.1:8786")
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'pyspec-fit\[distributed\]'"):
        fit_model(model, measurement, client="tcp://127.0.0.1:8786")


def test_workers_of_another_build_are_refused() -> None:
    own = of_client.this_build()

    class Workers:
        def __init__(self, *builds: Any) -> None:
            self.builds = builds

        def run(self, function: Any, on_error: str) -> dict[str, Any]:
            assert on_error == "return"
            return {f"worker {k}": one for k, one in enumerate(self.builds)}

    assert of_client.agree(Workers(own)).isa == own.isa
    assert of_client.agree(Workers(own, replace(own, isa="BASELINE"))).isa == "BASELINE"
    with pytest.raises(ClusterError, match="worker 1 has another pyspec"):
        of_client.agree(Workers(own, replace(own, fingerprint="0" * 64)))
    with pytest.raises(ClusterError, match="worker 0 has another pyspec"):
        of_client.agree(Workers(replace(own, machine="pdp11")))
    odd = replace(own, isas=("NEON",), isa=own.isa)
    with pytest.raises(ClusterError, match="set the same PYSPEC_ISA everywhere"):
        of_client.agree(Workers(odd))
    with pytest.raises(ClusterError, match="the cluster has no workers"):
        of_client.agree(Workers())
    assert of_client.agree(Workers(OSError("its process has just ended"), own)).isa == own.isa
    with pytest.raises(ClusterError, match="cannot load this pyspec"):
        of_client.agree(Workers(own, ImportError("no module")))


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    with cluster() as client:
        yield client


@pytest.mark.slow
def test_what_cannot_be_shared_is_refused(two: Any) -> None:
    model, measurement = CASES["a series"]()[0]
    with pytest.raises(FitError, match="client= needs method 'native', not 'leastsq'"):
        fit_model(model, measurement, method="leastsq", client=two)
    with pytest.raises(FitError, match="client= needs a model that runs in C alone"):
        fit_model(model, measurement, backend="interpreted", client=two)
    one = model.copy()
    one.set_axes(energy=model.energy)
    with pytest.raises((FitError, DataError)):
        fit_model(one, Measurement(data=np.asarray(measurement.data)[0]), client=two)


def in_chunks(data: Any, chunks: tuple[int, int], damage: Any = None) -> Any:
    dask_array = pytest.importorskip("dask.array")

    def block(piece: Any, block_info: Any = None) -> Any:
        place = block_info[0]["chunk-location"][0]
        return piece if damage is None else damage(place, piece)

    array = dask_array.from_array(data, chunks=chunks)
    return by_reference(array.map_blocks(block, dtype=data.dtype))


@pytest.mark.slow
def test_chunks_that_split_the_energies_are_refused(two: Any) -> None:
    model, measurement = long_series("a series")
    held = in_chunks(np.asarray(measurement.data), (100, 20))
    with pytest.raises(ClusterError, match=r"data.rechunk\(\(100, -1\)\)"):
        fit_model(model, Measurement(data=held), client=two)


def broken(place: int, piece: Any) -> Any:
    if place == 73:
        raise OSError("checksum of the chunk is wrong")
    return piece


@pytest.mark.slow
def test_a_chunk_that_cannot_be_read_is_named(two: Any) -> None:
    model, measurement = long_series("a series")
    held = in_chunks(np.asarray(measurement.data), (10, 81), broken)
    message = "chunk 73, rows 730 to 739, cannot be read: checksum of the chunk is wrong"
    with pytest.raises(ClusterError, match=message):
        fit_model(model, Measurement(data=held), client=two)


@pytest.mark.slow
def test_rows_that_change_while_they_are_fitted_are_named(two: Any, tmp_path: Any) -> None:
    """Workers kept what they had read first, and summed other rows later."""
    model, measurement = long_series("a series")
    data = np.array(measurement.data)
    path = tmp_path / "data.npy"
    np.save(path, data)
    held: Any = by_reference(np.load(path, mmap_mode="r"), rows=10)

    def change(nfev: int, chisqr: float, best: float) -> None:
        data[731] += 1.0
        np.save(path, data)

    message = r"data.npy: chunks \d+ to \d+, rows \d+ to \d+, changed while the data were fitted"
    with pytest.raises(DataError, match=message):
        fit_model(model, Measurement(data=held), client=two, progress=change)
