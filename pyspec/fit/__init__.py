"""Fits: a model and a measurement in, a FitResult out."""

from pyspec.fit import again as again  # which answers refit
from pyspec.fit.ending import Start
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind, Severity
from pyspec.fit.joint_fit import fit_joint
from pyspec.fit.many.fit import bootstrap, fit_many
from pyspec.fit.many.results import ManyFits, OneFit
from pyspec.fit.results.joint import JointResult
from pyspec.fit.results.result import FitResult
from pyspec.fit.results.table import CorrelationTable, ParameterRow, ParameterTable
from pyspec.fit.single import fit_model, fit_trace
from pyspec.fit.slices.fit import fit_slices
from pyspec.fit.slices.results import SliceFit, SliceResults
from pyspec.fit.solve.methods import canonical_method, known_methods
from pyspec.fit.uncertainty.samples import MCMCResult, SampleSettings

__all__ = [
    "CorrelationTable",
    "Finding",
    "FitResult",
    "JointResult",
    "Kind",
    "MCMCResult",
    "ManyFits",
    "OneFit",
    "ParameterRow",
    "ParameterTable",
    "SampleSettings",
    "Severity",
    "SliceFit",
    "SliceResults",
    "Start",
    "bootstrap",
    "canonical_method",
    "fit_joint",
    "fit_many",
    "fit_model",
    "fit_slices",
    "fit_trace",
    "known_methods",
]
