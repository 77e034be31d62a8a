"""Fits through lmfit: parameters in, one executor call for each residual, a FitResult out."""

from pyspec.fit.joint import JointResult, fit_joint
from pyspec.fit.methods import canonical_method, known_methods
from pyspec.fit.result import FitResult
from pyspec.fit.run import fit_model
from pyspec.fit.sliceresults import SliceFit, SliceResults
from pyspec.fit.slices import fit_slices
from pyspec.fit.table import CorrelationTable, ParameterRow, ParameterTable
from pyspec.fit.trace import fit_trace

__all__ = [
    "CorrelationTable",
    "FitResult",
    "JointResult",
    "ParameterRow",
    "ParameterTable",
    "SliceFit",
    "SliceResults",
    "canonical_method",
    "fit_joint",
    "fit_model",
    "fit_slices",
    "fit_trace",
    "known_methods",
]
