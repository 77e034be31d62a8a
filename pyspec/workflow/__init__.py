"""Projects and files: what a person works with."""

from pyspec.workflow.config import show_config
from pyspec.workflow.file import File
from pyspec.workflow.project import Project

__all__ = ["File", "Project", "show_config"]
