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


def names(model: Model) -> tuple[str, ...]:
    return linear_parameters(build_graph(model)).names


def against(model: Model) -> dict[str, str]:
    return dict(linear_parameters(build_graph(model)).against)


def test_heights_and_offsets_are_linear_places_and_widths_are_not() -> None:
    found = linear_parameters(build_graph(energy_model(OFFSET, SHAPED)))
    assert found.names == ("Offset_y0", "GLP_01_A")
    assert found.against == dict.fromkeys(("GLP_01_x0", "GLP_01_F", "GLP_01_m"), NOT_LINEAR)


def test_of_a_product_the_height_is_chosen_though_the_background_stands_first() -> None:
    model = energy_model(SHIRLEY, PEAK)
    assert names(model) == ("GLP_01_A",)
    assert against(model) == {"Shirley_pShirley": "it multiplies GLP_01_A"}


def test_a_background_is_linear_where_what_it_reads_is_fixed() -> None:
    fixed = PEAK.replace("A: [9, true]", "A: [9, false]")
    assert names(energy_model(SHIRLEY, fixed)) == ("Shirley_pShirley",)


def test_an_offset_below_a_background_multiplies_it() -> None:
    assert names(energy_model(OFFSET, SHIRLEY, PEAK)) == ("Offset_y0", "GLP_01_A")
    below = energy_model(SHIRLEY, OFFSET, PEAK)
    assert against(below) == {"Shirley_pShirley": "it multiplies Offset_y0, GLP_01_A"}


def test_linearity_passes_through_expressions() -> None:
    tied = "Gauss: {A: [GLP_01_A * 0.5 + 2], x0: [86, false], SD: [1, false]}"
    assert names(energy_model(PEAK, tied)) == ("GLP_01_A",)
    square = "Gauss: {A: [GLP_01_A ** 2], x0: [86, false], SD: [1, false]}"
    assert against(energy_model(PEAK, square)) == {"GLP_01_A": NOT_LINEAR}
    place = "Gauss: {A: [3, false], x0: [GLP_01_A + 80], SD: [1, false]}"
    assert against(energy_model(PEAK, place)) == {"GLP_01_A": NOT_LINEAR}


def test_a_ratio_of_heights_stays_though_it_may_come_first() -> None:
    tied = "Gauss: {A: [GLP_01_A * ratio], x0: [86, false], SD: [1, false]}"
    model = energy_model(PEAK, tied, quantities="parameters: {ratio: [0.5]}\n")
    assert names(model) == ("GLP_01_A",)
    assert against(model)["ratio"] == "it multiplies GLP_01_A"


def test_a_quantity_that_is_added_is_linear_too() -> None:
    tied = "Gauss: {A: [GLP_01_A + more], x0: [86, false], SD: [1, false]}"
    model = energy_model(PEAK, tied, quantities="parameters: {more: [0.5]}\n")
    assert set(names(model)) == {"GLP_01_A", "more"}


def test_heights_of_laws_are_linear_where_a_height_moves() -> None:
    moving = energy_model(PEAK, moves={"GLP_01_A": DECAY})
    assert names(moving) == ("GLP_01_A", "GLP_01_A_expFun_01_A")
    place = energy_model(PEAK, moves={"GLP_01_x0": DECAY})
    assert names(place) == ("GLP_01_A",)
    assert against(place)["GLP_01_x0_expFun_01_A"] == NOT_LINEAR


def test_a_kernel_is_passed() -> None:
    model = energy_model(PEAK, moves={"GLP_01_A": f"gaussCONV: {{SD: [0.5, true]}}\n{DECAY}"})
    assert names(model) == ("GLP_01_A", "GLP_01_A_expFun_01_A")


def test_what_has_no_effect_is_named() -> None:
    model = energy_model(OFFSET, "Gauss: {A: [0, false], x0: [86, true], SD: [1, false]}")
    assert names(model) == ("Offset_y0",)
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
    chosen = names(model)
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
