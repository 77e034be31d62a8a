"""The C files: what one of them calls stands in files that do not call it back."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

CSRC = Path(__file__).parents[1] / "csrc"

#: The begin of a definition at the left margin that is not static: its name.
DEFINITION = re.compile(
    r"^(?!static|typedef|enum)[A-Za-z_][\w \*]*?\b(pyspec_\w+)\([^;{]*\)\n\{", re.M
)
WORD = re.compile(r"\bpyspec_\w+")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def call_graph(texts: dict[str, str]) -> dict[str, set[str]]:
    """For each C file the files whose functions it names."""
    plain = {name: COMMENT.sub("", text) for name, text in texts.items()}
    homes = {found: name for name, text in plain.items() for found in DEFINITION.findall(text)}
    uses = {
        name: {homes[w] for w in WORD.findall(text) if w in homes} for name, text in plain.items()
    }
    return {name: files - {name} for name, files in uses.items()}


def test_files_do_not_call_each_other_in_circles() -> None:
    graph = call_graph({path.name: path.read_text(encoding="utf-8") for path in CSRC.rglob("*.c")})
    assert graph["accumulate.c"] >= {"prepare.c", "walk.c", "sum_tree.c"}
    assert len(tuple(TopologicalSorter(graph).static_order())) == len(graph)


def test_headers_do_not_include_each_other_in_circles() -> None:
    include = re.compile(r'^#include "(?:\w+/)*(\w+\.(?:h|def))"', re.M)
    graph = {path.name: set(include.findall(path.read_text())) for path in CSRC.rglob("*.h")}
    tuple(TopologicalSorter(graph).static_order())


def test_every_file_is_listed_once() -> None:
    listed = (CSRC / "sources.txt").read_text().split()
    assert len(listed) == len(set(listed))
    assert {path.relative_to(CSRC).as_posix() for path in CSRC.rglob("*.*")} == {
        *listed,
        "sources.txt",
    }


def test_no_folder_holds_more_files_than_one_can_look_through() -> None:
    sizes = {
        str(folder.relative_to(CSRC)): sum(path.is_file() for path in folder.iterdir())
        for folder in [CSRC, *(path for path in CSRC.iterdir() if path.is_dir())]
    }
    assert len(sizes) > 10
    assert {name: size for name, size in sizes.items() if size > 25} == {}
