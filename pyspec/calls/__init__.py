"""Answers to calls that do not fit: what was perhaps meant, and what to write instead."""

from pyspec.calls.answered import answered
from pyspec.calls.named import Named, meant
from pyspec.calls.outside import stack_outside

__all__ = ["Named", "answered", "meant", "stack_outside"]
