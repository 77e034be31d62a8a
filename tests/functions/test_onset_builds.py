"""Laws of motion and profiles of the table give the same bits on every instruction set: between
which two samples an onset falls does not depend on the machine, for formulas neither."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec._library import OPS, call_function, supported_isas
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.model import Measurement, load_model

LAWS = [name for name, op in OPS.items() if op.kind in ("DYNAMICS", "PROFILE") and op.params]
X = np.linspace(-3.0, 9.0, 173)


@pytest.mark.parametrize("n_rows", [1, 11])
@pytest.mark.parametrize("name", LAWS)
def test_builds_of_the_table_give_the_same_bits(name: str, n_rows: int) -> None:
    rng = np.random.default_rng(7)
    params = rng.uniform(0.1, 2.0, (len(OPS[name].params), n_rows))
    first, *others = [
        call_function(name, X, params, partials=True, isa=isa) for isa in supported_isas()
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
