"""The table of mistakes: reading it, making each mistake, writing down the answers.

``python tests/mistakes/table.py`` writes the present answers into mistakes.yaml.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import pyspec
from pyspec._library import OPS, RPN
from pyspec.formula.definitions.measured import INSTRUMENT
from pyspec.io import read
from pyspec.model import load_profile

TABLE = Path(__file__).with_name("mistakes.yaml")

#: What a mistake without a call of its own does.
LOAD = 'load_models("models.yaml")'


def _names(domain: str) -> str:
    """The functions that a model of this domain takes, as answers list them."""
    rows = (*OPS.values(), INSTRUMENT)
    ops = (op for op in rows if op.domain == domain and not op.derived)
    return ", ".join(op.name for op in ops)


#: What stands in the file for lists of names that answers contain: they follow from the tables.
LISTS = {
    "{functions of energy}": _names("ENERGY"),
    "{time laws and kernels}": _names("TIME"),
    "{profiles}": _names("AUX"),
    "{expression functions}": ", ".join(
        row.symbol for row in RPN.values() if row.symbol.isidentifier()
    ),
}


@dataclass(frozen=True)
class Mistake:
    """One row: what the user does, and the answer to it."""

    section: str
    title: str
    model: str | None
    call: str
    error: str
    says: str


def parsed() -> Any:
    """The file, with the lists written out."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is not everywhere
    table = yaml.load(TABLE.read_text(encoding="utf-8"), loader)
    for part in table["sections"]:
        for row in part["mistakes"]:
            for short, names in LISTS.items():
                row["says"] = row.get("says", "").replace(short, names)
    return table


def read_table() -> tuple[str, list[Mistake]]:
    """The standard model file, and all mistakes."""
    table = parsed()
    rows = [
        Mistake(
            section=part["section"],
            title=row["title"],
            model=row.get("model"),
            call=row.get("call", LOAD).strip(),
            error=row.get("error", ""),
            says=row.get("says", "").rstrip("\n"),
        )
        for part in table["sections"]
        for row in part["mistakes"]
    ]
    return table["standard"], rows


class Names(dict[str, Any]):
    """What the code of a mistake may use; `model`, `file` and `result`, of a fit of `file`, are
    made when they are asked for."""

    def __init__(self) -> None:
        super().__init__({name: getattr(pyspec, name) for name in pyspec.__all__})
        self.update(pyspec=pyspec, np=np, Path=Path, load_profile=load_profile, read=read)
        self["energy"], self["time"] = np.linspace(80.0, 90.0, 101), np.linspace(-5.0, 20.0, 26)
        generator = np.random.default_rng(1)
        peak = 20 * np.exp(-(((self["energy"] - 84) / 0.7) ** 2) / 2) + 2
        self["data"] = peak + generator.normal(0.0, 0.3, (26, 101))

    def __missing__(self, name: str) -> Any:
        if name == "model":
            model = pyspec.load_model("models.yaml", "peak")
            model.set_axes(energy=self["energy"], time=self["time"])
            self[name] = model
        elif name == "file":
            axes = {"energy": self["energy"], "time": self["time"]}
            project = pyspec.Project(".", show_output=False)
            file = pyspec.File(project, name="scan", data=self["data"], **axes)
            file.load_model("models.yaml", "peak")
            self[name] = file
        elif name == "result":
            self[name] = self["file"].fit_2d("peak")
        else:
            raise KeyError(name)
        return self[name]


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Works in `folder` for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def answer(mistake: Mistake, standard: str, folder: Path) -> tuple[str, str]:
    """Makes the mistake in `folder`: class and message of the answer, ("", "") if there is none."""
    text = standard if mistake.model is None else mistake.model
    (folder / "models.yaml").write_text(text, encoding="utf-8", newline="\n")
    with inside(folder):
        try:
            exec(compile(mistake.call, "call", "exec"), {}, Names())
        except Exception as error:
            return type(error).__name__, str(error)
    return "", ""


class _Dumper(yaml.SafeDumper):
    """Several lines as a block, a long line folded."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else ">" if len(text) > 80 else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def main() -> None:
    """Writes the present answers into the table, whose comment and order stay."""
    content = TABLE.read_text(encoding="utf-8")
    head = content[: content.index("standard:")]
    table = parsed()
    standard, mistakes = read_table()
    rows = [row for part in table["sections"] for row in part["mistakes"]]
    for row, mistake in zip(rows, mistakes, strict=True):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            row["error"], says = answer(mistake, standard, Path(folder))
        for short, names in LISTS.items():
            says = says.replace(names, short)
        row["says"] = says
    text = yaml.dump(table, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    TABLE.write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
