"""Kernels against references for every row of the table, and both against exact arithmetic.

Parameter values are drawn from the row's own guards, so that a new row is covered at once.
Errors count in units of 2^-52 of the peak, as the table's tolerance does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.guarded import drawn
from support.kernel_calls import call_function

from pyspec._library import OPS, OpDef, supported_isas
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.functions import outside, reference
from pyspec.functions.grid import shirley_shares
from pyspec.model import Measurement, load_model

pytestmark = pytest.mark.sweep(4)

UNIT = 2.0**-52
N_ROWS = 11  # not a multiple of the lanes
AXES = {
    "even": np.linspace(-5.0, 5.0, 137),
    "descending": np.linspace(5.0, -5.0, 137),
    "uneven": np.sort(np.random.default_rng(3).uniform(-5.0, 5.0, 700)),
    "one point": np.array([0.37]),
}


#: A temperature whose kT is 1 eV: it acts on axes of a few eV.
KELVIN = 11604.5


def draw(op: OpDef, rng: np.random.Generator, n_rows: int = N_ROWS) -> np.ndarray:
    """(n_params, n_rows) parameters inside the domain of `op`, away from its edges."""
    params = drawn(op, rng, n_rows, lambda _: rng.uniform(0.5, 2.0, n_rows))
    if "T" in op.params:
        params[op.params.index("T")] *= KELVIN
    assert not np.any(outside(op, list(params))), f"{op.name}: cannot draw inside of its guards"
    return params


def spectrum_for(op: OpDef, rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    return rng.uniform(0.0, 1.0, shape) if op.spectrum_fed else None


def refer(op: OpDef, x: np.ndarray, params: Any, spectrum: Any) -> np.ndarray:
    columns = [np.asarray(row)[:, np.newaxis] for row in params]
    fed = [] if spectrum is None else [spectrum]
    value = np.asarray(reference(op.name)(x, *columns, *fed))
    return np.broadcast_to(value, (np.shape(params)[1], x.size))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", OPS)
def test_kernel_follows_reference(name: str, axis: str) -> None:
    op, x = OPS[name], AXES[axis]
    rng = np.random.default_rng(11)
    if op.formula.startswith("int "):  # the reference takes its time
        x = x[::20]
    for _ in range(1 if op.formula.startswith("int ") else 5):
        params = draw(op, rng)
        spectrum = spectrum_for(op, rng, (N_ROWS, x.size))
        expected = refer(op, x, params, spectrum)
        shares = shirley_shares(x) if op.kind == "SPECTRUM_FED" else None
        rows, _ = call_function(name, x, params, spectrum, shares=shares)
        fed = [None if spectrum is None else spectrum[[k]] for k in range(N_ROWS)]
        one_by_one = [
            call_function(name, x, params[:, [k]], fed[k], shares=shares)[0] for k in range(N_ROWS)
        ]
        peaks = np.abs(expected).max(axis=1, keepdims=True)
        for value, how in ((rows, "rows in lanes"), (np.concatenate(one_by_one), "one row")):
            errors = np.abs(value - expected) / np.where(peaks > 0, peaks, 1.0) / UNIT
            assert errors.max() <= 2 * op.tolerance, (
                f"{name}, {how}: {errors.max():.3g} units from the reference, the table allows "
                f"{op.tolerance} for either"
            )


def row_with(op: OpDef, isa: str, x: np.ndarray, params: Any, fed: Any, row: int) -> Any:
    """Value and partials of one row among others, (1 + n_params, n_x), NaN where there is NaN."""
    value, partials = call_function(op.name, x, params, fed, partials=True, isa=isa)
    assert partials is not None
    return np.concatenate([value[[row]], partials[:, row]])


@pytest.mark.parametrize("isa", supported_isas())
@pytest.mark.parametrize("name", OPS)
def test_neighbours_do_not_change_bits(name: str, isa: str) -> None:
    """Neither those of a usual size, nor NaN or beyond all sense, which make a kernel go its long
    way; and that derivatives are wanted does not change the value, in rows and across."""
    op, x = OPS[name], AXES["even"]
    if op.formula.startswith("int "):  # the kernel takes its time
        x = x[::4]
    for seed in range(5, 11):
        rng = np.random.default_rng(seed)
        params, others = draw(op, rng), draw(op, rng)
        if seed > 5:
            others[:, [0, 3]] *= [1e3, 1e60]
        if seed > 6:
            others[:, 5] = np.nan
        params[:] = params[:, [4]]
        others[:, 4] = params[:, 4]
        spectrum = spectrum_for(op, rng, (N_ROWS, x.size))
        if spectrum is not None:
            spectrum[:] = spectrum[4]
        one = None if spectrum is None else spectrum[[4]]
        with np.errstate(all="ignore"):
            alone = row_with(op, isa, x, params, spectrum, 4)
            among = row_with(op, isa, x, others, spectrum, 4)
            plain, _ = call_function(name, x, others, spectrum, isa=isa)
            across = row_with(op, isa, x, params[:, [4]], one, 0)
            plain_across, _ = call_function(name, x, params[:, [4]], one, isa=isa)
        np.testing.assert_array_equal(among, alone)
        np.testing.assert_array_equal(plain[4], alone[0])
        np.testing.assert_array_equal(plain_across[0], across[0])


@pytest.mark.parametrize("isa", supported_isas())
@pytest.mark.parametrize("name", ["DS", "DSBinding", "ErfStep", "AtanStep", "Mahan"])
def test_no_point_of_many_changes_its_bits(name: str, isa: str) -> None:
    """A logarithm built in two ways by the compiler had another last digit in 1 of 8,000 points."""
    op, x = OPS[name], np.linspace(-9.0, 9.0, 3001)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        params, others = draw(op, rng), draw(op, rng)
        others[:, 3] *= 1e60
        params[:] = params[:, [4]]
        others[:, 4] = params[:, 4]
        with np.errstate(all="ignore"):
            alone = row_with(op, isa, x, params, None, 4)
            among = row_with(op, isa, x, others, None, 4)
        np.testing.assert_array_equal(among, alone)


#: Between which two samples an onset falls does not depend on the machine.
LAWS = [name for name, op in OPS.items() if op.kind in ("DYNAMICS", "PROFILE") and op.params]


@pytest.mark.parametrize("n_rows", [1, 11])
@pytest.mark.parametrize("name", LAWS)
def test_builds_of_the_table_give_the_same_bits(name: str, n_rows: int) -> None:
    rng = np.random.default_rng(7)
    params = rng.uniform(0.1, 2.0, (len(OPS[name].params), n_rows))
    first, *others = [
        call_function(name, np.linspace(-3.0, 9.0, 173), params, partials=True, isa=isa)
        for isa in supported_isas()
    ]
    assert np.ptp(first[0]) > 0 or name == "constFun"
    for value, slopes in others:
        assert np.array_equal(value, first[0])
        assert np.array_equal(slopes, first[1])


FILE = """\
functions:
  Ramp:
    domain: time
    parameters: A, t0, w > 0, tau > 0
    formula: where(t < t0 + 0.3 * w, 0, A * exp(-((t - t0) * w + 0.1) / tau) * cos(w * t - t0))
m:
  Offset: {y0: [1, True]}
  Gauss: {A: [3, True], x0: [84, True], SD: [0.5, True]}
law:
  Ramp: {A: [1, True], t0: [0.1, True], w: [0.7, True], tau: [3, True]}
attached:
  m:
    Gauss_01_A: {dynamics: [law]}
"""


def test_an_onset_by_formula_falls_between_the_same_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sum with a product is rounded once where there is FMA, but not where it is compared."""
    model = load_model(FILE, "m")
    # The onset, as doubles round it, is itself a sample.
    time = np.sort(np.append(np.linspace(-1.0, 8.0, 60), 0.1 + 0.3 * 0.7))
    model.set_axes(energy=np.linspace(80.0, 88.0, 40), time=time)
    plan = make_plan(model)
    found = []
    for isa in supported_isas():
        monkeypatch.setattr("pyspec.executor.frame.ISA", isa)
        built = CompiledExecutor(plan, Measurement(data=np.zeros((61, 40))))
        traces = dict(zip(plan.row_names, built.traces(None), strict=True))
        found.append(traces["Gauss_01_A_resolved"])
    for trace in found:
        assert np.array_equal(trace != 3.0, time >= 0.1 + 0.3 * 0.7)
        assert np.allclose(trace, found[0], rtol=1e-15, atol=1e-15)
