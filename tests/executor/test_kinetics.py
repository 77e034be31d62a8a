"""States of kinetic schemes in whole models: executors agree, derivatives are differences."""

import numpy as np
import pytest
from support.agreement import agreed, check_slopes

from pyspec import load_model
from pyspec.model.build.load import load_time_model

TIME = np.concatenate([np.linspace(-1, 2, 61), np.geomspace(2.1, 80, 30)])
LAWS = """
kinetics:
  reversible: {A -> B: k1, B -> A: k2, B -> C: k3, C: k4}
  circle: {A -> B: k1, B -> C: k2, C -> A: k3, C: k4}
  pairs: {A -> B + B: k1, B + B -> C: k2, B: k3, C + A -> A: k4}
laws:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  reversible:
    k1: [2, True]
    k2: [0.7, True]
    k3: [0.3, True]
    k4: [0.05, True]
    t0: [0.13, True]
    A: [1, True]
    B: [-2, True]
    C: [3, True]
sharp:
  reversible: {k1: [2, True], k2: [2, True], k3: [2, True], k4: [2, True], t0: [0.13, False],
               A: [1, True], C: [3, True]}
"""
LAWS += "".join(
    f"{name}_{scheme}:\n{irf}  {scheme}: {{k1: [2, True], k2: [0.7, True], k3: [1.3, True], "
    "k4: [0.05, True], t0: [0.13, False], A: [1, True], B: [-2, True], C: [3, True]}\n"
    for scheme in ("circle", "pairs")
    for name, irf in (("laws", "  gaussIRF: {SD: [0.2, True]}\n"), ("sharp", ""))
)
PEAKS = LAWS.split("laws:", maxsplit=1)[0] + (
    """
two:
  Gauss: {A: [1, True], x0: [84, True], SD: [0.8, True]}
  Gauss: {A: [2, True], x0: [86, True], SD: [0.8, True]}
grows:
  gaussIRF: {SD: [0.2, True]}
  reversible: {k1: [2, True], k2: [0.7, True], k3: [0.3, True], k4: [0.05, True], t0: [0.1, True],
               C: [3, True]}
attached:
  two:
    Gauss_01_A: {dynamics: [grows]}
"""
)


def _model(name: str):
    model = load_time_model(LAWS, name)
    model.set_axes(time=TIME)
    return model


@pytest.mark.parametrize("name", ["laws", "sharp", "laws_circle", "sharp_circle", "sharp_pairs"])
def test_executors_agree_on_laws(name: str) -> None:
    agreed(_model(name), tolerance=1e-11)


@pytest.mark.parametrize("scheme", ["reversible", "circle", "pairs"])
def test_derivatives_of_a_model_are_differences(scheme: str) -> None:
    model = load_model(PEAKS.replace("  reversible: {k1", f"  {scheme}: {{k1"), "two")
    model.set_axes(energy=np.linspace(80, 90, 11), time=TIME)
    check_slopes(model, 3e-8, step=1e-6, halvings=0, least=1.0)
