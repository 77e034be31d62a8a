"""save_fit and load_fit: fits to an archive and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.fit import FitResult, SliceResults
from pyspec.io.archive import digest, load_archive, save_archive
from pyspec.io.contents import fit_contents, slices_contents, table_of
from pyspec.io.stored import StoredFit, StoredSlices


def save_fit(
    path: str | Path,
    results: FitResult | SliceResults | Iterable[FitResult | SliceResults],
    *,
    with_data: bool = True,
    mode: str = "append",
) -> None:
    """Saves one or several fits to an archive; see :func:`pyspec.io.save_archive` for `mode`.

    Data that several fits share are stored once; without them (`with_data=False`) only their
    digest is, and :meth:`StoredFit.refit` asks for them.
    """
    single = isinstance(results, (FitResult, SliceResults))
    fits: list[Any] = [results] if single else list(results)  # type: ignore[arg-type]
    if not fits:
        raise DataError("there is no fit to save yet; fit first")
    contents, arrays = [], {}
    for fit in fits:
        if isinstance(fit, FitResult):
            data = fit.problem.measurement.data
            contents.append(fit_contents(fit))
        elif isinstance(fit, SliceResults):
            data = fit.series.data
            contents.append(slices_contents(fit))
        else:
            raise DataError(f"save_fit takes fits, not {type(fit).__name__}")
        if with_data and data is not None:
            arrays[digest(data)] = data
    save_archive(path, contents, arrays=arrays, mode=mode)


def load_fits(
    path: str | Path,
    *,
    model: str | None = None,
    fit_type: str | None = None,
    file: str | None = None,
) -> tuple[StoredFit | StoredSlices, ...]:
    """The fits of an archive in the order they were saved, of that model, type, file if given.

    Raises :class:`DataError` where the archive cannot be read, or has no such fit.
    """
    contents, arrays = load_archive(path)
    try:
        every = [_stored(one, arrays) for one in contents]
    except KeyError as error:
        raise DataError(
            f"{path}: a fit in it has no {error}; it was not saved by save_fit"
        ) from None
    checked: set[str] = set()
    for fit in every:
        if fit.data is None or fit.data_sha256 in checked:
            continue
        checked.add(fit.data_sha256)
        if not fit.same_data(fit.data):
            raise DataError(
                f"{path}: the data of {fit.title} are not those that were saved (sha256 differs); "
                "the file is damaged, copy it once more"
            )
    wanted = {"model_name": model, "fit_type": fit_type, "file_name": file}
    found = [
        fit
        for fit in every
        if all(value in (None, getattr(fit, key)) for key, value in wanted.items())
    ]
    if not found:
        listed = "; ".join(fit.title for fit in every) or "none"
        raise DataError(f"{path}: has no such fit; it has: {listed}")
    return tuple(found)


def load_fit(
    path: str | Path,
    *,
    model: str | None = None,
    fit_type: str | None = None,
    file: str | None = None,
) -> Any:
    """The last fit of an archive, of that model, type and file if given: a :class:`StoredFit`,
    or :class:`StoredSlices` for slice-by-slice fits."""
    return load_fits(path, model=model, fit_type=fit_type, file=file)[-1]


def _stored(
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
        "table": table_of(contents["parameters"]),
        "measured": measured,
        "data": arrays.get(contents["data_sha256"]),
        "data_sha256": contents["data_sha256"],
    }
    if contents["kind"] == "fit":
        return StoredFit(
            **common,
            free_names=tuple(contents["free_names"]),
            covariance=contents.get("covariance"),
            statistics=contents["statistics"],
        )
    names = common["table"].names
    for what in ("values", "stderr", "start"):
        common[what] = dict(zip(names, np.asarray(contents[what]), strict=True))
    for what in ("rows", "redchi", "chisqr", "nfev"):
        common[what] = contents[what]
    return StoredSlices(
        **common, status=tuple(contents["status"]), message=tuple(contents["message"])
    )
