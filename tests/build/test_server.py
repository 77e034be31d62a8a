"""The server and the desk: what they tell a page, and what they refuse."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from support.build.cases import ENERGY, TEXT, TIME, bits, session
from support.build.server import opened, served

from pyspec import File
from pyspec.build.server import Server
from pyspec.workflow.session.edits import Exclude, Set, Window
from pyspec.workflow.session.session import Session


def fetched(server: Server, path: str, **headers: str) -> tuple[int, bytes, Any]:
    """What an address gives, by path as it stands."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def test_a_page_is_told_everything(tmp_path: Path) -> None:
    with served(session(), tmp_path) as server, opened(server) as page:
        page.until(lambda one: {"axes", "data", "spectrum", "trace"} <= one.frames.keys())
        np.testing.assert_array_equal(page.frames["axes"]["energy"], ENERGY)
        np.testing.assert_array_equal(page.frames["axes"]["time"], TIME)
        assert page.state["file"]["shape"] == [13, 41]
        assert [one["name"] for one in page.state["components"]] == [
            "Offset", "GLP_01", "GLP_01_x0_expFun_01",
        ]  # fmt: skip
        assert page.state["yaml"] == {"text": TEXT, "error": None}
        assert page.ask("view", map="residual")["ok"]
        page.until(lambda one: "map" in one.frames)
        assert page.frames["map"]["fit"].shape == (13, 41)


def test_commands_are_made_and_refused_in_words(tmp_path: Path) -> None:
    with served(session(), tmp_path) as server, opened(server) as page:
        assert page.ask("set", name="GLP_01_A", field="value", value=12.5)["ok"]
        page.until(lambda one: "12.5" in one.state["yaml"]["text"])
        found = page.ask("set", name="GLP_01_A", field="value", value=1e9)
        assert not found["ok"]
        assert found["error"]["node"] == "GLP_01"
        assert found["error"]["field"] == "A"
        found = page.ask("yaml", text=TEXT.replace("GLP:", "GLQ:"))
        assert found["error"]["line"] == 5
        found = page.ask("yaml", text=TEXT.replace("[2, True, 0, 20]", "[2, True, 0, 20"))
        assert found["error"]["line"] in (4, 5)
        assert "not valid YAML" in found["error"]["message"]
        for strange in (
            {"do": "explode"},
            {"do": "set", "edits": 5},
            {"do": "set", "name": 5, "field": "value", "value": 1},
            {"do": "add", "component": ["GLP"]},
            {"do": "goto", "step": "x"},
            {"do": "cursor", "time": 1e9},
            {"do": "window", "energy": "all"},
            {"do": "model_new", "name": ""},
            {"do": "set", "name": "GLP_01_A", "field": "value", "value": "<b>1</b>"},
        ):
            answer = page.ask(**strange)
            assert not answer["ok"], strange
            assert "unexpected" not in answer["error"]["message"], answer


def test_two_pages_show_the_same(tmp_path: Path) -> None:
    with served(session(), tmp_path) as server, opened(server) as one, opened(server) as other:
        assert one.ask("add", component="Gauss", at={"energy": 7.0})["name"] == "Gauss_01"
        other.until(lambda page: len(page.state.get("components", [])) == 4)
        assert other.ask("undo")["ok"]
        one.until(lambda page: page.state["history"]["at"] == 0)


def test_a_page_that_was_behind_gets_the_newest(tmp_path: Path) -> None:
    with served(session(), tmp_path) as server, opened(server) as page:
        page.until(lambda one: "trace" in one.frames)
        page.sees = False
        for value in (11.0, 12.0, 13.0):
            version = page.ask("set", name="GLP_01_A", field="value", value=value)["version"]
        shown = {row["name"]: row["value"] for row in page.state["parameters"]}
        assert shown["GLP_01_A"] == 11.0  # it has not drawn that yet
        page.sees = True
        page.socket.send(json.dumps({"do": "seen", "version": version - 2}))
        page.until(lambda one: "13" in one.state["yaml"]["text"])
        shown = {row["name"]: row["value"] for row in page.state["parameters"]}
        assert shown["GLP_01_A"] == 13.0


def test_a_fit_runs_beside_and_stops(tmp_path: Path) -> None:
    found = session()
    with served(found, tmp_path) as server, opened(server) as page:
        assert page.ask("fit", what="all")["ok"]
        page.until(lambda one: one.state.get("fit", {}).get("success") is not None)
        assert page.state["fit"]["success"]
        result = found.document.result
        shown = {row["name"]: row for row in page.state["parameters"]}
        for name, value in result.values.items():
            assert shown[name]["value"] == value
            assert shown[name]["stderr"] == result.stderr[name]
        page.until(lambda one: "low" in one.frames["spectrum"])
        assert page.ask("fit", what="slices")["ok"]
        page.until(lambda one: one.state["fit"].get("total") == 13)
        assert page.ask("stop")["ok"]


def test_a_socket_that_breaks_in_a_long_fit_loses_nothing(tmp_path: Path) -> None:
    """Without a word of farewell: the fit goes on, and the next page sees it running and ended."""
    rng = np.random.default_rng(4)
    energy, time = np.linspace(0.0, 10.0, 41), np.linspace(0.0, 1.0, 1500)
    data = 5.0 + 9.0 * np.exp(-(((energy - 5.0) / 0.8) ** 2)) + rng.normal(0.0, 0.3, (1500, 41))
    found = Session(File(data=data, energy=energy, time=time, name="long"), TEXT)
    assert found.edit(Set("GLP_01_A", "value", 8.5))
    with served(found, tmp_path) as server:
        for what in ("slices", "all"):
            with opened(server) as page:
                page.until(lambda one: "trace" in one.frames)
                assert page.ask("fit", what=what)["ok"]
                page.socket.socket.shutdown(socket.SHUT_RDWR)
            with opened(server) as page:
                kind = what
                page.until(
                    lambda one, kind=kind: (
                        one.state.get("fit", {}).get("what") == kind
                        and not one.state["fit"]["running"]
                    ),
                    120.0,
                )
                assert page.state["fit"]["success"] is True
        with opened(server) as page:
            page.until(lambda one: "history" in one.state)
            labels = [step["label"] for step in page.state["history"]["steps"]]
            assert labels == ["begin", "set GLP_01_A", "fit"]
            assert len(page.state["slices"]["time"]) == 1500
            assert page.ask("undo")["ok"]
    assert found.model.values["GLP_01_A"] == 8.5


def test_no_file_is_given_and_nothing_without_the_token(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    with served(session(), tmp_path) as server:
        token = server.token
        for name in ("", "builder.js", "builder.css"):
            assert fetched(server, f"/{token}/{name}")[0] == 200
        wrong = ("/", "/wrong/", "/wrong/builder.js", f"/{token[:-1]}/ws", f"/../{token}/")
        inside = ("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "server.py", str(secret))
        for path in (*wrong, *(f"/{token}/{name}" for name in inside)):
            status, body, _ = fetched(server, path)
            assert status in (403, 404), path
            assert not any(word in body for word in (b"root:", b"secret", b"GLP"))


def test_pages_of_others_are_refused(tmp_path: Path) -> None:
    from websockets.exceptions import InvalidStatus

    with served(session(), tmp_path) as server:
        path = urlsplit(server.address).path
        assert fetched(server, path, Host="evil.example")[0] == 403
        assert fetched(server, path, Origin="http://evil.example")[0] == 403
        assert fetched(server, path, Origin="null")[0] == 403
        status, _, headers = fetched(server, path)
        assert status == 200
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        for origin in ("http://evil.example", "http://127.0.0.1:1", "null"):
            with pytest.raises(InvalidStatus), opened(server, origin=origin):
                pass
        wrong = Server.__new__(Server)
        wrong.address = server.address.replace(server.token, "x" * 32)
        with pytest.raises(InvalidStatus), opened(wrong):
            pass
        own = server.address.rpartition("/")[0].rpartition("/")[0]
        with opened(server, origin=own) as page:
            assert page.ask("undo")["error"]["message"] == "there is nothing to undo"


def test_a_proxy_is_known_by_its_name(tmp_path: Path) -> None:
    """That of Jupyter hands on the name that the browser asked for, or this machine's."""
    from websockets.exceptions import InvalidStatus

    hub, origin = "hub.example.org", "https://hub.example.org"
    with served(session(), tmp_path, hosts=[hub]) as server:
        path = urlsplit(server.address).path
        assert fetched(server, path, Host=hub)[0] == 200
        assert fetched(server, path, Host=hub, Origin=origin)[0] == 200
        assert fetched(server, path, Host=f"127.0.0.1:{server.port}", Origin=origin)[0] == 200
        with opened(server, origin=origin) as page:
            page.until(lambda one: "trace" in one.frames)
        # The token is needed there, too, and other names stay unknown.
        assert fetched(server, path.replace(server.token, "x" * 32), Host=hub)[0] == 403
        assert fetched(server, path, Host="evil.example")[0] == 403
        assert fetched(server, path, Host=hub, Origin="http://evil.example")[0] == 403
        assert fetched(server, path, Host="[")[0] in (400, 403)
        assert fetched(server, path, Origin="http://[")[0] == 403
        with pytest.raises(InvalidStatus), opened(server, origin="http://evil.example"):
            pass
    with served(session(), tmp_path) as server:
        path = urlsplit(server.address).path
        assert fetched(server, path, Host=hub)[0] == 403
        assert fetched(server, path, Origin=origin)[0] == 403


def test_a_text_reads_no_file_elsewhere(tmp_path: Path) -> None:
    found = session()
    found.ground.folders = (tmp_path.resolve(),)
    with served(found, tmp_path) as server, opened(server) as page:
        for text in (
            "include: /etc/passwd\n" + TEXT,
            "include: [../../../etc/passwd]\n" + TEXT,
            TEXT.replace("  expFun:", "  measuredIRF: {file: /etc/passwd}\n  expFun:"),
        ):
            answer = page.ask("yaml", text=text)
            assert not answer["ok"]
            assert "outside of the folder" in answer["error"]["message"]
            assert "root:" not in json.dumps(answer)
        assert not page.ask("save", folder="../elsewhere")["ok"]


def test_many_messages_are_answered_or_refused(tmp_path: Path) -> None:
    """The client does not ask whether the server lives: its question would stand in the queue."""
    with served(session(), tmp_path) as server, opened(server, ping_interval=None) as page:
        page.until(lambda one: "trace" in one.frames)
        n = 7_000

        def send() -> None:
            for k in range(n):
                page.socket.send(json.dumps({"id": 10_000 + k, "do": "nothing"}))
            page.socket.send("no JSON")

        sender = threading.Thread(target=send)
        sender.start()
        page.until(lambda one: len(one.answers) > n, 120.0)
        sender.join()
        assert not any(one["ok"] for one in page.answers.values())
        assert page.ask("set", name="GLP_01_A", field="value", value=11.0)["ok"]


def test_an_unfinished_session_is_offered(tmp_path: Path) -> None:
    state = tmp_path / "cache" / "state.json"
    found = session()
    with served(found, tmp_path, state) as server, opened(server) as page:
        assert page.ask("set", name="GLP_01_A", field="value", value=13.0)["ok"]
    again = session()
    with served(again, tmp_path, state) as server, opened(server) as page:
        page.until(lambda one: one.state.get("offer") is not None)
        assert page.state["offer"]["label"] == "set GLP_01_A"
        assert page.ask("restore", accept=True)["ok"]
        assert bits(again) == bits(found)
        assert page.ask("save")["ok"]
    assert not state.exists()


def test_a_saved_job_has_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyspec.cli import main
    from pyspec.cli.arguments import build_parser
    from pyspec.cli.commands.build import session_of
    from pyspec.cli.commands.output import Output

    found = session()
    assert found.edit(Set("GLP_01_A", "value", 11.0), Window(energy=(0.5, 9.0)))
    assert found.edit(Exclude("energy", 2.0, 2.4))
    result = found.fit()
    assert result
    folder = found.save(tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Output, "draw", lambda *_: None)
    assert main(["fit", "out/job.yaml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in told["results"][0]["parameters"]}
    assert {name: row["value"] for name, row in rows.items()} == result.values
    assert {name: row["stderr"] for name, row in rows.items()} == result.stderr
    given = build_parser().parse_args(["build", str(folder / "job.yaml")])
    opened_again = session_of(given)
    assert bits(opened_again) == bits(found)
    assert opened_again.document.cursor == found.document.cursor
    shown = opened_again.document.result
    assert shown.stderr == result.stderr
    script = (folder / "fit.py").read_text()
    space: dict[str, Any] = {"__file__": str(folder / "fit.py")}
    exec(compile(script, str(folder / "fit.py"), "exec"), space)
    assert space["result"].values == result.values
