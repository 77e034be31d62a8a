"""Random models from a seed, and what three executors must agree on."""

from __future__ import annotations

from support.random_models.case import Case, Step
from support.random_models.check import Outcome, accepted, examine
from support.random_models.features import REQUIRED
from support.random_models.generate import generate
from support.random_models.summary import Summary, summarise

__all__ = [
    "REQUIRED",
    "Case",
    "Outcome",
    "Step",
    "Summary",
    "accepted",
    "examine",
    "generate",
    "summarise",
]
