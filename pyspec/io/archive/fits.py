"""save_fit and load_fit: fits to an archive and back."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.calls import answered, stack_outside
from pyspec.errors import (
    ArchiveWarning,
    CallError,
    DataError,
    FitError,
    ModelError,
    one_line,
    shortened,
)
from pyspec.fit import FitResult, JointResult, SliceResults
from pyspec.fit.results.ended import title_of
from pyspec.fit.results.joint import data_of_each
from pyspec.fit.results.same_data import changed
from pyspec.io.archive.contents import Arrays, Wanted, members_of
from pyspec.io.archive.fields import Record
from pyspec.io.archive.file import read_archive, save_archive
from pyspec.io.archive.fit_record import record_of
from pyspec.io.archive.results import result_of
from pyspec.model.data.checksum import checksum
from pyspec.model.data.digest import checksum_of, digest
from pyspec.model.data.source import LOADED, source_of

#: Fits that are named where an archive does not have the one asked for.
_LISTED = 20


@answered
def save_fit(
    path: str | Path,
    results: FitResult | SliceResults | Iterable[FitResult | SliceResults],
    *,
    with_data: bool = True,
    mode: str = "append",
) -> None:
    """Saves one fit or several to an archive (HDF5); see :func:`pyspec.io.save_archive` for `mode`.

    Data that several fits share are stored once; without them (`with_data=False`, or data by
    reference beyond 256 MiB) only their digest is, and :meth:`FitResult.refit` asks for them.

    Raises :class:`DataError` where data were changed after they were fitted.
    """
    if not isinstance(path, (str, Path)):
        raise CallError(
            f"save_fit: the first argument is the path, not {type(path).__name__}; write "
            "save_fit('fits.h5', fits)"
        )
    fits = [results] if isinstance(results, (FitResult, SliceResults)) else list(results)
    if not fits:
        raise DataError("there is no fit to save yet; fit first")
    records, arrays = [], {}
    measured: list[tuple[dict[str, Any], FitResult | SliceResults]] = []
    for fit in fits:
        if not isinstance(fit, (FitResult, SliceResults)):
            raise DataError(
                f"save_fit takes fits, not {type(fit).__name__}; of fit_many save "
                "[fits.result(k) for k in range(len(fits))], which fits once more"
            )
        record: dict[str, Any] = record_of(fit)
        records.append(record)
        if isinstance(fit, JointResult):
            measured += zip(record["files"], fit.files, strict=True)
        else:
            measured.append((record, fit))
    digests: dict[int, tuple[int, str]] = {}
    for record, fit in measured:
        data = fit.measurement.data
        if data is None:  # of an archive without them
            record["data_sha256"] = fit.data_sha256
            continue
        of = fit if isinstance(fit, SliceResults) else fit.problem
        in_memory = source_of(data) is None
        if id(data) not in digests:
            # Data by reference are read again.
            now = checksum(data) if in_memory else checksum_of(replace(fit.measurement))
            digests[id(data)] = now, digest(data)
        now, sha256 = digests[id(data)]
        is_unchanged = now == of.data_checksum
        if is_unchanged:
            record["data_sha256"] = sha256
        if with_data and (in_memory or data.nbytes <= LOADED):
            if not is_unchanged:
                name = " ".join(word for word in (fit.fit_type, "fit of", fit.model_name) if word)
                raise DataError(
                    f"{changed(name, 'they cannot be saved with it')}. save_fit(path, fit, "
                    "with_data=False) of pyspec.io saves the fit without data"
                )
            arrays[sha256] = np.asarray(data)
    save_archive(path, records, arrays=arrays, mode=mode)


@answered
def load_fits(
    path: str | Path,
    *,
    model: str | None = None,
    fit_type: str | None = None,
    file: str | None = None,
    damaged: str = "raise",
) -> tuple[FitResult | SliceResults, ...]:
    """The fits of an archive in the order they were saved, of that model, type, file if given.

    They are what was saved: a :class:`FitResult` each, :class:`SliceResults`, or a
    :class:`JointResult`. The model, type or file of any of its files finds a joint fit. Models and
    data are looked up when they are needed, nothing is fitted.

    Every byte is checked before anything is read. Where one is not as it was written, ``damaged=
    "raise"`` raises; "skip" returns the fits whose digest holds and warns of the others by name. A
    process with limited memory and time reads them. Where the data of a fit are damaged, the fit
    comes without data: ``refit(data)`` takes them.

    Raises :class:`DataError` where the archive cannot be read, or has no such fit.
    """
    return _loaded(path, {"model_name": model, "fit_type": fit_type, "file_name": file}, damaged)


@answered
def load_fit(
    path: str | Path,
    *,
    model: str | None = None,
    fit_type: str | None = None,
    file: str | None = None,
    damaged: str = "raise",
    data: object = None,
) -> Any:
    """The last fit of an archive, or the last of that model, type and file.

    It is a :class:`FitResult`, :class:`SliceResults` or :class:`JointResult`. A joint fit is found
    by the model, type and file of any of its files. `data` are those of a fit that was saved
    without them. Of a joint fit they are a list with those of each file. `damaged` is as of
    :func:`load_fits`."""
    names = {"model_name": model, "fit_type": fit_type, "file_name": file}
    return _loaded(path, names, damaged, last=True, data=data)[-1]


def _loaded(
    path: str | Path,
    names: Mapping[str, str | None],
    damaged: str,
    last: bool = False,
    data: object = None,
) -> tuple[FitResult | SliceResults, ...]:
    """The fits of these names, where they are given: all, or at least the last of them."""
    if damaged not in ("raise", "skip"):
        raise DataError(f"damaged is 'raise' or 'skip', not {shortened(damaged)}")
    texts = {key: [text] for key, text in names.items() if text is not None}
    fits = fits_of(path, Wanted(texts, last), damaged, data)
    if not fits:
        raise _no_such_fit(path, "has no such fit", damaged)
    return fits


def fits_of(
    path: str | Path, wanted: Wanted, damaged: str = "raise", data: object = None
) -> tuple[FitResult | SliceResults, ...]:
    """The fits of an archive that are wanted. Of a damaged one all that have the texts, where the
    last of them was wanted.

    Raises :class:`DataError` where one of the texts is that of no fit among them.
    """
    records, arrays, report = read_archive(path, damaged == "skip", wanted)
    if report is not None and report.damaged:
        warnings.warn(f"{path}: damaged and left out: {report}", ArchiveWarning, stack_outside())
    kept = [record for record in records if wanted.matches(record, Mapping.get)]
    for key, among in wanted.texts.items():
        there = {str(member.get(key)) for record in kept for member in members_of(record)}
        without = sorted(repr(text) for text in {*among} - there)
        if without:
            which = f"{key.removesuffix('_name').replace('_', ' ')} {', '.join(without)}"
            raise _no_such_fit(path, f"has no such fit{f' of {which}' * bool(kept)}", damaged)
    return tuple(_restored(path, record, arrays, data) for record in kept)


def _no_such_fit(path: str | Path, reason: str, damaged: str) -> DataError:
    names = ("fit_type", "model_name", "file_name")
    others = read_archive(path, damaged == "skip")[0]
    titles = list(
        dict.fromkeys(title_of(*(str(record.get(n)) for n in names)) for record in others)
    )
    more = f"; and {len(titles) - _LISTED} more" if len(titles) > _LISTED else ""
    listed = "; ".join(titles[:_LISTED]) or "none" + " that is whole" * (damaged == "skip")
    return DataError(f"{path}: {reason}; it has: {listed}{more}")


def _restored(
    path: str | Path,
    record: Record,
    arrays: Arrays,
    data: object,
) -> FitResult | SliceResults:
    files = members_of(record)[1:]
    if files and data is not None:
        data = data_of_each(data, len(files))
    try:
        own = [arrays.get(str(member["data_sha256"])) for member in files or [record]]
        given = own if files else own[0]
        return result_of(record, given if data is None else data)
    except KeyError as error:
        raise DataError(
            f"{path}: a fit in it has no {error}; it was not saved by save_fit"
        ) from None
    except ModelError:  # slices ask for their model: it may name a function that is not registered
        raise
    except (TypeError, ValueError, AttributeError, IndexError, FitError) as error:
        raise DataError(
            f"{path}: a fit in it is not as save_fit writes it ({one_line(error)}); it was changed "
            "by another program"
        ) from None
