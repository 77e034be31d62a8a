"""A point of weight 0 is left out as a masked one is: noise could not be told from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import FitResult, Measurement, Model, fit_joint, fit_many, fit_model, fit_slices
from pyspec.components import GLP, Offset
from pyspec.io import by_reference

ENERGY, TIME = np.linspace(0.0, 10.0, 81), np.arange(24.0)
COLUMNS = ENERGY < 2.0
ROWS = TIME < 5.0


def peak(*, moves: bool = True) -> Model:
    model = Model("peak", [Offset(1.0), GLP(A=(10, 0, 99), x0=(5, 3, 7), F=(1, 0.1, 5), m=0.3)])
    model.set_axes(energy=ENERGY, time=TIME if moves else None)
    return model


def data() -> Any:
    return np.random.default_rng(3).normal(peak().evaluate(), 0.1)


def stored(array: Any, path: Path) -> Any:
    np.save(path, array)
    return by_reference(np.load(path, mmap_mode="r"))


#: Weights, and the mask that says the same.
WEIGHTS: dict[str, tuple[Any, Any]] = {
    "columns": (np.where(COLUMNS, 0.0, 10.0), COLUMNS),
    "rows": (np.where(ROWS, 0.0, 10.0)[:, None], ROWS[:, None] | np.zeros((24, 81), bool)),
    "points": (np.where(ROWS[:, None] & COLUMNS, 0.0, 10.0), ROWS[:, None] & COLUMNS),
}


def same(one: FitResult, other: FitResult) -> None:
    assert one.n_data == other.n_data
    assert one.redchi == pytest.approx(other.redchi, rel=1e-12)
    assert one.stderr == pytest.approx(other.stderr, rel=1e-9)


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_of_0_are_a_mask(name: str) -> None:
    weight, mask = WEIGHTS[name]
    found = fit_model(peak(), Measurement(data=data(), weight=weight))
    same(found, fit_model(peak(), Measurement(data=data(), weight=10.0, mask=mask)))
    assert found.n_data == np.count_nonzero(np.broadcast_to(weight, (24, 81)))
    assert found.redchi == pytest.approx(1.0, abs=0.1)


def test_with_a_mask_both_count() -> None:
    weight, mask = WEIGHTS["points"]
    other = ENERGY > 8.0
    found = fit_model(peak(), Measurement(data=data(), weight=weight, mask=other))
    same(found, fit_model(peak(), Measurement(data=data(), weight=10.0, mask=mask | other)))


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("is_stored", [False, True], ids=["weights in memory", "both stored"])
def test_data_by_reference(name: str, is_stored: bool, tmp_path: Path) -> None:
    weight, _ = WEIGHTS[name]
    series = stored(data(), tmp_path / "data.npy")
    whole = np.broadcast_to(weight, (24, 81))
    given = stored(whole, tmp_path / "weight.npy") if is_stored else weight
    found = fit_model(peak(), Measurement(data=series, weight=given))
    same(found, fit_model(peak(), Measurement(data=data(), weight=whole)))


def _slices(measurement: Measurement) -> list[Any]:
    return [one.result for one in fit_slices(peak(moves=False), measurement)]


def _many(measurement: Measurement) -> list[Any]:
    return list(fit_many(peak(), [measurement, measurement]))


def _joint(measurement: Measurement) -> list[Any]:
    return list(fit_joint([(peak(), measurement), (peak(), measurement)]))


@pytest.mark.parametrize("fits", [_slices, _many, _joint])
def test_fits_of_several(fits: Callable[[Measurement], list[Any]]) -> None:
    weight, mask = WEIGHTS["columns"]
    zeros = fits(Measurement(data=data(), weight=np.broadcast_to(weight, (24, 81))))
    masked = fits(Measurement(data=data(), weight=10.0, mask=mask))
    assert len(zeros) == len(masked) > 1
    for one, other in zip(zeros, masked, strict=True):
        assert one.stderr == pytest.approx(other.stderr, rel=1e-7)
