"""What to write in place of what formulas do not have."""

from __future__ import annotations

import re

#: Characters that formulas do not have.
CHARACTERS = {
    "^": "'^' is not an operator; write ** for a power",
    "//": "'//' (floor division) is not available; write / for a division",
    "%": "'%' (remainder) is not available; use + - * / ** only",
    "[": "brackets are not available; group with ( )",
    "{": "braces are not available; group with ( )",
    ".": "'.' stands only within numbers; a parameter is written GLP_01_x0",
    "'": "quotes have no meaning in a formula; remove them",
    '"': "quotes have no meaning in a formula; remove them",
    "=": "'=' is not an operator; write only the value, without 'name =', or == to compare",
    "!": "'!' is not an operator; write != to compare, or 1 - condition",
    "&": "'&' is not an operator; write condition * condition",
    "|": "'|' is not an operator; write max(condition, condition)",
}

_RADIUS = "sqrt(a ** 2 + b ** 2)"

#: Functions of other languages and libraries, in terms of those of formulas.
_NAMES = {
    "acos arccos": "pi / 2 - arctan(a / sqrt(1 - a ** 2))",
    "arcsin asin": "arctan(a / sqrt(1 - a ** 2))",
    "arctan2 atan2": f"2 * arctan(where(b > 0, a / ({_RADIUS} + b), ({_RADIUS} - b) / a))",
    "atan": "arctan(a)",
    "cosh": "(exp(a) + exp(-a)) / 2",
    "expit sigmoid": "1 / (1 + exp(-a))",
    "expm1": "exp(a) - 1",
    "heaviside step": "where(a >= 0, 1, 0)",
    "hypot": _RADIUS,
    "ln": "log(a)",
    "log10": "log(a) / log(10)",
    "log1p": "log(1 + a)",
    "log2": "log(a) / log(2)",
    "sech": "2 / (exp(a) + exp(-a))",
    "sgn sign": "(a > 0) - (a < 0)",
    "sinh": "(exp(a) - exp(-a)) / 2",
    "square": "a ** 2",
    "tanh": "1 - 2 / (exp(2 * a) + 1)",
    "voigt voigt_profile": ("wofz_real(x / (s * sqrt(2)), g / (s * sqrt(2))) / (s * sqrt(2 * pi))"),
}
INSTEAD = {name: formula for names, formula in _NAMES.items() for name in names.split()}

#: Those of them that parameters are called, too.
WORDS = ("sign", "square", "step", "voigt")

#: Libraries of functions, and what of them is named behind a '.'.
_LIBRARY = re.compile(r"(?:^|[^\w.])(?:np|numpy|math|special|scipy)$")
_OF_LIBRARY = re.compile(r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)")


def of_character(char: str, before: str, behind: str) -> str:
    """The message for a character that has no meaning, between two pieces of text."""
    named = _OF_LIBRARY.match(behind)
    if char == "." and named and _LIBRARY.search(before):
        instead = INSTEAD.get(named[1], f"{named[1]} alone")
        return f"functions and numbers stand without a library; write {instead}"
    if char in CHARACTERS:
        return CHARACTERS[char]
    return f"the character {char!r} has no meaning here; formulas are of ASCII characters"
