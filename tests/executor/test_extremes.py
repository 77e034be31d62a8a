"""Values that no measurement has, where a fit without bounds may come to: all executors agree."""

from __future__ import annotations

import numpy as np
import pytest
from support.agreement import BACKENDS
from support.zoo import ENERGY, TIME

from pyspec._library import OPS
from pyspec.executor import make_executor
from pyspec.model import Measurement, load_dynamics, load_model

#: Widths that a fit without bounds can come to, and lines that they are of.
EXTREME = (1e-320, 1e-308, 1e-160, 1e-151, 1e151, 1e160, 1e300)
LINES = [
    ("DS", "F"),
    ("DS", "alpha"),
    ("DSBinding", "F"),
    ("DSBinding", "alpha"),
    ("Voigt", "SD"),
    ("Voigt", "W"),
    ("SkewGauss", "w"),
]


@pytest.mark.parametrize(("name", "argument"), LINES)
def test_executors_agree_at_widths_beyond_all_sense(name: str, argument: str) -> None:
    """Used to be infinite, 0 or NaN in Python where C gave a number."""
    given = {"A": 5.0, "x0": 86.0}
    lines = [f"    {par}: [{given.get(par, 0.5)}, True]\n" for par in OPS[name].params]
    model = load_model(f"m:\n  {name}:\n{''.join(lines)}", "m")
    model.set_axes(energy=np.linspace(80.0, 92.0, 25))  # one of them is x0
    at = model.opt_param_names.index(f"{name}_01_{argument}")
    theta = np.array([model.parameters[par].value for par in model.opt_param_names])
    for extreme in EXTREME:
        theta[at] = extreme
        compiled, *others = (
            make_executor(model, None, backend).run(theta) for backend in reversed(BACKENDS)
        )
        size = np.max(np.abs(compiled), initial=0.0)
        for other in others:
            np.testing.assert_allclose(other, compiled, rtol=1e-10, atol=1e-10 * min(size, 1e300))


@pytest.mark.parametrize(
    ("line", "width"),
    [
        ("Gauss", "SD"),
        ("GaussAsym", "SD"),
        ("Lorentz", "W"),
        ("Voigt", "SD"),
        ("GLP", "F"),
        ("GLS", "F"),
        ("SkewGauss", "w"),
    ],
)
@pytest.mark.parametrize("moves", [False, True])
def test_a_width_that_overflows(line: str, width: str, moves: bool) -> None:
    """Infinitely wide a line is a constant, and its width has no more effect."""
    others = {"ratio": 1.2, "m": 0.3, "b": 0.1, "SD": 0.8, "W": 0.6}
    parameters = {name: others[name] for name in OPS[line].params if name in others}
    values = "".join(f"    {n}: [{v}, false]\n" for n, v in parameters.items() if n != width)
    made = load_model(
        f"m:\n  {line}:\n    A: [2.0, true]\n    x0: [84.0, true]\n{values}"
        f'    {width}: ["exp(wide * wide)"]\nparameters:\n  wide: [30.0, true]\n'
    )
    if moves:
        law = "d:\n  expFun: {A: [1.0, true], tau: [6.0, true], t0: [0.0, false]}"
        made.add_dynamics("wide", load_dynamics(law, "d", "wide"))
    made.set_axes(energy=ENERGY, **({"time": TIME} if moves else {}))
    measured = Measurement(data=np.zeros((TIME.size, ENERGY.size) if moves else ENERGY.size))
    executor = make_executor(made, measured, "compiled")
    theta = np.array(made.theta())
    assert np.isfinite(executor.residual(theta)).all()
    assert np.isfinite(executor.jacobian(theta)).all()
    assert np.isfinite(executor.normal(theta)).all()
