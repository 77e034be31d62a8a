"""Models are compared where they were fitted to the same data, masks and noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.errors import FitError
from pyspec.workflow.results.results import FitResults

ENERGY, TIME = np.linspace(280.0, 292.0, 121), np.arange(6.0)
MODELS = """
one:
  Offset: {y0: [20, true]}
  Gauss: {A: [300, true], x0: [285, true, 283, 287], SD: [0.5, true, 0.05, 3]}
two:
  Offset: {y0: [20, true]}
  Gauss: {A: [300, true], x0: [285, true, 283, 287], SD: [0.5, true, 0.05, 3]}
  Gauss: {A: [30, true, 0, 500], x0: [288, true, 287, 289], SD: [0.5, true, 0.05, 3]}
"""


@pytest.fixture
def file(tmp_path: Path) -> File:
    pytest.importorskip("pandas")
    (tmp_path / "m.yaml").write_text(MODELS)
    clean = 300 * np.exp(-(((ENERGY - 285.2) / 0.6) ** 2) / 2)
    clean = 20 + clean + 45 * np.exp(-(((ENERGY - 288.2) / 0.6) ** 2) / 2)
    data = clean * np.exp(-TIME / 4)[:, None] + np.random.default_rng(0).normal(0, 3, (6, 121))
    found = File(Project(tmp_path, show_output=False), data=data, energy=ENERGY, time=TIME)
    found.load_model("m.yaml", "one")
    found.load_model("m.yaml", "two")
    found.set_noise("gaussian", sigma=3.0)
    return found


OTHERS: dict[str, tuple[Any, float, str]] = {
    "sigma": (lambda file: file.set_noise("gaussian", sigma=30.0), 0, "different sigma"),
    "dark": (lambda file: file.subtract_dark(np.ones(121)), 0, "different values"),
    "mask": (lambda file: file.set_fit_limits([280, 292], exclude=[(287, 289)]), 0, "other masks"),
    "rows": (lambda file: None, 4, "other rows"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_data(file: File, what: str) -> None:
    """All of these used to be ranked by AIC, and the wrong model won."""
    change, time, said = OTHERS[what]
    file.set_fit_limits([280, 292])
    file.fit_spectrum("one", time_point=0)
    file.fit_spectrum("two", time_point=0)
    table = file.compare_models("one", "two")
    assert table["aic"].idxmin() == table.index[table["model"] == "two"][0]
    change(file)
    file.fit_spectrum("two", time_point=time)
    with pytest.raises(FitError, match=said):
        file.compare_models("one", "two")


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        ("spectrum", [(290.02, 290.98)]),
        ("sbs", [(290.02, 290.98), (281, 282)]),
        ("sbs", [(290.02, 290.98)]),
        ("2d", []),
    ],
)
def test_other_masks(file: File, kind: str, places: list[tuple[float, float]]) -> None:
    """As many points left out elsewhere used to be the same data, and of slices any mask was."""
    fits: dict[str, Any] = {
        "spectrum": lambda name: file.fit_spectrum(name, time_point=0),
        "sbs": file.fit_slice_by_slice,
        "2d": file.fit_2d,
    }
    file.set_fit_limits([280, 292], exclude=[(287.52, 288.48)])
    fits[kind]("one")
    file.set_fit_limits([280, 292], exclude=places)
    fits[kind]("two")
    with pytest.raises(FitError, match="other masks"):
        file.compare_models("one", "two")
    fits[kind]("one")
    assert len(file.compare_models("one", "two")) == 2


@pytest.mark.parametrize("loss", ["gaussian", "poisson"])
def test_other_errors(file: File, loss: str) -> None:
    """AIC of scaled errors has the logarithm of chi². That of one model used to stand below the
    other one of chi² itself, and the wrong model won."""
    if loss == "poisson":
        counts = np.maximum(np.round(np.asarray(file.data)), 0)
        file = File(
            Project(file.project.path, show_output=False), data=counts, energy=ENERGY, time=TIME
        )
        file.load_model("m.yaml", ["one"])
        file.load_model("m.yaml", ["two"])
        file.set_noise("poisson")
    file.fit_spectrum("one", time_point=0, scale_covar=True)
    file.fit_spectrum("two", time_point=0)
    with pytest.raises(FitError, match=r"\(scale_covar=True\) and .*so their chi2, AIC"):
        file.compare_models("one", "two")
    assert len(file.compare_models("one", "two", metrics=["r2"])) == 2
    file.fit_spectrum("two", time_point=0, scale_covar=True)
    assert len(file.compare_models("one", "two")) == 2


def test_a_model_that_is_named_is_compared(file: File) -> None:
    """One with a misspelt name, or without such a fit, was left out of the table without a word,
    and a list of names was one name."""
    for name in ("one", "two"):
        file.fit_spectrum(name, time_point=0)
    assert len(file.compare_models(["one", "two"])) == len(file.compare_models("one", "two")) == 2
    results = FitResults(file.results)
    with pytest.raises(FitError, match=r"no fits to compare of 'tow'; did you mean 'two'\?"):
        file.compare_models("one", "tow")
    with pytest.raises(FitError, match=r"no fits to compare of 'tow'; did you mean 'two'\?"):
        results.compare_models(models=["one", "tow"])
    file.fit_2d("one")
    with pytest.raises(FitError, match="no fits to compare of 'two'; fits so far: spectrum of one"):
        file.compare_models("one", "two", fit_type="2d")
