"""A server for one desk, on this machine alone.

It listens on the loopback address. Its address has a token in the path, which every request and
every socket needs. Pages of another origin are refused, and so are names that do not belong to this
machine. A proxy, such as Jupyter's, forwards the host name of the browser's request. Such a name
has to be allowed separately. The page hands out nothing of the file system.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import socket
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyspec.build import page as pages
from pyspec.build.desk import Desk
from pyspec.errors import DataError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import HTTPConnection
    from starlette.websockets import WebSocket

#: Names of this machine.
LOOPBACK = ("127.0.0.1", "localhost", "::1")

#: Bytes of one message of a page at most.
MOST_BYTES = 2_000_000

#: Messages that wait to be sent to a page: with more it is not listened to, or left.
MOST_WAITING, MOST_UNREAD = 200, 5000

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Server:
    """Serves a desk on ``127.0.0.1``.

    `hosts` are further names under which it is reached, through a proxy.

    Attributes
    ----------
    address : of the page, with the token
    """

    def __init__(self, desk: Desk, port: int = 0, hosts: Sequence[str] = ()) -> None:
        try:
            import starlette  # noqa: F401
            import uvicorn
            import websockets  # noqa: F401
        except ImportError as error:
            raise DataError(
                f"the builder needs {error.name}; install it: pip install 'pyspec-fit[ui]'"
            ) from None
        self.desk = desk
        self.token = secrets.token_urlsafe(24)
        # asyncio sends at once only on sockets that are TCP by name; others wait 40 ms for the page
        # to acknowledge the answer before the frames go.
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.socket.bind(("127.0.0.1", port))
            self.socket.listen(100)  # a browser that is faster than the server waits
        except OSError as error:
            self.socket.close()
            raise DataError(
                f"port {port} cannot be used ({error.strerror}); leave --port out"
            ) from None
        self.port = int(self.socket.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}/{self.token}/"
        config = uvicorn.Config(
            application(desk, self.token, tuple(hosts)),
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=MOST_BYTES,
            ws_per_message_deflate=False,
            ws_ping_timeout=None,  # its answer stands behind what a page has sent: that is no death
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serves until :meth:`stop`, or Ctrl-C."""
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self._server.run(sockets=[self.socket])
        finally:
            self.socket.close()
            self.desk.close()

    def stop(self) -> None:
        """Ends :meth:`run`; from any thread."""
        self._server.should_exit = True


def serve(desk: Desk, port: int = 0, hosts: Sequence[str] = ()) -> Server:
    """A server for a desk, which listens but does not run yet; `hosts` are names of a proxy before
    it. Raises :class:`DataError` where the packages of the extra ``ui`` are missing, or the port is
    taken."""
    return Server(desk, port, hosts)


def is_known(host: str | None, hosts: Sequence[str] = ()) -> bool:
    """Whether a header Host names this machine or a proxy in `hosts`: a page elsewhere whose name
    leads here does not."""
    return _name(f"//{host or ''}") in (*LOOPBACK, *hosts)


def is_same_origin(origin: str | None, host: str | None, hosts: Sequence[str] = ()) -> bool:
    """Whether a page may ask: it has no origin, as a program, or that of the address itself. A
    proxy may tell its own name in Origin and that of this machine in Host."""
    if origin is None:
        return True
    return origin.partition("://")[2] == host or _name(origin) in hosts


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def application(desk: Desk, token: str, hosts: Sequence[str] = ()) -> Starlette:
    """The ASGI application: the page, its script and its style, and the socket."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route, WebSocketRoute

    files: dict[str, tuple[str, Callable[[], str]]] = {
        "": ("text/html", pages.html),
        "builder.js": ("text/javascript", pages.module),
        "builder.css": ("text/css", pages.style),
    }

    def may(connection: HTTPConnection) -> bool:
        sent_token = connection.path_params.get("token", "")
        host, origin = connection.headers.get("host"), connection.headers.get("origin")
        has_token = hmac.compare_digest(sent_token.encode(), token.encode())
        return has_token and is_known(host, hosts) and is_same_origin(origin, host, hosts)

    async def file(request: Request) -> Response:
        if not may(request):
            return PlainTextResponse("refused", 403, headers=HEADERS)
        name = request.path_params.get("name", "")
        if name not in files:
            return PlainTextResponse("there is no such file", 404, headers=HEADERS)
        kind, text = files[name]
        return Response(text(), media_type=kind, headers=HEADERS)

    async def talk(connection: WebSocket) -> None:
        if not may(connection):
            await connection.close(1008)
            return
        await connection.accept()
        await _talk(desk, connection)

    routes = [
        WebSocketRoute("/{token}/ws", talk),
        Route("/{token}/{name}", file),
        Route("/{token}/", file),
    ]
    made = Starlette(routes=routes)
    made.router.redirect_slashes = False
    return made


async def _talk(desk: Desk, connection: WebSocket) -> None:
    """Hands messages from a socket to the desk, and back, until it closes."""
    loop = asyncio.get_running_loop()
    outbox: deque[str | bytes] = deque()
    has_more = asyncio.Event()

    def send(message: str | bytes) -> None:
        if len(outbox) > MOST_UNREAD:
            raise ConnectionError("the page does not read")
        outbox.append(message)
        loop.call_soon_threadsafe(has_more.set)

    async def deliver() -> None:
        while await has_more.wait():
            has_more.clear()
            while outbox:
                message = outbox.popleft()
                if isinstance(message, bytes):
                    await connection.send_bytes(message)
                else:
                    await connection.send_text(message)

    page = desk.join(send)
    sender = asyncio.create_task(deliver())
    try:
        while True:
            while len(outbox) > MOST_WAITING:  # who does not read is not listened to
                await asyncio.sleep(0.01)
            message = await connection.receive()
            if message["type"] == "websocket.disconnect":
                break
            desk.take(page, message.get("text") or "")
    finally:
        desk.leave(page)
        sender.cancel()
        with contextlib.suppress(BaseException):
            await sender
