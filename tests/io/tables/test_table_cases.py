"""Tables in text: every case of tables.yaml is read as it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import yaml

from pyspec.errors import DataError
from pyspec.io import Dataset, read

SECTIONS = yaml.safe_load(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))


def numbers(values: npt.ArrayLike) -> str:
    """Numbers of an array, rows between slashes; of a large one its shape, ends and sum."""
    array = np.asarray(values, np.float64)
    if array.size > 36 or (array.ndim == 1 and array.size > 24):
        shape = "x".join(map(str, array.shape))
        ends = f"{array.flat[0]:.10g} … {array.flat[-1]:.10g}"
        return f"{shape}, {ends}, sum {np.nansum(array):.10g}"
    rows = array.reshape(-1, array.shape[-1])
    return " / ".join(" ".join(f"{value:.10g}" for value in row) for row in rows)


def shown(dataset: Dataset) -> str:
    """Each axis and the data with label, unit and numbers; errors, and what else the file says."""
    parts = []
    for name, values in [
        *((dim, dataset.axes[dim]) for dim in dataset.dims),
        ("data", dataset.data),
    ]:
        label, unit = dataset.labels.get(name), dataset.units.get(name)
        head = name + (f' "{label}"' if label else "") + (f" [{unit}]" if unit else "")
        parts.append(f"{head}: {numbers(values)}")
    if dataset.errors is not None:
        parts.append(f"errors: {numbers(dataset.errors)}")
    if dataset.meta:
        meta = sorted((str(key), value) for key, value in dataset.meta.items())
        parts.append("meta: " + ", ".join(f"{key}={value}" for key, value in meta))
    return " | ".join(parts)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_table_is_read_as_its_case_says(section: str, tmp_path: Path) -> None:
    for case in SECTIONS[section]:
        path = tmp_path / case.get("name", "table.csv")
        path.write_text(case["text"], encoding=case.get("encoding", "utf-8"), newline="")
        options: dict[str, Any] = case.get("read", {})
        if "error" in case:
            with pytest.raises(DataError) as caught:
                read(path, **options)
            assert case["error"] in str(caught.value), case["text"]
            continue
        found = read(path, **options)
        assert shown(found) == case["gives"], case["text"]
        for note in case.get("notes", ()):
            assert any(note in line for line in found.notes), case["text"]
