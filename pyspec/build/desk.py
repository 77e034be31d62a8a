"""The desk: one session and all pages that show it. It takes commands and hands out state and
frames, and knows nothing of how these travel."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from pyspec.build.commands import Command, Message, command_of
from pyspec.build.frames import Frames, drawn_frames, file_frames, packed
from pyspec.build.handles import components_of
from pyspec.build.inspect import inspected
from pyspec.build.keeper import Keeper
from pyspec.build.state import (
    document_state,
    ended,
    file_state,
    files_state,
    findings_state,
    history_state,
    library_state,
    models_state,
    number,
    parameters_state,
    refused,
    schemes_state,
    slices_of,
)
from pyspec.errors import ModelError, PyspecError
from pyspec.fit import SliceResults
from pyspec.workflow.session.document import Document, Refusal
from pyspec.workflow.session.frame import Frame, frame_of
from pyspec.workflow.session.session import RUNNING, Session

#: Seconds of the fit for each frame of a drag, and behind its end or any other edit.
LIVE, SETTLE = 0.006, 0.25

#: Seconds between two reports of a running fit.
INTERVAL = 0.1

#: Commands that wait at most; more than so many are refused.
MOST_WAITING = 2000


@dataclass(eq=False)
class Page:
    """One page that shows the session: how it is reached, and what it knows."""

    send: Callable[[str | bytes], None]
    sent: dict[str, str] = field(default_factory=dict)
    waits_for: int | None = None
    shown: int = -1
    is_behind: bool = False  # there is more to show than what it waits for
    file: int | None = None  # whose data the page has
    has_map: bool = False


@dataclass
class _Drawn:
    """A version as it is drawn, and its frames without and with the map."""

    version: int
    document: Document
    frame: Frame
    components: Sequence[Mapping[str, object]]
    frames: dict[bool, Frames] = field(default_factory=dict)


class Desk:
    """A session with its pages.

    `take` is called with each message of a page, from any thread. Commands run one after the other
    in a thread of the desk; a fit runs in another thread. `folder` is where it saves. It keeps its
    current state in the file `state`.
    """

    def __init__(
        self, session: Session, folder: str | Path = "build", state: Path | None = None
    ) -> None:
        self.session = session
        self.folder = Path(folder)
        self.keeper = Keeper(session, state)
        self.pages: set[Page] = set()
        self.live = False
        self.saved: str | None = None
        self.yaml_error: dict[str, object] | None = None
        self.fit: dict[str, object] = {"running": False, "live": False}
        self._stop = threading.Event()
        self._queue: list[tuple[Page, dict[str, object]]] = []
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(1, "pyspec-desk")
        self._fitter: threading.Thread | None = None
        #: What never changes, as it is sent: of all files, and of each.
        self._library = json.dumps(library_state(session.ground))
        self._files = [json.dumps(file_state(ground)) for ground in session.grounds]
        self._drawn: _Drawn | None = None
        #: The last fits of single spectra of each file.
        self._slices: dict[int, dict[str, object]] = {}

    # pages

    def join(self, send: Callable[[str | bytes], None]) -> Page:
        """A page that is opened, and sent all of the state. Any thread may call `send`."""
        page = Page(send)
        self.pages.add(page)
        self._worker.submit(self._show)
        return page

    def show(self) -> None:
        """Shows the session on all pages, after edits that did not come from a page."""
        self._worker.submit(self._show)

    def leave(self, page: Page) -> None:
        """A page that is closed; the session stays."""
        self.pages.discard(page)

    def take(self, page: Page, text: str) -> None:
        """A message of a page. What is no command is answered as refused."""
        try:
            message = json.loads(text)
            if not isinstance(message, dict):
                raise ValueError
        except ValueError:
            self._answer(page, {"id": None}, Refusal("a message is one JSON object"))
            return
        if message.get("do") == "seen":
            version = message.get("version")
            if page.waits_for is not None and version == page.waits_for:
                page.waits_for = None
                if page.is_behind:
                    self._worker.submit(self._show)
            return
        if message.get("do") == "stop":
            self._stop.set()
            self._answer(page, message, {})
            return
        with self._lock:
            is_full = len(self._queue) >= MOST_WAITING
            if not is_full:
                self._queue.append((page, message))
        if is_full:
            self._answer(page, message, Refusal("too many commands wait; send fewer at a time"))
            return
        self._worker.submit(self._work)

    def close(self) -> None:
        """Ends a running fit and the thread of the desk."""
        self._stop.set()
        self._worker.shutdown(wait=True, cancel_futures=True)
        self.keeper.close()
        if self._fitter is not None:
            self._fitter.join()

    # commands

    def _work(self) -> None:
        """Runs all commands that wait, shows what they did, and answers. Of consecutive steps of
        one drag only the last is made. Steps of a drag are answered before they are shown: the next
        one is on its way while the page draws."""
        with self._lock:
            waiting, self._queue = self._queue, []
        if not waiting:
            return
        answers = []
        for k, (page, message) in enumerate(waiting):
            after = waiting[k + 1][1] if k + 1 < len(waiting) else {}
            is_step = _is_drag(message)
            is_old = is_step and _is_drag(after) and _names(message) == _names(after)
            answers.append((page, message, {} if is_old else self._run(page, message)))
            if is_step:
                self._answer(*answers.pop())
        self._show()
        for answer in answers:
            self._answer(*answer)

    def _run(self, page: Page, message: dict[str, object]) -> Refusal | Mapping[str, object]:
        try:
            return self._done(page, command_of(message))
        except PyspecError as error:
            return Refusal.of(error)
        except Exception as error:  # a mistake of ours reaches the page in words, without a trace
            return Refusal(f"unexpected {type(error).__name__}: {error}; please report this")

    def _done(self, page: Page, command: Command) -> Refusal | Mapping[str, object]:
        if command.edits:
            return self._edited(command)
        session, word, arguments = self.session, command.word, command.arguments
        if word in ("cursor", "file"):
            looked = (session.look if word == "cursor" else session.choose)(**arguments)
            return looked if isinstance(looked, Refusal) else {}
        if word in ("undo", "redo", "goto"):
            moved = getattr(session, word)(**arguments)
            self.yaml_error = None
            return {} if moved else Refusal(f"there is nothing to {word}")
        if word == "live":
            self.live = bool(arguments.get("on"))
            return {}
        if word == "fit":
            return self._begin_fit(str(arguments.get("what", "all")))
        if word == "view":
            page.has_map = arguments.get("map") != "data"
            page.shown = -1 if page.has_map else page.shown
            return {}
        if word == "save":
            folder = session.save(self._save_to(arguments.get("folder")))
            self.saved = str(folder)
            self.keeper.saved()
            return {"path": self.saved}
        if word == "restore":
            self.keeper.answer(bool(arguments.get("accept")))
            return {}
        if word == "get" and arguments.get("what") == "inspect":
            return inspected(session.document)
        page.sent.clear()  # "get": all of the state anew
        page.file, page.shown, page.waits_for = None, -1, None
        return {}

    def _edited(self, command: Command) -> Refusal | Mapping[str, object]:
        """Makes the edits of a command; while fits go on, a short one follows."""
        session = self.session
        outcome = session.edit(*command.edits, drag=command.drag)
        if isinstance(outcome, Refusal):
            if command.word == "yaml":
                self.yaml_error = refused(outcome)
            return outcome
        self.yaml_error = None
        if self.live and session.document.model is not None and not command.is_quiet:
            held = command.names if command.drag else ()
            seconds = LIVE if command.drag and not command.is_end else SETTLE
            session.refit(seconds, drag=command.drag, held=held)
        if command.is_end:
            session.settle()
        return {"name": outcome.name} if outcome.name else {}

    def _save_to(self, folder: object) -> Path:
        """Where a session is saved: the folder of the desk, or one in it."""
        if folder is None:
            return self.folder
        if not isinstance(folder, str) or not folder.strip():
            raise ModelError(f"save: folder is {folder!r}; give a name")
        path = (self.folder.parent / folder).resolve()
        if not path.is_relative_to(self.folder.parent.resolve()):
            raise ModelError(f"save: {folder!r} lies outside of {self.folder.parent.resolve()}")
        return path

    def _answer(
        self, page: Page, message: Message, outcome: Refusal | Mapping[str, object]
    ) -> None:
        answer: dict[str, object] = {"id": message.get("id"), "version": self.session.version}
        if isinstance(outcome, Refusal):
            answer |= {"ok": False, "error": refused(outcome)}
        else:
            answer |= {"ok": True, **outcome}
        self._send(page, json.dumps(answer))

    def _send(self, page: Page, message: str | bytes) -> None:
        try:
            page.send(message)
        except Exception:  # whatever a connection that is gone raises
            self.leave(page)

    # fits

    def _begin_fit(self, scope: str) -> Refusal | Mapping[str, object]:
        if self.fit["running"]:
            return RUNNING
        if self.session.document.model is None:
            return Refusal("there is no model to fit; add a component first")
        self._stop.clear()
        self.fit = {"running": True, "what": scope, "done": 0, "total": None}
        self._fitter = threading.Thread(target=self._fit, args=(scope,), name="pyspec-fit")
        self._fitter.start()
        return {}

    def _fit(self, scope: str) -> None:
        told = monotonic()

        def progress(done: int, second: float, third: float = 0.0) -> None:
            nonlocal told
            if self._stop.is_set():
                raise KeyboardInterrupt  # keeps the best point
            if monotonic() - told >= INTERVAL:
                told = monotonic()
                of_fit = {"chisqr": number(third), "nfev": done}
                report = {"total": second} if scope == "slices" else of_fit
                self.fit = {**self.fit, "done": done, **report}
                self._worker.submit(self._show)

        started = monotonic()
        try:
            outcome = self.session.fit(scope, progress)
        except KeyboardInterrupt:
            outcome = Refusal("stopped before there was a best point")
        except Exception as error:
            outcome = Refusal(f"unexpected {type(error).__name__}: {error}; please report this")
        if isinstance(outcome, SliceResults):
            self._slices[self.session.document.file] = slices_of(outcome)
        self.fit = ended(scope, outcome, monotonic() - started)
        try:
            self._worker.submit(self._show)
        except RuntimeError:
            return  # the desk is closed

    # what pages are told

    def state(self) -> dict[str, object]:
        """All keys of the state that may change, as they are now."""
        drawn, session = self._now(), self.session
        document, offer = drawn.document, self.keeper.offer
        return {
            "parameters": parameters_state(session.grounds[document.file], document),
            "components": drawn.components,
            "schemes": schemes_state(document.model),
            "yaml": {"text": document.text, "error": self.yaml_error},
            **document_state(session),
            "fit": {**self.fit, "live": self.live},
            "slices": self._slices.get(document.file),
            "findings": findings_state(document.result),
            "history": history_state(session),
            "models": models_state(session),
            "files": files_state(session),
            "saved": self.saved,
            "offer": offer and {"when": offer[0], "label": offer[1]},
            "problem": drawn.frame.problem or None,
        }

    def _now(self) -> _Drawn:
        """The version with its frame, made once: at all points where a page shows them."""
        session, whole = self.session, any(page.has_map for page in list(self.pages))
        with session.lock:
            version, document = session.version, session.document
        drawn = self._drawn
        is_short = whole and drawn is not None and not drawn.frame.model.size
        if drawn is None or drawn.version != version or is_short:
            ground = session.grounds[document.file]
            frame = frame_of(ground, document, whole=whole)
            components = components_of(ground, document, frame)
            drawn = self._drawn = _Drawn(version, document, frame, components)
        return drawn

    def _frames(self, with_map: bool) -> Frames:
        drawn = self._now()
        if with_map not in drawn.frames:
            ground = self.session.grounds[drawn.document.file]
            own = drawn_frames(ground, drawn.document, drawn.frame, with_map=with_map)
            drawn.frames[with_map] = own
        return drawn.frames[with_map]

    def _show(self) -> None:
        """Shows the session on all pages. What fails is told in words, and the next command goes
        on."""
        try:
            self._send_all()
        except Exception as error:
            told = f"unexpected {type(error).__name__}: {error}; please report this"
            for page in list(self.pages):
                self._send(page, packed(-1, json.dumps({"problem": told}), {}))

    def _send_all(self) -> None:
        """Sends each page its news as one message. A page that is still drawing gets the next
        message after it has drawn the last one."""
        self.keeper.keep()
        pages = list(self.pages)
        for page in pages:
            page.is_behind = True
        pages = [page for page in pages if page.waits_for is None]
        if not pages:
            return
        drawn = self._now()
        version, file = drawn.version, drawn.document.file
        changing = {key: json.dumps(value) for key, value in self.state().items()}
        texts = {"file": self._files[file], "library": self._library, **changing}
        for page in pages:
            page.is_behind = False
            new = {key: text for key, text in texts.items() if page.sent.get(key) != text}
            is_new = page.file != file
            frames: Frames = file_frames(self.session.grounds[file]) if is_new else {}
            if page.shown != version or frames:
                frames = frames | self._frames(page.has_map)
            if not new and not frames:
                continue
            page.sent.update(new)
            page.file, page.shown, page.waits_for = file, version, version
            state = ", ".join(f"{json.dumps(key)}: {text}" for key, text in new.items())
            self._send(page, packed(version, f"{{{state}}}", frames))


def _is_drag(message: Message) -> bool:
    return message.get("do") == "set" and bool(message.get("drag"))


def _names(message: Message) -> list[tuple[object, object]]:
    edits = message.get("edits")
    listed = edits if isinstance(edits, list) else [message]
    return [(edit.get("name"), edit.get("field")) for edit in listed if isinstance(edit, dict)]
