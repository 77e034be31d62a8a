"""Laws under a measured instrument in whole models: executors agree, derivatives are differences,
sub-cycles follow one another, graphs and archives keep every sample."""

from __future__ import annotations

import numpy as np
import pytest
from support.agreement import agreed, check_slopes

from pyspec.ir import build_graph, parse_graph, print_graph
from pyspec.model import Model, load_dynamics, load_model
from pyspec.model.build.load import load_time_model

TIME = np.concatenate([np.linspace(-1, 2, 61), np.geomspace(2.1, 12, 30)])
LAWS = """
all:
  constFun: {A: [0.5, True]}
  measuredIRF: {time: [-0.31, -0.1, 0.013, 0.2, 0.75], response: [0.2, 1, 3, 0.7, 0]}
  stepFun: {A: [0.4, True], t0: [0.2134, True]}
  linFun: {m: [-0.02, True], t0: [0.2134, True], y0: [0.3, True]}
  expFun: {A: [1.2, True], tau: [0.4, True, 0.01, 10], t0: [0.2134, True], y0: [-0.2, True]}
  sinFun: {A: [0.3, True], f: [1.7, True], phi: [0.4, True], t0: [0.2134, True]}
  none: {}
"""
STATES = """
kinetics:
  reversible: {A -> B: k1, B -> A: k2, B -> C: k3, C: k4, start: {A: 1, C: share}}
states:
  measuredIRF: {time: [-0.31, -0.1, 0.013, 0.2, 0.75], response: [0.2, 1, 3, 0.7, 0]}
  reversible: {k1: [2, True], k2: [0.7, True], k3: [0.3, True], k4: [0.05, True],
               t0: [0.2134, True], share: [0.2, True], A: [1, True], B: [-2, True], C: [3, True]}
"""
PEAK = """
peak:
  Offset: {y0: [1, True]}
  Gauss: {A: [3, True], x0: [84, True], SD: [0.8, True]}
"""


def laws(irf: str = "") -> Model:
    text = LAWS.replace("  measuredIRF: {time: [-0.31, -0.1, 0.013, 0.2, 0.75], response: [0.2, 1, "
                        "3, 0.7, 0]}\n", irf) if irf else LAWS  # fmt: skip
    model = load_time_model(text, "all")
    model.set_axes(time=TIME)
    return model


def states() -> Model:
    model = load_time_model(STATES, "states")
    model.set_axes(time=TIME)
    return model


def peak() -> Model:
    model = load_model(PEAK, "peak")
    model.add_dynamics("Gauss_01_A", load_dynamics(LAWS, "all", "Gauss_01_A"))
    model.add_dynamics("Gauss_01_x0", load_dynamics(LAWS, "all", "Gauss_01_x0"))
    model.set_axes(energy=np.linspace(80, 90, 21), time=TIME)
    return model


@pytest.mark.parametrize("model", [laws(), peak(), states()], ids=["laws", "peak", "states"])
def test_derivatives_are_differences(model: Model) -> None:
    check_slopes(model, 3e-8, step=2e-6, halvings=0, least=1.0)


CYCLES = """
measured:
  measuredIRF: {time: [-0.4, -0.1, 0.05, 0.3], response: [0, 2, 1, 0]}
box:
  boxCONV: {width: [0.5, False]}
boxed:
  measuredIRF: {time: [-0.25, 0.25], response: [1, 1]}
neg:
  expFun: {A: [-1.5, true], tau: [0.7, true], t0: [0.0, false]}
pos:
  expFun: {A: ["-expFun_01_A"], tau: [0.9, true], t0: [0.3, false]}
  sinFun: {A: [0.3, true], f: [0.6, true], phi: [0.2, true], t0: [-0.2, false], y0: [0.1, true]}
"""


def turns(names: list[str], time: np.ndarray) -> Model:
    model = load_model(PEAK, "peak")
    model.add_dynamics("Gauss_01_A", load_dynamics(CYCLES, names, "Gauss_01_A", 0.25))
    model.set_axes(energy=np.linspace(80, 90, 5), time=time)
    return model


def test_sub_cycles_are_seen_by_it() -> None:
    """Executors agree; a box is what boxCONV makes of finely sampled laws."""
    time = np.linspace(-4.0, 15.75, 80)
    for instrument in ("measured", "boxed"):
        found = agreed(turns([instrument, "neg", "pos"], time))
    inside = (time > -2.5) & (time < 14.0)
    fine = np.unique(np.concatenate([np.linspace(-6.0, 17.0, 6001), time[inside]]))
    expected = turns(["box", "neg", "pos"], fine).evaluate()[np.searchsorted(fine, time[inside])]
    assert np.abs(found[inside] - expected).max() < 0.03


def drawn(rng: np.random.Generator) -> Model:
    """Laws and states of any speed behind a response of any shape."""
    n = int(rng.integers(2, 12))
    s = np.sort(rng.uniform(-1, 1, n)) * 10 ** rng.uniform(-3, 1)
    r = rng.uniform(0.01, 1, n)
    below = np.where(np.arange(n) == rng.integers(n), -0.2 * r, r)
    r = below if rng.random() < 0.4 and np.diff(s) @ (below[1:] + below[:-1]) > 0 else r
    onset = rng.uniform(-0.5, 3)
    y0 = f", y0: [{rng.normal()}, True]" if rng.random() < 0.5 else ""
    end = f"t0: [{onset}, True]{y0}}}\n"
    height = rng.normal() * 10 ** rng.uniform(-3, 6)
    tau, f, phi = 10 ** rng.uniform(-5, 5), 10 ** rng.uniform(-3, 1.5), rng.uniform(-4, 4)
    rates = {k: 10 ** rng.uniform(-3, 2) for k in (1, 2, 3)}
    rates[2] = rates[1] if rng.random() < 0.3 else rates[2]
    found = {
        "stepFun": f"  stepFun: {{A: [{height}, True], {end}",
        "linFun": f"  linFun: {{m: [{height}, True], {end}",
        "expFun": f"  expFun: {{A: [{height}, True], tau: [{tau}, True], {end}",
        "sinFun": f"  sinFun: {{A: [{height}, True], f: [{f}, True], phi: [{phi}, True], {end}",
        "dampedSinFun": f"  dampedSinFun: {{A: [{height}, True], f: [{f}, True], "
        f"phi: [{phi}, True], tau: [{tau}, True], {end}",
        "none": "  none: {}\n",
        "chain": f"  chain: {{{', '.join(f'k{k}: [{one}, True]' for k, one in rates.items())}, "
        f"t0: [{onset}, True], A: [{height}, True], C: [{height}, True]}}\n",
    }
    chosen = rng.choice(list(found), int(rng.integers(1, 4)))
    text = (
        "kinetics:\n  chain: {A -> B: k1, B -> A: k2, B -> C: k2, C: k3}\ndrawn:\n"
        f"  measuredIRF: {{time: {s.tolist()}, response: {r.tolist()}}}\n"
        + "".join(found[name] for name in chosen)
    )
    model = load_time_model(text, "drawn")
    model.set_axes(time=np.sort(rng.uniform(-2, 12, 40)))
    return model


def test_executors_agree_on_whatever_is_drawn() -> None:
    for seed in range(20):
        model = drawn(np.random.default_rng(seed))
        assert np.all(np.isfinite(agreed(model))), seed
        graph = build_graph(model)
        assert parse_graph(print_graph(graph)).fingerprint == graph.fingerprint
        assert load_time_model(model.to_yaml(), "drawn").to_yaml() == model.to_yaml()
