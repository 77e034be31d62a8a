"""Which free parameters a model is linear in together, and what stands against the others."""

from __future__ import annotations

import numpy as np
import pytest
from support.column_models import DECAY, OFFSET, PEAK, SHAPED, SHIRLEY, energy_model
from support.zoo import ZOO, make_model

from pyspec.executor import CompiledExecutor, make_plan
from pyspec.ir import build_graph, parse_graph
from pyspec.model import Model
from pyspec.passes import linear_parameters
from pyspec.passes.eliminate import NO_EFFECT, NOT_LINEAR, UNKNOWN, Slopes, choose, joined


def tied(expression: str, name: str = "A") -> str:
    """A second peak, of which one parameter is an expression."""
    given = {"A": "3, false", "x0": "86, false", "SD": "1, false", name: expression}
    return f"Gauss: {{{', '.join(f'{key}: [{value}]' for key, value in given.items())}}}"


RATIO = "parameters: {ratio: [0.5]}\n"
KERNEL = f"gaussCONV: {{SD: [0.5, true]}}\n{DECAY}"
HEIGHTS = ("GLP_01_A", "GLP_01_A_expFun_01_A")
#: Models, what is linear in them together, and what stands against some others.
LINEAR: dict[str, tuple[Model, tuple[str, ...], dict[str, str]]] = {
    "heights and offsets, not places and widths": (
        energy_model(OFFSET, SHAPED),
        ("Offset_y0", "GLP_01_A"),
        dict.fromkeys(("GLP_01_x0", "GLP_01_F", "GLP_01_m"), NOT_LINEAR),
    ),
    "the height of a product, though the background stands first": (
        energy_model(SHIRLEY, PEAK),
        ("GLP_01_A",),
        {"Shirley_pShirley": "it multiplies GLP_01_A"},
    ),
    "a background that reads what is fixed": (
        energy_model(SHIRLEY, PEAK.replace("A: [9, true]", "A: [9, false]")),
        ("Shirley_pShirley",),
        {},
    ),
    "an offset above a background": (
        energy_model(OFFSET, SHIRLEY, PEAK),
        ("Offset_y0", "GLP_01_A"),
        {},
    ),
    "an offset below a background": (
        energy_model(SHIRLEY, OFFSET, PEAK),
        ("Offset_y0", "GLP_01_A"),
        {"Shirley_pShirley": "it multiplies Offset_y0, GLP_01_A"},
    ),
    "a height in an expression": (energy_model(PEAK, tied("GLP_01_A * 0.5 + 2")), HEIGHTS[:1], {}),
    "a square": (energy_model(PEAK, tied("GLP_01_A ** 2")), (), {"GLP_01_A": NOT_LINEAR}),
    "a place": (energy_model(PEAK, tied("GLP_01_A + 80", "x0")), (), {"GLP_01_A": NOT_LINEAR}),
    "a ratio of heights": (
        energy_model(PEAK, tied("GLP_01_A * ratio"), quantities=RATIO),
        ("GLP_01_A",),
        {"ratio": "it multiplies GLP_01_A"},
    ),
    "a quantity that is added": (
        energy_model(PEAK, tied("GLP_01_A + ratio"), quantities=RATIO),
        ("GLP_01_A", "ratio"),
        {},
    ),
    "a height that moves": (energy_model(PEAK, moves={"GLP_01_A": DECAY}), HEIGHTS, {}),
    "a height behind a kernel": (energy_model(PEAK, moves={"GLP_01_A": KERNEL}), HEIGHTS, {}),
    "a place that moves": (
        energy_model(PEAK, moves={"GLP_01_x0": DECAY}),
        ("GLP_01_A",),
        {"GLP_01_x0_expFun_01_A": NOT_LINEAR},
    ),
}


@pytest.mark.parametrize("case", LINEAR)
def test_what_is_linear_together(case: str) -> None:
    model, expected, against = LINEAR[case]
    found = linear_parameters(build_graph(model))
    assert set(found.names) == set(expected)
    assert dict(found.against).items() >= against.items()


def test_what_has_no_effect_is_named() -> None:
    model = energy_model(OFFSET, "Gauss: {A: [0, false], x0: [86, true], SD: [1, false]}")
    assert linear_parameters(build_graph(model)).names == ("Offset_y0",)
    graph = parse_graph(
        'graph "m" ENERGY_1D {\n  energy = [1.0, 2.0]\n'
        '  %0 = OPT_PARAM "A" @0 {"value": 2.0, "vary": true}\n'
        '  %1 = OPT_PARAM "idle" @1 {"value": 2.0, "vary": true}\n'
        '  %2 = STATIC_PARAM "x0" @2 {"value": 2.0}\n'
        '  %3 = COMPONENT_EVAL "Gauss_01" @3 {"function_name": "Gauss", "package": "energy"}\n'
        '  %4 = SUM "total" @4\n'
        "  %0 -> %3 PARAM_INPUT[0]\n  %2 -> %3 PARAM_INPUT[1]\n  %2 -> %3 PARAM_INPUT[2]\n"
        "  %3 -> %4 ADDEND[0]\n}\n"
    )
    found = linear_parameters(graph)
    assert (found.names, dict(found.against)) == (("A",), {"idle": NO_EFFECT})


def test_files_that_share_parameters() -> None:
    """One that is linear in one file and not in another is not linear; conflicts add up."""
    one = Slopes({"A": frozenset(), "y0": frozenset()}, frozenset({"A"}), frozenset())
    two = Slopes({"A": frozenset("A"), "y0": frozenset()}, frozenset({"A"}), frozenset({"y0"}))
    shared = {"A": "A", "y0": "file00_y0"}
    whole = joined([(one, shared), (two, {"A": "A", "y0": "file01_y0"})])
    found = choose(["A", "file00_y0", "file01_y0"], whole)
    assert found.names == ("file00_y0",)
    assert found.against == {"A": NOT_LINEAR, "file01_y0": UNKNOWN}


@pytest.mark.parametrize("name", list(ZOO))
def test_models_are_affine_in_what_is_found(name: str) -> None:
    """Along any line through the linear parameters the model is a straight one."""
    model = make_model(name)
    chosen = linear_parameters(build_graph(model)).names
    executor = CompiledExecutor(make_plan(model))
    places = [executor.opt_param_names.index(one) for one in chosen]
    rng = np.random.default_rng(len(name))
    theta = model.theta()
    for _ in range(3):
        change = np.zeros(theta.size)
        change[places] = rng.normal(size=len(places)) * np.maximum(np.abs(theta[places]), 0.5)
        at = [executor.run(theta + share * change) for share in (-1.0, 0.0, 2.0)]
        bend = (2.0 * at[0] + at[2]) / 3.0 - at[1]
        largest = max(float(np.abs(one).max()) for one in at)
        assert np.abs(bend).max() <= 1e-12 * largest
