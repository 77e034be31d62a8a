"""The builder in a notebook: the same page, whose messages go over the channel of a widget."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspec.build import page as pages
from pyspec.build.desk import Desk
from pyspec.calls import Suggesting
from pyspec.errors import DataError
from pyspec.io import Dataset
from pyspec.model import Measurement, Model
from pyspec.workflow import File
from pyspec.workflow.session.session import Session

if TYPE_CHECKING:
    from anywidget import AnyWidget


@cache
def _widget_class() -> type[AnyWidget]:
    """The widget with the page. Raises :class:`DataError` where anywidget is missing."""
    try:
        from anywidget import AnyWidget
    except ImportError:
        raise DataError(
            "a builder in a notebook needs anywidget; install it: pip install 'pyspec-fit[ui]'"
        ) from None
    return type("Widget", (AnyWidget,), {"_esm": pages.module(), "_css": pages.style()})


class Builder(Suggesting):
    """The builder of models under the cell of a notebook: a page on a :class:`Session`.

    Parameters
    ----------
    data : a File, what :func:`pyspec.read` returns, a Measurement with a model that has axes, or a
        session
    model : a Model, the path of a model file, or its text; None begins without components, of a
        File with its own models
    name : which model of the text
    folder : where Save writes to; by default the name of the data with "_build"

    Attributes
    ----------
    session : the :class:`~pyspec.workflow.session.session.Session`, which a script may edit, too;
        :meth:`show` then shows it
    widget : of anywidget, for marimo: ``mo.ui.anywidget(builder.widget)``

    Raises :class:`DataError` where anywidget is not installed, and as a session does.
    """

    def __init__(
        self,
        data: File | Dataset | Measurement | Session,
        model: Model | str | Path | None = None,
        name: str | None = None,
        *,
        folder: str | Path | None = None,
    ) -> None:
        made = _widget_class()
        self.session = data if isinstance(data, Session) else Session(data, model, name)
        stem = Path(self.session.ground.file.name).stem or "model"
        self.desk = Desk(self.session, f"{stem}_build" if folder is None else folder)
        self.widget = made()
        self._page = self.desk.join(self._send)
        self.widget.on_msg(self._heard)

    def __repr__(self) -> str:
        document = self.session.document
        return f"<Builder of {document.name!r}: {self.session.ground.file.name}>"

    def show(self) -> None:
        """Shows the session as it is now, after edits by a script."""
        self.desk.show()

    @property
    def model(self) -> Model | None:
        """A copy of the model as it is now."""
        return self.session.model

    def _send(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.widget.send({"update": True}, buffers=[message])
        else:
            self.widget.send(json.loads(message))

    def _heard(self, _widget: object, content: object, _buffers: object) -> None:
        self.desk.take(self._page, json.dumps(content))

    def _repr_mimebundle_(self, **options: Any) -> object:
        return self.widget._repr_mimebundle_(**options)
