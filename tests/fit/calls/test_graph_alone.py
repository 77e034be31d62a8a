"""Fits of a graph that nobody wrote as a model file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.fit_cases import agree

from pyspec import Measurement, fit_model
from pyspec.errors import PlanError
from pyspec.ir import build_graph, parse_graph, print_graph
from pyspec.model import Model, load_model

ENERGY, TIME = np.linspace(0.0, 10.0, 41), np.linspace(-2.0, 20.0, 67)

#: A decay whose spectrum is free and whose onset depends on the energy.
TEXT = """
parameters:
  onset: [0.1, True]
  chirp: [0.02, True]
  seen: ["onset + chirp * energy"]
m:
  gaussIRF: {SD: [0.3, True, 0.01, 2]}
  expFun: {A: {free: energy, min: 0}, tau: [3, True, 0.1, 30], t0: ["seen"]}
"""


@pytest.fixture
def written() -> Model:
    model = load_model(TEXT, "m")
    model.set_axes(energy=ENERGY, time=TIME)
    return model


@pytest.fixture
def measured() -> Measurement:
    """Decays of a spectrum that is not negative, with noise."""
    height = 5.0 * np.exp(-((ENERGY - 4.0) ** 2))
    late = TIME[:, None] - 0.2 - 0.05 * ENERGY
    clean = np.clip(late / 0.5 + 0.5, 0.0, 1.0) * np.exp(-np.clip(late, 0.0, None) / 4.0) * height
    noise = np.random.default_rng(3).normal(0.0, 0.05, clean.shape)
    return Measurement(clean + noise, weight=20.0)


def test_a_free_spectrum_with_dispersion_is_fitted_from_a_graph_alone(
    written: Model, measured: Measurement
) -> None:
    drawn = parse_graph(print_graph(build_graph(written)))
    wanted, found = fit_model(written, measured), fit_model(drawn, measured)
    agree(found, wanted)
    assert np.isclose(found.chisqr, wanted.chisqr, rtol=1e-12)


def test_a_graph_that_breaks_a_rule_is_not_fitted(written: Model, measured: Measurement) -> None:
    graph = build_graph(written)
    last = graph.edges[-1].target
    edges = tuple([edge for edge in graph.edges if edge.target != last])
    with pytest.raises(PlanError, match=r"graph m:\n  .*: has no trace"):
        fit_model(replace(graph, edges=edges), measured)
