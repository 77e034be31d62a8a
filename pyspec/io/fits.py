"""save_fit and load_fit: fits to an archive and back."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, stack_outside
from pyspec.errors import ArchiveWarning, CallError, DataError, FitError, one_line, shortened
from pyspec.fit import FitResult, JointResult, OneFit, SliceResults
from pyspec.fit.same_data import changed
from pyspec.io.addresses import references_of
from pyspec.io.archive import read_archive, save_archive
from pyspec.io.contents import (
    ends_of,
    fit_contents,
    intervals_of,
    left_of,
    samples_of,
    slices_contents,
    table_of,
)
from pyspec.io.records import NAMED, Wanted
from pyspec.io.stored import StoredFit, StoredSlices
from pyspec.model.checksum import checksum
from pyspec.model.digest import checksum_of, digest
from pyspec.model.source import LOADED, source_of

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
    reference beyond 256 MiB) only their digest is, and :meth:`StoredFit.refit` asks for them.

    Of a joint fit the archive holds one fit for each file, where it was sampled with the samples of
    the parameters of that file.

    Raises :class:`DataError` where data were changed after they were fitted.
    """
    if not isinstance(path, (str, Path)):
        raise CallError(
            f"save_fit: the first argument is the path, not {type(path).__name__}; write "
            "save_fit('fits.h5', fits)"
        )
    single = isinstance(results, (FitResult, SliceResults)) and not isinstance(results, JointResult)
    fits: list[Any] = [results] if single else list(results)  # type: ignore[arg-type]
    if not fits:
        raise DataError("there is no fit to save yet; fit first")
    contents, arrays = [], {}
    digests: dict[int, tuple[int, str]] = {}
    for fit in fits:
        if isinstance(fit, FitResult) and not isinstance(fit, JointResult):
            data, then = fit.problem.measurement.data, fit.problem.data_checksum
            contents.append(fit_contents(fit))
        elif isinstance(fit, SliceResults):
            data, then = fit.series.data, fit.data_checksum
            contents.append(slices_contents(fit))
        else:
            raise DataError(f"save_fit takes fits, not {type(fit).__name__}{_whole_of(fit)}")
        known = {name: vars(fit).get(name) for name in NAMED}
        contents[-1] |= {name: text for name, text in known.items() if text}
        contents[-1]["data_sha256"] = ""
        contents[-1]["by_reference"] = references_of(fit.measurement)
        assert data is not None, "a fit has data"
        if id(data) not in digests:
            digests[id(data)] = _checksum_now(fit, data), digest(data)
        now, sha256 = digests[id(data)]
        if now == then:
            contents[-1]["data_sha256"] = sha256
        if with_data and (source_of(data) is None or data.nbytes <= LOADED):
            if now != then:
                _refuse_changed(fit)
            arrays[sha256] = np.asarray(data)
    save_archive(path, contents, arrays=arrays, mode=mode)


def _whole_of(fit: Any) -> str:
    """What to save in place of one of many fits, of which only values are kept."""
    if not isinstance(fit, OneFit):
        return ""
    return "; of fit_many save [fits.result(k) for k in range(len(fits))], which fits once more"


def _checksum_now(fit: FitResult | SliceResults, data: Any) -> int:
    if source_of(data) is not None:
        return checksum_of(replace(fit.measurement))  # which reads them again
    return checksum(data)


def _refuse_changed(fit: FitResult | SliceResults) -> NoReturn:
    name = " ".join(word for word in (fit.fit_type, "fit of", fit.model_name) if word)
    remedy = ". save_fit(path, fit, with_data=False) of pyspec.io saves the fit without data"
    raise DataError(f"{changed(name, 'they cannot be saved with it')}{remedy}")


@answered
def load_fits(
    path: str | Path,
    *,
    model: str | None = None,
    fit_type: str | None = None,
    file: str | None = None,
    damaged: str = "raise",
) -> tuple[StoredFit | StoredSlices, ...]:
    """The fits of an archive in the order they were saved, of that model, type, file if given.

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
) -> Any:
    """The last fit of an archive, of that model, type and file if given: a :class:`StoredFit`,
    or :class:`StoredSlices` for slice-by-slice fits. `damaged` as of :func:`load_fits`."""
    names = {"model_name": model, "fit_type": fit_type, "file_name": file}
    return _loaded(path, names, damaged, last=True)[-1]


def _loaded(
    path: str | Path, names: Mapping[str, str | None], damaged: str, last: bool = False
) -> tuple[StoredFit | StoredSlices, ...]:
    """The fits of these names, where they are given: all, or at least the last of them."""
    if damaged not in ("raise", "skip"):
        raise DataError(f"damaged is 'raise' or 'skip', not {shortened(damaged)}")
    texts = {key: [text] for key, text in names.items() if text is not None}
    found = fits_of(path, Wanted(texts, last), damaged)
    if not found:
        raise _no_such_fit(path, "has no such fit", damaged)
    return found


def fits_of(
    path: str | Path, wanted: Wanted, damaged: str = "raise"
) -> tuple[StoredFit | StoredSlices, ...]:
    """The fits of an archive that are wanted. Of a damaged one all that have the texts, where the
    last of them was wanted.

    Raises :class:`DataError` where one of the texts is that of no fit among them.
    """
    contents, arrays, report = read_archive(path, damaged == "skip", wanted)
    if report is not None and report.damaged:
        warnings.warn(f"{path}: damaged and left out: {report}", ArchiveWarning, stack_outside())
    every = [_restored(path, one, arrays) for one in contents]
    found = tuple(
        fit
        for fit in every
        if all(getattr(fit, key) in among for key, among in wanted.texts.items())
    )
    for key, among in wanted.texts.items():
        without = sorted(repr(one) for one in {*among} - {getattr(fit, key) for fit in found})
        if without:
            which = f"{key.removesuffix('_name').replace('_', ' ')} {', '.join(without)}"
            raise _no_such_fit(path, f"has no such fit{f' of {which}' * bool(found)}", damaged)
    return found


def _no_such_fit(path: str | Path, what: str, damaged: str) -> DataError:
    others = read_archive(path, damaged == "skip")[0]
    titles = list(dict.fromkeys(_restored(path, one, {}).title for one in others))
    more = f"; and {len(titles) - _LISTED} more" if len(titles) > _LISTED else ""
    listed = "; ".join(titles[:_LISTED]) or "none" + " that is whole" * (damaged == "skip")
    return DataError(f"{path}: {what}; it has: {listed}{more}")


def _restored(
    path: str | Path, contents: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> StoredFit | StoredSlices:
    try:
        return _stored(contents, arrays)
    except KeyError as error:
        raise DataError(
            f"{path}: a fit in it has no {error}; it was not saved by save_fit"
        ) from None
    except (TypeError, ValueError, AttributeError, IndexError, FitError) as error:
        raise DataError(
            f"{path}: a fit in it is not as save_fit writes it ({one_line(error)}); it was changed "
            "by another program"
        ) from None


def _stored(
    contents: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> StoredFit | StoredSlices:
    fit = _fit_of(contents, arrays)
    for name in NAMED:
        if contents.get(name):
            vars(fit)[name] = str(contents[name])
    return fit


def _fit_of(
    contents: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> StoredFit | StoredSlices:
    axes = contents["axes"]
    measured = {
        key: tuple(value.tolist()) if key in ("rows", "columns") else value
        for key, value in contents["measurement"].items()
    }
    common: dict[str, Any] = {
        name: contents[name]
        for name in ("model_name", "fit_type", "file_name", "settings", "texts", "versions")
    }
    common |= {name: axes.get(name) for name in ("energy", "time", "aux", "aux_weights")}
    common |= {
        "inputs": dict(contents.get("inputs") or {}),
        "table": table_of(contents["parameters"]),
        "measured": measured,
        "data": arrays.get(contents["data_sha256"]),
        "data_sha256": contents["data_sha256"],
        "by_reference": tuple(contents.get("by_reference") or ()),
    }
    if contents["kind"] == "fit":
        return StoredFit(
            **common,
            free_names=tuple(contents["free_names"]),
            covariance=contents.get("covariance"),
            statistics=contents["statistics"],
            mcmc=samples_of(contents.get("samples")),
            intervals=intervals_of(contents.get("intervals", "")),
            of_joint=bool(contents.get("of_joint", False)),
            left=left_of(contents.get("left")),
        )
    names = common["table"].names
    for what in ("values", "stderr", "start"):
        common[what] = dict(zip(names, np.asarray(contents[what]), strict=True))
    for what in ("rows", "redchi", "chisqr", "nfev"):
        common[what] = contents[what]
    return StoredSlices(
        **common,
        status=tuple(contents["status"]),
        message=tuple(contents["message"]),
        findings_text=tuple(contents.get("findings") or [""] * len(contents["status"])),
        ends=ends_of(contents, len(contents["status"])),
        started_from=str(contents.get("started_from", "")),
        statistics=dict(contents.get("statistics") or {}),
        covariance=contents.get("covariance"),
    )
