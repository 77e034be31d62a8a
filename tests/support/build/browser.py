"""A page of the builder in a browser without a window."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import pytest

from pyspec.build.server import Server

#: What the browser is called, where it is one that Chromium's protocol drives.
NAMES = ("chromium", "chromium-browser", "google-chrome")

ROOT = "document.querySelector('.pyspec-builder')"


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium; a test that needs it is skipped where it or playwright is missing."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is there")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield found
        finally:
            found.close()


class Screen:
    """A page as a person has it: what is seen, the pointer and the keys."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda one: one.type == "error" and self.faults.append(one.text))

    def state(self, words: str) -> Any:
        """What JavaScript says of the state `s`."""
        return self.page.evaluate(f"(() => {{ const s = {ROOT}.link.state; return {words}; }})()")

    def until(self, words: str, seconds: float = 60.0) -> None:
        """Waits until the state is so."""
        end = monotonic() + seconds
        while not self.state(words):
            assert monotonic() < end, (words, self.said(), self.faults)
            self.page.wait_for_timeout(20)

    def eventually(self, check: Callable[[], Any], seconds: float = 60.0) -> None:
        """Waits until a check of the page holds: as long as a machine under load needs."""
        end = monotonic() + seconds
        while not check():
            assert monotonic() < end, (self.said(), self.faults)
            self.page.wait_for_timeout(20)

    def settle(self) -> None:
        """Waits until Python has done all that the page asked for, and the page has drawn it."""
        words = f"() => {{ const l = {ROOT}.link; return !l.isBusy && !l.pending; }}"
        self.eventually(lambda: self.page.evaluate(words))
        self.page.evaluate(f"() => {ROOT}.link.ask({{ do: 'get', what: 'inspect' }})")
        frame = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.page.evaluate(f"() => {frame}")

    def said(self) -> str:
        """The line below the bar."""
        return str(self.page.locator(".say").inner_text())

    def values(self) -> dict[str, float]:
        """The values of the parameters."""
        return dict(self.state("s.parameters.map(row => [row.name, row.value])"))

    def places(self, view: str, *values: float) -> list[float]:
        """Pixels on the screen of values of the horizontal axis of a view."""
        number = {"map": 0, "spectrum": 1, "trace": 2}[view]
        box = self.box(f".{view} .u-over")
        words = f"{ROOT}.tools.views[{number}].plot.made.valToPos"
        return [box["x"] + self.page.evaluate(f"{words}({value}, 'x')") for value in values]

    def box(self, which: str) -> dict[str, float]:
        """Where an element is."""
        found = self.page.locator(which).first.bounding_box()
        assert found is not None, which
        return dict(found)

    def middle(self, which: str) -> tuple[float, float]:
        """The middle of an element."""
        box = self.box(which)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag(self, start: tuple[float, float], end: tuple[float, float], key: str = "") -> None:
        """Moves the pointer from one place to another with its button down."""
        mouse = self.page.mouse
        if key:
            self.page.keyboard.down(key)
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
        mouse.move(*end, steps=4)
        mouse.up()
        if key:
            self.page.keyboard.up(key)

    def across(self, view: str, low: float, high: float, key: str = "") -> None:
        """Drags from one value of the horizontal axis to another."""
        left, right = self.places(view, low, high)
        y = self.box(f".{view} .u-over")["y"] + 60
        self.drag((left, y), (right, y), key)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def pixels(self, view: str, colour: tuple[int, int, int]) -> int:
        """How many pixels of the picture of a view have nearly this colour."""
        return int(
            self.page.evaluate(
                """([view, colour]) => {
  const canvas = document.querySelector(`.${view} .u-wrap canvas`);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 0; i < data.length; i += 4) {
    const far = colour.some((value, k) => Math.abs(value - data[i + k]) > 12);
    if (!far && data[i + 3] > 200) n++;
  }
  return n;
}""",
                [view, list(colour)],
            )
        )

    def colours(self, view: str) -> int:
        """How many colours the picture of a view has."""
        return int(
            self.page.evaluate(
                """(view) => {
  const canvas = document.querySelector(`.${view} .u-wrap canvas`);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
}""",
                view,
            )
        )


@contextmanager
def shown(found: Any, server: Server, **options: Any) -> Iterator[Screen]:
    """The page of a server on a screen of 1280 x 800 pixels, without a fault to its end."""
    context = found.new_context(**{"viewport": {"width": 1280, "height": 800}} | options)
    try:
        context.set_default_timeout(90_000)
        screen = Screen(context.new_page())
        screen.page.goto(server.address)
        screen.page.wait_for_selector(".u-over")
        screen.until("s.file && s.library")
        yield screen
        assert screen.faults == []
    finally:
        context.close()
