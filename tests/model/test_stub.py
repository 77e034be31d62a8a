"""What type checkers know of pyspec.components is what the op table says."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

from pyspec import components
from pyspec._library import OPS

ROOT = Path(__file__).parents[2]
STUB = ROOT / "pyspec" / "components.pyi"


def test_the_stub_has_the_classes_and_arguments_of_the_table() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            (init,) = (one for one in node.body if isinstance(one, ast.FunctionDef))
            names = [argument.arg for argument in init.args.args[1:]]
            found[node.name] = (tuple(names), len(names) - len(init.args.defaults))
    expected = {
        name: (op.params, op.n_required)
        for name, op in OPS.items()
        if not op.derived and not op.external
    }
    assert found == expected
    assert set(found) == set(components.NAMES)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert functions | {"Component"} == set(components.HELPERS)


def test_helpers_take_what_the_stub_says() -> None:
    checked = 0
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            own = node.args
            names = [argument.arg for argument in (*own.posonlyargs, *own.args)]
            names += [argument.arg for argument in (own.vararg,) if argument is not None]
            names += [argument.arg for argument in own.kwonlyargs]
            names += [argument.arg for argument in (own.kwarg,) if argument is not None]
            real = inspect.signature(getattr(components, node.name)).parameters
            assert names == list(real), node.name
            checked += 1
    assert checked >= 7


def test_help_of_a_component_says_its_arguments_and_what_they_mean() -> None:
    """It was ``(*values, **named)``, and a formula alone."""
    for name in components.NAMES:
        function, op = getattr(components, name), OPS[name]
        arguments = inspect.signature(function).parameters.values()
        assert tuple(one.name for one in arguments) == op.params
        assert sum(one.default is inspect.Parameter.empty for one in arguments) == op.n_required
        text = inspect.getdoc(function) or ""
        _, _, table = text.partition("Parameters\n----------\n")
        lines = [line.split(" : ")[0] for line in table.splitlines() if " : " in line]
        assert set(re.split(", ", ", ".join(lines))) - {""} == set(op.params)
