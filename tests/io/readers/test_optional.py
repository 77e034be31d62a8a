"""Each optional library absent: the error names it and the extra that brings it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support.files.samples import SAMPLES

from pyspec import Measurement, fit_model, load_model
from pyspec.errors import MAX_MESSAGE, DataError, FitError
from pyspec.io import READERS, load_fits, read, save_archive, to_xarray


def test_a_message_is_one_line_of_bounded_length(tmp_path: Path) -> None:
    path = SAMPLES["npz"][0].make(tmp_path)
    with pytest.raises(DataError) as caught:
        read(path, data="begin\n" + "x" * 5000 + "\x1b end")
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) <= MAX_MESSAGE


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that makes libraries impossible to import."""

    def remove(*names: str) -> None:
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return remove


EXTRA = r"install it: pip install 'pyspec-fit\[io\]'"


def test_archives_without_h5py(tmp_path: Path, without: Any) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n")
    without("h5py")
    with pytest.raises(DataError, match=r"an archive of fits needs h5py.*" + EXTRA):
        save_archive(path, {})
    with pytest.raises(DataError, match="needs h5py"):
        load_fits(path)


@pytest.mark.parametrize("name", [n for n, one in READERS.items() if one.libraries])
def test_every_reader_without_its_library(tmp_path: Path, without: Any, name: str) -> None:
    sample = SAMPLES[name][0]
    path = sample.make(tmp_path)
    without("netCDF4")
    for library in reversed(READERS[name].libraries):
        without(library)
        with pytest.raises(DataError, match=f"needs {library}.*{EXTRA}"):
            read(path, **sample.read)


def test_formats_without_a_library_need_none(tmp_path: Path, without: Any) -> None:
    paths = {name: SAMPLES[name][0].make(tmp_path) for name in READERS}
    without("h5py", "xarray", "h5netcdf", "netCDF4", "igor2", "jcamp", "vamas", "pandas")
    for name, reader in READERS.items():
        if not reader.libraries:
            sample = SAMPLES[name][0]
            assert read(paths[name], **sample.read).data.size == sample.data.size


def test_to_xarray_without_xarray(tmp_path: Path, without: Any) -> None:
    path = tmp_path / "a.csv"
    path.write_text("1,2\n2,3\n")
    without("xarray")
    with pytest.raises(DataError, match=r"to_xarray\(\) needs xarray.*" + EXTRA):
        to_xarray(read(path))
    model = load_model("m:\n  Offset:\n    y0: [1, True]\n")
    model.set_axes([1.0, 2.0, 3.0])
    result = fit_model(model, Measurement([1.0, 2.0, 3.0]))
    with pytest.raises(FitError, match=r"to_xarray\(\) needs xarray.*" + EXTRA):
        result.to_xarray()
