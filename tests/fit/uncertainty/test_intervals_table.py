"""conf_interval() prints as a table, and is one in a notebook."""

from __future__ import annotations

import copy
import pickle

import numpy as np

from pyspec import Measurement, fit_model, load_model

MODEL = """
peak:
  Offset: {y0: [10, True, 0, 100]}
  Gauss: {A: [20, True], x0: [84, True, 82, 86], SD: [0.7, True, 0.1, 5]}
"""


def fitted() -> object:
    model, energy = load_model(MODEL, "peak"), np.linspace(80, 90, 61)
    model.set_axes(energy=energy)
    clean = 10 + 20 * np.exp(-(((energy - 84) / 0.7) ** 2) / 2)
    return fit_model(model, Measurement(np.random.default_rng(0).normal(clean, 0.5)))


def test_intervals_print_as_a_table_and_stay_a_dict() -> None:
    """They printed as a dict of lists of pairs of 16 digits."""
    found = fitted().conf_interval(sigmas=[1, 2])  # type: ignore[attr-defined]
    assert list(found) == ["Offset_y0", "Gauss_01_A", "Gauss_01_x0", "Gauss_01_SD"]
    head, _, *rows = str(found).splitlines()
    assert head.split() == ["parameter", "value", "68.27", "%", "95.45", "%"]
    for row, (name, pairs) in zip(rows, found.items(), strict=True):
        first, best, *ends = row.replace("…", " ").split()
        assert first == name
        numbers = [pair[1] for pair in pairs]
        shown = [float(one) for one in (ends[2], ends[0], best, ends[1], ends[3])]
        step = 10.0 ** -len(best.partition(".")[2])
        np.testing.assert_allclose(shown, numbers, atol=0.51 * step)
        assert step < 0.2 * (numbers[3] - numbers[2])
    html = found._repr_html_()
    assert html.count("<tr>") == 5
    assert "68.27 %" in html
    for same in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert str(same) == str(found)
