"""What goes wrong, as exceptions. Every message says what, where and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

#: The longest message, in characters: what was given may be a whole file.
MAX_MESSAGE = 2000


class PyspecError(Exception):
    """Base class of all errors that pyspec raises on purpose.

    Of a message longer than 2,000 characters the middle is left out.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(cut(arg) if isinstance(arg, str) else arg for arg in args))


class LibraryError(PyspecError):
    """The compiled library is missing, stale, or refused a call."""


class ModelError(PyspecError, ValueError):
    """A model, an expression or a parameter is wrong.

    The message starts with the place where that is known: ``models.yaml:14: GLP_02.x0: ...``.
    """


class DataError(PyspecError, ValueError):
    """Data, axes, windows, masks or weights do not fit together."""


class PlanError(PyspecError, ValueError):
    """A graph or plan cannot be lowered or run."""


class PassError(PyspecError, ValueError):
    """An argument, or ``PYSPEC_PASSES``, names a pass that does not exist.

    No :class:`PlanError`: no other backend can run the model instead.
    """


class FitError(PyspecError, RuntimeError):
    """A fit could not be started or finished."""


class BackendError(PyspecError, RuntimeError):
    """The backend asked for cannot run the model, or two backends disagree."""


class ClusterError(PyspecError, RuntimeError):
    """Workers that cannot share a fit, or that are gone."""


class CallError(PyspecError, TypeError):
    """An argument that a call does not take."""


class NoSuchNameError(PyspecError, AttributeError):
    """An attribute that an object does not have; the message names the nearest one."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.name = ""  # Python would add a suggestion of its own


class NoSuchKeyError(PyspecError, KeyError):
    """A key in brackets that does not exist; the message names the nearest one."""

    __str__ = Exception.__str__  # KeyError shows the repr of its message


class TooLargeError(PyspecError, MemoryError):
    """What was asked for does not fit into memory; the message says how large it is."""


class ArchiveWarning(UserWarning):
    """Parts of an archive are damaged and were left out, or it cannot hold all of a fit."""


class ModelWarning(UserWarning):
    """A model that will be fitted as it stands, though its numbers may mislead."""


def cut(text: str, limit: int = MAX_MESSAGE) -> str:
    """The text; beyond `limit` characters the middle becomes a count of what was left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 6
    return f"{text[:head]} … ({len(text) - head - tail} characters left out) … {text[-tail:]}"


def shortened(value: object, limit: int = 200) -> str:
    """The repr of a value, for a message, with its middle left out beyond `limit`."""
    return cut(repr(value), limit)


def one_line(error: Exception) -> str:
    """What a library said, on one line, or the name of the error where it said nothing."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def visible(text: str) -> str:
    """A text on one line. What cannot be printed becomes "�": a newline in the name of a file, or a
    byte that is no UTF-8."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def several(items: Sequence[str], most: int = 12) -> str:
    """Items in a row, and how many more there are than `most`: "a, b and 7 more"."""
    shown = ", ".join(items[:most])
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown


#: The name of a parameter in other programs → its names here, each with an explanation.
MEANT = {
    "fwhm": {"F": "", "W": ", the full width of the Lorentzian", "SD": ", which is FWHM / 2.3548"},
    "width": {"F": ", the full width at half of the height", "W": "", "SD": ""},
    "sigma": {"SD": ", the standard deviation"},
    "gamma": {"W": ", which is 2 gamma"},
    "amplitude": {"A": ", the height"},
    "height": {"A": ""},
    "center": {"x0": ""},
    "centre": {"x0": ""},
    "position": {"x0": ""},
    "fraction": {"m": ", the share of the Lorentzian"},
}


def _meant(word: str, names: Sequence[str]) -> str:
    """The name here of what other programs call `word`, "fwhm" or "GLP_01_fwhm"; or ""."""
    head, sign, last = word.rpartition("_")
    for name, note in MEANT.get(last.lower(), {}).items():
        if f"{head}{sign}{name}" in names:
            return f"; did you mean {head + sign + name!r}{note}?"
    return ""


def suggest(word: str, names: list[str]) -> str:
    """``"; did you mean 'x'?"`` for the nearest of `names`, or an empty string."""
    from difflib import get_close_matches

    if len(word) > 200:  # no name that anybody means; the comparison takes the square of its length
        return ""
    if meant := _meant(word, names):
        return meant
    near = [name for name in names if name.lower() == word.lower()][:1]  # 'glp' means 'GLP'
    near = near or get_close_matches(word, names, n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
