"""The ground of a session: its data, and how texts become models on their axes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, ModelError
from pyspec.io import Dataset
from pyspec.model import Measurement, Model, load_models, load_time_model
from pyspec.model.data.checksum import Data
from pyspec.model.data.measurement import row_of
from pyspec.model.data.windows import excluded, index_range
from pyspec.model.yaml.reader import Scalar, Source, walk
from pyspec.model.yaml.sections import listed, model_names, positions
from pyspec.workflow.data.checks import both_of
from pyspec.workflow.models import has_spectra
from pyspec.workflow.project import File
from pyspec.workflow.session.document import Document, Limits, Range

Array = npt.NDArray[np.float64]


class Ground:
    """The data of a session, and how its texts become models: what no edit changes."""

    def __init__(self, file: File) -> None:
        self.file = file
        #: Ranges that the file leaves out are limits, which an edit may take back; its mask stays.
        self.whole: Measurement = replace(file._whole(), keep=file._keep)
        data = self.whole.data
        if data is None:
            raise DataError(f"file {file.name!r} has no data; a session needs some")
        self.data: Data = np.asarray(data)
        self.energy, self.time = file.energy, file.time
        #: The folder in which a text names files, and those that it may read; None: any.
        self.folder = Path()
        self.folders: tuple[Path, ...] | None = None
        #: The fields below ``data:`` of a job that reads these data; None: they are in no file.
        self.origin: Mapping[str, object] | None = None
        #: The grounds of all files of the session, in their order.
        self.files: tuple[Ground, ...] = (self,)
        self._windows: dict[Hashable, Measurement] = {}

    @property
    def kind(self) -> str:
        """ "series", "spectrum" or "trace"."""
        if self.data.ndim == 2:
            return "series"
        return "trace" if self.energy is None else "spectrum"

    @property
    def last(self) -> str:
        """The last axis of the data."""
        return "time" if self.energy is None else "energy"

    def axis(self, name: str) -> Array:
        """An axis that the data have. Raises :class:`DataError` for another."""
        axis = {"energy": self.energy, "time": self.time}.get(name)
        if axis is None:
            raise DataError(f"the data have no {name} axis; they are one {self.kind}")
        return axis

    def model(self, text: str, name: str) -> Model | None:
        """The model of that name on the axes of the data; None where the text has none of it.

        Raises :class:`ModelError` as the loader does.
        """
        source = self._source(text)
        try:
            if self.kind == "trace":
                return self.placed(load_time_model(source, name))
            return self.placed(load_models(source, name)[name])
        except ModelError:
            if name not in model_names(text):
                return None
            raise

    def _source(self, text: str) -> Source:
        return Source("<text>", text, folder=self.folder)

    def check_cursor(self, cursor: tuple[int, int]) -> None:
        """Raises :class:`DataError` for a row or a column that the data do not have."""
        for name, axis, at in (("time", self.time, cursor[0]), ("energy", self.energy, cursor[1])):
            size = 1 if axis is None else axis.size
            if not 0 <= at < size:
                raise DataError(f"{name}: {at} does not exist; give 0 to {size - 1}")

    def check_paths(self, text: str) -> None:
        """Raises :class:`ModelError` where a text reads files outside of the folders that may be
        read; without `folders` all may."""
        for key, spot, path in self._named(text) if self.folders is not None else ():
            if not any(path.is_relative_to(folder) for folder in self.folders or ()):
                raise ModelError(
                    f"<text>:{spot.line}: {key}: {spot.text!r} lies outside of the folder "
                    "that was opened; copy it beside the model file"
                )

    def allow(self, folder: Path, text: str) -> None:
        """Lets texts read files of a folder, and of those whose files a text that was opened by
        hand names; no others."""
        named = [path.parent for _, _, path in self._named(text)] if text.strip() else []
        self.folders = (folder.resolve(), *named)

    def _named(self, text: str) -> Iterator[tuple[str, Scalar, Path]]:
        """The files that a text names: the word before each, where it stands, and its path."""
        for key, value in walk(positions(text)):
            for spot in listed(value) if key.text in ("include", "file") else ():
                yield key.text, spot, (self.folder / spot.text).resolve()

    def models(self, text: str, *, some: bool = False) -> dict[str, Model]:
        """All models of a text that can be chosen. A text with laws for parameters alone has none,
        which is refused if there must be `some`. Raises :class:`ModelError`."""
        if not model_names(text):
            return {}
        source = self._source(text)
        if self.kind != "trace":
            try:
                models = load_models(source)
            except ModelError:
                if some or any(map(partial(_loads, source), model_names(text))):
                    raise
                models = {}
            return {name: self.placed(model) for name, model in models.items()}
        return {name: self.placed(load_time_model(source, name)) for name in model_names(text)}

    def placed(self, model: Model) -> Model:
        """A model on the axes of the data, checked as a fit checks it."""
        if self.energy is not None and has_spectra(model):
            model.energy = self.energy  # one array for all models, by which plans are known
        model.time = self.time
        self.file._complete(model)
        model.check()
        return model

    def measurement(self, document: Document) -> Measurement:
        """The data with the window and without what is excluded. Raises :class:`DataError`."""
        energy, time, out = key = document.energy_limits, document.time_limits, document.excluded
        if key in self._windows:
            return self._windows[key]
        rows = columns = None
        if self.energy is not None:
            columns = index_range(self.energy, energy, "energy")
        if self.time is not None and time is not None:
            rows = index_range(self.time, time, "time")
        if self.kind == "trace":
            rows, columns = None, rows
        keep = self.whole.keep
        for name in ("energy", "time"):
            ranges = [(low, high) for axis, low, high in out if axis == name]
            hidden = excluded(self.axis(name), ranges, name) if ranges else None
            if hidden is None:
                continue
            ends = columns if name == self.last else rows
            if hidden[slice(None) if ends is None else slice(*ends)].all():
                raise DataError("this leaves no point of the window; include a range again")
            hidden = hidden if name == self.last else hidden[:, None]
            keep = both_of(keep, ~hidden, self.data.shape)
        if len(self._windows) > 50:
            self._windows.clear()
        self._windows[key] = replace(self.whole, rows=rows, columns=columns, keep=keep)
        return self._windows[key]

    def still(self, document: Document) -> Model:
        """The chosen model at rest, for one spectrum."""
        assert document.model is not None
        model = document.model.at_rest()
        model.time = None
        return model

    def at_row(self, document: Document) -> tuple[Model, Measurement]:
        """The chosen model at rest, and the spectrum at the cursor."""
        assert document.model is not None
        series = self.measurement(document)
        if self.data.ndim == 1:
            return document.model, series
        return self.still(document), row_of(series, document.cursor[0])


def _loads(source: Source, name: str) -> bool:
    """Whether a model of a text is none of laws alone, and can be loaded."""
    try:
        return bool(load_models(source, name))
    except ModelError:
        return False


def file_of(data: object, model: object) -> File:
    """The data of a session as a file. Raises :class:`DataError` for what cannot be one."""
    if isinstance(data, File):
        return data
    if isinstance(data, Dataset):
        return File.from_dataset(data)
    if not (isinstance(data, Measurement) and isinstance(model, Model)):
        raise DataError(
            "a session takes a File, what pyspec.read returns, or a Measurement and a model with "
            f"axes, not {type(data).__name__}"
        )
    mask = None if data.keep is None else ~data.keep
    file = File(
        data=data.data, mask=mask, energy=model.energy, time=model.time, name=model.name,
        labels=data.labels, units=data.units,
    )  # fmt: skip
    if data.loss == "poisson":
        file.set_noise("poisson", scale=data.loss_scale)
    elif data.weight is not None:
        file.set_noise("gaussian", sigma=1.0 / data.weight)
    energy, time = _span(model.energy, data.columns), _span(model.time, data.rows)
    if energy is not None or time is not None:
        file.set_fit_limits(energy, time_limits=time)
    return file


def limits_of(ground: Ground) -> tuple[Limits, Limits, tuple[Range, ...]]:
    """(energy, time) limits and excluded ranges that a file has."""
    data = ground.file
    ranges = [(ground.last, *pair) for pair in data._excluded_ranges]
    ranges += [("time", *pair) for pair in data._excluded_times]
    out = list[Range]()
    for name, low, high in ranges:  # a side that is open ends with the axis
        ends = ground.axis(name).min(), ground.axis(name).max()
        out.append((name, float(max(low, ends[0])), float(min(high, ends[1]))))
    energy = _span(ground.energy, data.columns)
    return energy, _span(ground.time, data.rows), tuple(out)


def _span(axis: Array | None, window: tuple[int, int] | None) -> Limits:
    if axis is None or window is None or tuple(window) == (0, axis.size):
        return None
    part = axis[slice(*window)]
    return float(part.min()), float(part.max())


def places(ground: Ground) -> tuple[int, int]:
    """(row, column) to begin with: where the data change most."""
    data = ground.data
    if data.ndim != 2:
        return 0, 0
    filled = np.nan_to_num(np.asarray(data, dtype=np.float64))
    change = np.abs(filled - np.median(filled, axis=0))
    return int(np.argmax(change.sum(axis=1))), int(np.argmax(change.sum(axis=0)))
