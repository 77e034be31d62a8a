"""The site is made without a warning and holds every page and every public name."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import pyspec

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.slow
def test_site_is_made_and_whole(tmp_path: Path) -> None:
    for module in ("sphinx", "myst_nb", "matplotlib", "pandas"):
        if subprocess.run(
            [sys.executable, "-c", f"import {module}"], capture_output=True
        ).returncode:
            pytest.skip(f"needs {module}: pip install 'pyspec-fit[docs]'")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(tmp_path / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(DOCS), str(tmp_path / "site")],
        cwd=DOCS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

    for page in [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]:
        made = tmp_path / "site" / page.relative_to(DOCS).with_suffix(".html")
        assert made.is_file(), made
    reference = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    public = {name: getattr(pyspec, name) for name in pyspec.__all__ if not name.startswith("__")}
    marks = {
        name: f"module-{thing.__name__}" if inspect.ismodule(thing) else f"pyspec.{name}"
        for name, thing in public.items()
    }
    assert [name for name, mark in marks.items() if f'id="{mark}"' not in reference] == []
    assert "numpy.dtype" not in reference  # attributes had types three lines long
    # The pictures of the tutorials are there: the notebooks were run.
    tutorial = (tmp_path / "site" / "tutorials" / "photoemission.html").read_text(encoding="utf-8")
    assert tutorial.count("<img") >= 4
