"""Where a session stands, kept in a file as one goes, and offered after a crash."""

from __future__ import annotations

import contextlib
from pathlib import Path
from time import monotonic

from pyspec.errors import PyspecError
from pyspec.workflow.session.document import Document
from pyspec.workflow.session.session import Session
from pyspec.workflow.session.state import read_state, write_state

#: Seconds between two copies of the state in a file.
EVERY = 2.0


class Keeper:
    """Keeps the state of a session in the file `path`; None keeps nothing.

    Attributes
    ----------
    offer : (when, label, document) of an earlier session that was not saved, until it is answered
    """

    def __init__(self, session: Session, path: Path | None) -> None:
        self._session, self._path = session, path
        self.offer = None if path is None else read_state(path, session.ground)
        self._saved: Document | None = session.document
        self._written: Document | None = None
        self._next = 0.0

    def saved(self) -> None:
        """The session is as it was saved by hand."""
        self._saved = self._session.document

    def answer(self, accept: bool) -> None:
        """Takes what was offered, or lets it go."""
        if self.offer is not None and accept:
            self._session.restore(self.offer[2])
        self.offer = None

    def keep(self, *, now: bool = False) -> None:
        """Writes the state where it has changed, every few seconds at most or `now`. What cannot be
        written is no error: nothing is lost by it yet."""
        document = self._session.document
        is_known = document is self._saved or document is self._written
        if self._path is None or self.offer is not None or is_known:
            return
        if not now and monotonic() < self._next:
            return
        self._next = monotonic() + EVERY
        label = self._session.steps[self._session.at].label
        with contextlib.suppress(OSError, PyspecError):
            write_state(document, label, self._path)
            self._written = document

    def close(self) -> None:
        """A session that is saved, or was not begun, is not offered again."""
        if self._path is None or self.offer is not None:
            return
        if self._session.document is self._saved:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
        else:
            self.keep(now=True)
