"""Projects and files: what a person works with."""

from pyspec.workflow.config import show_config
from pyspec.workflow.maps import fit_map
from pyspec.workflow.project import File, Project
from pyspec.workflow.results.results import FitResults

__all__ = ["File", "FitResults", "Project", "fit_map", "show_config"]
