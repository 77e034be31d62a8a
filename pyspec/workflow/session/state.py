"""The state of a session as JSON: in its folder when it is saved, and in a cache after each
step."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspec.io.atomic import write_text
from pyspec.workflow.fitting.several import seen_from
from pyspec.workflow.session.document import Document, Other, Seen
from pyspec.workflow.session.ground import Ground

#: What the fit of one spectrum of a series is called, which no job of the series repeats.
ONE = "one spectrum"

#: The file of a saved session that says what was shown.
STATE = "session.json"


def folders_of(folder: Path) -> list[Path] | None:
    """The folders of the files of a saved session, one of them where it is one of a single file;
    None for a folder that holds none."""
    state = _read(folder / STATE)
    if state is None:
        return None
    names = state.get("files", ["."])
    return [folder / str(name) for name in names] if isinstance(names, list) else None


def opened(folder: Path, ground: Ground, text: str) -> tuple[Document, bool] | None:
    """(document, whether it is the result of a fit) of a saved session, if its models are still
    those of the job; None where there is none."""
    state = _read(folder / STATE)
    begun = state.get("begun") if isinstance(state, dict) else None
    document = None if state is None else _document(state.get("document"), ground)
    if document is None or text not in (begun, document.text):
        return None
    return document, begun is not None


def plain(document: Document) -> dict[str, object]:
    """A document as JSON holds it, without its fits."""
    return {
        "file": document.file,
        "text": document.text,
        "name": document.name,
        **_plain_of_file(document),
        "others": {
            str(number): {**_plain_of_file(other), "values": other.values}
            for number, other in document.others.items()
        },
    }


def _plain_of_file(seen: Seen) -> dict[str, object]:
    return {
        "energy": seen.energy_limits,
        "time": seen.time_limits,
        "excluded": seen.excluded,
        "cursor": seen.cursor,
    }


def write_state(document: Document, label: str, path: Path) -> None:
    """Writes where a session stands, so that it can be offered after a crash."""
    state = {"when": datetime.now().isoformat(" ", "seconds"), "label": label}
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_text(path, json.dumps({**state, "document": plain(document)}))


def read_state(path: Path, ground: Ground) -> tuple[str, str, Document] | None:
    """(when, label, document) of a session that was not saved; None without one that fits these
    data."""
    state = _read(path)
    document = None if state is None else _document(state.get("document"), ground)
    if state is None or document is None:
        return None
    return str(state.get("when")), str(state.get("label")), document


def _read(path: Path) -> dict[str, Any] | None:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return state if isinstance(state, dict) else None


def _document(fields: Any, ground: Ground) -> Document | None:
    """The document of which :func:`plain` made plain values; None for what is none."""
    try:
        file = int(fields.get("file", 0))
        others = {
            int(number): Other(**_file_fields(other), values=_values(other["values"]))
            for number, other in fields.get("others", {}).items()
        }
        if sorted([file, *others]) != list(range(len(ground.files))):
            return None
        own = _file_fields(fields)
        document = Document(
            **own, text=str(fields["text"]), name=str(fields["name"]), file=file, others=others
        )
        there = ground.files[file]
        there.check_paths(document.text)
        document = replace(document, model=there.model(document.text, document.name))
        for number in range(len(ground.files)):
            seen, there = seen_from(ground, document, number), ground.files[number]
            there.measurement(seen)
            there.check_cursor(seen.cursor)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None
    return document


def _file_fields(fields: Any) -> dict[str, Any]:
    """What is of one file."""
    row, column = map(int, fields["cursor"])
    return {
        "energy_limits": _pair(fields["energy"]),
        "time_limits": _pair(fields["time"]),
        "excluded": tuple((str(axis), float(a), float(b)) for axis, a, b in fields["excluded"]),
        "cursor": (row, column),
    }


def _values(models: Any) -> dict[str, dict[str, float]]:
    return {
        str(model): {str(name): float(value) for name, value in values.items()}
        for model, values in models.items()
    }


def _pair(limits: Any) -> tuple[float, float] | None:
    if limits is None:
        return None
    low, high = limits
    return float(low), float(high)


def state_path(ground: Ground) -> Path:
    """Where the state of a session of these data is kept: in the cache of the user."""
    from hashlib import sha256

    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    facts = [str(Path(ground.file.path).resolve()), str(ground.data.shape)]
    facts += [
        repr(axis[[0, -1]].tolist()) for axis in (ground.energy, ground.time) if axis is not None
    ]
    name = sha256("\n".join(facts).encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return Path(base) / "pyspec" / "build" / f"{name}.json"
