"""Ten tasks by the pointer alone, as a person does them: each press of its button is counted, and
the page docs/howto/builder.md says how many there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from support.build.browser import Screen, shown
from support.build.cases import doublet
from support.build.server import served

from pyspec import File
from pyspec.workflow.session.session import Session

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "builder.md"
ENERGY, TIME = np.linspace(80.0, 90.0, 101), np.linspace(-2.0, 8.0, 41)


class Pointer:
    """The pointer on a screen, which counts the presses of its button."""

    def __init__(self, screen: Screen) -> None:
        self.screen, self.presses = screen, 0

    def click(self, which: str, text: str = "") -> None:
        found = self.screen.page.locator(which)
        one = (found.filter(has_text=re.compile(f"^{re.escape(text)}$")) if text else found).first
        one.wait_for(state="visible")
        one.scroll_into_view_if_needed()
        box = one.bounding_box()
        assert box is not None, (which, text)
        self.screen.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.presses += 1

    def choose(self, which: str, label: str) -> None:
        """One press opens the list, another takes an entry: the list itself is the browser's."""
        self.screen.page.locator(which).select_option(label=label)
        self.presses += 2

    def across(self, view: str, low: float, high: float) -> None:
        self.screen.across(view, low, high)
        self.presses += 1

    def carry(self, source: str, target: str) -> None:
        for which in (source, target):
            self.screen.page.locator(which).first.wait_for(state="visible")
        self.screen.drag(self.screen.middle(source), self.screen.middle(target))
        self.presses += 1

    def spent(self) -> int:
        """The presses since this was asked last."""
        found, self.presses = self.presses, 0
        return found


def freed(chromium: Any, folder: Path, size: dict[str, int]) -> int:
    """A decay with a free spectrum, fitted and shown."""
    decay = np.where(TIME >= 0, np.exp(-TIME / 3.0), 0.0)
    spectrum = 8.0 * np.exp(-((ENERGY - 84.0) ** 2))
    noise = np.random.default_rng(1).normal(0.0, 0.1, (TIME.size, ENERGY.size))
    file = File(data=decay[:, None] * spectrum + noise, energy=ENERGY, time=TIME, name="decay")
    with served(Session(file), folder) as server, shown(chromium, server, viewport=size) as screen:
        pointer = Pointer(screen)
        pointer.click('button[title="Add a component (A)"]')
        pointer.click(".menu .card", "expFun")
        screen.until("s.parameters.some(row => row.free)")
        pointer.click('button[title="Fit all (F)"]')
        screen.until("s.fit.chisqr && !s.fit.running")
        assert screen.values()["expFun_01_tau"] == pytest.approx(3.0, abs=0.2)
        pointer.choose('select[aria-label="what the spectrum shows"]', "free spectra")
        screen.page.wait_for_selector(".spectrum .instead canvas")
        return pointer.spent()


def test_ten_tasks_take_as_many_presses_as_the_page_says(chromium: Any, tmp_path: Path) -> None:
    session = Session([doublet("cold"), doublet("warm", 83.8)])
    spent: dict[str, int] = {}
    size = {"width": 1440, "height": 900}
    with (
        served(session, tmp_path / "made") as server,
        shown(chromium, server, viewport=size) as screen,
    ):
        pointer, port = Pointer(screen), '[data-port="{}"]'.format
        fits = 'button[title="{}"]'.format

        pointer.click('button[title="Add a component (A)"]')
        pointer.click(".card", "Offset")
        screen.until("s.components.length === 1")
        spent["add a background"] = pointer.spent()

        box = screen.box(".map .u-over")  # the first spectrum, before the lines move
        screen.page.mouse.click(box["x"] + 60, box["y"] + box["height"] - 2)
        screen.until("s.cursor.time === 0")
        for low, high in ((82.7, 84.3), (85.7, 87.3)):
            before = screen.state("s.components.length")
            pointer.across("spectrum", low, high)
            screen.until(f"s.components.length === {before + 1}")
            spent["add a line"] = pointer.spent()

        pointer.click(fits("Fit this spectrum (Shift-F)"))
        screen.until("s.fit.what === 'spectrum' && !s.fit.running")
        spent["fit one spectrum"] = pointer.spent()

        pointer.click('[role="tab"]', "graph")
        pointer.carry(port("GLP_01_x0"), port("GLP_02_x0"))
        pointer.click(".menu .choice:has-text('same distance')")
        screen.until("s.parameters.some(row => row.name === 'GLP_02_x0' && row.expr)")
        spent["tie a doublet"] = pointer.spent()

        pointer.click('[role="tab"]', "parameters")
        pointer.spent()
        pointer.click('button[aria-label="More for GLP_01_x0"]')
        pointer.click(".menu .card", "expFun")
        screen.until("s.components.length === 4")
        spent["let a line move in time"] = pointer.spent()

        pointer.click('[data-name="GLP_01_x0_expFun_01_tau"] button.shared')
        screen.until("s.parameters.some(row => row.scope === 'project')")
        pointer.click(fits("Fit all files together (F)"))
        screen.until("s.fit.what === 'joint' && !s.fit.running")
        assert screen.state("s.fit.redchi") < 0.15, screen.said()  # the noise has 0.09
        spent["share a time constant, fit two files"] = pointer.spent()

        pointer.choose('select[aria-label="file"]', "warm")
        screen.until("s.files.chosen === 1")
        assert screen.values()["GLP_01_x0"] == pytest.approx(83.8, abs=0.05)
        spent["see the other file"] = pointer.spent()

        pointer.click(fits("Pointer: exclude a range (X)"))
        pointer.across("spectrum", 88.5, 89.5)
        screen.until("s.excluded.length === 1")
        steps = screen.state("s.history.steps.length")
        pointer.click(fits("Fit all files together (F)"))
        screen.until(f"s.history.steps.length === {steps + 1} && !s.fit.running")
        spent["exclude a range, fit again"] = pointer.spent()
        pointer.click(fits("Pointer: handles, cursor, new lines (V)"))
        pointer.spent()

        pointer.click('[role="tab"]', "models")
        pointer.click("button", "copy this model")
        screen.until("s.models.all.length === 2")
        pointer.click('[role="tab"]', "parameters")
        pointer.click('[data-name="GLP_01_m"] input[type="checkbox"]')
        screen.until("s.parameters.some(row => row.name === 'GLP_01_m' && !row.vary)")
        pointer.click(fits("Fit all files together (F)"))
        screen.until("s.models.all.every(model => model.bic) && !s.fit.running")
        pointer.click('[role="tab"]', "models")
        pointer.screen.page.wait_for_selector(".list td:has-text('best')")
        spent["hold a value in a copy, compare two models"] = pointer.spent()

        pointer.click('button[title="Undo (Ctrl-Z)"]')
        screen.until("s.history.at === s.history.steps.length - 2")
        pointer.click('button[title^="Save"]')
        screen.until("s.saved")
        spent["undo, save"] = pointer.spent()
    assert (tmp_path / "made" / "fit.py").exists()
    spent["free a spectrum, see it"] = freed(chromium, tmp_path, size)
    rows = re.findall(r"^\| ([^|]+?) \| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: int(count) for name, count in rows} == spent
