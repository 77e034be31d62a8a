"""Random models from a seed, and what three executors must agree on."""

from __future__ import annotations

from random_models.case import Case, Step
from random_models.check import Outcome, examine
from random_models.features import REQUIRED
from random_models.generate import generate
from random_models.summary import Summary, summarise

__all__ = [
    "REQUIRED",
    "Case",
    "Outcome",
    "Step",
    "Summary",
    "examine",
    "generate",
    "summarise",
]
