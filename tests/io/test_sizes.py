"""Arrays that a file cannot hold are refused before they are allocated, and only these."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pyspec.errors import DataError
from pyspec.io.sizes import check_size

FREE = 1 << 28


@pytest.mark.parametrize(
    ("held", "claimed"),
    [(0, 1), (0, FREE), (268_436, 268_436_000), (1, FREE), (1 << 20, 1000 << 20)],
)
def test_these_are_read(tmp_path: Path, held: int, claimed: int) -> None:
    path = tmp_path / "a.h5"
    path.touch()
    os.truncate(path, held)
    check_size(path, "data", claimed)


@pytest.mark.parametrize(
    ("held", "claimed", "shown"),
    [(0, FREE + 1, "0.25"), (268_436, 268_436_001, "0.25"), (1 << 20, (1000 << 20) + 1, "0.977")],
)
def test_these_are_refused(tmp_path: Path, held: int, claimed: int, shown: str) -> None:
    path = tmp_path / "a.h5"
    path.touch()
    os.truncate(path, held)
    text = f"{path}: {'x' * 200} claims {shown} GiB, but the file has {held} bytes; it is damaged"
    with pytest.raises(DataError, match="^" + re.escape(text)):
        check_size(path, "x" * 201, claimed)
