"""The model tree: YAML models, components, parameters, dynamics, and measurements."""

from pyspec.model.build.load import (
    load_dynamics,
    load_model,
    load_models,
    load_profile,
    load_time_model,
)
from pyspec.model.data.measurement import Measurement
from pyspec.model.model import Model
from pyspec.model.tree import Component, Dynamics, Par, Profile

__all__ = [
    "Component",
    "Dynamics",
    "Measurement",
    "Model",
    "Par",
    "Profile",
    "load_dynamics",
    "load_model",
    "load_models",
    "load_profile",
    "load_time_model",
]
