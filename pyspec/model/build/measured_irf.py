"""A measured instrument in a model file: its samples, in the model or in a file of their own.

model_name:
  measuredIRF: {file: instrument.csv}     # two columns: time, response; found beside the model file
  measuredIRF: {time: [-0.2, 0, 0.3], response: [0, 1, 0]}
"""

from __future__ import annotations

from pyspec.errors import ModelError
from pyspec.formula import MEASURED_IRF, Measured, instrument_text
from pyspec.model.build.parameter_entry import entries_of
from pyspec.model.yaml.reader import Mapping, Node, Scalar, Sequence, Source, open_source
from pyspec.model.yaml.scalars import read_number

_EXAMPLE = "{file: instrument.csv}, or {time: [-0.2, 0, 0.3], response: [0, 1, 0]}"


def read_instrument(file: Source, key: Scalar, node: Node) -> str:
    """The text of a measured instrument, which a component keeps as its function.

    Raises :class:`ModelError`, starting with file and line.
    """
    place = f"{file.at(key.line)}: {MEASURED_IRF}"
    entries = entries_of(file, node, MEASURED_IRF) if isinstance(node, Mapping) else {}
    if set(entries) == {"file"}:
        name = entries["file"][1]
        if not isinstance(name, Scalar) or not name.text.strip():
            raise ModelError(f"{place}.file: names a file, such as {MEASURED_IRF}: {_EXAMPLE}")
        path = file.folder / name.text
        try:
            table = open_source(path)
        except ModelError as error:
            why = str(error).replace("the model file", "the table")
            raise ModelError(f"{place}: {why}") from None
        try:
            return instrument_text(*_columns(table, place), place)
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None
    if set(entries) == {"time", "response"}:
        time, response = (_numbers(entries[w][1], f"{place}.{w}") for w in ("time", "response"))
        return instrument_text(time, response, place)
    problem = f"has {', '.join(entries)}" if entries else "has no samples"
    raise ModelError(f"{place}: {problem}; write {MEASURED_IRF}: {_EXAMPLE}")


def reads_file(body: Mapping) -> bool:
    """Whether a model takes samples from another file, without which its text cannot be read."""
    return any(
        key.text == MEASURED_IRF
        and isinstance(node, Mapping)
        and any(word.text == "file" for word, _ in node.items)
        for key, node in body.items
    )


def instrument_line(own: Measured) -> str:
    """The entry of a model with the samples in it."""
    time, response = (", ".join(map(repr, row)) for row in (own.time, own.values))
    return f"  {MEASURED_IRF}: {{time: [{time}], response: [{response}]}}"


def _numbers(node: Node, place: str) -> list[float]:
    if not isinstance(node, Sequence):
        raise ModelError(f"{place}: is no list of numbers; write it as [-0.2, 0, 0.3]")
    numbers = []
    for k, item in enumerate(node.items, start=1):
        number = read_number(item)
        if number is None:
            shown = repr(item.text) if isinstance(item, Scalar) else "a list"
            raise ModelError(f"{place}: sample {k} is {shown}; give a number")
        numbers.append(number)
    return numbers


def _columns(table: Source, place: str) -> tuple[list[float], list[float]]:
    """Two columns of numbers, separated by a comma, a semicolon, a tab or blanks. Lines that begin
    with # are comments, and one line of names may stand first."""
    time: list[float] = []
    response: list[float] = []
    named = False
    for number, line in enumerate(table.text.splitlines(), start=1):
        words = line.partition("#")[0].replace(",", " ").replace(";", " ").split()
        if not words:
            continue
        try:
            delay, other = map(float, words)
        except ValueError:
            if not time and not named:
                named = True
                continue
            raise ModelError(
                f"{table.at(number)}: {line.strip()[:60]!r} is no row of a time and a response; "
                f"{place} takes two columns of numbers"
            ) from None
        time.append(delay)
        response.append(other)
    return time, response
