"""Answers to calls that do not fit: what was perhaps meant, and what to write instead."""

from pyspec.calls.answered import Suggesting, answered
from pyspec.calls.arguments import frozen, is_whole, one_of, real, real_array, row_of, whole
from pyspec.calls.named import Named, meant, no_item
from pyspec.calls.outside import stack_outside
from pyspec.calls.terminal import say

__all__ = [
    "Named",
    "Suggesting",
    "answered",
    "frozen",
    "is_whole",
    "meant",
    "no_item",
    "one_of",
    "real",
    "real_array",
    "row_of",
    "say",
    "stack_outside",
    "whole",
]
