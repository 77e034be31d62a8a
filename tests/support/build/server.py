"""A server of the builder in a thread, and a page that is a program."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from pyspec.build.desk import Desk
from pyspec.build.server import Server, serve
from pyspec.workflow.session.session import Session


@contextmanager
def served(
    session: Session, folder: Path, state: Path | None = None, hosts: Sequence[str] = ()
) -> Iterator[Server]:
    """A server of a session while it is needed, also behind proxies called `hosts`."""
    server = serve(Desk(session, folder, state), hosts=hosts)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(20)
        assert not thread.is_alive()


def unpacked(message: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header of a message with what is new, and its arrays by frame and name."""
    (size,) = struct.unpack("<I", message[:4])
    header = json.loads(message[4 : 4 + size])
    at, frames = 4 + size + (-(4 + size) % 8), {name: {} for name in header["frames"]}
    for one in header["arrays"]:
        count = int(np.prod(one["shape"]))
        array = np.frombuffer(message, one["dtype"], count, at)
        frames[one["frame"]][one["name"]] = array.reshape(one["shape"])
        at += array.nbytes
    assert at == len(message)
    return header, frames


class Client:
    """A page that keeps the state and the frames that it is sent."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.state: dict[str, Any] = {}
        self.frames: dict[str, dict[str, Any]] = {}
        self.answers: dict[int, dict[str, Any]] = {}
        self.number = 0
        self.sees = True

    def read(self, seconds: float = 20.0) -> None:
        """Takes one message."""
        message = self.socket.recv(timeout=seconds)
        if isinstance(message, bytes):
            header, frames = unpacked(message)
            self.state.update(header["state"])
            self.frames.update(frames)
            if self.sees:
                self.socket.send(json.dumps({"do": "seen", "version": header["version"]}))
            return
        found = json.loads(message)
        self.answers[found["id"]] = found

    def ask(self, do: str, **given: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "do": do, **given}))
        while self.number not in self.answers:
            self.read()
        return self.answers[self.number]

    def until(self, condition: Any, seconds: float = 30.0) -> None:
        """Reads until a condition on the page holds."""
        end = monotonic() + seconds
        while not condition(self):
            assert monotonic() < end, self.state.get("fit")
            self.read()


@contextmanager
def opened(server: Server, **options: Any) -> Iterator[Client]:
    """A page at a server."""
    from websockets.sync.client import connect

    address = server.address.replace("http://", "ws://") + "ws"
    with connect(address, max_size=None, **options) as socket:
        yield Client(socket)
