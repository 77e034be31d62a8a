"""What users of lmfit type on a result, and emcee."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import lmfit
import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import fit_model
from pyspec.fit import FitResult
from pyspec.functions.response import expFun_gaussIRF, stepFun_gaussIRF
from pyspec.model import Measurement, Model, load_dynamics

X = np.linspace(80.0, 90.0, 61)
T = np.linspace(-2.0, 8.0, 23)
TEXT = """
parameters:
  tau: [3, True, 0.1, 20]
m:
  Offset: {y0: [2, True, 0, 9]}
  Shirley: {pShirley: [0.01, True, 0, 1]}
  Gauss: {A: [10, True, 0, 99], x0: [84, True, 82, 86], SD: [0.5, True, 0.1, 3]}
  Gauss: {A: ["Gauss_01_A / 2"], x0: ["Gauss_01_x0 + 3"], SD: ["Gauss_01_SD"]}
"""
LAW = """
d:
  gaussIRF: {SD: [0.3, False]}
  expFun: {A: [-3, True, -9, 0], tau: [tau], t0: [0, False]}
"""
FREE = """
decays:
  constFun: {A: [0.5, True]}
  gaussIRF: {SD: [0.25, True, 0.05, 2]}
  expFun: {A: {free: energy}, tau: [1.5, True, 0.1, 10], t0: [0, True]}
  stepFun: {A: {free: energy}, t0: ["expFun_01_t0"]}
"""


def model(*, moves: bool) -> Model:
    made = loaded(TEXT, "m", energy=X, time=T if moves else None)
    if moves:
        made.add_dynamics("Gauss_01_A", load_dynamics(LAW, "d", "Gauss_01_A"))
    return made


def fitted(*, moves: bool, noise: str = "gaussian", **options: Any) -> FitResult:
    made = model(moves=moves)
    clean, draw = made.evaluate(), np.random.default_rng(0)
    mask = np.zeros(clean.shape, bool)
    mask[..., 7] = True
    if noise == "poisson":
        measurement = Measurement(draw.poisson(clean), loss="poisson", mask=mask)
    else:
        data, weight = clean + draw.normal(0.0, 0.1, clean.shape), np.full(clean.shape, 10.0)
        rows = (2, 20) if moves else None
        measurement = Measurement(data, rows, (5, 50), weight=weight, mask=mask)
    return fit_model(made, measurement, **options)


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("noise", ["gaussian", "poisson"])
def test_lmfit_names(moves: bool, noise: str) -> None:
    result = fitted(moves=moves, noise=noise)
    assert result.best_fit is result.fit
    assert result.best_values == result.values
    assert result.init_values == result.start
    assert result.init_fit.shape == result.data.shape == result.weighted_residual.shape
    assert float((result.weighted_residual**2).sum()) == pytest.approx(result.chisqr, rel=1e-12)
    np.testing.assert_array_equal(result.residual, result.data - result.fit)
    assert "Gauss_01_x0:" in result.fit_report(show_correl=False)


def test_components_of_free_spectra_add_up() -> None:
    made = loaded(FREE, "decays", energy=X, time=T)
    data = 0.7 + np.outer(expFun_gaussIRF(T, 3.0, 2.0, 0.1, 0.3), np.sin(X))
    data += np.outer(stepFun_gaussIRF(T, 2.0, 0.1, 0.3), np.cos(X))
    data += np.random.default_rng(0).normal(0, 0.05, data.shape)
    result = fit_model(made, Measurement(data, columns=(3, 50)))
    parts = result.eval_components()
    assert list(parts) == ["constFun_01", "expFun_01", "stepFun_01"]
    np.testing.assert_allclose(sum(parts.values()), result.fit, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts["constFun_01"], result.values["constFun_01_A"])
    width, onset = result.values["gaussIRF_SD"], result.values["expFun_01_t0"]
    want = np.outer(stepFun_gaussIRF(T, 1.0, onset, width), result.amplitudes["stepFun_01_A"])
    np.testing.assert_allclose(parts["stepFun_01"], want, rtol=1e-12, atol=1e-14)


def test_a_native_fit_needs_no_lmfit_and_no_scipy(tmp_path: Path) -> None:
    """Importing them takes longer than all else."""
    code = (
        "import sys, numpy as np, pyspec;"
        "from pyspec.model import Measurement, load_model;"
        "model = load_model('m:\\n  Offset: {y0: [1, True]}\\n', 'm');"
        "model.set_axes(energy=np.arange(60.0));"
        "noise = np.random.default_rng(0).normal(size=60);"
        "result = pyspec.fit_model(model, Measurement(data=noise));"
        "assert result.success and result.values and str(result);"
        "pyspec.save_fit('fit.h5', result); again = pyspec.load_fit('fit.h5');"
        "assert again.values == result.values and str(again.table) == str(result.table);"
        "assert again.predict(energy=[2.5]).stderr == result.predict(energy=[2.5]).stderr;"
        "assert not {'lmfit', 'scipy', 'scipy.optimize'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


@pytest.mark.parametrize("method", ["native", "leastsq"])
def test_reports_of_lmfit_show_what_follows_with_its_error(method: str) -> None:
    """Copies keep all of it, and JSON of the parameters can be loaded."""
    result = fitted(moves=False, method=method)
    assert result._expressions
    for one in (result, copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        report = one.fit_report()
        assert f"# function evals   = {result.nfev}\n" in report
        for name, text in result._expressions.items():
            line = next(line for line in report.splitlines() if line.strip().startswith(name))
            assert line.endswith(f"== '{text}'"), line
            assert "+/-" in line
            par = copy.deepcopy(one.params)[name]
            assert (par.expr, par.vary, par.value) == (text, False, result.values[name])
            assert repr(par).endswith(f"+/- {result.stderr[name]:.3g}, expr='{text}'>")
    loaded = lmfit.Parameters().loads(result.params.dumps())
    assert loaded.valuesdict() == result.values
    assert [par.stderr for par in loaded.values()] == [result.stderr[name] for name in loaded]
    par = result.params[next(iter(result._expressions))]
    par.set(vary=True)
    assert par.expr is None
    par.set(expr="1 + 1")
    assert (par.expr, par.value) == ("1 + 1", 2)
