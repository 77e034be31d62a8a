"""A tenth of ``make scale``: memory and bits of fits by reference; times are those of the bench."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import scale


@pytest.mark.slow
def test_a_thirtieth_of_the_series(tmp_path: Path) -> None:
    pytest.importorskip("zarr", minversion="3")
    if not Path("/proc/self/status").is_file():
        pytest.skip("memory is read from /proc, which Linux has")
    given = ["--share", "0.033", "--no-timings", "--folder", str(tmp_path)]
    code = scale.main([*given, "--json", str(tmp_path / "scale.json")])
    found = json.loads((tmp_path / "scale.json").read_text())
    assert found["missed"] == []
    assert code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["scale.json"]
    for stores in found["series"].values():
        assert len(stores) == 4
        for row in stores.values():
            assert row["fit_same_bits"]
            assert all(one["peak_mib"] < 300 for one in row["memory"].values())
