"""A session: one model built by hand and eye, with its edits, its fits and its history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, TypeAlias

from pyspec.errors import DataError, FitError, ModelError, PyspecError
from pyspec.fit import FitResult, JointResult, SliceResults
from pyspec.io import Dataset
from pyspec.model import Measurement, Model
from pyspec.model.yaml.reader import open_source
from pyspec.workflow.fitting.several import own_values, refuse_unlike, seen_from
from pyspec.workflow.project import File, Project
from pyspec.workflow.session.document import Document, Other, Refusal, Step
from pyspec.workflow.session.edits import Edit, Set, applied
from pyspec.workflow.session.files import save
from pyspec.workflow.session.fits import (
    fitted,
    holding,
    rounds,
    shared_by,
    slices_of,
    with_result,
)
from pyspec.workflow.session.frame import Frame, chisqr_of, frame_of
from pyspec.workflow.session.ground import Ground, file_of, limits_of, places
from pyspec.workflow.session.state import opened

#: What a session takes: data, and a model.
Data: TypeAlias = "File | Dataset | Measurement"
Given: TypeAlias = "Model | str | Path | None"

#: The answer to edits and fits while another fit runs.
RUNNING = Refusal(
    "a fit is running; stop it, or wait", rule="a fit is running", remedy="stop it, or wait"
)

#: What the step of a fit is called.
LABELS = {"all": "fit", "spectrum": "fit one spectrum", "joint": "fit all files"}


class Session:
    """A model over data, edited step by step.

    Parameters
    ----------
    data : a :class:`pyspec.File`, the result of :func:`pyspec.read`, or a
        :class:`~pyspec.model.Measurement` with a model that has axes. Several of them come in a
        list or a :class:`pyspec.Project`
    model : a :class:`~pyspec.Model`, a path of a model file or its text; None begins without
        components. Of several files a list may give each its own, of which those after the first
        one say values
    name : which model of the text; the first where it is left out

    Every document is a text of models that the loader takes. Edits change the text in the places
    that they mean, so that comments and order stay, and the loader reads it again. With several
    files the text has the values of the file that is shown. A parameter whose entry says "project"
    is the same in all, see :mod:`pyspec.workflow.fitting.several`. Raises :class:`ModelError` or
    :class:`DataError` where data or model cannot be used.
    """

    def __init__(
        self,
        data: Data | Project | Sequence[Data],
        model: Given | Sequence[Given] = None,
        name: str | None = None,
    ) -> None:
        several = data.files if isinstance(data, Project) else data
        listed: list[Any] = list(several) if isinstance(several, (list, tuple)) else [several]
        sources: list[Any] = list(model) if isinstance(model, (list, tuple)) else [model]
        sources = sources * len(listed) if len(sources) == 1 else sources
        if not listed or len(sources) != len(listed):
            raise DataError("a session takes some data, and one model or one for each of them")
        self.lock = RLock()
        grounds = [Ground(file_of(*pair)) for pair in zip(listed, sources, strict=True)]
        self.grounds = tuple(grounds)
        refuse_unlike(self.grounds)
        texts = []
        for ground, source in zip(grounds, sources, strict=True):
            own, ground.folder = _text_of(ground, source)
            texts.append(own)
        text = texts[0]
        names = list(grounds[0].models(text)) if text.strip() else []
        if name is not None and names and name not in names:
            raise ModelError(f"there is no model {name!r}; there are {', '.join(names)}")
        chosen = name or (names[0] if names else "model")
        others = dict[int, Other]()
        for number, (ground, own) in enumerate(zip(grounds, texts, strict=True)):
            if number:
                models = ground.models(own) if own.strip() else {}
                values = {key: own_values(loaded) for key, loaded in models.items()}
                others[number] = Other(*limits_of(ground), places(ground), values=values)
            ground.files, ground.folder = self.grounds, grounds[0].folder
        first = Document(
            *limits_of(grounds[0]),
            places(grounds[0]),
            text=text,
            name=chosen,
            model=grounds[0].model(text, chosen),
            others=others,
        )
        self.steps: list[Step] = [Step(first, "begin")]
        self.at = 0
        self.version = 1
        self._names: tuple[str, ...] | None = None
        self.fitting = False

    # the document

    @property
    def ground(self) -> Ground:
        """The data of the file that is shown."""
        return self.grounds[self.document.file]

    @property
    def document(self) -> Document:
        """The document as it is now."""
        return self.steps[self.at].document

    @property
    def model(self) -> Model | None:
        """A copy of the model as it is now."""
        model = self.document.model
        return None if model is None else model.copy()

    @property
    def text(self) -> str:
        """The model file as it is now."""
        return self.document.text

    @property
    def models(self) -> tuple[str, ...]:
        """The models that can be chosen."""
        if self._names is None:
            self._names = tuple(self.ground.models(self.text))
        names, name = self._names, self.document.name
        return names if name in names else (*names, name)

    def frame(self) -> Frame:
        """The model on all points of the data, and its components at the cursor."""
        return frame_of(self.ground, self.document)

    def chisqr(self) -> float:
        """χ² of the model as it stands, over the window."""
        return chisqr_of(self.ground, self.document)

    # edits

    def edit(self, *edits: Edit, drag: bool = False) -> Step | Refusal:
        """Makes all of these edits as one step, which is returned, or none.

        Consecutive steps with `drag` become one. A refusal counts as False and says what is wrong;
        the document stays as it was.
        """
        with self.lock:
            if self.fitting:
                return RUNNING
            try:
                step = applied(self.ground, self.document, edits)
            except (PyspecError, ValueError) as error:
                return Refusal.of(error)
            self._push(replace(step, is_open=drag))
            if not all(isinstance(edit, Set) for edit in edits):
                self._names = None
            return step

    def _push(self, step: Step) -> None:
        top = self.steps[self.at]
        if top.is_open and step.is_open and self.at > 0:
            self.at -= 1
        elif top.is_open:
            self.steps[self.at] = replace(top, is_open=False)
        del self.steps[self.at + 1 :]
        self.steps.append(step)
        self.at += 1
        self.version += 1

    def settle(self) -> None:
        """Ends a drag: the next one is a step of its own."""
        with self.lock:
            self.steps[self.at] = replace(self.steps[self.at], is_open=False)

    def open(self, folder: Path) -> None:
        """Restores the view of a session saved to this folder, if it is there, and its fit if it
        showed one. This is no step of undo."""
        saved = opened(folder, self.ground, self.text)
        if saved is None:
            return
        document, is_fitted = saved
        if is_fitted:
            scope = "joint" if len(self.grounds) > 1 else "all"
            result = fitted(self.ground, self.document, scope).diagnose()
            refitted = with_result(self.ground, self.document, result)
            if refitted.text.strip() == document.text.strip():
                document = replace(refitted, cursor=document.cursor)
        self._replace(document)

    def restore(self, document: Document) -> None:
        """Takes another document, such as one that was kept, as a step."""
        with self.lock:
            self._names = None
            self._push(Step(replace(document, fits=self.document.fits, begun={}), "restored"))

    def save(self, folder: str | Path) -> Path:
        """Writes models.yaml, job.yaml and fit.py into a folder, which give the numbers of this
        session; ``pyspec build FOLDER/job.yaml`` opens them. Returns the folder."""
        return save(self.ground, self.document, folder)

    def _replace(self, document: Document, is_open: bool | None = None) -> None:
        """Changes the document without a step."""
        step = self.steps[self.at]
        is_open = step.is_open if is_open is None else is_open
        self.steps[self.at] = replace(step, document=document, is_open=is_open)
        self.version += 1

    def look(self, *, time: int | None = None, energy: int | None = None) -> Document | Refusal:
        """Moves the cursor to a row and a column, by number; no step of undo."""
        with self.lock:
            document = self.document
            row, column = document.cursor
            cursor = (row if time is None else time, column if energy is None else energy)
            try:
                self.ground.check_cursor(cursor)
            except DataError as error:
                return Refusal.of(error)
            self._replace(replace(document, cursor=cursor))
            return self.document

    def choose(self, file: int | str) -> Document | Refusal:
        """Shows another file, by its number or its name; no step of undo."""
        names = [ground.file.name for ground in self.grounds]
        number = names.index(file) if file in names else file
        with self.lock:
            if self.fitting:
                return RUNNING
            if not isinstance(number, int) or not 0 <= number < len(names):
                return Refusal(f"there is no file {file!r}; there are {', '.join(names)}")
            try:
                self._replace(seen_from(self.ground, self.document, number))
            except (PyspecError, ValueError) as error:
                return Refusal.of(error)
            return self.document

    # history

    def undo(self) -> bool:
        """Goes one step back; False at the first."""
        return self.goto(self.at - 1)

    def redo(self) -> bool:
        """Goes one step forward; False at the last."""
        return self.goto(self.at + 1)

    def goto(self, step: int) -> bool:
        """Goes to a step of the history by its number; the cursor stays where it is."""
        with self.lock:
            if self.fitting or not 0 <= step < len(self.steps):
                return False
            before = self.document
            self.settle()
            self.at, self._names = step, None
            now = self.document
            cursor = before.cursor if before.file == now.file else now.cursor
            self._replace(replace(now, cursor=cursor))
            return True

    # fits

    def refit(
        self, seconds: float = 0.006, *, drag: bool = False, held: Collection[str] = ()
    ) -> FitResult | Refusal:
        """Fits the file that is shown from where the model stands, for `seconds` at most; the model
        takes the values. What it shares with other files stays.

        The next call goes on from there. It belongs to the step before it, such as a `drag`; the
        parameters `held` stay where they are."""
        with self.lock:
            if self.fitting:
                return RUNNING
            document = self.document
            try:
                model = holding(document.model, {*held, *shared_by(self.ground, document)})
                result = fitted(self.ground, replace(document, model=model), max_seconds=seconds)
                assert isinstance(result, FitResult)
                after = with_result(self.ground, document, result)
            except (PyspecError, ValueError) as error:
                return Refusal.of(error)
            self._replace(after, is_open=drag)
            return result

    def fit(
        self, what: str = "all", progress: Callable[..., object] | None = None
    ) -> FitResult | JointResult | SliceResults | Refusal:
        """Fits the window ("all"), the spectrum at the cursor ("spectrum"), or each spectrum
        ("slices") of the file that is shown, or the windows of all files ("joint"). The models take
        the values but those of slices.

        A fit of windows is repeated from its end until that comes again. `progress` is called as
        (evaluations, χ², best); of slices as (done, total). It may raise
        KeyboardInterrupt to end the fit with the best point.
        """
        with self.lock:
            if self.fitting:
                return RUNNING
            document, self.fitting = self.document, True
        try:
            if document.model is None:
                raise FitError("there is no model to fit; add a component first")
            if what == "slices":
                return slices_of(self.ground, document, progress)
            if what not in ("all", "spectrum", "joint"):
                raise FitError(f"what is {what!r}; give 'all', 'spectrum', 'slices' or 'joint'")
            result, after = rounds(self.ground, document, what, progress)
        except (PyspecError, ValueError) as error:
            return Refusal.of(error)
        finally:
            self.fitting = False
        with self.lock:
            cursor = self.document.cursor
            self._push(Step(replace(after, cursor=cursor), LABELS[what]))
        return result


def _text_of(ground: Ground, model: Given) -> tuple[str, Path]:
    """The text of a model, and the folder in which it names files."""
    models = ground.file.models
    if model is None:
        return "\n".join(loaded.to_yaml() for loaded in models.values()), Path()
    if isinstance(model, Model):
        return model.to_yaml(), Path()
    if isinstance(model, str) and model in models:
        return models[model].to_yaml(), Path()
    if isinstance(model, str) and ("\n" in model or ": " in model):
        return model, Path()
    return open_source(Path(model)).text, Path(model).parent
