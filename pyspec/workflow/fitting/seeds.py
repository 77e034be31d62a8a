"""Where the start values of a fit come from: the model, a baseline fit, or what is given."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.calls import one_of, real
from pyspec.errors import FitError, suggest
from pyspec.fit import FitResult, SliceResults
from pyspec.model import Measurement, Model
from pyspec.model.data.windows import places_on, slice_of
from pyspec.workflow.data.labelled import refuse_other_order
from pyspec.workflow.fitting.shifts import Shifts

Array = npt.NDArray[np.float64]

#: Where the start values of a 2D fit, and of one spectrum, may come from.
SOURCES, STILL_SOURCES = ("baseline", "model"), ("model",)

#: How a result says so.
MODEL_VALUES, BASELINE = "the model's values", "the baseline fit"


def check_source(source: str | None, sources: Sequence[str]) -> None:
    """Raises :class:`FitError` for a source of start values that is none."""
    if source is not None and source not in sources:
        hint = suggest(str(source), list(sources))
        raise FitError(
            f"seed_source must be {' or '.join(map(repr, sources))}, not {source!r}{hint}"
        )


def seed_from(model: Model, baseline: FitResult, by_hand: Container[str] = ()) -> None:
    """Best values of the baseline, by name; outside of the model's bounds is an error.

    A fixed parameter keeps its own value if that was set `by_hand`, or if the baseline did not fit
    it either.
    """
    values, before = baseline.values, baseline.model.parameters
    seeds = {}
    for name, par in model.parameters.items():
        if name not in values or par.formula is not None:
            continue
        was_fixed = not before[name].vary and before[name].formula is None
        if not par.vary and (was_fixed or name in by_hand):
            continue
        value = values[name]
        if not par.min <= value <= par.max:
            raise FitError(
                f"{par.place}: the baseline fit gave {name} = {value:g}, outside of the bounds "
                f"[{par.min:g}, {par.max:g}] of model {model.name!r}; widen them, or start from "
                "the model's own values with seed_source='model'"
            )
        seeds[name] = value
    model.set_values(seeds)


def slice_seeds(
    model: Model,
    series: Measurement,
    times: npt.NDArray[np.float64],
    source: str,
    values: object,
    adapt: str | None,
    baseline: FitResult | None,
    by_hand: Container[str] = (),
) -> list[dict[str, float]]:
    """Start values of every slice of the window.

    `source` "model" starts all from the model, "baseline" from the best baseline (see
    :func:`seed_from`). "explicit" takes `values`: name → a number or (n_slices,), a DataFrame with
    such columns, a list of such dicts, or fitted slices. `adapt` "argmax_shift" then shifts every
    free ``…_x0`` within its bounds, if that comes nearer to the slice. The shift is the distance of
    the slice's maximum from that of the baseline (without a baseline, of the model).
    :class:`~pyspec.workflow.fitting.shifts.Shifts` also tries the distance of another peak that
    became the highest. It moves lines that part to either side. The baseline's maximum is that
    within the window of the slices, wherever it was fitted.
    """
    n = times.size
    one_of("seed_source", source, SEED_SOURCES, FitError)
    if adapt not in (None, "argmax_shift"):
        raise FitError(f"seed_adapt must be 'argmax_shift' or None, not {adapt!r}")
    if (values is not None) != (source == "explicit"):
        raise FitError("seed_values go with seed_source='explicit', and it with them")
    if source == "baseline":
        if baseline is None:
            raise FitError(
                "seed_source='baseline', but no baseline was fitted yet; call fit_baseline, or "
                "use seed_source='model'"
            )
        seed_from(model, baseline, by_hand)
    if isinstance(values, SliceResults):
        values = _of_slices(values, model, times)
    seeds = _explicit(values, times) if values is not None else [{} for _ in range(n)]
    if adapt == "argmax_shift" and source != "explicit":
        home = None if baseline is None else _home(baseline, model, series)
        shift_seeds(model, series, seeds, home)
    return seeds


def _home(baseline: FitResult, model: Model, series: Measurement) -> float | None:
    """The energy of the baseline's maximum within the window of a series; None where the baseline
    has no point there."""
    seen, energy, own = baseline.measurement, model.energy, baseline.model.energy
    assert seen.data is not None
    assert energy is not None
    assert own is not None
    window = energy[slice_of(series.columns)]
    inside = (own >= window.min()) & (own <= window.max()) & np.isfinite(seen.data)
    if seen.keep is not None:
        inside &= seen.keep
    return float(own[inside][np.argmax(seen.data[inside])]) if inside.any() else None


SEED_SOURCES = ("model", "baseline", "explicit")


def _of_slices(slices: SliceResults, model: Model, times: Array) -> list[dict[str, float]]:
    """Values of fitted slices for the free parameters of `model`, at the same times, clipped to its
    bounds; none where a slice has no value."""
    own = np.asarray(slices.time)
    rows = places_on(own, times)
    lost = times[rows < 0]
    if lost.size:
        raise FitError(
            f"seed_values are slices without the time {lost[0]:g} of the window, one of {lost.size}"
            "; fit the slices of the same times, or give arrays by name, one value a slice"
        )
    free = {
        name: par
        for name, par in model.parameters.items()
        if par.vary and par.formula is None and name in slices.values
    }
    columns = {
        name: np.clip(slices.values[name][rows], par.min, par.max) for name, par in free.items()
    }
    return [
        {name: float(column[k]) for name, column in columns.items() if np.isfinite(column[k])}
        for k in range(times.size)
    ]


def _explicit(values: object, times: Array) -> list[dict[str, float]]:
    n = times.size
    if isinstance(values, Sequence) and not isinstance(values, str):
        if len(values) != n or not all(hasattr(row, "keys") for row in values):
            raise FitError(
                f"seed_values has {len(values)} entries for {n} slices; give one dict of name → "
                "value a slice, or name → values"
            )
        rows = [dict(row) for row in values]
        return [
            {str(name): float(_column(name, value, 1)[0]) for name, value in row.items()}
            for row in rows
        ]
    if not (hasattr(values, "keys") and hasattr(values, "__getitem__")):
        raise FitError("seed_values must be name → value or array, a DataFrame, or a list of dicts")
    refuse_other_order("seed_values", values, times)
    columns = {}
    for name in values.keys():  # noqa: SIM118  (a DataFrame too)
        refuse_other_order(f"seed_values of {name}", values[name], times)
        columns[str(name)] = _column(name, values[name], n)
    return [{name: float(column[k]) for name, column in columns.items()} for k in range(n)]


def _column(name: object, values: object, n: int) -> Array:
    """The values of one parameter for n slices."""
    column = real(f"seed_values of {name}", values)
    if column.shape not in ((), (n,)):
        raise FitError(
            f"seed_values of {name} have shape {column.shape}; give a number or ({n},), one a slice"
        )
    return np.broadcast_to(column, (n,))


def shift_seeds(
    model: Model, series: Measurement, seeds: list[dict[str, float]], home: float | None = None
) -> None:
    """Moves the start of every free ``…_x0`` (see :func:`slice_seeds`) by the distance of a
    spectrum's maximum from the energy `home`, by default that of the model's maximum."""
    energy = model.energy
    assert energy is not None
    assert series.data is not None
    window = slice_of(series.columns)
    axis = energy[window]
    data = np.asarray(series.window(series.data), dtype=np.float64)
    if series.keep is not None:
        data = np.where(series.window(series.keep), data, -np.inf)
    shifts = Shifts(model, window)
    home = shifts.home() if home is None else home
    for seed, spectrum in zip(seeds, data, strict=True):
        highest = float(axis[int(np.argmax(spectrum))])
        seed |= shifts.best(spectrum, np.isfinite(spectrum), highest - home, highest)
