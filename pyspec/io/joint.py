"""A joint fit from an archive: the fits of its files, put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspec.calls import answered
from pyspec.errors import CallError, DataError, shortened
from pyspec.fit import JointResult, fit_joint
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.io.restored import REFIT_FROM, moved
from pyspec.io.stored import StoredFit, StoredSlices


@answered
def refit_joint(
    fits: Sequence[StoredFit | StoredSlices], *, start: str = "best", **options: Any
) -> JointResult:
    """Fits the files of a joint fit together again, from what an archive holds of each.

    From the best values this takes one or two evaluations. It recovers what the parts do not hold:
    the covariance across files, curves, and spectra that several files share.

    Parameters
    ----------
    fits : of all its files, as :func:`pyspec.load_fits` returns them, with their data; others
        of the archive, such as baselines, slices and earlier joint fits of the same model, are
        left out
    start : "best", or "initial" for the start values of the saved fit
    options : of :func:`pyspec.fit_joint`; they override the settings that were saved

    Returns a :class:`JointResult`. Its findings say where values have moved, as they do where other
    files took part in the saved fit.

    Raises :class:`DataError` for fewer than two fits, for fits without data, and for those of
    several joint fits none of which is the last: of several models, or of other files each.
    """
    parts: list[Any] = [fits] if isinstance(fits, StoredFit) else list(fits)
    if all(isinstance(one, (StoredFit, StoredSlices)) for one in parts):
        parts = _last_joint([one for one in parts if getattr(one, "of_joint", False)]) or parts
    other = next((one for one in parts if not isinstance(one, StoredFit)), None)
    if other is not None:
        raise CallError(
            f"refit_joint takes the fits of load_fits(path), not {shortened(other)}; slices and "
            "paths have no part in a joint fit"
        )
    if len(parts) < 2:
        raise DataError(
            f"refit_joint got {len(parts)} fit; give those of all files that were fitted together"
        )
    given = parts[0].refit_options(options, start=start)
    names = [one.file_name or f"file{k:02d}" for k, one in enumerate(parts)]
    joint = fit_joint(
        [(one.model(start), one.measurement()) for one in parts],
        names=given.pop("names", names),
        **given,
    )
    joint.started_from = REFIT_FROM[start]
    gone = {
        name
        for one, part in zip(parts, joint, strict=True)
        for name in moved(one.values, one.stderr, part)
    }
    if gone:
        told = Finding(Kind.MOVED, tuple(sorted(gone)))
        joint._findings = (*joint._findings, told)
    return joint


def _last_joint(joined: Sequence[StoredFit]) -> list[StoredFit]:
    """The parts of that joint fit after which none of its files has another one of the same model.
    Parts of one fit have the seconds that it took in common."""
    last = {(one.file_name, one.model_name): one.statistics["seconds"] for one in joined}
    fits: dict[float, dict[Any, StoredFit]] = {}
    for one in joined:  # a part that was saved again, with samples, takes the place of the first
        own = one.file_name or (one.data_sha256, *one.values.values())
        fits.setdefault(one.statistics["seconds"], {})[own] = one
    ends = [
        list(parts.values())
        for seconds, parts in fits.items()
        if all(last[one.file_name, one.model_name] == seconds for one in parts.values())
    ]
    if fits and len(ends) != 1:
        of = [
            ", ".join(one.file_name or "no name" for one in each.values()) for each in fits.values()
        ]
        models = [next(iter(each.values())).model_name for each in fits.values()]
        shown = ", ".join(f"'{model} of {files}'" for model, files in zip(models, of, strict=True))
        raise DataError(
            f"refit_joint got the parts of {len(fits)} joint fits, {shown}; give those of one, "
            f"such as load_fits(path, model={joined[-1].model_name!r}), or of its files alone"
        )
    return ends[0] if ends else []
