"""Every format is read and drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspec.io import READERS


@pytest.mark.slow
def test_a_picture_of_every_format(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from draw_formats import draw

    pictures = draw(tmp_path)
    assert len(pictures) >= len(READERS)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)
