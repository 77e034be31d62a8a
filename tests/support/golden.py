"""Models whose values another program computed, in ../shared/golden."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.model import Model
from tests.packaging.golden_bits import model_of


def golden_models(shared: Path) -> Iterator[tuple[dict[str, Any], Model, Any]]:
    """Each case, its model, and the arrays of all cases."""
    cases = json.loads((shared / "golden" / "models.json").read_text())["cases"]
    arrays = np.load(shared / "golden" / "models.npz")
    assert len(cases) >= 36
    for case in cases:
        yield case, model_of(case, arrays), arrays
