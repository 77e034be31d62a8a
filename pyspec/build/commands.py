"""Commands of a page: what a message asks for, checked before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pyspec.errors import ModelError, suggest
from pyspec.workflow.session.edits import (
    Add,
    ChooseModel,
    DropLaw,
    Edit,
    Exclude,
    Include,
    Law,
    NewModel,
    Remove,
    RemoveModel,
    Set,
    Window,
    Yaml,
)

#: What a page sent: any JSON object.
Message: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Command:
    """One command: its word, the edits that it makes, and other arguments. `drag` says that it is a
    step of a drag, `is_end` that this is the last one."""

    word: str
    edits: tuple[Edit, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    drag: bool = False
    is_end: bool = False
    names: tuple[str, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether no fit follows it while fits go on."""
        return self.word in ("yaml", "model_new", "model_choose", "model_remove")


def command_of(message: Message) -> Command:
    """What a message asks for. Raises :class:`ModelError` for what is no command."""
    word = message.get("do")
    if word == "set":
        return _set(message)
    if isinstance(word, str) and word in _EDITS:
        return Command(word, (_EDITS[word](message),))
    if not isinstance(word, str) or word not in _ARGUMENTS:
        words = ["set", *_EDITS, *_ARGUMENTS]
        raise ModelError(f"there is no command {word!r}{suggest(str(word), words)}")
    keys = [key for key in _ARGUMENTS[word] if message.get(key) is not None]
    if word in ("file", "goto") and not keys:
        raise ModelError(f"{word}: {_ARGUMENTS[word][0]} is missing; give its number")
    return Command(word, arguments={key: _argument(message, key) for key in keys})


def _argument(message: Message, key: str) -> object:
    value = message[key]
    if key in _WHOLE and (isinstance(value, bool) or not isinstance(value, int)):
        raise ModelError(f"{message.get('do')}: {key} is {value!r}; give a whole number")
    return value


def _text(message: Message, key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise ModelError(f"{message.get('do')}: {key} is {value!r}; give a text")
    return value


def _text_or_none(message: Message, key: str) -> str | None:
    return None if message.get(key) is None else _text(message, key)


def _number(message: Message, key: str) -> float:
    value = message.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError(f"{message.get('do')}: {key} is {value!r}; give a number")
    return float(value)


def _numbers(message: Message, key: str) -> dict[str, float]:
    value = message.get(key) or {}
    if not isinstance(value, dict):
        raise ModelError(f"{message.get('do')}: {key} is {value!r}; give numbers by name")
    return {str(name): _number({"do": key, name: number}, name) for name, number in value.items()}


def _set(message: Message) -> Command:
    listed = message.get("edits", [message])
    if not isinstance(listed, list) or not all(isinstance(edit, dict) for edit in listed):
        raise ModelError("set: edits is a list of {name, field, value}")
    edits = [Set(_text(edit, "name"), _text(edit, "field"), edit.get("value")) for edit in listed]
    drag, names = message.get("drag"), tuple(edit.name for edit in edits)
    return Command("set", tuple(edits), drag=bool(drag), is_end=drag == "end", names=names)


def _ends(message: Message) -> tuple[str, float, float]:
    return _text(message, "axis"), _number(message, "low"), _number(message, "high")


#: The commands that edit.
_EDITS: dict[str, Callable[[Message], Edit]] = {
    "add": lambda m: Add(_text(m, "component"), _numbers(m, "at"), _numbers(m, "values")),
    "remove": lambda m: Remove(_text(m, "component")),
    "law": lambda m: Law(_text(m, "parameter"), _text(m, "function"), _numbers(m, "values")),
    "drop_law": lambda m: DropLaw(_text(m, "parameter"), _text_or_none(m, "function")),
    "yaml": lambda m: Yaml(_text(m, "text")),
    "window": lambda m: Window(m.get("energy", ...), m.get("time", ...)),
    "exclude": lambda m: Exclude(*_ends(m)),
    "include": lambda m: Include(*_ends(m)),
    "model_new": lambda m: NewModel(_text(m, "name"), _text_or_none(m, "copy_of")),
    "model_choose": lambda m: ChooseModel(_text(m, "name")),
    "model_remove": lambda m: RemoveModel(_text(m, "name")),
}

#: The other commands, with their arguments; those of :data:`_WHOLE` are whole numbers.
_ARGUMENTS = {
    "cursor": ("time", "energy"),
    "file": ("file",),
    "undo": (),
    "redo": (),
    "goto": ("step",),
    "live": ("on",),
    "fit": ("what",),
    "save": ("folder",),
    "restore": ("accept",),
    "get": ("what",),
    "view": ("map",),
}
_WHOLE = ("time", "energy", "file", "step")
