"""Models are evaluated by backends, which another room registers: each file runs alone, too."""

import pyspec.executor  # noqa: F401
