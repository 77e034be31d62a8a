"""The builder as a widget: the same messages over its channel."""

from __future__ import annotations

import sys
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

pytest.importorskip("anywidget", reason="needs anywidget: pip install 'pyspec-fit[ui]'")

from support.build.cases import TEXT, small_file
from support.build.server import unpacked

import pyspec
from pyspec.errors import DataError
from pyspec.workflow.session.edits import Set


class Channel:
    """What the widget sends, and a page that answers."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.state: dict[str, Any] = {}
        self.frames: dict[str, Any] = {}
        self.answers: dict[int, Any] = {}
        builder.widget.send = self.send

    def send(self, content: dict[str, Any], buffers: Any = None) -> None:
        if buffers:
            assert content == {"update": True}
            header, frames = unpacked(bytes(buffers[0]))
            self.state.update(header["state"])
            self.frames.update(frames)
            self.heard({"do": "seen", "version": header["version"]})
        else:
            self.answers[content["id"]] = content

    def heard(self, content: dict[str, Any]) -> None:
        self.builder._heard(None, content, [])

    def until(self, condition: Any) -> None:
        end = monotonic() + 30
        while not condition():
            assert monotonic() < end
            sleep(0.01)


def test_a_file_is_built_on_in_a_notebook() -> None:
    file = small_file()
    for model in pyspec.load_models(TEXT).values():
        file.add_model(model)
    builder = file.build("line")
    assert isinstance(builder, pyspec.Builder)
    channel = Channel(builder)
    channel.heard({"id": 1, "do": "get", "what": "all"})
    channel.until(lambda: "trace" in channel.frames and 1 in channel.answers)
    np.testing.assert_array_equal(channel.frames["axes"]["time"], file.time)
    channel.heard({"id": 2, "do": "set", "name": "GLP_01_A", "field": "value", "value": 14.0})
    channel.until(lambda: 2 in channel.answers)
    assert builder.model.parameters["GLP_01_A"].value == 14.0
    assert file.models["line"].parameters["GLP_01_A"].value == 10.0
    assert builder.session.edit(Set("GLP_01_A", "value", 15.0))
    builder.show()
    channel.until(lambda: "15.0" in channel.state["yaml"]["text"])
    assert "application/vnd.jupyter.widget-view+json" in str(builder._repr_mimebundle_())
    builder.desk.close()


def test_without_anywidget_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspec.build import widget

    monkeypatch.setitem(sys.modules, "anywidget", None)
    widget._widget_class.cache_clear()
    with pytest.raises(DataError, match=r"pip install 'pyspec-fit\[ui\]'"):
        pyspec.Builder(small_file(), TEXT)
    widget._widget_class.cache_clear()


def test_without_the_server_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    from pyspec.cli import main

    np.savetxt(tmp_path / "one.csv", np.column_stack([np.arange(9.0), np.arange(9.0)]))
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["build", str(tmp_path / "one.csv"), "--no-browser"]) == 1
    assert "pip install 'pyspec-fit[ui]'" in capsys.readouterr().err
