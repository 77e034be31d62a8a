"""Sliders in a window of matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from pyspec.errors import PyspecError
from pyspec.plot.sliders.panels import Layout
from pyspec.plot.sliders.state import Sliders
from pyspec.plot.style import FIT, MUTED

#: Sliders of one page: two columns.
PAGE = 16

#: The most that is written beside the buttons: letters of a line, and lines.
LINE, LINES = 108, 4

#: Letters of a text that has room in larger type.
SHORT = 70

#: Inches: a row of sliders, the line of buttons, the panels.
ROW, BUTTONS, PANELS = 0.26, 0.55, 4.6


class Window:
    """The face of `sliders` that matplotlib draws: panels, buttons, pages of sliders.

    The figure holds this object: without it nothing moves, since matplotlib itself keeps no
    sliders and buttons, and the caller may have dropped what the call returned.
    """

    def __init__(self, sliders: Sliders, figure: Any) -> None:
        self.sliders, self.figure = sliders, figure
        figure.pyspec_window = self
        self._rows = -(-min(len(sliders.names), PAGE) // 2)
        below = BUTTONS + ROW * (self._rows + sliders.is_series) + 0.1
        width = 12.0 if sliders.is_series else 10.0
        figure.set_size_inches(width, PANELS + below)
        above, controls = figure.subfigures(2, 1, height_ratios=[PANELS, below])
        sliders.draw_on(above)
        self._controls, self._height, self._is_told = controls, below, False
        self.text = controls.text(0.32, 1.0 - 0.5 * BUTTONS / below, "", color=MUTED, va="center")
        self.buttons: dict[str, Any] = {}
        self.of_names = {
            name: self._slider(
                name, divmod(k % PAGE, self._rows), *sliders.reaches[name], value, self._move(name)
            )
            for k, (name, value) in enumerate(sliders.values.items())
        }
        self.of_places: dict[str, Any] = {}
        for k, (what, n, place) in enumerate(sliders.places()):
            given = (k, self._rows), 0, n - 1, place
            self.of_places[what] = self._slider(what, *given, self._look(what), valstep=1)
        self._page = 0
        self._add_buttons()
        self._show_page()
        self._layout = Layout(figure)
        sliders.on_change(self.follow)
        self.follow()

    def _slider(
        self,
        label: str,
        place: tuple[int, int],
        low: float,
        high: float,
        value: float,
        moved: Callable[[float], None],
        **look: Any,
    ) -> Any:
        """One slider, in the `place` (column, row)."""
        from matplotlib.widgets import Slider

        column, row = place
        bottom = 1.0 - (BUTTONS + ROW * (row + 0.9)) / self._height
        ax = self._controls.add_axes((0.19 + 0.5 * column, bottom, 0.22, 0.7 * ROW / self._height))
        look = {"color": FIT, "valfmt": "%.6g", **look}
        slider = Slider(ax, label, low, high, valinit=value, **look)
        for text in (slider.label, slider.valtext):
            text.set_fontsize(8.0)
        slider.drawon = False  # all that moves with it is drawn once, afterwards
        slider.on_changed(moved)
        return slider

    def _move(self, name: str) -> Callable[[float], None]:
        def move(value: float) -> None:
            if not self._is_told:
                self.sliders.set_values({name: value})

        return move

    def _look(self, what: str) -> Callable[[float], None]:
        def look(index: float) -> None:
            if not self._is_told:
                self.sliders.look_at(**{what: int(index)})

        return look

    def _add_buttons(self) -> None:
        from matplotlib.widgets import Button

        said: list[tuple[str, Callable[[], Any]]] = [("reset", self.sliders.reset)]
        if self.sliders.has_data:
            said.insert(0, ("fit", self.sliders.fit))
        if len(self.sliders.names) > PAGE:
            said.append(("more", self._turn))
        bottom = 1.0 - 0.85 * BUTTONS / self._height
        for k, (label, pressed) in enumerate(said):
            place = (0.03 + 0.09 * k, bottom, 0.08, 0.6 * BUTTONS / self._height)
            button = Button(self._controls.add_axes(place), label)
            button.label.set_color("black")  # on its own light ground
            button.on_clicked(self._pressed(pressed))
            self.buttons[label] = button

    def _pressed(self, act: Callable[[], Any]) -> Callable[[Any], None]:
        """What a button does; an error of the fit is written above the sliders."""

        def pressed(event: Any) -> None:
            try:
                act()
            except PyspecError as error:
                self._write(str(error))

        return pressed

    def _turn(self) -> None:
        self._page = (self._page + 1) % -(-len(self.sliders.names) // PAGE)
        self._show_page()
        self.figure.canvas.draw_idle()

    def _show_page(self) -> None:
        for k, slider in enumerate(self.of_names.values()):
            is_seen = k // PAGE == self._page
            slider.ax.set_visible(is_seen)
            slider.set_active(is_seen)

    def follow(self) -> None:
        """Moves the sliders to the values, and draws."""
        self._is_told = True  # what moves now has been moved already
        try:
            for name, value in self.sliders.values.items():
                slider = self.of_names[name]
                if slider.val != value:
                    _widen(slider, value)
                    slider.set_val(value)
        finally:
            self._is_told = False
        self._layout.follow(self.sliders.label_sizes())
        self._write(self.sliders.text())

    def _write(self, text: str) -> None:
        lines = textwrap.wrap(text, LINE, max_lines=LINES, placeholder=" …")
        self.text.set(text="\n".join(lines), fontsize=9.0 if len(text) < SHORT else 7.0)
        self.figure.canvas.draw_idle()


def _widen(slider: Any, value: float) -> None:
    """Lets a slider reach a value that a fit found beyond its ends."""
    if not slider.valmin <= value <= slider.valmax:
        slider.valmin, slider.valmax = min(slider.valmin, value), max(slider.valmax, value)
        slider.ax.set_xlim(slider.valmin, slider.valmax)
