"""NIST StRD, Lanczos 1 to 3: sums of three exponentials as models over time (TIME_1D)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyspec.fit import fit_model
from pyspec.model import Measurement, load_time_model

Array = np.ndarray


def certified(shared: Path, number: int) -> tuple[Array, Array, Array]:
    """(6, 4) start 1, start 2, certified value, standard deviation; x; y."""
    text = (shared / "data" / "nist_strd" / f"Lanczos{number}.dat").read_text()
    table = re.findall(r"b\d =" + 4 * r"\s+(\S+)", text)
    data = np.array([line.split() for line in text.splitlines()[60:84]], dtype=float)
    return np.array(table, dtype=float), data[:, 1], data[:, 0]


def with_times(start: Array) -> str:
    """Amplitudes and time constants; the onset is the first sample, which belongs to it."""
    laws = (
        f"  expFun:\n    A: [{A}, True]\n    tau: [{1 / k!r}, True]\n    t0: [0, False]\n"
        for A, k in start.reshape(3, 2).tolist()
    )
    return "lanczos:\n" + "".join(laws)


def with_rates(start: Array) -> str:
    """NIST's own parameters, by expressions; the onset lies below the data."""
    rows = "".join(f"  b{k}: [{value}, True]\n" for k, value in enumerate(start, 1))
    laws = (
        f'  expFun:\n    A: ["b{k} * exp(b{k + 1} / 2)"]\n    tau: ["1 / b{k + 1}"]\n'
        "    t0: [-0.5, False]\n"
        for k in (1, 3, 5)
    )
    return f"parameters:\n{rows}lanczos:\n" + "".join(laws)


@pytest.mark.parametrize("start", [1, 2])
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("how", ["times", "rates"])
def test_five_digits_from_both_starts(shared: Path, how: str, number: int, start: int) -> None:
    table, x, y = certified(shared, number)
    write = with_times if how == "times" else with_rates
    model = load_time_model(write(table[:, start - 1]), "lanczos")
    model.set_axes(time=x)
    result = fit_model(model, Measurement(data=y))
    assert result.success
    values, errors = result.values, result.stderr
    if how == "times":
        laws = [f"expFun_0{k}" for k in (1, 2, 3)]
        pairs = [(values[f"{law}_A"], 1 / values[f"{law}_tau"]) for law in laws]
        widths = [
            (errors[f"{law}_A"], errors[f"{law}_tau"] / values[f"{law}_tau"] ** 2) for law in laws
        ]
    else:
        pairs = [(values[f"b{k}"], values[f"b{k + 1}"]) for k in (1, 3, 5)]
        widths = [(errors[f"b{k}"], errors[f"b{k + 1}"]) for k in (1, 3, 5)]
    order = np.argsort([rate for _, rate in pairs])  # a start may end in another order
    digits = -np.log10(np.abs(np.array(pairs)[order].ravel() / table[:, 2] - 1))
    assert digits.min() >= 5
    if number > 1:  # the residual of Lanczos1 is rounding of the data
        np.testing.assert_allclose(np.array(widths)[order].ravel(), table[:, 3], rtol=1e-3)
