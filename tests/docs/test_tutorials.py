"""The tutorial notebooks run in a fresh kernel, and every picture is there exactly once."""

from __future__ import annotations

import ast
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
NOTEBOOKS = sorted(TUTORIALS.glob("*.ipynb"))
#: What makes a picture when it is the last line of a cell.
DRAWS = ("plot_", "file.plot_", "plt.show")


def code_cells(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def draws(source: str) -> bool:
    """Whether a cell ends with a call that draws."""
    last = ast.parse(source).body[-1]
    return isinstance(last, ast.Expr) and ast.unparse(last).startswith(DRAWS)


def test_there_are_three_tutorials_and_each_has_its_script() -> None:
    names = ["photoemission", "tied_doublet", "transient_absorption"]
    assert [path.stem for path in NOTEBOOKS] == names
    assert sorted(path.stem for path in TUTORIALS.glob("*.py")) == names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_committed_without_outputs(path: Path) -> None:
    for cell in code_cells(path):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_tutorial_runs_and_shows_each_picture_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MPLBACKEND", raising=False)  # a kernel draws into the notebook
    pytest.importorskip("matplotlib")
    nbclient = pytest.importorskip(
        "nbclient", reason="needs nbclient: pip install 'pyspec-fit[test]'"
    )
    pytest.importorskip("ipykernel", reason="needs ipykernel: pip install 'pyspec-fit[test]'")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("pandas")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's own transport
        nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    drawn = 0
    for cell in book.cells:
        if cell.cell_type != "code":
            continue
        pictures = sum("image/png" in output.get("data", {}) for output in cell.outputs)
        assert pictures == int(draws(cell.source)), cell.source
        drawn += pictures
        for output in cell.outputs:
            assert output.get("name") != "stderr", output.text
    assert drawn >= 3
