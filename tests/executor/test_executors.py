"""Tree, interpreted and compiled mean the same; what each does with windows, data, threads."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from support.agreement import BACKENDS as THREE
from support.agreement import agreed
from support.zoo import ENERGY, TIME, ZOO, make_model

import pyspec._library as library
from pyspec.errors import BackendError, DataError, LibraryError
from pyspec.executor import (
    BACKENDS,
    CompareExecutor,
    CompiledExecutor,
    InterpretedExecutor,
    evaluate_2d,
    extract_theta,
    make_executor,
    make_plan,
)
from pyspec.model import Measurement


def noisy(name: str, seed: int = 0) -> np.ndarray:
    model = make_model(name)
    clean = make_executor(model, None, "compiled").run(model.theta())
    return clean + np.random.default_rng(seed).normal(0.0, 0.1, clean.shape)


@pytest.mark.parametrize("name", ZOO)
def test_agreement_at_random_parameters_and_scales(name: str) -> None:
    model = make_model(name)
    rng = np.random.default_rng(7)
    for _ in range(5):
        agreed(model, model.theta() * rng.uniform(0.7, 1.3, len(model.opt_param_names)))


@pytest.mark.parametrize("backend", THREE)
@pytest.mark.parametrize("name", ["two_shirleys", "doublet_sin", "seed_position", "one_peak"])
def test_window_equals_cropped(name: str, backend: str) -> None:
    model = make_model(name)
    full = make_executor(model, None, backend).run(model.theta())
    for rows, columns in [((3, 40), (20, 111)), ((0, 1), (0, 1)), ((44, 51), (150, 161))]:
        part = make_executor(model, Measurement(rows=rows, columns=columns), backend)
        cropped = full[slice(*rows), slice(*columns)]
        np.testing.assert_allclose(
            part.run(model.theta()), cropped, rtol=0, atol=1e-12 * np.abs(full).max()
        )


@pytest.mark.parametrize("backend", BACKENDS)
def test_residual_is_weighted_and_masked(backend: str) -> None:
    model, data = make_model("doublet_sin"), noisy("doublet_sin")
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2.0, ENERGY.size)
    keep = rng.uniform(size=data.shape) > 0.2
    rows, columns = (2, 45), (10, 150)
    measurement = Measurement(data=data, rows=rows, columns=columns, weight=weight, keep=keep)
    executor = make_executor(model, measurement, backend)
    expected = np.where(keep, (data - make_executor(model).run(model.theta())) * weight, 0.0)
    expected = expected[slice(*rows), slice(*columns)].ravel()
    residual = executor.residual(model.theta())
    np.testing.assert_allclose(residual, expected, rtol=0, atol=1e-11 * np.abs(data).max())
    assert (residual[~keep[slice(*rows), slice(*columns)].ravel()] == 0.0).all()


@pytest.mark.parametrize("backend", THREE)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint16, np.int32, ">f8"])
def test_data_types_and_strides(backend: str, dtype: str) -> None:
    model = make_model("one_peak")
    data = (noisy("one_peak") * 100 + 50).astype(dtype)
    reference = make_executor(model).run(model.theta())
    for layout in (data, np.asfortranarray(data), np.repeat(data, 2, axis=1)[:, ::2]):
        residual = make_executor(model, Measurement(data=layout), backend).residual(model.theta())
        np.testing.assert_allclose(
            residual, (data.astype(np.float64) - reference).ravel(), rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("backend", THREE)
def test_masked_nan_does_not_spread(backend: str) -> None:
    model, data = make_model("one_peak"), noisy("one_peak")
    keep = np.ones(data.shape, dtype=bool)
    data[4, 7], keep[4, 7] = np.nan, False
    residual = make_executor(model, Measurement(data=data, keep=keep), backend).residual(
        model.theta()
    )
    assert np.isfinite(residual).all()


@pytest.mark.parametrize("backend", THREE)
def test_fixed_values_are_inputs(backend: str) -> None:
    model = make_model("moved_backgrounds")
    executor = make_executor(model, None, backend)
    before = executor.run(model.theta())
    changed = executor.run(model.theta(), {"LinBack_xStart": 84.0})
    model.set_values({"LinBack_xStart": 84.0})
    expected = make_executor(model, None, backend).run(model.theta())
    np.testing.assert_array_equal(changed, expected)
    assert np.abs(changed - before).max() > 0.01
    np.testing.assert_array_equal(executor.run(make_model("moved_backgrounds").theta()), before)


@pytest.mark.parametrize("backend", THREE)
def test_rows_outside_a_domain_are_nan_and_only_they(backend: str) -> None:
    """SD = 0.7 + 0.5 exp(-t/12) turns negative where A does; the rows before t0 stay."""
    model = make_model("gauss_moved")
    theta = model.theta()
    theta[model.opt_param_names.index("Gauss_01_SD_expFun_01_A")] = -0.9
    spectrum = make_executor(model, None, backend).run(theta)
    width = 0.7 - np.where(TIME < 0.3, 0.0, 0.9 * np.exp(-(TIME - 0.3) / 12.0))
    np.testing.assert_array_equal(np.isnan(spectrum).all(axis=1), width <= 0.0)
    np.testing.assert_array_equal(np.isnan(spectrum).any(axis=1), width <= 0.0)
    assert (width <= 0.0).any()
    assert (width > 0.0).any()


@pytest.mark.parametrize("backend", THREE)
def test_law_outside_its_domain_is_nan_everywhere(backend: str) -> None:
    model = make_model("biexponential")
    theta = model.theta()
    theta[model.opt_param_names.index("GLP_01_A_expFun_01_tau")] = 0.0
    assert np.isnan(make_executor(model, None, backend).run(theta)).all()


def test_neighbouring_rows_do_not_change_bits() -> None:
    """A row alone, and among others in its tile, has the same bits."""
    model = make_model("seed_position")
    full = make_executor(model).run(model.theta())
    for row in (0, 7, 8, 33, TIME.size - 1):
        alone = make_executor(model, Measurement(rows=(row, row + 1))).run(model.theta())
        np.testing.assert_array_equal(alone[0], full[row])


@pytest.mark.parametrize("kind", [CompiledExecutor, InterpretedExecutor])
def test_executor_pickles(kind: type) -> None:
    model = make_model("doublet_sin")
    executor = kind(make_plan(model), Measurement(data=noisy("doublet_sin")))
    again = pickle.loads(pickle.dumps(executor))
    np.testing.assert_array_equal(again.residual(model.theta()), executor.residual(model.theta()))


@pytest.mark.parametrize("backend", THREE)
def test_residual_without_data(backend: str) -> None:
    model = make_model("one_peak")
    with pytest.raises(DataError, match="needs data"):
        make_executor(model, None, backend).residual(model.theta())


@pytest.mark.parametrize("backend", THREE)
def test_data_of_another_shape(backend: str) -> None:
    model = make_model("one_peak")
    with pytest.raises(DataError, match=r"\(161, 51\)"):
        make_executor(model, Measurement(data=np.zeros((161, 51))), backend)


@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_window_outside_of_the_axes(backend: str) -> None:
    with pytest.raises(DataError, match="empty or outside"):
        make_executor(make_model("one_peak"), Measurement(rows=(40, 99)), backend)


def test_compare_raises_where_executors_differ() -> None:
    model = make_model("one_peak")

    class Off(InterpretedExecutor):
        def run(self, theta: object, fixed: object = None) -> np.ndarray:
            spectrum = super().run(theta, fixed)  # type: ignore[arg-type]
            spectrum[3, 5] += 1e-8
            return spectrum

    plan = make_plan(model)
    compare = CompareExecutor([Off(plan), CompiledExecutor(plan)])
    with pytest.raises(BackendError, match=r"index \(3, 5\)"):
        compare.run(model.theta())


def test_traces_are_resolved_parameters() -> None:
    plan = make_plan(make_model("doublet_sin"))
    traces = CompiledExecutor(plan).traces(plan.theta)
    np.testing.assert_allclose(
        traces, InterpretedExecutor(plan).traces(plan.theta), rtol=1e-13, atol=1e-13
    )
    x0 = traces[plan.row_names.index("GLP_01_x0_resolved")]
    moved = -0.8 * np.sin(2 * np.pi * 0.08 * (TIME - 0.1) + 0.3)
    np.testing.assert_allclose(x0, 84.0 + np.where(TIME < 0.1, 0.0, moved), rtol=1e-14)
    np.testing.assert_array_equal(traces[plan.row_names.index("GLP_02_x0")], x0 + 3.67)


def test_library_errors_are_raised() -> None:
    with pytest.raises(LibraryError, match="unknown op"):
        library.raise_status(6, "somewhere")


def test_model_evaluate_and_evaluate_2d() -> None:
    model = make_model("doublet_sin")
    plan = make_plan(model)
    theta = extract_theta(plan, {name: par.value for name, par in model.parameters.items()})
    expected = evaluate_2d(plan, theta)  # type: ignore[arg-type]
    for backend in BACKENDS:
        np.testing.assert_allclose(
            model.evaluate(backend=backend), expected, rtol=0, atol=1e-10 * expected.max()
        )
