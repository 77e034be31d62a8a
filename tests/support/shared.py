"""The folder of data and golden numbers that are not the project's to ship."""

from __future__ import annotations

import os
from pathlib import Path

#: ../shared beside the source tree, or what the environment names.
SHARED = Path(os.environ.get("PYSPEC_SHARED", Path(__file__).resolve().parents[3] / "shared"))
