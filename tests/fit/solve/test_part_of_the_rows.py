"""Fits of many rows begin on a part of them: less work, the same end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.fit_cases import agree

from pyspec import FitResult, Measurement, Model, fit_model, load_dynamics, load_model
from pyspec.fit.solve.native import NativeSolver

TEXT = """
m:
  Offset: {y0: [5, True, 0, 20]}
  Gauss: {A: [40, True, 0, 200], x0: [84, True, 80, 90], SD: [0.8, True, 0.1, 5]}
law:
  gaussIRF: {SD: [0.8, False]}
  expFun: {A: [1.2, True, -5, 5], tau: [9, True, 0.1, 100], t0: [0.4, True, -5, 5]}
"""
START = {"Gauss_01_A": 30.0, "Gauss_01_x0": 84.6, "Gauss_01_SD": 1.1, "Offset_y0": 6.5}
LAW = {"A": 0.7, "tau": 6.0, "t0": 1.0}
N_ROWS, N_COLUMNS = 400, 60

#: The rows of the part: one tile of eight rows of each eight, five places on from one to the next.
TILE = np.arange(N_ROWS) // 8
TAKEN = TILE % 8 == (TILE // 8 * 5 + 4) % 8


def moving(text: str, first: float = -10, last: float = 40) -> Model:
    found = load_model(text, "m")
    found.add_dynamics("Gauss_01_x0", load_dynamics(text, "law", "Gauss_01_x0"))
    found.set_axes(np.linspace(80, 90, N_COLUMNS), np.linspace(first, last, N_ROWS))
    return found


@pytest.fixture(scope="module")
def model() -> Model:
    return moving(TEXT)


@pytest.fixture(scope="module")
def measured(model: Model) -> Measurement:
    noise = np.random.default_rng(0).normal(0, 1, (N_ROWS, N_COLUMNS))
    return Measurement(model.evaluate() + noise)


def start(model: Model) -> Model:
    """The same from afar."""
    found = model.copy()
    found.set_values(START | {f"Gauss_01_x0_expFun_01_{name}": v for name, v in LAW.items()})
    return found


@pytest.fixture
def all_rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A fit all of whose evaluations are of all rows."""

    def fit(*given: Any, **options: Any) -> FitResult:
        with monkeypatch.context() as now:
            now.setattr(NativeSolver, "every", 1)
            return fit_model(*given, **options)

    return fit


@pytest.mark.parametrize("dress", ["plain", "sigma", "mask", "window", "counts"])
def test_it_ends_at_the_same_optimum_after_fewer_evaluations(
    model: Model, measured: Measurement, all_rows: Any, dress: str
) -> None:
    data = np.asarray(measured.data)
    weight = np.linspace(0.7, 1.4, data.size).reshape(data.shape)
    given = {
        "plain": lambda: measured,
        "sigma": lambda: Measurement(data, weight=weight),
        "mask": lambda: Measurement(data, keep=np.random.default_rng(1).random(data.shape) > 0.2),
        "window": lambda: Measurement(data, rows=(3, 395), columns=(2, 57)),
        "counts": lambda: Measurement(
            np.random.default_rng(2).poisson(model.evaluate()).astype(float), loss="poisson"
        ),
    }[dress]()
    begun, whole = fit_model(start(model), given), all_rows(start(model), given)
    assert begun.success
    assert whole.success
    agree(begun, whole)
    assert begun.chisqr == pytest.approx(whole.chisqr, rel=1e-12)
    # A part that leads nowhere takes two, and one of all rows.
    assert begun.nfev < whole.nfev + (0 if dress == "plain" else 4)


def test_a_fit_from_its_optimum_takes_one_evaluation(model: Model, measured: Measurement) -> None:
    """The optimum of a part is another one: it must not be sought from here."""
    first = fit_model(start(model), measured)
    again = fit_model(first.model, measured)
    assert again.nfev == 1
    assert again.chisqr == first.chisqr
    assert np.array_equal(again.theta, first.theta)


def test_a_part_that_misleads_is_left_again(model: Model, all_rows: Any) -> None:
    """In the part there is another line than in the other rows: its optimum is not theirs."""
    elsewhere = model.copy()
    elsewhere.set_values({"Gauss_01_x0": 87.0, "Gauss_01_A": 90.0})
    data = np.where(TAKEN[:, None], elsewhere.evaluate(), model.evaluate())
    given = Measurement(data + np.random.default_rng(0).normal(0, 0.01, data.shape))
    begun, whole = fit_model(start(model), given), all_rows(start(model), given)
    assert begun.success == whole.success
    assert begun.chisqr == pytest.approx(whole.chisqr, rel=1e-9)


@pytest.mark.parametrize("seed", [22, 964])
def test_an_onset_within_few_rows_is_found(seed: int) -> None:
    """The part has few rows of it, or none; its optimum leads to a reduced chi² of 1.3 to 1.9."""
    text = TEXT.replace("[0.8, False]", "[0.4, True, 0.02, 5]")
    text = text.replace("[0.4, True, -5, 5]", "[30, True, -20, 80]").replace("[9, ", "[1.0, ")
    model = moving(text, -20, 80)
    rng = np.random.default_rng(seed)
    spread = np.array([0.2, 0.2, 0.006, 0.2, 0.2, 0.2, 0.8, 0.2])
    away = np.array([0.3, 0.3, 0.003, 0.25, 0.25, 0.25, 0.06, 0.3])
    truth = model.theta() * (1 + spread * rng.uniform(-1, 1, 8))
    begin = truth * (1 + away * rng.uniform(-1, 1, 8))
    model.set_values(dict(zip(model.opt_param_names, truth.tolist(), strict=True)))
    data = model.evaluate() + rng.normal(0, 1, (N_ROWS, N_COLUMNS))
    model.set_values(dict(zip(model.opt_param_names, begin.tolist(), strict=True)))
    found = fit_model(model, Measurement(data))
    assert found.success
    assert 0.95 < found.redchi < 1.05


def test_a_motion_that_is_small_beside_the_noise_is_found(all_rows: Any) -> None:
    """A strong line moves by a hundredth of its width, of which the part says little; its optimum
    leads to a reduced chi² of 1.03 to 1.08."""
    text = TEXT.replace("[40, True, 0, 200]", "[400, True, 0, 2000]")
    text = text.replace("[1.2, True", "[0.01, True").replace(
        "[0.4, True, -5, 5]", "[2, True, -9, 30]"
    )
    model = moving(text)
    rng = np.random.default_rng(7)
    measured = Measurement(model.evaluate() + rng.normal(0, 1, (N_ROWS, N_COLUMNS)))
    begin = model.theta() * (1 + 0.4 * rng.uniform(-1, 1, model.theta().size))
    begin[model.opt_param_names.index("Gauss_01_x0")] = 84 + rng.uniform(-0.4, 0.4)
    model.set_values(dict(zip(model.opt_param_names, begin.tolist(), strict=True)))
    begun, whole = fit_model(model, measured), all_rows(model, measured)
    assert begun.success
    assert whole.success
    assert begun.chisqr == pytest.approx(whole.chisqr, rel=1e-9)
    assert begun.nfev <= whole.nfev + 5


def test_a_start_near_the_optimum_is_known_before_the_fit_can_stop(
    model: Model, measured: Measurement
) -> None:
    """Its part of the rows is left at once; an infinite chi² was told, and no point was known."""
    near = fit_model(start(model), measured).model
    near.set_values({"Gauss_01_x0": near.parameters["Gauss_01_x0"].value + 1e-3})
    seen: list[tuple[int, float]] = []
    result = fit_model(near, measured, progress=lambda n, chisqr, best: seen.append((n, chisqr)))
    assert [n for n, _ in seen] == list(range(1, result.nfev + 1))
    assert np.isfinite([chisqr for _, chisqr in seen]).all()
    stopped = fit_model(near, measured, max_seconds=1e-9)
    assert stopped.nfev == 1
    assert stopped.chisqr == seen[0][1]
