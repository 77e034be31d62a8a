"""project.yaml: settings of a project that are not in the script."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from pyspec.errors import DataError, suggest
from pyspec.executor import backend_name
from pyspec.plot import PlotConfig
from pyspec.plot.config import ALIASES

#: Settings that are no fields of PlotConfig; the last ones are accepted and have no effect.
KNOWN = ("show_output", "backend", "spec_fun_str", "num_fmt", "delim")


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
    import yaml

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise DataError(f"{path}: is no YAML: {error}") from None
    if found is None:
        return {}, {}
    if not isinstance(found, dict):
        raise DataError(f"{path}: must hold settings by name, such as 'show_output: false'")
    own = {field.name for field in fields(PlotConfig)} | set(ALIASES)
    settings: dict[str, Any] = {}
    looks: dict[str, Any] = {}
    for name, value in found.items():
        if name in own:
            looks[ALIASES.get(str(name), str(name))] = value
        elif name in KNOWN:
            settings[name] = value
        else:
            hint = suggest(str(name), [*KNOWN, *own])
            raise DataError(f"{path}: unknown setting {name!r}{hint}; remove it")
    if "spec_fun_str" in settings:
        settings.setdefault("backend", settings.pop("spec_fun_str"))
    if settings.get("backend") is not None:
        settings["backend"] = backend_name(str(settings["backend"]))
    return settings, looks
