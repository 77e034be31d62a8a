"""Formulas run on their own in C: rows of parameters, one for each energy, and their slopes."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec._library import KernelCall, LibraryError, supported_isas
from pyspec.formula.definitions.function import define

TEXTS = {
    "gauss": "time Bell(A, t0, SD>0): u = (t - t0) / SD; A * exp(-u ** 2 / 2)",
    "ringing": (
        "time Ring(A, B, f, tau>0, SD>0): w = 2 * pi * f; early = min(t / SD, 8); "
        "P = wofz_real(w * SD / sqrt(2), (SD / tau - early) / sqrt(2)); "
        "Q = wofz_imag(w * SD / sqrt(2), (SD / tau - early) / sqrt(2)); "
        "(A * P - B * Q) * exp(-early ** 2 / 2)"
    ),
    "constant": "time Same(A, k): A * k",
}


@pytest.mark.parametrize("isa", supported_isas())
@pytest.mark.parametrize("n_rows", [1, 3, 11])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_rows_and_slopes_are_those_of_the_formula(text: str, n_rows: int, isa: str) -> None:
    op = define(text)
    rng = np.random.default_rng(n_rows)
    x = np.linspace(-2.0, 5.0, 131)
    params = rng.uniform(0.3, 1.5, (len(op.params), n_rows))
    value = np.empty((n_rows, x.size))
    slopes = np.empty((len(op.params), *value.shape))
    KernelCall(op, x, params, value, list(slopes), isa=isa).run()
    assert op.own is not None
    rows = params[:, :, np.newaxis]
    expected = op.own(x, *rows)
    assert np.allclose(value, expected, rtol=1e-12, atol=1e-14)
    for k in range(len(op.params)):
        h = np.zeros((len(op.params), 1, 1))
        h[k] = 1e-4
        near = op.own(x, *(rows + h)) - op.own(x, *(rows - h))
        far = op.own(x, *(rows + 2 * h)) - op.own(x, *(rows - 2 * h))
        assert np.allclose(slopes[k], (8 * near - far) / 12e-4, rtol=1e-6, atol=1e-8)
    again = np.empty_like(value)
    KernelCall(op, x, params, again, None, isa=isa).run()
    assert np.array_equal(again, value)


def test_a_call_is_made_again_with_what_its_parameters_hold_then() -> None:
    op = define(TEXTS["gauss"])
    x, params, value = np.linspace(-1, 1, 7), np.array([[1.0], [0.0], [0.5]]), np.empty((1, 7))
    call = KernelCall(op, x, params, value, None)
    for height in (1.0, 3.0):
        params[0] = height
        call.run()
        assert np.allclose(value[0], height * np.exp(-(x**2) / 0.5), rtol=1e-14)


def test_a_size_of_nothing_is_refused() -> None:
    op = define(TEXTS["gauss"])
    with pytest.raises(LibraryError, match="Bell"):
        KernelCall(op, np.empty(0), np.ones((3, 1)), np.empty((1, 0)), None).run()
