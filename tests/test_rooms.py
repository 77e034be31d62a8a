"""The rooms of the package: imports point backwards, and files stay short enough to read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pyspec"

#: A room imports only rooms listed before it.
ROOMS = (
    "errors",
    "calls",
    "_library",
    "functions",
    "memory",
    "formula",
    "model",
    "components",  # descriptions of models: what model takes, and nothing of the package needs
    "ir",
    "passes",
    "plan",
    "executor",
    "fit",
    "io",
    "plot",
    "simulate",
    "workflow",
    "trspecfit",  # names that scripts of another package use; nothing else knows them
    "build",
    "cli",
)
#: Rooms whose files import each other in one direction only.
WITHOUT_CIRCLES = tuple(name for name in ROOMS if name != "errors")
#: Not rooms: the version, the public names, and `python -m pyspec`.
FREE = ("_version", "__init__", "__main__")

FILES = sorted(PACKAGE.rglob("*.py"))

#: The tree executor is an independent witness.
WITNESS = PACKAGE / "executor" / "tree.py"

#: A file is read in one sitting: the package and the C library; tests and tables may be longer.
MAX_LINES = {"pyspec": 400, "csrc": 500}
MAX_OTHER_LINES = 500


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All of a file's syntax."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module", autouse=True)
def syntax_is_dropped() -> Iterator[None]:
    """A million objects, which the collector would visit to the end of the run."""
    yield
    nodes.cache_clear()


def for_types(path: Path) -> set[ast.AST]:
    """What stands under ``if TYPE_CHECKING``: it never runs."""
    guarded = [
        node
        for node in nodes(path)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {part for node in guarded for line in node.body for part in ast.walk(line)}


def imports(path: Path, at_run_time: bool = False) -> Iterator[tuple[str, list[str]]]:
    """(full name of a module, names taken from it) of every import anywhere in a file; or only of
    those that may run."""
    package = path.parent.relative_to(ROOT).parts
    left_out = for_types(path) if at_run_time else set()
    for node in nodes(path):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *((node.module,) if node.module else ())))
            yield module, [alias.name for alias in node.names]


def imported(path: Path) -> Iterator[str]:
    """Full names of all modules, and of the names from them, that a file imports anywhere."""
    for module, names in imports(path):
        yield module
        yield from (f"{module}.{name}" for name in names)


def room(module: str) -> str | None:
    """The room of a full module name; None where it has none."""
    parts = module.split(".")
    return parts[1] if parts[0] == "pyspec" and len(parts) > 1 and parts[1] in ROOMS else None


def rank(name: str | None) -> int:
    """Position of a room; what is no room may import all, and be imported by all."""
    return ROOMS.index(name) if name in ROOMS else len(ROOMS) if name in FREE else -1


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def called(path: Path) -> set[str]:
    """Names that a file calls as plain functions, or imports."""
    calls = {
        node.func.id
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return calls | {module.split(".")[0] for module in imported(path)}


def relative(found: dict[Path, set[str]]) -> dict[str, set[str]]:
    """Only the files where something was found, with short names."""
    return {str(path.relative_to(ROOT)): names for path, names in found.items() if names}


def test_every_file_belongs_to_a_room() -> None:
    assert len(FILES) > 10
    assert {room_of(path) for path in FILES} <= {*ROOMS, *FREE}


def test_imports_point_backwards() -> None:
    later = {
        path: {m for m in imported(path) if rank(room(m)) > rank(room_of(path))} for path in FILES
    }
    assert relative(later) == {}


def test_no_room_imports_the_public_names() -> None:
    public = {
        path: {m for m in imported(path) if m.split(".")[0] == "pyspec" and room(m) is None}
        - {"pyspec._version", "pyspec._version.VERSION"}
        for path in FILES
        if room_of(path) not in FREE
    }
    # `from pyspec import errors` yields "pyspec" too, and the room beside it.
    assert relative({path: names - {"pyspec"} for path, names in public.items()}) == {}


def module_of(path: Path) -> str:
    """The full name of a file's module; that of a package for its __init__."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def neighbours(room_name: str) -> dict[str, set[str]]:
    """Module → the modules of the same room that it imports when it runs."""
    files = {module_of(path): path for path in FILES if room_of(path) == room_name}
    graph: dict[str, set[str]] = {}
    for own, path in files.items():
        found: set[str] = set()
        for module, names in imports(path, at_run_time=True):
            modules = {f"{module}.{name}" for name in names} & set(files)
            found |= modules
            # A name that is no module comes from the module itself.
            if module in files and len(modules) < max(len(names), 1):
                found.add(module)
        graph[own] = found - {own}
    return graph


@pytest.mark.parametrize("room_name", WITHOUT_CIRCLES)
def test_files_of_a_room_do_not_import_each_other_in_a_circle(room_name: str) -> None:
    """Imports inside functions count too; those for type checkers do not, since a class may name
    in a type whoever uses it. Between rooms they count: there is no knowledge of later rooms."""
    tuple(TopologicalSorter(neighbours(room_name)).static_order())


def test_only_the_library_room_imports_ctypes() -> None:
    others = [path for path in FILES if room_of(path) != "_library"]
    found = {path: {m for m in imported(path) if m.split(".")[0] == "ctypes"} for path in others}
    assert relative(found) == {}


def test_the_tree_executor_is_independent() -> None:
    rooms = {room(module) for module in imported(WITNESS)}
    assert not rooms & {"ir", "passes", "plan"}


def test_commands_use_what_other_rooms_hand_out() -> None:
    """--check took the private parts of a File."""
    for path in sorted((PACKAGE / "cli").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                is_private = node.attr.startswith("_") and not node.attr.startswith("__")
                is_own = node.value.id in ("self", "cls")
                is_own |= node.attr.endswith("_actions") or node.value.id == "argparse"
                assert not is_private or is_own, f"{path.name}:{node.lineno}: .{node.attr}"


def test_text_is_never_evaluated_as_python() -> None:
    forbidden = {"eval", "exec", "compile", "__import__", "asteval"}
    assert relative({path: called(path) & forbidden for path in FILES}) == {}


@pytest.mark.parametrize(
    ("folder", "pattern"),
    [(one, "*.py") for one in ("pyspec", "tests", "bench", "examples")]
    + [("csrc", "*.[ch]"), ("tests/c", "*.[ch]"), ("pyspec/build/page", "[a-z]*.js")],
)
def test_files_are_short(folder: str, pattern: str) -> None:
    files = [path for path in (ROOT / folder).rglob(pattern) if path.parent.name != "vendor"]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert lines
    assert {
        path: n for path, n in lines.items() if n > MAX_LINES.get(folder, MAX_OTHER_LINES)
    } == {}
