"""What goes wrong, as exceptions. Every message says what, where and what to do next."""

from __future__ import annotations


class PyspecError(Exception):
    """Base class of all errors that pyspec raises on purpose."""


class LibraryError(PyspecError):
    """The compiled library is missing, stale, or refused a call."""


class ModelError(PyspecError, ValueError):
    """A model, an expression or a parameter is not as it should be.

    The message starts with the place where that is known: ``models.yaml:14: GLP_02.x0: ...``.
    """


class DataError(PyspecError, ValueError):
    """Data, axes, windows, masks or weights do not fit together."""


class PlanError(PyspecError, ValueError):
    """A graph or plan cannot be lowered or run."""


class FitError(PyspecError, RuntimeError):
    """A fit could not be started or finished."""


class BackendError(PyspecError, RuntimeError):
    """The backend asked for cannot run the model, or two backends disagree."""


class ModelWarning(UserWarning):
    """A model that will be fitted as it stands, though its numbers may mislead."""


def suggest(word: str, known: list[str]) -> str:
    """``"; did you mean 'x'?"`` for the nearest of `known`, or an empty string."""
    from difflib import get_close_matches

    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
