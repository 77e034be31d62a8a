"""Project: where the model files lie, what runs the fits, and the files that belong together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyspec.errors import DataError, ModelError, suggest
from pyspec.executor import backend_name

if TYPE_CHECKING:
    from pyspec.workflow.file import File


class Project:
    """A folder of model files, a backend, and the files that are fitted with them.

    Parameters
    ----------
    path : folder that relative model paths start from; None is the working directory
    name : a label
    backend : "compiled", "interpreted", "tree" or "compare"; None (default) runs compiled and
        falls back, with a warning that says why, where a model cannot be compiled
    show_output : whether fits show progress and print their result
    spec_fun_str : the founding name of a backend, such as "fit_model_gir"; same as `backend`
    """

    def __init__(
        self,
        path: str | Path | None = None,
        name: str = "my_project",
        *,
        backend: str | None = None,
        show_output: bool | int = True,
        spec_fun_str: str | None = None,
    ) -> None:
        self.path = Path(path) if path is not None else Path()
        if path is not None and not self.path.is_dir():
            raise DataError(f"project path {str(path)!r} is not a folder; create it first")
        self.name = name
        self.show_output = bool(show_output)
        self.files: list[File] = []
        self._backend: str | None = None
        if backend is not None and spec_fun_str is not None:
            raise DataError("give backend or spec_fun_str, not both")
        self.backend = backend if backend is not None else spec_fun_str

    @property
    def backend(self) -> str | None:
        """The backend of all fits that do not name one; None is compiled, with fallback."""
        return self._backend

    @backend.setter
    def backend(self, name: str | None) -> None:
        self._backend = None if name is None else backend_name(name)

    @property
    def spec_fun_str(self) -> str | None:
        """The backend under its founding attribute name."""
        return self._backend

    @spec_fun_str.setter
    def spec_fun_str(self, name: str | None) -> None:
        self.backend = name

    def resolve(self, path: str | Path) -> str | Path:
        """A model path, taken from the project's folder if relative."""
        if isinstance(path, str) and "\n" in path:
            return path
        given = Path(path)
        found = given if given.is_absolute() else self.path / given
        if not found.is_file():
            folder = found.parent
            known = [f.name for f in sorted(folder.glob("*.y*ml"))] if folder.is_dir() else []
            hint = suggest(found.name, known) or (f"; it holds {', '.join(known)}" if known else "")
            raise ModelError(f"no model file {found.name!r} in {str(folder)!r}{hint}")
        return found

    def __getitem__(self, key: int | str) -> File:
        if isinstance(key, int):
            return self.files[key]
        for file in self.files:
            if file.name == key:
                return file
        known = [file.name for file in self.files]
        raise KeyError(f"no file {key!r} in project {self.name!r}{suggest(key, known)}")

    def __len__(self) -> int:
        return len(self.files)

    def describe(self) -> str:
        """Prints and returns a summary of the project and its files."""
        lines = [
            f"project {self.name}: {len(self.files)} files, backend {self.backend or 'compiled'}"
        ]
        lines += [f"  {file}" for file in self.files]
        text = "\n".join(lines)
        print(text)
        return text

    def __repr__(self) -> str:
        return f"<Project {self.name}: {len(self.files)} files>"
