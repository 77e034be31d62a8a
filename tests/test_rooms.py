"""The rooms of the package: imports point backwards, and files stay short enough to read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pyspec"

#: A room imports only rooms listed before it.
ROOMS = (
    "errors",
    "_library",
    "functions",
    "formula",
    "model",
    "ir",
    "passes",
    "plan",
    "executor",
    "fit",
    "io",
    "plot",
    "simulate",
    "workflow",
    "cli",
)
#: Not rooms: the version, the public names, and `python -m pyspec`.
FREE = ("_version", "__init__", "__main__")

FILES = sorted(PACKAGE.rglob("*.py"))
IDS = [str(path.relative_to(ROOT)) for path in FILES]
every_file = pytest.mark.parametrize("path", FILES, ids=IDS)

#: The tree executor is an independent witness.
WITNESS = PACKAGE / "executor" / "tree.py"

MAX_PYTHON_LINES = 500
MAX_C_LINES = 600


def imported(path: Path) -> Iterator[str]:
    """Full names of all modules, and of the names from them, that a file imports anywhere."""
    package = path.parent.relative_to(ROOT).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *((node.module,) if node.module else ())))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def room(module: str) -> str | None:
    """The room of a full module name; None where it has none."""
    parts = module.split(".")
    return parts[1] if parts[0] == "pyspec" and len(parts) > 1 and parts[1] in ROOMS else None


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def called(path: Path) -> set[str]:
    """Names that a file calls as plain functions, or imports."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    calls = {
        node.func.id
        for node in tree
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return calls | {module.split(".")[0] for module in imported(path)}


def test_there_are_files() -> None:
    assert len(FILES) > 10


@every_file
def test_a_file_belongs_to_a_room(path: Path) -> None:
    assert room_of(path) in ROOMS + FREE


@every_file
def test_imports_point_backwards(path: Path) -> None:
    own = room_of(path)
    if own in FREE:
        return
    limit = ROOMS.index(own)
    later = {
        module
        for module in imported(path)
        if (target := room(module)) is not None and ROOMS.index(target) > limit
    }
    assert later == set()


@every_file
def test_a_room_does_not_import_the_public_names(path: Path) -> None:
    if room_of(path) not in FREE:
        names = set(imported(path))
        public = {n for n in names if n.startswith("pyspec.") and room(n) is None}
        assert public <= {"pyspec._version", "pyspec._version.VERSION", "pyspec.__version__"}
        assert "pyspec" not in names or public


@every_file
def test_only_the_library_room_imports_ctypes(path: Path) -> None:
    if room_of(path) != "_library":
        assert "ctypes" not in {module.split(".")[0] for module in imported(path)}


def test_the_tree_executor_is_independent() -> None:
    rooms = {room(module) for module in imported(WITNESS)}
    assert not rooms & {"ir", "passes", "plan"}


@every_file
def test_text_is_never_evaluated_as_python(path: Path) -> None:
    assert not called(path) & {"eval", "exec", "compile", "__import__", "asteval"}


@pytest.mark.parametrize("folder", ["pyspec", "tests", "bench", "examples"])
def test_python_files_are_short(folder: str) -> None:
    lines = {path: len(path.read_text().splitlines()) for path in (ROOT / folder).rglob("*.py")}
    assert {path: n for path, n in lines.items() if n > MAX_PYTHON_LINES} == {}


@pytest.mark.parametrize("folder", ["csrc", "tests/c"])
def test_c_files_are_short(folder: str) -> None:
    lines = {path: len(path.read_text().splitlines()) for path in (ROOT / folder).glob("*.[ch]")}
    assert lines
    assert {path: n for path, n in lines.items() if n > MAX_C_LINES} == {}
