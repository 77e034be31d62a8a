"""Printing where the terminal has no letter for what is printed, such as χ in Latin-1."""

from __future__ import annotations

import codecs
import sys
import unicodedata

#: The error handler of encodings, ``text.encode("latin-1", PLAIN)``.
PLAIN = "pyspec.plain"

_WRITTEN = {
    "χ": "chi", "σ": "sigma", "τ": "tau", "θ": "theta", "λ": "lambda", "φ": "phi", "→": "->",
    "±": "+/-", "×": "x", "─": "-", "−": "-", "–": "-", "⁻": "-", "≈": "~", "∞": "inf", "µ": "u",
    "μ": "u", "·": "*", "√": "sqrt", "°": "deg", "β": "beta", "ν": "nu",
}  # fmt: skip


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Letters that an encoding lacks, in those of ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(map(_written, letters)), error.end


def _written(letter: str) -> str:
    if letter in _WRITTEN:
        return _WRITTEN[letter]
    near = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return near or "?"


codecs.register_error(PLAIN, _plain)


def say(thing: object) -> None:
    """Prints `thing`; letters that the terminal lacks are written out: chi2 for χ².

    A fit that ended is not lost because its table cannot be shown as it is.
    """
    text = str(thing)
    try:
        print(text)
    except UnicodeEncodeError as error:
        # The error of encodings by table, such as ISO 8859-2, names no more than "charmap".
        encoding = getattr(sys.stdout, "encoding", None) or error.encoding
        print(text.encode(encoding, PLAIN).decode(encoding))
