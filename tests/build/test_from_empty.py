"""The builder in a browser: a doublet that moves, from an empty model, by mouse and keyboard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyspec.cli import main

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra ui is not installed")

pytestmark = pytest.mark.slow  # a browser, and a series of 240,000 points


@pytest.fixture
def address(shared: Path, tmp_path: Path) -> Iterator[str]:
    """``pyspec build`` on data set 02, with a cache and a folder of its own."""
    folder = shared / "data" / "trspecfit_examples" / "02_dependent_parameters"
    if not folder.is_dir():
        pytest.skip(f"no data set 02 in {folder}")
    axes = [f"--{name}={folder / name}.csv" for name in ("energy", "time")]
    command = [sys.executable, "-u", "-m", "pyspec", "build", str(folder / "data.csv"), *axes]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    options = ["--no-browser", "-o", str(tmp_path / "out")]
    process = subprocess.Popen(
        [*command, *options], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = next(line for line in process.stdout if "http://" in line)
    yield "http://" + line.partition("http://")[2].strip()
    process.terminate()
    assert process.wait(30) in (0, -15, 143)
    process.stdout.close()


class Hands:
    """A person at the page: what they click, type and drag."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda one: one.type == "error" and self.errors.append(one.text))

    def add(self, name: str) -> None:
        self.page.keyboard.press("a")
        self.page.get_by_label("find a function").fill(name)
        self.page.keyboard.press("Enter")
        self.page.get_by_label(f"Remove {name}").first.wait_for()

    def type(self, label: str, text: str) -> None:
        field = self.page.get_by_label(label, exact=True)
        field.click()
        field.fill(text)
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("Tab")

    def value(self, name: str) -> float:
        field = self.page.get_by_label(f"value of {name}", exact=True)
        field.focus()
        found = float(field.input_value())
        field.blur()
        return found

    def plot(self, name: str) -> dict[str, float]:
        """The box in which curves are drawn."""
        return self.page.locator(f".{name} .u-over").bounding_box()

    def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        mouse = self.page.mouse
        mouse.move(*begin)
        mouse.down()
        mouse.move(*end, steps=12)
        mouse.up()

    def law(self, parameter: str, function: str) -> None:
        self.page.get_by_label(f"More for {parameter}", exact=True).click()
        self.page.get_by_role("button", name=function, exact=True).click()
        self.page.get_by_label(f"More for {parameter}_{function}", exact=False).first.wait_for()


def test_a_doublet_from_an_empty_model(
    chromium: Any, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    hands = Hands(page)
    page.goto(address)
    page.locator(".spectrum .u-over").wait_for()
    hands.add("Offset")
    hands.add("Shirley")
    box = hands.plot("spectrum")

    def at(energy: float, height: float) -> tuple[float, float]:
        share = (94.912 - energy) / (94.912 - 76.832)  # binding energies rise to the left
        return box["x"] + share * box["width"], box["y"] + (1.0 - height) * box["height"]

    for k, (high, low) in enumerate([(86.2, 84.2), (89.8, 87.8)], start=1):
        hands.drag(at(high, 0.9), at(low, 0.9))
        page.get_by_label(f"value of GLP_0{k}_A", exact=True).wait_for()
    hands.type("expr of GLP_02_A", "3/4 * GLP_01_A")
    hands.type("expr of GLP_02_x0", "GLP_01_x0 + 3.67")
    hands.type("expr of GLP_02_F", "GLP_01_F")
    hands.type("expr of GLP_02_m", "GLP_01_m")
    page.keyboard.press("Escape")
    page.get_by_label("Fit this spectrum").click()
    page.get_by_text("Converged").first.wait_for()
    assert hands.value("GLP_01_x0") == pytest.approx(85.08, abs=0.05)
    hands.law("GLP_01_x0", "sinFun")
    hands.law("GLP_01_x0", "gaussIRF")
    law = "GLP_01_x0_sinFun_01"
    hands.type("value of GLP_01_x0", "84.2")
    hands.type(f"value of {law}_A", "-0.9")
    hands.type(f"value of {law}_f", "0.25")
    page.get_by_label(f"fit {law}_t0", exact=True).uncheck()  # its phase says the same
    page.keyboard.press("Escape")
    page.get_by_label("Fit all").click()
    page.locator(f'[data-name="{law}_f"] .error', has_text="±").wait_for(timeout=120_000)
    assert hands.value(f"{law}_f") == pytest.approx(0.25, abs=0.001)
    found = {name: hands.value(name) for name in ("GLP_01_A", "GLP_01_x0", f"{law}_A")}
    page.get_by_role("button", name="Undo").click()
    place = page.get_by_label("value of GLP_01_x0", exact=True)
    sync_api.expect(place).to_have_value("84.2")
    page.get_by_role("button", name="Redo").click()
    page.locator(f'[data-name="{law}_f"] .error', has_text="±").wait_for()
    assert found == {name: hands.value(name) for name in found}
    page.keyboard.press("Control+s")
    page.get_by_text("Saved as").first.wait_for()
    assert hands.errors == []
    again = context.new_page()
    again.goto(address)
    again.locator(f'[data-name="{law}_f"] .error', has_text="±").wait_for()
    context.close()
    assert main(["fit", str(tmp_path / "out" / "job.yaml"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["results"][0]
    rows = {row["name"]: row["value"] for row in told["parameters"]}
    assert {name: rows[name] for name in found} == found
