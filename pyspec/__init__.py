"""pyspec: fits of energy-resolved and time-and-energy-resolved spectra, compiled.

    from pyspec import File, Project

Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyspec._version import VERSION

if TYPE_CHECKING:
    from pyspec.errors import (
        BackendError,
        DataError,
        FitError,
        LibraryError,
        ModelError,
        ModelWarning,
        PlanError,
        PyspecError,
    )
    from pyspec.executor import (
        evaluate_1d,
        evaluate_2d,
        extract_theta,
        make_executor,
        make_joint_executor,
    )
    from pyspec.fit import (
        FitResult,
        JointResult,
        ParameterTable,
        SliceResults,
        fit_joint,
        fit_model,
        fit_slices,
        fit_trace,
    )
    from pyspec.functions.external import register_function
    from pyspec.io import (
        Dataset,
        from_xarray,
        load_fit,
        load_fits,
        read,
        save_fit,
        to_xarray,
        write_parameters,
    )
    from pyspec.ir import build_graph
    from pyspec.model import (
        Measurement,
        Model,
        load_dynamics,
        load_model,
        load_models,
        load_profile,
        load_time_model,
    )
    from pyspec.plan import can_lower_1d, can_lower_2d, pack, schedule_1d, schedule_2d
    from pyspec.plot import PlotConfig, plot_data, plot_fit, plot_overview, report
    from pyspec.simulate import ParameterSweep, Simulator, SweepDataset
    from pyspec.workflow import File, Project, show_config

__version__ = VERSION

_HOMES = {
    "pyspec.errors": (
        "BackendError",
        "DataError",
        "FitError",
        "LibraryError",
        "ModelError",
        "ModelWarning",
        "PlanError",
        "PyspecError",
    ),
    "pyspec.executor": (
        "evaluate_1d",
        "evaluate_2d",
        "extract_theta",
        "make_executor",
        "make_joint_executor",
    ),
    "pyspec.functions.external": ("register_function",),
    "pyspec.fit": (
        "FitResult",
        "JointResult",
        "ParameterTable",
        "SliceResults",
        "fit_joint",
        "fit_model",
        "fit_slices",
        "fit_trace",
    ),
    "pyspec.io": (
        "Dataset",
        "from_xarray",
        "load_fit",
        "load_fits",
        "read",
        "save_fit",
        "to_xarray",
        "write_parameters",
    ),
    "pyspec.ir": ("build_graph",),
    "pyspec.model": (
        "Measurement",
        "Model",
        "load_dynamics",
        "load_model",
        "load_models",
        "load_profile",
        "load_time_model",
    ),
    "pyspec.plan": ("can_lower_1d", "can_lower_2d", "pack", "schedule_1d", "schedule_2d"),
    "pyspec.plot": ("PlotConfig", "plot_data", "plot_fit", "plot_overview", "report"),
    "pyspec.simulate": ("ParameterSweep", "Simulator", "SweepDataset"),
    "pyspec.workflow": ("File", "Project", "show_config"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BackendError",
    "DataError",
    "Dataset",
    "File",
    "FitError",
    "FitResult",
    "JointResult",
    "LibraryError",
    "Measurement",
    "Model",
    "ModelError",
    "ModelWarning",
    "ParameterSweep",
    "ParameterTable",
    "PlanError",
    "PlotConfig",
    "Project",
    "PyspecError",
    "Simulator",
    "SliceResults",
    "SweepDataset",
    "__version__",
    "build_graph",
    "can_lower_1d",
    "can_lower_2d",
    "evaluate_1d",
    "evaluate_2d",
    "extract_theta",
    "fit_joint",
    "fit_model",
    "fit_slices",
    "fit_trace",
    "from_xarray",
    "load_dynamics",
    "load_fit",
    "load_fits",
    "load_model",
    "load_models",
    "load_profile",
    "load_time_model",
    "make_executor",
    "make_joint_executor",
    "pack",
    "plot_data",
    "plot_fit",
    "plot_overview",
    "read",
    "register_function",
    "report",
    "save_fit",
    "schedule_1d",
    "schedule_2d",
    "show_config",
    "to_xarray",
    "write_parameters",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'pyspec' has no attribute {name!r}")
    if _HOME_OF[name] != "pyspec.errors":
        import_module("pyspec.executor")  # a Model can then be evaluated
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
