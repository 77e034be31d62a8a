"""Fits of a graph that nobody wrote as a model file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyspec import Measurement, fit_model
from pyspec.errors import PlanError
from pyspec.ir import EdgeKind, GraphBuilder, GraphIR, NodeKind
from pyspec.ir.graph import DomainKind
from pyspec.model import load_model

ENERGY = np.linspace(0.0, 10.0, 41)
TIME = np.linspace(-2.0, 20.0, 67)

WRITTEN = """
parameters:
  onset: [0.1, True]
  chirp: [0.02, True]
  seen: ["onset + chirp * energy"]
m:
  gaussIRF: {SD: [0.3, True, 0.01, 2]}
  expFun: {A: {free: energy, min: 0}, tau: [3, True, 0.1, 30], t0: ["seen"]}
"""


def drawn() -> GraphIR:
    """A decay whose spectrum is free and whose onset depends on the energy."""
    out = GraphBuilder()

    def free(name: str, value: float, low: float, high: float) -> int:
        return out.node(NodeKind.OPT_PARAM, name, value=value, vary=True, bounds=(low, high))

    width, tau = free("width", 0.3, 0.01, 2.0), free("tau", 3.0, 0.1, 30.0)
    onset, chirp = free("onset", 0.1, -1.0, 1.0), free("chirp", 0.02, -1.0, 1.0)
    height = out.node(NodeKind.FREE_VECTOR, "spectrum", axis="energy", positive=True)
    energy = out.node(NodeKind.AXIS, "energy", axis="energy")
    seen = out.node(NodeKind.EXPRESSION, "seen", expr_string="onset + chirp * energy")
    for position, source in enumerate((onset, chirp, energy)):
        out.edge(source, seen, EdgeKind.EXPR_REF, position)
    law = out.node(NodeKind.DYNAMICS_TRACE, "expFun_01", function_name="expFun", package="time")
    for position, source in enumerate((height, tau, seen)):
        out.edge(source, law, EdgeKind.PARAM_INPUT, position)
    irf = out.node(NodeKind.CONVOLUTION, "gaussIRF", function_name="gaussIRF", package="response")
    out.edge(width, irf, EdgeKind.PARAM_INPUT)
    out.edge(law, irf, EdgeKind.TRACE_INPUT)
    total = out.node(NodeKind.PARAM_PLUS_TRACE, "total")
    out.edge(irf, total, EdgeKind.TRACE_INPUT)
    return out.build(DomainKind.ENERGY_TIME_2D, ENERGY, TIME, "drawn")


def data(seed: int = 3) -> np.ndarray:
    """Decays of a spectrum that is not negative, with noise."""
    rng = np.random.default_rng(seed)
    height = 5.0 * np.exp(-((ENERGY - 4.0) ** 2))
    onset = 0.2 + 0.05 * ENERGY
    rise = np.clip((TIME[:, None] - onset) / 0.5 + 0.5, 0.0, 1.0)
    decay = np.exp(-np.clip(TIME[:, None] - onset, 0.0, None) / 4.0)
    return rise * decay * height + rng.normal(0.0, 0.05, (TIME.size, ENERGY.size))


def test_a_free_spectrum_with_dispersion_is_fitted_from_a_graph_alone() -> None:
    measured = Measurement(data(), weight=20.0)
    model = load_model(WRITTEN, "m")
    model.set_axes(energy=ENERGY, time=TIME)
    wanted, found = fit_model(model, measured), fit_model(drawn(), measured)
    pairs = {"gaussIRF_SD": "width", "expFun_01_tau": "tau", "onset": "onset", "chirp": "chirp"}
    for name, own in pairs.items():
        error = wanted.stderr[name]
        assert abs(found.values[own] - wanted.values[name]) < 1e-6 * error
    assert np.isclose(found.chisqr, wanted.chisqr, rtol=1e-12)


def test_a_graph_that_breaks_a_rule_is_not_fitted() -> None:
    graph = drawn()
    total = graph.node_by_name["total"]
    edges = tuple([edge for edge in graph.edges if edge.target != total])
    with pytest.raises(PlanError, match="graph drawn:\\n  total: has no trace"):
        fit_model(replace(graph, edges=edges), Measurement(data()))
