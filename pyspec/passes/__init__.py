"""Passes over the graph: what is worked out before a plan is made."""

from pyspec.passes.classify import Column, Kind, classify_columns, jump_parameters
from pyspec.passes.forms import FORMS, MARKS

__all__ = ["FORMS", "MARKS", "Column", "Kind", "classify_columns", "jump_parameters"]
