"""The sections ``functions`` and ``include`` of a model file: functions of a user's own.

functions:
  Skew:
    parameters: A, x0 [eV], w > 0 [eV], b     # with bounds and units; else in order of first use
    lines: {u: (x - x0) / w}                  # helper values, each in terms of those before
    formula: A * exp(-4 * log(2) * u ** 2) * (1 + erf(b * u))
    domain: energy                            # or time (the axis is t), profile, kernel
    doc: a Gaussian with one flank steeper than the other
    linear: A                                 # follows from the formula; must agree where given
    jumps: []                                 # so do the parameters that move a jump
  Measured:
    formula: A * ref
    inputs: ref                               # further arrays along the axis, given with the data
  Sech:
    domain: kernel                            # a function of the time difference d
    formula: 4 / (exp(d / w) + exp(-d / w)) ** 2
    reach: 20 * w                             # how far it extends, or [before, after]
    tail: 2 * w / (exp(2 * d / w) + 1)        # its integral from d on, or one for each side
include: our_formulas.yaml                    # files that hold a section ``functions`` each
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable

from pyspec._library import OpDef
from pyspec.errors import ModelError
from pyspec.formula import (
    AXES,
    DOMAINS,
    KERNEL,
    PARTS,
    SIDES,
    Definition,
    define,
    free_names,
    write,
)
from pyspec.formula.definitions.signature import UNIT
from pyspec.model.build.kinetics import schemes_text
from pyspec.model.build.parameter_entry import entries_of, similar
from pyspec.model.tree import Component
from pyspec.model.yaml.reader import (
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    Source,
    open_source,
    read,
)
from pyspec.model.yaml.scalars import is_null

#: The names of the sections.
FUNCTIONS, INCLUDE = "functions", "include"

#: Facts that follow from a formula, and are checked where they are given: the parameters in which
#: the function is linear, and those that move a jump.
_DECLARED = ("linear", "jumps")

_KEYS = ("formula", "parameters", "lines", "inputs", "domain", "doc", *PARTS, *_DECLARED)
_EXAMPLE = "'Skew: {formula: A * exp(-((x - x0) / w) ** 2)}'"

#: What an axis may be called.
_AXIS_WORDS = {"aux": "auxiliary", "profile": "auxiliary", "x": "energy", "t": "time"}


def read_functions(file: Source, section: Entry | None, include: Entry | None) -> dict[str, OpDef]:
    """The functions by formula of a file and of those that it includes, by name.

    Raises :class:`ModelError`, starting with file, line and function.
    """
    functions: dict[str, tuple[OpDef, str]] = {}
    sections = [*_included(file, include), *([(file, section)] if section else [])]
    for source, (key, body) in sections:
        if not isinstance(body, Mapping):
            raise ModelError(
                f"{source.at(key.line)}: {FUNCTIONS}: this section holds functions by name, such "
                f"as {_EXAMPLE}"
            )
        for name, node in body.items:
            where = source.at(name.line)
            op = _function(source, name, node)
            first, place = functions.setdefault(name.text, (op, where))
            if first != op:
                raise ModelError(
                    f"{where}: {FUNCTIONS}.{name.text}: given twice, first at {place}; rename one "
                    "of the two"
                )
    return {name: op for name, (op, _) in functions.items()}


def _included(file: Source, include: Entry | None) -> list[tuple[Source, Entry]]:
    """The sections of the files that are included."""
    if include is None:
        return []
    key, node = include
    items = node.items if isinstance(node, Sequence) else (node,)
    included = []
    for item in items:
        place = f"{file.at(key.line)}: {INCLUDE}"
        if not isinstance(item, Scalar) or is_null(item):
            raise ModelError(f"{place}: names files of formulas, such as 'include: ours.yaml'")
        try:
            source = open_source(file.folder / item.text)
        except ModelError as error:
            raise ModelError(f"{place}: {error}") from None
        root = read(source)
        sections = dict_of(root)
        if set(sections) != {FUNCTIONS}:
            raise ModelError(
                f"{place}: {item.text} must hold a section '{FUNCTIONS}:' and nothing else"
            )
        included.append((source, sections[FUNCTIONS]))
    return included


def dict_of(node: Node | None) -> dict[str, Entry]:
    """The entries of a mapping by name, none of anything else."""
    pairs = node.items if isinstance(node, Mapping) else ()
    return {key.text: (key, body) for key, body in pairs}


def _function(file: Source, name: Scalar, node: Node) -> OpDef:
    place = f"{file.at(name.line)}: {FUNCTIONS}.{name.text}"
    if not isinstance(node, Mapping):
        raise ModelError(f"{place}: write a formula below it, such as {_EXAMPLE}")
    _refuse_cut(node, place, _KEYS)
    entries = entries_of(file, node, f"{FUNCTIONS}.{name.text}", _KEYS, "a function has no")
    if "formula" not in entries:
        raise ModelError(f"{place}: has no formula; write 'formula: A * exp(-(x - x0) ** 2)'")
    key, formula = entries["formula"]
    text = _text(formula, f"{place}.formula")
    lines = _lines(entries.get("lines"), place)
    domain = _text(entries["domain"][1], f"{place}.domain") if "domain" in entries else "energy"
    doc = _text(entries["doc"][1], f"{place}.doc") if "doc" in entries else ""
    inputs = _inputs(entries.get("inputs"), domain, place)
    if "parameters" in entries:
        params = _params(entries["parameters"][1], f"{place}.parameters")
    else:
        axis = DOMAINS[domain][2] if domain in DOMAINS else "x"
        names = [UNIT.sub("", input_name).strip() for input_name in inputs.split(",")]
        at = f"{file.at(key.line)}: {name.text}"
        params = ", ".join(free_names(text, lines, axis, at, names))
    where = f"{file.at(key.line)}: {FUNCTIONS}.{name.text}"
    parts = [part for key in PARTS for part in _parts(key, entries.get(key), domain, place)]
    op = define(write(domain, name.text, params, text, lines, doc, parts, inputs), where)
    for part in _DECLARED:
        if part in entries:
            line = file.at(entries[part][0].line)
            _agree(op, part, entries[part][1], f"{line}: {FUNCTIONS}.{name.text}.{part}")
    return op


def _refuse_cut(node: Mapping, place: str, keys: Container[str] = ()) -> None:
    """Raises :class:`ModelError` where a comma within { } ended a text: the rest of the text is
    then a key without a value on the same line."""
    for k, (_, value) in enumerate(node.items):
        if not isinstance(value, Scalar) or not value.plain or is_null(value):
            continue
        pieces = [value.text]
        for key, nothing in node.items[k + 1 :]:
            if not is_null(nothing) or key.text in keys or key.line != value.line:
                break
            pieces.append(key.text)
        if len(pieces) > 1:
            raise ModelError(
                f"{place}: a comma within {{ }} ends a text; put the whole of it in quotes, "
                f'"{", ".join(pieces)}", or on a line of its own'
            )


def _agree(op: OpDef, part: str, node: Node, place: str) -> None:
    """Raises :class:`ModelError` where what is declared of a function is not what follows."""
    text = "" if isinstance(node, Sequence) and not node.items else _params(node, place)
    declared = [param.strip() for param in text.split(",") if param.strip()]
    for param in declared:
        if param not in op.params:
            raise ModelError(
                f"{place}: {param!r} is no parameter of {op.name}{similar(param, list(op.params))}"
            )
    derived = op.linear if part == "linear" else tuple(name for name, _ in op.jumps)
    actual = [name for name in op.params if name in derived]
    if set(declared) == set(actual):
        return
    fact = "the formula is linear in" if part == "linear" else "move a jump of the formula"
    raise ModelError(
        f"{place}: contradicts the formula: the parameters that {fact} are "
        f"{', '.join(actual) or 'none'}; mend one of the two, or remove this line"
    )


def _parts(part: str, entry: Entry | None, domain: str, place: str) -> list[tuple[str, str]]:
    """What a kernel declares: one formula for both sides, or a list of two."""
    if entry is None:
        return []
    if domain != KERNEL:
        raise ModelError(
            f"{place}.{part}: belongs to a kernel; write 'domain: kernel', or remove it"
        )
    if not isinstance(entry[1], Sequence):
        return [(part, _text(entry[1], f"{place}.{part}"))]
    if len(entry[1].items) != len(SIDES):
        raise ModelError(
            f"{place}.{part}: give one formula, or a list of two: for earlier and for later samples"
        )
    names = [f"{part}_{side}" for side in SIDES]
    texts = [_text(item, f"{place}.{part}") for item in entry[1].items]
    return list(zip(names, texts, strict=True))


def _inputs(entry: Entry | None, domain: str, place: str) -> str:
    """The names of the inputs; written with the axis of each, it is that of the function."""
    if entry is None:
        return ""
    node = entry[1]
    if not isinstance(node, Mapping):
        return _params(node, f"{place}.inputs")
    for name, axis in node.items:
        word = _text(axis, f"{place}.inputs.{name.text}")
        own = AXES.get(domain, domain)
        if _AXIS_WORDS.get(word, word) != own:
            raise ModelError(
                f"{place}.inputs: {name.text!r} is along the {word} axis, but the inputs of a "
                f"function of domain {domain!r} are along the {own} axis; write '{name.text}: "
                f"{own}', or another domain"
            )
    return ", ".join(name.text for name, _ in node.items)


def _text(node: Node, place: str) -> str:
    if not isinstance(node, Scalar) or is_null(node):
        raise ModelError(f"{place}: must be text; quote it where it holds ': ' or ' #'")
    return node.text


def _params(node: Node, place: str) -> str:
    if isinstance(node, Mapping):
        raise ModelError(f"{place}: holds names, bounds and units, such as 'A, x0 [eV], w > 0'")
    if isinstance(node, Sequence):
        return ", ".join(_text(item, place) for item in node.items)
    return _text(node, place)


def _lines(entry: Entry | None, place: str) -> list[tuple[str, str]]:
    if entry is None:
        return []
    if not isinstance(entry[1], Mapping):
        raise ModelError(f"{place}.lines: holds helper values by name, such as 'u: (x - x0) / w'")
    _refuse_cut(entry[1], f"{place}.lines")
    return [(key.text, _text(node, f"{place}.lines.{key.text}")) for key, node in entry[1].items]


# ---- and back to text --------------------------------------------------------------------------


def functions_text(components: Iterable[Component]) -> str:
    """The sections ``functions`` and ``kinetics`` that these components need; "" for none."""
    components = list(components)
    definitions = {c.op.name: c.op.own for c in components if isinstance(c.op.own, Definition)}
    lines = [line for own in definitions.values() for line in _definition_lines(own)]
    own = "".join(f"{line}\n" for line in (f"{FUNCTIONS}:", *lines)) if lines else ""
    return own + schemes_text(components)


def _definition_lines(own: Definition) -> list[str]:
    entries = [("parameters", own.signature)] if own.params else []
    entries += [("formula", own.value.text), ("domain", own.domain)]
    if own.inputs:
        entries.append(("inputs", own.inputs_text))
    if own.doc:
        entries.append(("doc", own.doc))
    parts = {name: formula.text for name, formula in own.parts}
    entries += [(part, parts[part]) for part in PARTS if part in parts]
    lines = [f"  {own.name}:"]
    lines += [f"    {key}: {json.dumps(text, ensure_ascii=False)}" for key, text in entries]
    for part in PARTS:
        sides = [json.dumps(parts[name]) for side in SIDES if (name := f"{part}_{side}") in parts]
        lines += [f"    {part}: [{', '.join(sides)}]"] if sides else []
    if own.lines:
        lines.append("    lines:")
        lines += [
            f"      {name}: {json.dumps(formula.text, ensure_ascii=False)}"
            for name, formula in own.lines
        ]
    return lines
