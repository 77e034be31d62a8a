"""What a command found, as JSON for programs in place of words for people."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a help text needs neither
    from pyspec.io import Dataset
    from pyspec.model import Model


class Facts(dict[str, object]):
    """What a command found, by name. Commands fill it always; ``--json`` prints it."""

    def show(self, command: str | None, exit_code: int) -> None:
        """Prints one JSON object: command, exit code, and what was found."""
        facts = {"command": command, "exit_code": exit_code, **self}
        text = json.dumps(plain(facts), indent=1, ensure_ascii=lacks_letters(), allow_nan=False)
        print(text, flush=True)


def lacks_letters() -> bool:
    """Whether the terminal, or the file behind it, cannot show every letter."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"  # a text in memory has none
    return not encoding.lower().startswith("utf")


def print_now(text: str) -> None:
    """Prints at once. If the reader is gone (pyspec fit ... | head) or the disk of the output is
    full, nothing more is printed, and the command goes on: fits are still saved and drawn."""
    try:
        print(text, flush=True)
    except OSError as error:
        hush()
        if not reader_left(error):
            with suppress(OSError):
                print(f"pyspec: the output cannot be written ({error.strerror})", file=sys.stderr)


def reader_left(error: Exception) -> bool:
    """Whether an error of a write says that the reader went away. On Windows the argument is then
    said to be invalid."""
    if isinstance(error, BrokenPipeError):
        return True
    nameless = isinstance(error, OSError) and error.filename is None
    return os.name == "nt" and nameless and getattr(error, "errno", None) == errno.EINVAL


def hush() -> None:
    """From here on what is printed goes nowhere, and is no error at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def plain(value: object) -> object:
    """A value as JSON can hold it; NaN and infinities are null."""
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if hasattr(value, "tolist"):  # an array of NumPy, or one number of it
        return plain(value.tolist())
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def data_facts(dataset: Dataset, spoken: Callable[[str], str]) -> dict[str, object]:
    """A data set without its numbers; its notes in the syntax of `spoken`."""
    return {
        "name": dataset.name,
        "source": dataset.source,
        "dims": dataset.dims,
        "shape": dataset.data.shape,
        "type": str(dataset.data.dtype),
        "axes": {
            dim: {"from": axis[0], "to": axis[-1], "points": axis.size}
            for dim, axis in dataset.axes.items()
        },
        "units": dataset.units,
        "labels": dataset.labels,
        "n_bad": dataset.n_bad,
        "notes": [spoken(note) for note in dataset.notes],
    }


def model_facts(model: Model) -> dict[str, object]:
    """A model: components, parameters, what moves."""
    return {
        "model": model.name,
        "where": model.where,
        "components": [
            {
                "name": component.name,
                "function": component.op.name,
                "kind": component.op.kind.lower(),
                "formula": component.op.formula,
            }
            for component in model.components
        ],
        "parameters": [
            {
                "name": par.name,
                "value": par.value if par.expr is None else None,
                "vary": par.vary and par.expr is None,
                "min": par.min,
                "max": par.max,
                "expr": par.expr,
                "dynamics": None if par.dynamics is None else par.dynamics.name,
                "profile": None if par.profile is None else par.profile.name,
            }
            for par in model.parameters.values()
        ],
    }
