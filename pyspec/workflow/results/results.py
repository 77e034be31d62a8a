"""FitResults: the fits of a project, or of an archive, to search, compare and draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pyspec.calls import Suggesting, answered
from pyspec.errors import FitError
from pyspec.fit import JointResult, SliceResults
from pyspec.fit.results.table import need_pandas
from pyspec.io.archive.contents import Wanted
from pyspec.io.archive.fits import fits_of
from pyspec.plot import PlotConfig
from pyspec.plot.protocols import Fit
from pyspec.workflow.fitting.fits import FileFits
from pyspec.workflow.results.compare import comparison, refuse_missing
from pyspec.workflow.results.identity import (
    SELECTIONS,
    SHORT,
    check_type,
    described,
    find_fit,
    handle_of,
    in_words,
    inputs_of,
    last_fit,
    listed,
    matching,
    name_of_file,
    names_of,
)
from pyspec.workflow.results.summary import fits_html

if TYPE_CHECKING:
    from pandas import DataFrame

#: A file by its name, or given as the File.
OneFile: TypeAlias = FileFits | str

#: Several files, each by its name or given as the File, or all.
Files: TypeAlias = OneFile | Sequence[OneFile] | None

#: Fitted values that differ by less than this part of their size, or of their standard error, are
#: the same: a time in seconds may be 1e-13.
SAME = 1e-9


class FitResults(list[Fit], Suggesting):
    """Fits in the order they were made: FitResult and SliceResults, also those
    of an archive. A list of its own: later fits do not appear in it.

    A `file` is named by its name or given as the File; a `handle` is the beginning of a handle, or
    a label. `joint` holds the joint fits of all files of a project.
    """

    def __init__(
        self,
        fits: Iterable[Fit] = (),
        *,
        joint: Iterable[JointResult] = (),
        config: PlotConfig | None = None,
    ) -> None:
        super().__init__(fits)
        self.joint = list(joint)
        self.config = config

    @classmethod
    def load(
        cls,
        filepath: str | Path,
        *,
        file: Files = None,
        model: str | Sequence[str] | None = None,
        fit_type: str | Sequence[str] | None = None,
    ) -> FitResults:
        """The fits of an archive, or some of them: one name or a list of names each. Joint fits are
        in `joint`, and their files among the others.

        Raises :class:`DataError` where one of the names is that of no such fit.
        """
        wanted = names_of(file), names_of(model), names_of(fit_type)
        for kind in wanted[2] or ():
            check_type(kind)
        keys = "file_name", "model_name", "fit_type"
        texts = {key: names for key, names in zip(keys, wanted, strict=True) if names is not None}
        fits = fits_of(filepath, Wanted(texts))
        joint = [fit for fit in fits if isinstance(fit, JointResult)]
        each = [fit.files if isinstance(fit, JointResult) else (fit,) for fit in fits]
        return cls(matching(chain.from_iterable(each), *wanted), joint=joint)

    def files(self) -> list[str]:
        """The names of the files, each once."""
        return list(dict.fromkeys(fit.file_name for fit in self))

    def models(self, *, file: OneFile | None = None) -> list[str]:
        """The names of the models, each once; of one file if given."""
        return list(dict.fromkeys(fit.model_name for fit in self.find(file=file)))

    def find(
        self, *, file: OneFile | None = None, model: str | None = None, fit_type: str | None = None
    ) -> FitResults:
        """All fits of this file, model and type, the oldest first."""
        matches = matching(self, file, model, fit_type)
        return FitResults(matches, joint=self.joint, config=self.config)

    def get(
        self,
        *,
        file: OneFile | None = None,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
    ) -> Fit:
        """The one fit of this file, model and type, or of a handle; of equal fits the last.

        Raises :class:`FitError` where there is none, or more than one.
        """
        if handle is not None:
            return find_fit(self, handle)
        matches = self.find(file=file, model=model, fit_type=fit_type)
        if len({handle_of(fit) for fit in matches}) != 1:
            problem = "several such fits" if matches else "no such fit; there are"
            more = "; name one by handle=" if matches else ""
            raise FitError(f"{problem}: {in_words(matches or self)}{more}")
        return matches[-1]

    @answered
    def last(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        file: OneFile | None = None,
    ) -> Fit:
        """The last fit, of that file, model and type if given, or of a handle. Raises
        :class:`FitError` where there is none, or where several handles begin so."""
        return last_fit(self, file, model, fit_type, handle)

    def find_joint(self, *, model: str | None = None, files: Files = None) -> list[JointResult]:
        """The joint fits of this model, to exactly these files."""
        names = None if files is None else {name_of_file(file) for file in listed(files)}
        return [
            joint
            for joint in self.joint
            if model in (None, joint.model_name) and names in (None, set(joint.names))
        ]

    def get_joint(self, *, model: str | None = None, files: Files = None) -> JointResult:
        """The one joint fit of this model, to exactly these files. Raises :class:`FitError`."""
        matches = self.find_joint(model=model, files=files)
        if len(matches) != 1:
            raise FitError(f"{len(matches)} joint fits are such; find_joint() lists them")
        return matches[0]

    def set_label(self, ref: str, label: str) -> None:
        """Gives a fit, named by its handle or its label of before, a name of its own.

        Raises :class:`FitError` where another fit has it.
        """
        fit = find_fit(self, ref)
        if not isinstance(label, str) or not label or label in SELECTIONS:
            raise FitError(f"{label!r} is no label; give a text other than {', '.join(SELECTIONS)}")
        for other in self:
            if other.label == label and handle_of(other) != handle_of(fit):
                raise FitError(f"{label!r} is the label of {described(other)}; choose another")
        for same in self:
            if handle_of(same) == handle_of(fit):
                same.label = label

    # tables

    def compare_models(
        self,
        file: OneFile | None = None,
        *,
        models: Sequence[str] | None = None,
        fit_type: str | Sequence[str] | None = None,
        metrics: Sequence[str] | None = None,
        sbs_aggregation: str = "median",
    ) -> DataFrame:
        """Metrics of fits as a DataFrame: one row a fit, in the order of the fits, with `n_free`,
        the number of fitted parameters, and `success`.

        Without `metrics` those that are known: chi2_red_raw, r2, aic, bic, and with declared noise
        sigma_eff and chi2_red. Slices are aggregated ("median", "mean", "sum") over those with a
        result in all fits of slices of the file; "long" has a row for each, with its `slice_index`.
        Interrupted fits as in :meth:`pyspec.File.compare_models`. Raises :class:`FitError` if a
        named model has no such fit, fits of one type saw different data, or chi2, AIC or BIC are
        sums of different kinds. Fits that were saved without data are compared by the digest of
        these.
        """
        made = self.find(file=file)
        chosen = matching(made, None, models, fit_type)
        if models and chosen:
            refuse_missing(sorted(map(str, listed(models))), chosen, made)
        return comparison(chosen, metrics, sbs_aggregation)

    def variants(
        self, *, file: OneFile | None = None, model: str | None = None, fit_type: str | None = None
    ) -> DataFrame:
        """How the inputs of the fits of one model differ: a DataFrame with one row a fit, `handle`,
        `timestamp`, and the settings that differ.

        Raises :class:`FitError` where the fits are of several files, models or types.
        """
        matches = self.find(file=file, model=model, fit_type=fit_type)
        groups = {(fit.file_name, fit.model_name, fit.fit_type) for fit in matches}
        if len(groups) != 1:
            shown = ", ".join(sorted(" ".join(group) for group in groups)) or "none"
            raise FitError(f"variants are those of one file, model and type, not of: {shown}")
        records = [inputs_of(fit) for fit in matches]
        keys = list(dict.fromkeys(key for record in records for key in record))
        keys = [key for key in keys if len({repr(record.get(key)) for record in records}) > 1]
        rows = [
            {"handle": handle_of(fit)[:SHORT], "label": fit.label, "timestamp": fit.timestamp}
            | {key: record.get(key) for key in keys}
            for fit, record in zip(matches, records, strict=True)
        ]
        labelled = any(row["label"] for row in rows)
        head = ["handle", *(["label"] if labelled else []), "timestamp"]
        return need_pandas().DataFrame(rows, columns=[*head, *keys])

    def diff(self, a: str, b: str) -> DataFrame:
        """The differences of two fits, named by handle or label: a DataFrame with columns `section`
        (identity, input, result), `field`, and one for each fit. Of slices the medians are
        compared, over the times at which both have a value."""
        first, second = find_fit(self, a), find_fit(self, b)
        names = [handle_of(fit)[:SHORT] for fit in (first, second)]
        if names[0] == names[1]:
            raise FitError(f"{a!r} and {b!r} name the same fit: {described(first)}")
        rows = []
        facts: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
            "identity": (_identity(first), _identity(second)),
            "input": (inputs_of(first), inputs_of(second)),
            "result": _values(first, second),
        }
        for section, (left, right) in facts.items():
            errors = _medians(first.stderr) if section == "result" else {}
            for key in dict.fromkeys([*left, *right]):
                if not _same(left.get(key), right.get(key), errors.get(key)):
                    rows.append((section, key, left.get(key), right.get(key)))
        return need_pandas().DataFrame(rows, columns=["section", "field", *names])

    def __repr__(self) -> str:
        joint = f", {len(self.joint)} joint" if self.joint else ""
        fits = f": {in_words(self)}" if self else ""
        return f"<FitResults: {len(self)} fits{joint}{fits}>"

    def _repr_html_(self) -> str:
        return fits_html(f"{len(self)} fits", self)


def _identity(fit: Fit) -> dict[str, str]:
    return {"file": fit.file_name, "model": fit.model_name, "fit_type": fit.fit_type}


def _values(first: Fit, second: Fit) -> tuple[dict[str, float], dict[str, float]]:
    """The values of two fits; medians of slices, over the times at which both have one."""
    left: dict[str, object] = dict(first.values)
    right: dict[str, object] = dict(second.values)
    if (
        isinstance(first, SliceResults)
        and isinstance(second, SliceResults)
        and np.array_equal(first.time, second.time)
    ):
        mine, theirs = first.values, second.values
        for name in {*left} & {*right}:
            in_both = np.isfinite(mine[name]) & np.isfinite(theirs[name])
            left[name], right[name] = mine[name][in_both], theirs[name][in_both]
    return _medians(left), _medians(right)


def _medians(columns: Mapping[str, object]) -> dict[str, float]:
    """Name → number; of slices the median of those that have one."""
    # Without a standard error, None, it is NaN.
    arrays = {name: np.asarray(value, np.float64) for name, value in columns.items()}
    return {
        name: float(np.nanmedian(value)) if np.isfinite(value).any() else float("nan")
        for name, value in arrays.items()
    }


def _same(first: object, second: object, error: float | None) -> bool:
    """Whether two facts are the same; with its standard error, NaN where it has none, a value."""
    if error is None or not (isinstance(first, float) and isinstance(second, float)):
        return repr(first) == repr(second)
    size = np.nanmax([abs(first), abs(second), error, 0.0])
    return bool(np.isclose(first, second, rtol=0.0, atol=SAME * size, equal_nan=True))
