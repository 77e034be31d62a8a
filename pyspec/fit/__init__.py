"""Fits through lmfit: parameters in, one executor call for each residual, a FitResult out."""

from pyspec.fit.methods import canonical_method, known_methods
from pyspec.fit.result import FitResult
from pyspec.fit.run import fit_model
from pyspec.fit.table import CorrelationTable, ParameterRow, ParameterTable

__all__ = [
    "CorrelationTable",
    "FitResult",
    "ParameterRow",
    "ParameterTable",
    "canonical_method",
    "fit_model",
    "known_methods",
]
