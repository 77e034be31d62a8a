"""What the files of a project share: the folder of model files, the backend, the settings."""

from __future__ import annotations

from pathlib import Path

from pyspec.errors import DataError, ModelError, suggest
from pyspec.executor import backend_name
from pyspec.io.atomic import file_name, plain_path
from pyspec.plot import PlotConfig
from pyspec.workflow.data.noise import Noise
from pyspec.workflow.settings import declared_noise, read_settings


class Workspace:
    """The folder and the settings that the files of a project share. Parameters as of
    :class:`pyspec.Project`."""

    #: Settings of a class based on this one, which its settings file may hold too.
    own_settings: tuple[str, ...] = ()

    def __init__(
        self,
        path: str | Path | None,
        name: str,
        config_file: str | Path | None,
        *,
        backend: str | None,
        show_output: bool | int | None,
    ) -> None:
        self.path = Path(path) if path is not None else Path()
        if path is not None and not self.path.is_dir():
            raise DataError(f"project path {str(path)!r} is not a folder; create it first")
        self.name = name
        settings, fields = read_settings(
            self.path, path is not None, config_file, self.own_settings
        )
        #: What the settings file says, but for the look of pictures.
        self.settings = settings
        if show_output is None:
            show_output = settings.get("show_output", True)
        self.show_output = bool(show_output)
        self.plot_config = PlotConfig(**fields)
        self._backend: str | None = None
        self.backend = settings.get("backend") if backend is None else backend
        #: Noise of files that are made from now on, until they declare their own, as arguments of
        #: :meth:`pyspec.File.set_noise`; sigma is a number.
        self.noise_type: str = settings.get("noise_type") or "unknown"
        self.sigma_data: float | None = settings.get("sigma_data")
        self.noise_scale: float | None = settings.get("noise_scale")
        #: How numbers of tables written by export_fit look, and what stands between them. Ten
        #: digits tell energies of 20 keV apart that differ by 0.01 meV.
        self.num_fmt: str = settings.get("num_fmt") or "%.9e"
        self.delim: str = settings.get("delim") or ","

    @property
    def backend(self) -> str | None:
        """The backend of all fits that do not name one; None is compiled, with fallback."""
        return self._backend

    @backend.setter
    def backend(self, name: str | None) -> None:
        self._backend = None if name is None else backend_name(name)

    def default_noise(self, shape: tuple[int, ...]) -> Noise:
        """The noise that a new file of the project starts with. Raises :class:`DataError`."""
        return declared_noise(vars(self), shape)

    def resolve(self, path: str | Path) -> str | Path:
        """A model path, taken from the project's folder if relative."""
        if isinstance(path, str) and "\n" in path:
            return path
        here = Path(path)
        file = here if here.is_absolute() else self.path / here
        if not file.is_file():
            folder = file.parent
            names = [f.name for f in sorted(folder.glob("*.y*ml"))] if folder.is_dir() else []
            hint = suggest(file.name, names) or (f"; it holds {', '.join(names)}" if names else "")
            if here.is_file():
                hint = (
                    f", the project's folder; there is one at {str(here)!r} from here: give its "
                    f"full path, Path({str(here)!r}).resolve()"
                )
            raise ModelError(f"no model file {file.name!r} in {str(folder)!r}{hint}")
        return file

    def output(self, path: str | Path | None, default: str) -> Path:
        """Where to write: `path`, or the default name, in the project's folder if relative. The
        default holds names given by the user; as a file name it stays in that folder."""
        if path is None:
            return self.path / file_name(default)
        target = plain_path(path)
        return target if target.is_absolute() else self.path / target
