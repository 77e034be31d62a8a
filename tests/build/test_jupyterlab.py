"""The builder under a cell of JupyterLab, in Chromium. Skipped without JupyterLab and a browser."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from urllib.request import urlopen

import pytest
from support.build.browser import Screen, browser
from support.later import later

for needed in ("jupyterlab", "anywidget", "ipykernel", "jupyterlab_widgets"):
    later(needed)

pytestmark = pytest.mark.slow

CELL = """\
import numpy as np
from pyspec import File
energy, time = np.linspace(80, 90, 101), np.linspace(-1, 10, 23)
data = 5 + 20 * np.exp(-(((energy - 84 - 0.4 * (time[:, None] > 0)) / 0.6) ** 2))
data += np.random.default_rng(1).normal(scale=0.3, size=data.shape)
builder = File(data=data, energy=energy, time=time, name="scan").build()
builder"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab with one notebook of one cell."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    cell = {
        "cell_type": "code",
        "source": CELL,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {
        "cells": [cell],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    (folder / "one.ipynb").write_text(json.dumps(notebook))
    spec = tmp_path / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(
        json.dumps({"argv": start, "display_name": "Python 3", "language": "python"})
    )
    import jupyterlab_widgets

    # The widgets of the notebook may be installed beside another Python than this one.
    beside = Path(jupyterlab_widgets.__file__).parents[4] / "share" / "jupyter" / "labextensions"
    port = free_port()
    words = [
        sys.executable, "-m", "jupyterlab", "--allow-root", "--no-browser", f"--port={port}",
        "--IdentityProvider.token=word", f"--ServerApp.root_dir={folder}",
        f"--LabApp.extra_labextensions_path={beside}", "--LabApp.news_url=None",
    ]  # fmt: skip
    places = {"CONFIG": "config", "DATA": "jupyter", "RUNTIME": "runtime"}
    space = {f"JUPYTER_{name}_DIR": str(tmp_path / part) for name, part in places.items()}
    with (
        (tmp_path / "lab.log").open("w") as log,
        subprocess.Popen(words, env=os.environ | space, stdout=log, stderr=log) as process,
    ):
        try:
            end = monotonic() + 60
            while True:
                try:
                    with urlopen(f"http://127.0.0.1:{port}/api?token=word"):
                        break
                except OSError:
                    assert process.poll() is None, (tmp_path / "lab.log").read_text()
                    assert monotonic() < end
                    sleep(0.2)
            yield f"http://127.0.0.1:{port}/lab/tree/one.ipynb?token=word"
        finally:
            process.terminate()
            process.wait(30)


def test_a_line_is_added_fitted_and_undone_under_a_cell(lab: str) -> None:
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": 1600, "height": 1100})
        screen = Screen(page)
        page.goto(lab)
        page.wait_for_selector(".jp-Notebook .cm-content", timeout=60_000)
        page.wait_for_selector('text="Python 3 | Idle"', timeout=60_000)
        page.locator(".jp-Cell .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_selector(".pyspec-builder .u-over", timeout=60_000)
        screen.until("s.file && s.library")
        page.locator(".spectrum .u-over").scroll_into_view_if_needed()
        screen.across("spectrum", 83.2, 85.6)
        screen.until("s.components.length === 1")
        cells = page.locator(".jp-Cell").count()
        page.locator(".spectrum .u-over").focus()
        screen.press("a")  # not a cell above this one
        page.keyboard.type("offset")
        screen.press("Enter")
        screen.until("s.components.length === 2")
        screen.press("f")
        screen.until("s.fit.chisqr && !s.fit.running")
        screen.press("x", "v")  # not a cell that is cut
        screen.press("Control+z")
        screen.until("s.history.at === 2")
        assert page.locator(".jp-Cell").count() == cells
        page.close()
