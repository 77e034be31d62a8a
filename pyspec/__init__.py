"""pyspec: fits of energy-resolved and time-and-energy-resolved spectra, compiled.

    from pyspec import File, Project

Names are imported when they are first used.
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyspec._version import VERSION

if TYPE_CHECKING:
    from pyspec.build import Builder
    from pyspec.errors import (
        ArchiveWarning,
        BackendError,
        CallError,
        DataError,
        FitError,
        LibraryError,
        ModelError,
        ModelWarning,
        NoSuchKeyError,
        NoSuchNameError,
        PassError,
        PlanError,
        PyspecError,
        TooLargeError,
    )
    from pyspec.executor import (
        evaluate_1d,
        evaluate_2d,
        extract_theta,
        make_executor,
        make_joint_executor,
    )
    from pyspec.fit import (
        Finding,
        FitResult,
        JointResult,
        ManyFits,
        MCMCResult,
        ParameterTable,
        SliceResults,
        bootstrap,
        fit_joint,
        fit_many,
        fit_model,
        fit_slices,
        fit_trace,
    )
    from pyspec.formula.definitions.traced import function
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
    from pyspec.ir import build_graph, model_of
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
    from pyspec.simulate import ParameterSweep, Simulator, SweepDataset, sensitivity
    from pyspec.workflow import File, FitResults, Project, fit_map, show_config

__version__ = VERSION

_HOMES = {
    "pyspec.errors": (
        "ArchiveWarning",
        "BackendError",
        "CallError",
        "DataError",
        "FitError",
        "LibraryError",
        "ModelError",
        "ModelWarning",
        "NoSuchKeyError",
        "NoSuchNameError",
        "PassError",
        "PlanError",
        "PyspecError",
        "TooLargeError",
    ),
    "pyspec.build": ("Builder",),
    "pyspec.executor": (
        "evaluate_1d",
        "evaluate_2d",
        "extract_theta",
        "make_executor",
        "make_joint_executor",
    ),
    "pyspec.formula.definitions.traced": ("function",),
    "pyspec.functions.external": ("register_function",),
    "pyspec.fit": (
        "Finding",
        "FitResult",
        "JointResult",
        "MCMCResult",
        "ManyFits",
        "ParameterTable",
        "SliceResults",
        "bootstrap",
        "fit_joint",
        "fit_many",
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
    "pyspec.ir": ("build_graph", "model_of"),
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
    "pyspec.simulate": ("ParameterSweep", "Simulator", "SweepDataset", "sensitivity"),
    "pyspec.workflow": ("File", "FitResults", "Project", "fit_map", "show_config"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

#: Rooms with names beyond these, which ``pyspec.plot`` reaches without an import of its own.
_ROOMS = ("components", "plot", "io", "simulate")

__all__ = [
    "ArchiveWarning",
    "BackendError",
    "Builder",
    "CallError",
    "DataError",
    "Dataset",
    "File",
    "Finding",
    "FitError",
    "FitResult",
    "FitResults",
    "JointResult",
    "LibraryError",
    "MCMCResult",
    "ManyFits",
    "Measurement",
    "Model",
    "ModelError",
    "ModelWarning",
    "NoSuchKeyError",
    "NoSuchNameError",
    "ParameterSweep",
    "ParameterTable",
    "PassError",
    "PlanError",
    "PlotConfig",
    "Project",
    "PyspecError",
    "Simulator",
    "SliceResults",
    "SweepDataset",
    "TooLargeError",
    "__version__",
    "bootstrap",
    "build_graph",
    "can_lower_1d",
    "can_lower_2d",
    "evaluate_1d",
    "evaluate_2d",
    "extract_theta",
    "fit_joint",
    "fit_many",
    "fit_map",
    "fit_model",
    "fit_slices",
    "fit_trace",
    "from_xarray",
    "function",
    "load_dynamics",
    "load_fit",
    "load_fits",
    "load_model",
    "load_models",
    "load_profile",
    "load_time_model",
    "make_executor",
    "make_joint_executor",
    "model_of",
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
    "sensitivity",
    "show_config",
    "to_xarray",
    "write_parameters",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"pyspec.{name}")
    if name not in _HOME_OF:
        raise _no_such_name(name)
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def _no_such_name(name: str) -> AttributeError:
    from pyspec.errors import NoSuchNameError, suggest

    if name.startswith("_"):  # Python and its tools ask for such
        return AttributeError(f"module 'pyspec' has no attribute {name!r}")
    homes = [f"pyspec.{room}" for room in _ROOMS if name in import_module(f"pyspec.{room}").__all__]
    hint = f"; it is in {homes[0]}" if homes else suggest(name, __all__) or "; see dir(pyspec)"
    return NoSuchNameError(f"pyspec has no {name!r}{hint}")


def __dir__() -> list[str]:
    """The public names, not those that this file imports: what an editor offers."""
    return sorted({*__all__, *_ROOMS, *(name for name in globals() if name.startswith("__"))})


def _warn_of_another_owner() -> None:
    """Another distribution on PyPI is called pyspec. Where both are installed, their files are
    mixed in this folder."""
    around = os.path.dirname(os.path.dirname(__file__))
    for name in os.listdir(around):
        if name.startswith("pyspec-") and name.endswith(".dist-info"):
            warnings.warn(
                f"another distribution, {name.removesuffix('.dist-info')}, has installed a package "
                f"pyspec in {around}, too, and the files of both are mixed; run "
                "'pip uninstall pyspec pyspec-fit', then install pyspec-fit again",
                stacklevel=3,
            )


_warn_of_another_owner()
