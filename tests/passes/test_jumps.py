"""Which parameters move a discontinuity over samples, and how the fallback is explained."""

from __future__ import annotations

import numpy as np
import pytest
from support.column_models import DECAY, PEAK, SHAPED, energy_model

from pyspec.executor import make_executor
from pyspec.ir import build_graph
from pyspec.model import load_dynamics
from pyspec.passes import classify_columns, jump_parameters

#: Laws, and which of their free parameters jump.
ONSETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "step": ("stepFun: {A: [2], t0: [0.1]}", ("stepFun_01_t0",)),
    "decay": (DECAY.replace("[0.1, false]", "[0.1]"), ("expFun_01_t0",)),
    "fixed onset": (DECAY, ()),
    "line on a level of 0": ("linFun: {m: [2], t0: [0.1], y0: [0, false]}", ()),
    "line on a free level that starts at 0": (
        "linFun: {m: [2], t0: [0.1], y0: [0, true]}",
        ("linFun_01_t0",),
    ),
    "sine": ("sinFun: {A: [2], f: [0.1], phi: [0, false], t0: [0.1]}", ()),
    "sine with a phase": (
        "sinFun: {A: [2], f: [0.1], phi: [0.5, false], t0: [0.1]}",
        ("sinFun_01_t0",),
    ),
    "sine with a free phase": (
        "sinFun: {A: [2], f: [0.1], phi: [0, true], t0: [0.1]}",
        ("sinFun_01_t0",),
    ),
    "cardinal sine": ("sinDivX: {A: [2], f: [0.1], t0: [0.1]}", ("sinDivX_01_t0",)),
    "rise": ("expFun: {A: [2], tau: [3], t0: [0.1], y0: ['-expFun_01_A']}", ()),
    "under a kernel": ("gaussCONV: {SD: [1]}\nstepFun: {A: [2], t0: [0.1]}", ("stepFun_01_t0",)),
    "under an instrument": ("gaussIRF: {SD: [1]}\nstepFun: {A: [2], t0: [0.1]}", ()),
}


@pytest.mark.parametrize("name", ONSETS)
def test_jumps(name: str) -> None:
    """Between 1e-9 before and behind a sample the model changes by much more than that where, and
    only where, a parameter is said to jump."""
    law, expected = ONSETS[name]
    made = energy_model(PEAK, moves={"GLP_01_A": law})
    graph = build_graph(made)
    assert jump_parameters(graph) == tuple(f"GLP_01_A_{end}" for end in expected)
    fallback = {c.name for c in classify_columns(graph) if c.kind == "fallback"}
    assert fallback == set(jump_parameters(graph))
    executor, names = make_executor(made), made.opt_param_names
    theta = made.theta()
    for index in [k for k, free in enumerate(names) if free.endswith("_t0")]:
        sides = []
        for side in (0.5 - 1e-9, 0.5 + 1e-9):
            theta[index] = side
            sides.append(executor.run(theta))
        jumps = names[index].removeprefix("GLP_01_A_") in expected
        starts_at_0 = name == "sine with a free phase" or name.endswith("starts at 0")
        found = np.abs(sides[1] - sides[0]).max()
        assert (found > 1e-2) == (jumps and not starts_at_0)


def test_a_jump_through_expressions() -> None:
    """Two onsets tied to one free parameter, one of them through another."""
    first = "stepFun: {A: [2], t0: ['onset']}"
    second = "expFun: {A: [2], tau: [3], t0: ['onset + 2 * delay']}"
    made = energy_model(
        SHAPED,
        moves={"GLP_01_A": first, "GLP_01_x0": second},
        quantities="parameters: {onset: [0.1], delay: [0.3]}\n",
    )
    graph = build_graph(made)
    assert jump_parameters(graph) == ("onset", "delay")
    found = {column.name: column for column in classify_columns(graph)}
    assert found["onset"].reason.startswith("GLP_01_A_stepFun_01: stepFun jumps at t0")
    assert "; GLP_01_x0_expFun_01: expFun jumps at t0" in found["onset"].reason
    assert found["delay"].reason == (
        "GLP_01_x0_expFun_01: expFun jumps at t0, which is known to a sample interval only; "
        "gaussIRF before the law makes the onset smooth, gaussCONV does not"
    )


def test_a_jump_whose_height_is_no_number_is_taken_to_be_there() -> None:
    text = (
        "functions: {Burst: {domain: time, formula: 'where(t >= t0, exp(A ** 2), 0)'}}\n"
        "d: {Burst: {t0: [0.1, True], A: [5000, True]}}\n"
    )
    model = energy_model(PEAK)
    model.add_dynamics("GLP_01_A", load_dynamics(text, "d", "GLP_01_A"))
    assert "GLP_01_A_Burst_01_t0" in jump_parameters(build_graph(model))
