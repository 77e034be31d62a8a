"""The page of the builder in Chromium, by pointer and keys, as a person has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from support.build.browser import Screen, shown
from support.build.cases import doublet, session
from support.build.server import served

from pyspec import File
from pyspec.workflow.session.session import Session

pytestmark = pytest.mark.slow  # a browser, and people who wait for it

#: Colours of the plots: the sum, and the second component.
FIT, SECOND = (213, 94, 0), (230, 159, 0)


def build(screen: Screen) -> None:
    """The doublet on its background: two humps by the pointer, the rest by the keyboard."""
    screen.press("a")
    screen.page.keyboard.type("offset")
    screen.press("Enter")
    screen.until("s.components.length === 1")
    screen.page.locator(".map .cursor.time").focus()
    for _ in range(20):  # to the first spectrum, before the lines move
        screen.press("Shift+ArrowDown")
    screen.until("s.cursor.time === 0")
    screen.across("spectrum", 82.7, 84.3)
    screen.until("s.components.length === 2")
    screen.across("spectrum", 85.7, 87.3)
    screen.until("s.components.length === 3")


def test_after_a_fit_every_view_shows_it(chromium: Any, tmp_path: Path) -> None:
    with served(session(), tmp_path) as server, shown(chromium, server) as screen:
        screen.press("f")
        screen.until("s.fit.chisqr && !s.fit.running")
        screen.settle()
        for view in ("spectrum", "trace"):
            screen.eventually(lambda view=view: screen.pixels(view, FIT) > 100)
        screen.eventually(lambda: screen.pixels("spectrum", SECOND) > 50)
        assert screen.colours("map") > 50
        shown_data = screen.colours("map")
        screen.press("m", "m")
        screen.settle()
        assert screen.page.locator(".map select").input_value() == "residual"
        screen.eventually(lambda: screen.colours("map") > 20)
        assert shown_data > 50
        for name, value in screen.values().items():
            field = screen.page.locator(f'.row[data-name="{name}"] input[data-field="value"]')
            assert float(field.get_attribute("data-value")) == value
            field.focus()
            assert float(field.input_value()) == value  # all digits, where it is edited
        assert screen.page.locator(".row .error", has_text="±").count() >= 5


def test_handles_move_what_they_stand_for(chromium: Any, tmp_path: Path) -> None:
    with served(session(), tmp_path) as server, shown(chromium, server) as screen:
        start = screen.values()
        x, y = screen.middle('.spectrum .handle[aria-label^="GLP_01 top"]')
        step = screen.places("spectrum", 1.0, 2.0)
        screen.drag((x, y), (x + (step[1] - step[0]), y - 30))
        screen.until("s.history.steps.length === 2")
        screen.settle()
        now = screen.values()
        assert now["GLP_01_x0"] == pytest.approx(start["GLP_01_x0"] + 1.0, abs=0.02)
        assert now["GLP_01_A"] > start["GLP_01_A"]
        assert now["GLP_01_F"] == start["GLP_01_F"]
        x, y = screen.middle('.spectrum .handle[aria-label^="GLP_01 flank"]')
        screen.drag((x, y), (x + 40, y))
        screen.until("s.history.steps.length === 3")
        screen.settle()
        assert screen.values()["GLP_01_F"] > now["GLP_01_F"]
        assert screen.values()["GLP_01_x0"] == now["GLP_01_x0"]
        x, y = screen.middle('.trace .handle[aria-label^="GLP_01_x0_expFun_01 tau"]')
        screen.drag((x, y), (x + 30, y))
        screen.until("s.history.steps.length === 4")
        screen.settle()
        assert screen.values()["GLP_01_x0_expFun_01_tau"] > start["GLP_01_x0_expFun_01_tau"]


def test_a_drag_keeps_its_handle_while_live_fits_come_and_go(chromium: Any, tmp_path: Path) -> None:
    """The band of errors is there after a fit and not beside values that were moved; the plot, and
    with it the handle under the pointer, stays the same."""
    with served(session(), tmp_path) as server, shown(chromium, server) as screen:
        screen.press("f")
        screen.until("s.parameters.some(row => row.stderr) && !s.fit.running")
        screen.settle()
        screen.page.evaluate("() => { document.querySelector('.spectrum .uplot').isFirst = true; }")
        screen.press("l")
        screen.until("s.fit.live")
        x, y = screen.middle('.spectrum .handle[aria-label^="GLP_01 top"]')
        (left, right), start = screen.places("spectrum", 1.0, 2.0), screen.values()
        screen.page.mouse.move(x, y)
        screen.page.mouse.down()
        for k in range(1, 5):  # so far at once that the pointer leaves the handle
            screen.page.mouse.move(x + k / 4 * (right - left), y)
            screen.settle()
        there = screen.values()["GLP_01_x0"]
        screen.page.mouse.up()
        assert there == pytest.approx(start["GLP_01_x0"] + 1.0, abs=0.02)
        assert screen.page.evaluate("() => document.querySelector('.spectrum .uplot').isFirst")


def test_the_keyboard_alone_is_enough(chromium: Any, tmp_path: Path) -> None:
    with served(Session(doublet(), None), tmp_path) as server, shown(chromium, server) as screen:
        screen.press("a")
        screen.page.keyboard.type("glp")
        screen.press("Enter")
        screen.until("s.components.length === 1")
        screen.press("r")
        screen.page.keyboard.type("81")
        screen.press("Tab")
        screen.page.keyboard.type("89")
        screen.press("Enter", "Escape")
        screen.until("s.window.energy && s.window.energy[0] === 81")
        screen.page.locator(".spectrum .u-over").focus()
        screen.press("Tab")
        assert "top" in screen.page.evaluate("document.activeElement.className")
        before = screen.values()
        screen.press("ArrowRight", "ArrowRight", "ArrowUp")
        screen.until("s.history.steps.length === 4")
        screen.eventually(lambda: screen.page.evaluate("!document.activeElement.keys"))
        screen.settle()
        assert screen.values()["GLP_01_x0"] != before["GLP_01_x0"]
        assert screen.state("s.history.steps.length") == 4  # presses in a row are one step
        field = screen.page.locator('input[aria-label="value of GLP_01_F"]')
        field.focus()
        screen.page.keyboard.type("0.75")
        screen.press("Enter")
        screen.until("s.parameters.some(row => row.name === 'GLP_01_F' && row.value === 0.75)")
        more = screen.page.locator('button[aria-label="More for GLP_01_x0"]')
        more.focus()
        screen.press("Enter")
        law = screen.page.locator('.menu button:text-is("expFun")')
        law.focus()
        screen.press("Enter")
        screen.until("s.components.length === 2")
        screen.press("Control+z")
        screen.until("s.components.length === 1")


def test_what_is_refused_is_said_and_changes_nothing(chromium: Any, tmp_path: Path) -> None:
    with served(session(), tmp_path) as server, shown(chromium, server) as screen:
        before = screen.values()
        field = screen.page.locator('input[aria-label="value of GLP_01_A"]')
        field.focus()
        screen.page.keyboard.type("1e9")
        screen.press("Enter")
        screen.page.wait_for_selector(".say.refused")
        assert "bounds" in screen.said()
        assert screen.values() == before
        screen.press("Escape", "Tab")
        screen.page.locator(".tabs button", has_text="YAML").click()
        screen.page.locator(".CodeMirror").click()
        screen.press("Control+Home")
        screen.page.keyboard.type("nonsense: [")
        screen.page.wait_for_selector(".yaml .wrong-line")
        assert screen.values() == before
        for _ in range(len("nonsense: [") + 1):  # a bracket is closed while it is typed, or not
            screen.press("Control+z")
        screen.page.wait_for_selector(".yaml .message.well")
        assert screen.values() == before


def test_ranges_by_the_pointer(chromium: Any, tmp_path: Path) -> None:
    with served(session(), tmp_path) as server, shown(chromium, server) as screen:
        screen.across("spectrum", 1.0, 9.0, "Shift")
        screen.until("s.window.energy && Math.abs(s.window.energy[1] - 9) < 0.2")
        screen.press("x")
        box = screen.box(".map .u-over")  # a drag up in the map leaves out times
        x, low, high = box["x"] + 40, box["y"] + box["height"] * 0.8, box["y"] + box["height"] * 0.6
        screen.drag((x, low), (x + 3, high))
        screen.until("s.excluded.length === 1 && s.excluded[0].axis === 'time'")
        screen.page.mouse.click(x, (low + high) / 2)
        screen.until("s.excluded.length === 0")


def test_schemes_are_drawn(chromium: Any, tmp_path: Path) -> None:
    text = (
        "kinetics:\n  chain: {A -> B: k1, B: k2}\n"
        "m:\n  chain: {k1: [2, True, 0, 9], k2: [0.5, True, 0, 9], t0: [0, False],"
        " spectra: {free: energy}}\n"
    )
    session = Session(doublet(), text)
    with served(session, tmp_path) as server, shown(chromium, server) as screen:
        screen.press("2")
        screen.page.locator('.rate[aria-label^="chain_k2"]').click()
        focused = "document.activeElement.getAttribute('aria-label')"
        screen.eventually(lambda: screen.page.evaluate(focused) == "value of chain_k2")


def test_single_spectra_show_how_a_parameter_moves(chromium: Any, tmp_path: Path) -> None:
    with served(Session(doublet(), None), tmp_path) as server, shown(chromium, server) as screen:
        build(screen)
        screen.page.get_by_role("button", name="Fit each spectrum").click()
        screen.until("s.slices && !s.fit.running")
        choice = screen.page.locator(".trace header select")
        assert choice.input_value() == "GLP_01_x0"
        assert screen.page.locator(".trace .instead").is_visible()
        choice.select_option("")
        assert not screen.page.locator(".trace .instead").is_visible()
        screen.eventually(lambda: screen.pixels("trace", FIT) > 50)


@pytest.mark.parametrize("kind", ["spectrum", "trace"])
def test_data_of_one_axis(chromium: Any, tmp_path: Path, kind: str) -> None:
    file = doublet()
    one = (
        File(data=file.data[0], energy=file.energy)
        if kind == "spectrum"
        else File(data=file.data[:, 40], time=file.time)
    )
    with served(Session(one, None), tmp_path) as server, shown(chromium, server) as screen:
        other = "trace" if kind == "spectrum" else "spectrum"
        assert screen.page.locator(f".panel.{kind}").is_visible()
        assert not screen.page.locator(f".panel.{other}").is_visible()
        assert not screen.page.locator(".panel.map").is_visible()
        screen.press("a")
        screen.page.keyboard.type("glp" if kind == "spectrum" else "expfun")
        screen.press("Enter")
        screen.until("s.components.length === 1")
        screen.eventually(lambda: screen.pixels(kind, FIT) > 50)
        assert screen.page.locator(f".{kind} .handle").count() >= 2
