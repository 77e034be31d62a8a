"""Classes and forms of columns, on small models whose answer is known."""

from __future__ import annotations

import pytest
from support.column_models import (
    DECAY,
    OFFSET,
    PEAK,
    SHAPED,
    SHIRLEY,
    energy_model,
)

from pyspec.ir import build_graph
from pyspec.model import Model
from pyspec.passes import classify_columns

CONSTANT = "constant, static"


def columns(model: Model) -> dict[str, str]:
    """ "class, form" of every column, by its name."""
    return {c.name: f"{c.kind}, {c.form}" for c in classify_columns(build_graph(model))}


#: Models whose columns must all be constant: class and form of every one.
LINEAR: dict[str, tuple[Model, dict[str, str]]] = {
    "a Shirley with a fixed fraction": (
        energy_model("Shirley: {pShirley: [0.01, false]}", OFFSET, PEAK),
        {"Offset_y0": "constant, static, fed", "GLP_01_A": "constant, static, fed"},
    ),
    "a law with its shape fixed": (
        energy_model(
            PEAK,
            moves={"GLP_01_A": "expFun: {A: [2, true], tau: [3, false], t0: [0, false], y0: [1]}"},
        ),
        {
            "GLP_01_A": CONSTANT,
            "GLP_01_A_expFun_01_A": "constant, outer product",
            "GLP_01_A_expFun_01_y0": "constant, outer product",
        },
    ),
    "sub-cycles under an instrument": (
        energy_model(
            PEAK,
            moves={
                "GLP_01_A": [
                    "gaussIRF: {SD: [0.3, false]}",
                    "linFun: {m: [2, true], t0: [0, false]}",
                    "stepFun: {A: [2, true], t0: [0, false]}",
                ]
            },
        ),
        {
            "GLP_01_A": CONSTANT,
            "GLP_01_A_linFun_01_m": "constant, outer product, convolved",
            "GLP_01_A_stepFun_01_A": "constant, outer product, convolved",
        },
    ),
    "a profile of an amplitude": (
        energy_model(PEAK, profiles={"GLP_01_A": "pLinear: {m: [1, true], b: [0, true]}"}),
        {
            "GLP_01_A": f"{CONSTANT}, weighted sum over aux",
            "GLP_01_A_pLinear_01_m": f"{CONSTANT}, weighted sum over aux",
            "GLP_01_A_pLinear_01_b": f"{CONSTANT}, weighted sum over aux",
        },
    ),
}


@pytest.mark.parametrize("name", LINEAR)
def test_constant(name: str) -> None:
    made, expected = LINEAR[name]
    assert columns(made) == expected


#: Models with a column that only looks linear: the class and form of one column.
STRUCTURED: dict[str, tuple[Model, str, str]] = {
    "a free Shirley above": (
        energy_model(SHIRLEY, OFFSET),
        "Offset_y0",
        "structured, static, fed",
    ),
    "two shapes with two traces": (
        energy_model(
            SHAPED,
            SHAPED.replace("[84, true]", '["GLP_01_x0 + 3"]'),
            moves={"GLP_01_A": DECAY, "GLP_02_A": DECAY},
        ),
        "GLP_01_x0",
        "structured, sum of outer products",
    ),
    "row-scaled, convolved and fed": (
        energy_model(
            SHIRLEY,
            SHAPED,
            moves={"GLP_01_x0": f"gaussIRF: {{SD: [0.4, true]}}\n{DECAY}"},
        ),
        "GLP_01_x0_gaussIRF_SD",
        "structured, row-scaled, convolved, fed",
    ),
    "a position along aux that moves": (
        energy_model(
            SHAPED,
            moves={"GLP_01_x0": DECAY},
            profiles={"GLP_01_x0": "pLinear: {m: [1, true], b: [0, false]}"},
        ),
        "GLP_01_x0_pLinear_01_m",
        "structured, row-scaled, weighted sum over aux",
    ),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_structured(name: str) -> None:
    made, column, expected = STRUCTURED[name]
    assert columns(made)[column] == expected
