"""Every row of the op table has a reference of its name, and the other way round."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from pyspec._library import OPS
from pyspec.errors import LibraryError
from pyspec.functions import reference


def test_signatures_follow_the_table_and_docstrings_explain_them() -> None:
    for name, op in OPS.items():
        _, *params = inspect.signature(reference(name)).parameters.values()
        if op.spectrum_fed:
            assert params.pop().name == "spectrum", name
        elif params and params[-1].name == "spectrum":  # Offset and LinBack do not read it
            assert params.pop().default is None, name
        assert tuple(par.name for par in params) == op.params
        defaults = [par.default for par in params]
        assert defaults[: op.n_required] == [inspect.Parameter.empty] * op.n_required, name
        assert defaults[op.n_required :] == [0.0] * (len(params) - op.n_required), name
        text = inspect.getdoc(reference(name)) or ""
        assert "``" in text, f"{name}: the docstring lacks the formula"
        for param in op.params:
            assert param in text, f"{name}: the docstring does not explain {param}"


def test_no_function_without_a_row() -> None:
    for package in sorted({op.package for op in OPS.values()}):
        module = import_module(f"pyspec.functions.{package}")
        known = [op.name for op in OPS.values() if op.package == package and not op.external]
        homes = {reference(name).__module__ for name in known} | {module.__name__}
        functions = [
            name
            for home in homes
            for name, thing in vars(import_module(home)).items()
            if inspect.isfunction(thing) and thing.__module__ == home and not name.startswith("_")
        ]
        assert sorted(functions) == sorted(known), package


def test_unknown_reference_suggests() -> None:
    with pytest.raises(LibraryError, match="did you mean 'Gauss'"):
        reference("Gaus")
