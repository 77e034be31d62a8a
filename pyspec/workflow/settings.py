"""project.yaml: settings of a project that are not in the script."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from pyspec.errors import DataError, suggest
from pyspec.executor import backend_name
from pyspec.plot import PlotConfig
from pyspec.plot.config import ALIASES

#: Settings that are no fields of PlotConfig.
KNOWN = (
    *("show_output", "backend", "spec_fun_str", "num_fmt", "delim"),
    *("noise_type", "sigma_data", "noise_scale", "sigma_source", "sigma_type"),
)


def read_settings(
    folder: Path, is_project: bool, config_file: str | Path | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(settings, fields of PlotConfig) of a settings file; empty where there is none.

    Raises :class:`DataError` for what it does not know.
    """
    if config_file is None:
        return {}, {}
    path = Path(config_file)
    path = path if path.is_absolute() else folder / path
    if not path.is_file() or (not is_project and not Path(config_file).is_absolute()):
        if str(config_file) != "project.yaml":
            raise DataError(f"there is no settings file {str(path)!r}; write one, or leave it out")
        return {}, {}
    found = _read_yaml(path)
    if found is None:
        return {}, {}
    if not isinstance(found, dict):
        raise DataError(f"{path}: must hold settings by name, such as 'show_output: false'")
    own = {field.name for field in fields(PlotConfig)} | set(ALIASES)
    settings: dict[str, Any] = {}
    looks: dict[str, Any] = {}
    for given, value in found.items():
        name = str(given).replace("-", "_")  # x-lim is x_lim
        if name in own:
            looks[ALIASES.get(name, name)] = value
        elif name in KNOWN:
            settings[name] = value
        else:
            hint = suggest(name, [*KNOWN, *own])
            raise DataError(f"{path}: unknown setting {given!r}{hint}; remove it")
    if settings.get("backend") is not None:
        settings["backend"] = backend_name(str(settings["backend"]))
    return settings, looks


def _read_yaml(path: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start} is not UTF-8; save the file as text with UTF-8 encoding"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except RecursionError:
        raise DataError(f"{path}: is nested too deeply; settings are a name and a value") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that does not exist
        raise DataError(f"{path}: is no YAML: {error}") from None
