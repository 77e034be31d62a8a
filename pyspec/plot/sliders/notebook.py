"""Sliders under the cell of a notebook, by ipywidgets."""

from __future__ import annotations

import io
from collections.abc import Callable
from html import escape
from typing import Any

from pyspec.errors import PyspecError
from pyspec.plot.sliders.panels import Layout
from pyspec.plot.sliders.state import Sliders
from pyspec.plot.style import PlotError


def widgets() -> Any:
    """The package ipywidgets. Raises :class:`PlotError` where it is not installed."""
    try:
        import ipywidgets
    except ImportError:
        raise PlotError(
            "sliders in a notebook need ipywidgets, which is not installed: pip install ipywidgets"
        ) from None
    return ipywidgets


class Notebook:
    """The face of `sliders` in a notebook: the picture, buttons and sliders under each other."""

    def __init__(self, sliders: Sliders, figure: Any) -> None:
        self.sliders, self.figure = sliders, figure
        figure.set_size_inches(11.0 if sliders.is_series else 8.0, 4.2)
        sliders.draw_on(figure)
        kit = widgets()
        self._is_told, self._layout = False, Layout(figure)
        self.picture = kit.Image(format="png")
        self.text = kit.HTML(layout=kit.Layout(flex="1"))  # which wraps, as a Label does not
        self.of_names = {
            name: self._slider(name, *sliders.reaches[name], value)
            for name, value in sliders.values.items()
        }
        self.of_places = {what: self._index(what, n, place) for what, n, place in sliders.places()}
        acts: dict[str, Callable[[], Any]] = {"reset": sliders.reset}
        if sliders.has_data:
            acts = {"fit": sliders.fit, **acts}
        self.buttons = {label: self._button(label, act) for label, act in acts.items()}
        grid = kit.GridBox(
            [*self.of_names.values(), *self.of_places.values()],
            layout=kit.Layout(grid_template_columns="repeat(2, 50%)"),
        )
        line = kit.HBox([*self.buttons.values(), self.text])
        self.box = kit.VBox([self.picture, line, grid])
        sliders.on_change(self.follow)
        self.follow()

    def _slider(self, name: str, low: float, high: float, value: float) -> Any:
        kit = widgets()
        face = kit.FloatSlider(
            value=value, min=low, max=high, step=(high - low) / 1000.0, description=name,
            readout_format=".6g", layout=kit.Layout(width="97%"),
            style={"description_width": "45%"},
        )  # fmt: skip

        def move(change: Any) -> None:
            if not self._is_told:
                self.sliders.set_values({name: change["new"]})

        face.observe(move, "value")
        return face

    def _index(self, what: str, n: int, place: int) -> Any:
        kit = widgets()
        face = kit.IntSlider(
            value=place, min=0, max=n - 1, description=what, layout=kit.Layout(width="97%"),
            style={"description_width": "45%"},
        )  # fmt: skip

        def look(change: Any) -> None:
            if not self._is_told:
                self.sliders.look_at(**{what: change["new"]})

        face.observe(look, "value")
        return face

    def _button(self, label: str, act: Callable[[], Any]) -> Any:
        def pressed(button: Any) -> None:
            try:
                act()
            except PyspecError as error:
                self.text.value = escape(str(error))

        face = widgets().Button(description=label)
        face.on_click(pressed)
        return face

    def follow(self) -> None:
        """Moves the sliders to the values, and draws."""
        self._is_told = True  # what moves now has been moved already
        try:
            for name, value in self.sliders.values.items():
                face = self.of_names[name]
                face.min, face.max = min(face.min, value), max(face.max, value)
                face.value = value
        finally:
            self._is_told = False
        self._layout.follow(self.sliders.label_sizes())
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=90)
        self.picture.value = buffer.getvalue()
        self.text.value = escape(self.sliders.text())
