"""Scalars of a model file, read and written by the rules of YAML 1.2's core schema."""

from __future__ import annotations

import json
import math
import re

from pyspec.errors import ModelError
from pyspec.model.yaml.reader import Node, Scalar, Sequence

#: Signs of numbers in texts and in other languages: the comma, the minus of typesetting, a dash.
_SIGNS = str.maketrans({",": ".", "\u2212": "-", "\u2013": "-"})
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASED = {"0o": (re.compile(r"0o[0-7]+"), 8), "0x": (re.compile(r"0x[0-9a-fA-F]+"), 16)}
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_NULLS = ("", "~", "null", "Null", "NULL")
#: Names that YAML may take for something else.
_WORDS = ("true", "false", "null", "yes", "no", "on", "off")
_TRUE, _FALSE = ("true", "True"), ("false", "False")

#: How a flag is written, and what it may say: (vary, scope).
FLAGS = {"file": "True", "static": "False"}
_SCOPES = {"file": (True, "file"), "project": (True, "project"), "static": (False, "static")}


def is_null(node: Node) -> bool:
    """Whether the node is an empty value."""
    return isinstance(node, Scalar) and node.plain and node.text in _NULLS


def read_number(node: Node) -> float | None:
    """The number that a plain scalar spells, infinite ones and overflow included; else None."""
    if not isinstance(node, Scalar) or not node.plain:
        return None
    text = node.text
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    for start, (pattern, base) in _BASED.items():
        if text.startswith(start) and pattern.fullmatch(text):
            return float(int(text, base)) if len(text) < 200 else math.inf
    return None


def given_number(value: object) -> float:
    """A number that was given in Python; NaN for what is none, such as a text or a flag."""
    try:
        return math.nan if isinstance(value, (bool, str, bytes)) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def number_text(value: float) -> str:
    """A number as a model file writes it, to the last digit."""
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return repr(float(value))


def quoted(text: str) -> str:
    """A text as a word in quotes."""
    return json.dumps(text, ensure_ascii=False)


def key_text(name: str) -> str:
    """A name as a key, in quotes where it needs them."""
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in _WORDS
    return name if is_plain else quoted(name)


def value_of(node: Node, place: str) -> float:
    """A start value: a finite number."""
    number = read_number(node)
    if number is None:
        raise ModelError(f"{place}: {_not_a_number(node, 'value')}")
    if not math.isfinite(number):
        raise ModelError(f"{place}: the value is infinite ({_text(node)}); give a finite number")
    return number


def bound_of(node: Node, place: str, name: str) -> float:
    """A bound, `name` = "min" or "max": a number, or .inf for none."""
    open_end = "-.inf" if name == "min" else ".inf"
    if is_null(node):
        raise ModelError(
            f"{place}: {name} is empty; write {open_end} for no bound, or leave both bounds out"
        )
    number = read_number(node)
    if number is None:
        raise ModelError(f"{place}: {_not_a_number(node, name)}; {open_end} means no bound")
    assert isinstance(node, Scalar)
    if math.isinf(number) and not _INFINITE.fullmatch(node.text):
        raise ModelError(f"{place}: {name} {node.text} is too large; write {open_end} for no bound")
    return number


def vary_of(node: Node, place: str) -> tuple[bool, str]:
    """A vary flag as (vary, scope)."""
    if isinstance(node, Scalar):
        if node.plain and node.text in _TRUE:
            return _SCOPES["file"]
        if node.plain and node.text in _FALSE:
            return _SCOPES["static"]
        if node.text in _SCOPES:
            return _SCOPES[node.text]
    comma = read_number(node) not in (None, 0, 1)
    raise ModelError(
        f"{place}: the second entry says whether the parameter varies; write True, False, "
        f"project, file or static, not {_text(node)}"
        + ("; a decimal point is written ., not a comma" if comma else "")
    )


def _text(node: Node) -> str:
    if not isinstance(node, Scalar):
        return "a list" if isinstance(node, Sequence) else "a mapping"
    if is_null(node):
        return "an empty value"
    return node.text if node.plain and node.text.isprintable() else repr(node.text)


def _not_a_number(node: Node, name: str) -> str:
    shown = _text(node)
    if isinstance(node, Scalar):
        if node.plain and node.text in (*_TRUE, *_FALSE):
            return f"the {name} is {shown}, a truth value; write [value, vary], numbers first"
        if node.plain and node.text.lower() in (".nan", "nan"):
            return f"the {name} is not a number ({shown}); give a finite number"
        if not node.plain and read_number(Scalar(node.text, True, node.line)) is not None:
            return f"the {name} is text, {shown}; remove the quotes"
        other = node.text.translate(_SIGNS)
        if other != node.text and _DECIMAL.fullmatch(other):
            return f"the {name} must be a number, not {shown}; write {other}, with . and - of ASCII"
    return (
        f"the {name} must be a number such as 1.5e3, not {shown}; an expression stands alone, "
        'in quotes: ["expression"]'
    )
