"""The package as it is imported: its names, and what it does not import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pyspec


def test_public_names() -> None:
    for name in pyspec.__all__:
        assert getattr(pyspec, name) is not None
    assert set(pyspec._HOME_OF) | {"__version__"} == set(pyspec.__all__)
    assert set(pyspec.__all__) <= set(dir(pyspec))
    with pytest.raises(AttributeError, match=r"pyspec has no 'Fil'; did you mean 'File'?"):
        pyspec.Fil  # noqa: B018


@pytest.mark.parametrize("room", ["", "components", "plot", "io", "simulate"])
def test_an_editor_offers_public_names_alone(room: str) -> None:
    """Completion offered Any, annotations, import_module and every file of a room."""
    module = getattr(pyspec, room) if room else pyspec
    rooms = set() if room else {"components", "plot", "io", "simulate"}
    offered = {name for name in dir(module) if not name.startswith("__")}
    assert offered == {name for name in module.__all__ if not name.startswith("__")} | rooms


def test_matplotlib_is_not_imported_by_import() -> None:
    code = (
        "import sys, pyspec\n"
        "assert not {'matplotlib', 'lmfit', 'scipy'} & set(sys.modules), 'heavy import'\n"
        "from pyspec import Project, File, Model, FitResult, plot_fit\n"
        "assert 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_show_config(capsys: pytest.CaptureFixture[str]) -> None:
    facts = pyspec.show_config()
    assert facts["pyspec"] == pyspec.__version__
    assert "fingerprint" in capsys.readouterr().out
