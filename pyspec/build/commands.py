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
    if not isinstance(word, str) or word not in _COMMANDS:
        raise ModelError(f"there is no command {word!r}{suggest(str(word), list(_COMMANDS))}")
    return _COMMANDS[word](word, message)


def _text(message: Message, key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise ModelError(f"{message.get('do')}: {key} is {value!r}; give a text")
    return value


def _number(message: Message, key: str) -> float:
    value = message.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError(f"{message.get('do')}: {key} is {value!r}; give a number")
    return float(value)


def _whole(message: Message, key: str) -> int | None:
    value = message.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ModelError(f"{message.get('do')}: {key} is {value!r}; give a whole number")
    return value


def _numbers(message: Message, key: str) -> dict[str, float]:
    value = message.get(key) or {}
    if not isinstance(value, dict):
        raise ModelError(f"{message.get('do')}: {key} is {value!r}; give numbers by name")
    return {str(name): _number({"do": key, name: number}, name) for name, number in value.items()}


def _set(word: str, message: Message) -> Command:
    listed = message.get("edits", [message])
    if not isinstance(listed, list) or not all(isinstance(edit, dict) for edit in listed):
        raise ModelError("set: edits is a list of {name, field, value}")
    edits = [Set(_text(edit, "name"), _text(edit, "field"), edit.get("value")) for edit in listed]
    drag, names = message.get("drag"), tuple(edit.name for edit in edits)
    return Command(word, tuple(edits), drag=bool(drag), is_end=drag == "end", names=names)


def _add(word: str, message: Message) -> Command:
    at, values = _numbers(message, "at"), _numbers(message, "values")
    return Command(word, (Add(_text(message, "component"), at, values),))


def _remove(word: str, message: Message) -> Command:
    return Command(word, (Remove(_text(message, "component")),))


def _law(word: str, message: Message) -> Command:
    names = _text(message, "parameter"), _text(message, "function")
    return Command(word, (Law(*names, _numbers(message, "values")),))


def _drop_law(word: str, message: Message) -> Command:
    function = message.get("function")
    chosen = None if function is None else _text(message, "function")
    return Command(word, (DropLaw(_text(message, "parameter"), chosen),))


def _yaml(word: str, message: Message) -> Command:
    return Command(word, (Yaml(_text(message, "text")),))


def _window(word: str, message: Message) -> Command:
    return Command(word, (Window(message.get("energy", ...), message.get("time", ...)),))


def _range(kind: Callable[..., Edit]) -> Callable[[str, Message], Command]:
    def command(word: str, message: Message) -> Command:
        ends = _number(message, "low"), _number(message, "high")
        return Command(word, (kind(_text(message, "axis"), *ends),))

    return command


def _model(word: str, message: Message) -> Command:
    name = _text(message, "name")
    if word == "model_new":
        copy = message.get("copy_of")
        return Command(word, (NewModel(name, None if copy is None else _text(message, "copy_of")),))
    return Command(word, ((ChooseModel if word == "model_choose" else RemoveModel)(name),))


def _cursor(word: str, message: Message) -> Command:
    places = {key: _whole(message, key) for key in ("time", "energy")}
    return Command(word, arguments={key: at for key, at in places.items() if at is not None})


def _file(word: str, message: Message) -> Command:
    number = _whole(message, "file")
    if number is None:
        raise ModelError("file: file is missing; give the number of a file")
    return Command(word, arguments={"file": number})


def _goto(word: str, message: Message) -> Command:
    step = _whole(message, "step")
    if step is None:
        raise ModelError("goto: step is missing; give the number of a step")
    return Command(word, arguments={"step": step})


def _plain(*keys: str) -> Callable[[str, Message], Command]:
    def command(word: str, message: Message) -> Command:
        return Command(word, arguments={key: message[key] for key in keys if key in message})

    return command


_COMMANDS: dict[str, Callable[[str, Message], Command]] = {
    "set": _set,
    "add": _add,
    "remove": _remove,
    "law": _law,
    "drop_law": _drop_law,
    "yaml": _yaml,
    "window": _window,
    "exclude": _range(Exclude),
    "include": _range(Include),
    "model_new": _model,
    "model_choose": _model,
    "model_remove": _model,
    "cursor": _cursor,
    "file": _file,
    "undo": _plain(),
    "redo": _plain(),
    "goto": _goto,
    "live": _plain("on"),
    "fit": _plain("what"),
    "save": _plain("folder"),
    "restore": _plain("accept"),
    "get": _plain("what"),
    "view": _plain("map"),
}
