"""What the values of a map say of its fits, read from its store, and kept there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyspec.fit.bounds import near_bound
from pyspec.fit.findings.finding import warn
from pyspec.io.optional import need
from pyspec.workflow.maps.store import IDENTITY, MapStore

if TYPE_CHECKING:
    import xarray

#: A parameter at its bounds in more than this share of the spectra is a warning.
MANY = 0.1

#: The attributes that say it: of the whole map, and of one parameter.
ALL, ONE = "findings", "finding"


def kept_with_findings(store: MapStore) -> xarray.Dataset:
    """The Dataset of a complete store, as :func:`with_findings` gives it. The findings are written
    to the store."""
    dataset = with_findings(store.dataset())
    texts = {str(name): {ONE: dataset[name].attrs.get(ONE)} for name in dataset}
    store.tell({"": {ALL: dataset.attrs[ALL]}, **texts})
    return dataset


def with_findings(dataset: xarray.Dataset) -> xarray.Dataset:
    """The Dataset of a map with its findings. Each parameter has its sentence of :func:`at_bounds`
    as the attribute `finding`; the whole has all of them as `findings`, "" for none. Warns of
    parameters at their bounds in many spectra."""
    sentences = {}
    for name in dataset:
        dataset[name].attrs.pop(ONE, None)
    for name, (sentence, share) in at_bounds(dataset).items():
        sentences[name] = sentence
        dataset[name].attrs[ONE] = sentence
        if share > MANY:
            warn(f"map of {dataset.attrs['model']}", [sentence])
    return dataset.assign_attrs({ALL: "\n".join(sentences.values())})


def at_bounds(dataset: xarray.Dataset) -> dict[str, tuple[str, float]]:
    """A sentence for each free parameter that lies at a bound in some spectra, and their share; the
    largest share first.

    A value is at a bound if it differs by no more than rounding and has no standard error.
    """
    dask = need("dask", "a map", "zarr")
    rows = json.loads(dataset.attrs[IDENTITY])["model"]["parameters"]
    limits = {
        name: (float(low), float(high), start)
        for name, (start, vary, low, high, expr) in rows.items()
        if vary and expr is None
    }
    counts = {}
    for name, (low, high, start) in limits.items():
        values, no_error = dataset[name].data, dataset[f"{name}_stderr"].isnull().data
        near = [near_bound(bound, high - low, abs(start)) for bound in (low, high)]
        at_low = (values - low <= near[0]) & no_error
        at_high = (high - values <= near[1]) & no_error
        counts[name] = (values == values).sum(), at_low.sum(), at_high.sum()
    (counted,) = dask.compute(counts, scheduler="threads")
    sentences = {}
    for name, numbers in counted.items():
        n_spectra, n_low, n_high = map(int, numbers)
        if n_low + n_high:
            sides = zip((n_low, n_high), ("min", "max"), limits[name][:2], strict=True)
            where = ", ".join(f"{n:,} at its {side} {end:g}" for n, side, end in sides if n)
            text = (
                f"in {n_low + n_high:,} of {n_spectra:,} spectra {name} lies at a bound ({where}), "
                "which is not measured and has no standard error; leave these out, "
                f"found.{name}.where(found.{name}_stderr.notnull()), or fit with wider bounds"
            )
            sentences[name] = text, (n_low + n_high) / n_spectra
    return dict(sorted(sentences.items(), key=lambda entry: -entry[1][1]))
