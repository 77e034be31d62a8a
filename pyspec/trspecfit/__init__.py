"""pyspec under the names of trspecfit: a script that was written for it changes its import to

    from pyspec.trspecfit import File, Project

The classes that a script makes are here. Those that pyspec makes (Model, Component, the results of
fits) get the names of trspecfit when this package is imported. Nothing of pyspec needs any of them.
"""

from __future__ import annotations

from pyspec.fit import FitResult, MCMCResult, SliceResults
from pyspec.model import Component, Model
from pyspec.plot import PlotConfig
from pyspec.simulate import Simulator, SweepDataset
from pyspec.trspecfit import sensitivity
from pyspec.trspecfit.answers import AnswerNames, FitResultsNames
from pyspec.trspecfit.files import File, Project
from pyspec.trspecfit.fits import MC
from pyspec.trspecfit.models import ComponentNames, ModelNames
from pyspec.trspecfit.results import ResultNames
from pyspec.trspecfit.simulate import ParameterSweep
from pyspec.workflow import FitResults

__all__ = [
    "MC",
    "Component",
    "File",
    "FitResults",
    "MCMCResult",
    "Model",
    "ParameterSweep",
    "PlotConfig",
    "Project",
    "Simulator",
    "SweepDataset",
    "sensitivity",
]

#: Classes that pyspec makes, with the names of trspecfit that they get.
NAMED = (
    (Model, ModelNames),
    (Component, ComponentNames),
    (FitResult, ResultNames),
    (SliceResults, ResultNames),
    (FitResults, AnswerNames),
    (FitResults, FitResultsNames),
)
for _kind, _names in NAMED:
    for _name, _value in vars(_names).items():
        if not _name.startswith("_"):
            setattr(_kind, _name, _value)
