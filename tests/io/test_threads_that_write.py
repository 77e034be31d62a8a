"""Threads that write the same file at the same time; sizes that a file claims."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from zipfile import ZipFile

import pytest

from pyspec import load_model
from pyspec.components import Gauss
from pyspec.errors import DataError, ModelError
from pyspec.io import read, replacing, write_text
from pyspec.model import Model


def test_temporary_names_are_of_one_thread(tmp_path: Path) -> None:
    """Two threads wrote into the same temporary file: a mixture, or an error at the end."""
    path, together = tmp_path / "a.txt", Barrier(4)

    def write(k: int) -> Path:
        with replacing(path) as part:
            together.wait(timeout=20)
            part.write_text(str(k) * 1000)
            together.wait(timeout=20)
        return part

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(write, range(4)))
    assert len(set(parts)) == 4
    assert path.read_text() in {str(k) * 1000 for k in range(4)}
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_many_threads_leave_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    texts = [f"{k}\n" * 2000 for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda text: write_text(path, text), texts * 4):
            pass
    assert path.read_text() in texts
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("sizes", [(1, 1, 10**12), (10**6, 10**6, 5), (1, -1, -5), (0, 1, 5)])
def test_axes_of_a_scienta_zip_are_counted_before_they_are_made(
    tmp_path: Path, sizes: tuple[int, int, int]
) -> None:
    """The axes were made first: 1e12 points of 8 bytes."""
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        keys = "".join(
            f"{dim}={size}\n{dim}offset=0\n{dim}delta=1\n{dim}label=x [eV]\n"
            for dim, size in zip(("depth", "height", "width"), sizes, strict=True)
        )
        archive.writestr("Spectrum_one.ini", f"[spectrum]\nname=one\n{keys}")
        archive.writestr("Spectrum_one.bin", bytes(20))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"has 5 values for .* points"):
            read(tmp_path / "a.zip")
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_a_model_of_50_000_components_is_refused_while_it_is_loaded() -> None:
    part = "  Gauss:\n    A: [1, True]\n    x0: [5, True]\n    SD: [1, True]\n"
    with pytest.raises(ModelError, match="has 5,000 components, at most 2,000 are possible"):
        load_model("m:\n" + 5_000 * part, "m")
    with pytest.raises(ModelError, match="has 50,000 components, at most 2,000 are possible"):
        Model("m", [Gauss(A=1.0, x0=5.0, SD=1.0)] * 50_000)
