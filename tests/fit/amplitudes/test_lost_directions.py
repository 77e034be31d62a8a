"""Free spectra where the data do not determine some rates: what they determine keeps its errors,
what changes with those rates has none."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import Measurement, fit_joint, fit_model, load_fit, save_fit
from pyspec.fit import FitResult
from pyspec.functions.kinetics import populations
from pyspec.plot import plot_species

MODELS = """
kinetics:
  chain: {A -> B: k1, B: k2}
  back: {A -> B: k1, B -> A: kb, B: k2}
chained:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.1, True, 0.001, 50], t0: [0, True],
          spectra: {free: energy}}
reversible:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  back: {k1: [2, True, 0.01, 100], kb: [0.3, True, 0, 50], k2: [0.1, True, 0.001, 50],
         t0: [0, True], spectra: {free: energy}}
"""
ENERGY = np.linspace(1.5, 3, 24)
TIME = np.concatenate([np.linspace(-1, 3, 61), np.geomspace(3.2, 100, 40)])


def _data() -> np.ndarray:
    spectra = np.array([np.exp(-(((ENERGY - at) / 0.3) ** 2)) for at in (1.8, 2.4)])
    K = np.array([[-3.0, 0.4], [3.0, -0.5]])
    clean = populations(TIME - 0.1, K, np.array([1.0, 0]), 0.15) @ spectra
    return clean + np.random.default_rng(3).normal(0, 0.01, clean.shape)


def _fit(name: str) -> FitResult:
    model = loaded(MODELS, name, energy=ENERGY, time=TIME)
    return fit_model(model, Measurement(_data()))


def test_errors_are_those_of_the_scheme_without_the_lost_rate() -> None:
    """Both schemes have the same decays and the same best fit."""
    plain, lost = _fit("chained"), _fit("reversible")
    assert lost.without_effect == ("back_k1", "back_kb", "back_k2")
    one, two = plain.amplitudes, lost.amplitudes
    scale = np.sqrt(lost.redchi / plain.redchi)  # the lost rate counts as a parameter
    np.testing.assert_allclose(two.das().stderr, scale * one.das().stderr, rtol=1e-5)
    np.testing.assert_allclose(two.eas().stderr, scale * one.eas().stderr, rtol=1e-5)
    np.testing.assert_allclose(two.sas().stderr[0], scale * one.sas().stderr[0], rtol=1e-5)
    at = [0.1, 1.0, 10.0]
    expected, found = plain.predict(time=at), lost.predict(time=at)
    np.testing.assert_allclose(found.stderr, scale * expected.stderr, rtol=1e-5)


def test_a_spectrum_that_changes_with_them_has_no_error(tmp_path: Path) -> None:
    result = _fit("reversible")
    save_fit(tmp_path / "fit.h5", result)
    for fit in (result, load_fit(tmp_path / "fit.h5")):
        assert np.isnan(fit.amplitudes.sas().stderr[1]).all()
        assert np.isnan(fit.amplitudes.stderr["back_B_A"]).all()
        assert np.isfinite(fit.amplitudes.stderr["back_A_A"]).all()
        assert fit.amplitudes.determined["back_B_A"].all()
    figure = plot_species(result)
    said = [[text.get_text() for text in ax.get_legend().get_texts()] for ax in figure.axes]
    assert said[0] == ["A", "B (not determined)"]
    assert not any("not determined" in text for text in said[1] + said[2])
    plt.close(figure)


@pytest.mark.parametrize("shared", [False, True])
def test_errors_of_the_files_of_a_joint_fit_are_those_of_one_fit_of_all(
    shared: bool, tmp_path: Path
) -> None:
    """Of files that see other energies errors were up to a third too small, and those of
    predictions sixteen times: rates that are not determined were taken to be known, and what the
    data say of their sums with them. Cut in two, data say what they say as a whole."""
    text = MODELS.replace("True,", "project,").replace("[0, True]", "[0, project]")
    if shared:
        text = text.replace("{free: energy}", "{free: energy, vary: project}")
        cuts = [(slice(0, None, 2), slice(None)), (slice(1, None, 2), slice(None))]
    else:
        cuts = [(slice(None), slice(0, 12)), (slice(None), slice(12, 24))]
    parts, data = [], _data()
    for rows, columns in cuts:
        model = loaded(text, "reversible", energy=ENERGY[columns], time=TIME[rows])
        parts.append((model, Measurement(data[rows, columns])))
    whole, joint = _fit("reversible"), fit_joint(parts)
    assert joint.joint.without_effect == whole.without_effect
    at = [0.1, 1.0, 10.0]
    for k, (_, columns) in enumerate(cuts):
        fits = [joint[k]]
        if not shared:
            save_fit(tmp_path / f"{k}.h5", joint[k])
            fits.append(load_fit(tmp_path / f"{k}.h5"))
        for fit in fits:
            assert fit.amplitudes is not None
            assert whole.amplitudes is not None
            for what in ("das", "eas", "sas"):
                found, expected = (getattr(one.amplitudes, what)().stderr for one in (fit, whole))
                np.testing.assert_allclose(found, expected[:, columns], rtol=1e-5)
            found, expected = (one.predict(time=at).stderr for one in (fit, whole))
            np.testing.assert_allclose(found, expected[:, columns], rtol=1e-5)
