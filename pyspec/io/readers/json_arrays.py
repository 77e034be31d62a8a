"""JSON: an object with "energy", "time" if there is one, and "data"."""

from __future__ import annotations

import json

import numpy as np

from pyspec.errors import DataError
from pyspec.io.found import Found
from pyspec.io.optional import one_line
from pyspec.io.reader import Reader, Request, Start


def sniff(start: Start) -> bool:
    """By its ending and its first character."""
    return start.suffix == ".json" and start.text.startswith("{")


def read(request: Request) -> Found:
    """Numbers by name."""
    try:
        held = json.loads(request.path.read_text(encoding="utf-8"))
        axes = {name: np.array(held[name], float) for name in ("time", "energy") if name in held}
        return Found(np.array(held["data"], float), list(axes), axes)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{request.path}: cannot be read as JSON of arrays ({one_line(error)}); it needs "
            '"energy" and "data"'
        ) from None


READER = Reader(
    name="json_arrays",
    what="arrays in JSON",
    endings=("json",),
    sniff=sniff,
    read=read,
    example='read("data.json")',
    checked="files of a test",
)
