"""project.yaml: settings of a project that are not in the script."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from pyspec.errors import DataError, ModelError, PyspecError, suggest
from pyspec.executor import backend_name
from pyspec.model.yaml.reader import Mapping, Node, Sequence, Source, read
from pyspec.model.yaml.scalars import is_null, read_number
from pyspec.plot import PlotConfig
from pyspec.plot.config import ALIASES
from pyspec.workflow.data.noise import Noise, make_noise

#: Settings that are no fields of PlotConfig.
KNOWN = (
    *("show_output", "backend", "num_fmt", "delim"),
    *("noise_type", "sigma_data", "noise_scale"),
)

#: Words that are truth values, as older YAML has them.
TRUTH = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
}


def read_settings(
    folder: Path,
    is_project: bool,
    config_file: str | Path | None,
    own_settings: tuple[str, ...] = (),
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
    own = {field.name for field in fields(PlotConfig)} | set(ALIASES)
    settings: dict[str, Any] = {}
    looks: dict[str, Any] = {}
    for place, written, value in _entries(path):
        name = written.replace("-", "_")  # x-lim is x_lim
        into, key = (looks, ALIASES.get(name, name)) if name in own else (settings, name)
        if name not in own and name not in (*KNOWN, *own_settings):
            hint = suggest(name, [*KNOWN, *own_settings, *own])
            raise DataError(f"{place}: unknown setting {written!r}{hint}; remove it")
        if key in into:
            raise DataError(f"{place}: {written} is given twice; remove one of the two")
        into[key] = value
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if key == "show_output" and not isinstance(value, int):
            shown = "empty" if value is None else repr(value)
            raise DataError(f"{place}: show_output is {shown}; write true or false")
        if key in ("sigma_data", "noise_scale") and not (value is None or is_number):
            raise DataError(f"{place}: {key} is {value!r}; give a number such as 1.5e3")
        with _at(place):
            if name in own:
                PlotConfig(**{key: value})
            elif key == "backend" and value is not None:
                settings[key] = backend_name(str(value))
    with _at(str(path)):
        declared_noise(settings, ())
    return settings, looks


def declared_noise(settings: dict[str, Any], shape: tuple[int, ...]) -> Noise:
    """The noise that settings say, of data of this shape. NaN is a number that is left open."""
    sigma, scale = (settings.get(key) for key in ("sigma_data", "noise_scale"))
    sigma, scale = (None if value != value else value for value in (sigma, scale))
    return make_noise(settings.get("noise_type") or "unknown", sigma, scale, shape)


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Says before an error where in the file its cause stands."""
    try:
        yield
    except PyspecError as error:
        raise type(error)(f"{place}: {error}") from None


def _entries(path: Path) -> Iterator[tuple[str, str, Any]]:
    """(file and line, name, value) of each setting, read by the rules of model files."""
    try:
        source = Source(str(path), path.read_bytes().decode("utf-8-sig"))
        root = read(source)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start} is not UTF-8; save the file as text with UTF-8 encoding"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except ModelError as error:
        raise DataError(str(error)) from None
    if root is None or is_null(root):
        return
    if not isinstance(root, Mapping):
        raise DataError(f"{path}: must hold settings by name, such as 'show_output: false'")
    for key, node in root.items:
        yield source.at(key.line), key.text, _plain(node)


def _plain(node: Node) -> object:
    """Lists, texts, and plain words as the numbers and truth values that they spell."""
    if isinstance(node, Sequence):
        return [_plain(item) for item in node.items]
    if isinstance(node, Mapping):
        return {key.text: _plain(item) for key, item in node.items}
    if not node.plain:
        return node.text
    if is_null(node):
        return None
    number = read_number(node)
    if number is None:
        return TRUTH.get(node.text.lower(), node.text)
    return int(node.text) if node.text.lstrip("+-").isdecimal() else number
