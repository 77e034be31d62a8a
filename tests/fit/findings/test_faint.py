"""Lines that are not there: of 150 spectra whose third line is absent, 85 fits used to end as a
success on a bump of the noise, with a place and a width, and without a word."""

import numpy as np
import pytest
from support.findings import of_kind

from pyspec import Measurement, fit_joint, fit_model, load_model
from pyspec.fit.findings.kinds import Kind

ENERGY = np.linspace(80, 92, 241)

LINES = """
parameters:
  height: [1, True, 0, 1000]
three:
  Offset: {y0: [3, True, 0, 100]}
  Gauss: {A: [18, True, 0, 1000], x0: [84, True, 82, 86], SD: [0.5, True, 0.1, 3]}
  Gauss: {A: [9, True, 0, 1000], x0: [87, True, 85, 89], SD: [0.5, True, 0.1, 3]}
  Gauss: {A: [2, True, 0, 1000], x0: [89.5, True, 88, 91.5], SD: [0.5, True, 0.1, 3]}
pair:
  Offset: {y0: [3, True, 0, 100]}
  Gauss: {A: [10, True, 0, 1000], x0: [83.6, True, 80, 92], SD: [0.5, True, 0.1, 3]}
  Gauss: {A: [6, True, 0, 1000], x0: [84.1, True, 80, 92], SD: [0.5, True, 0.1, 3]}
doublet:
  Offset: {y0: [3, True]}
  Gauss: {A: ["height"], x0: [84, True, 82, 86], SD: [0.5, True, 0.2, 2]}
  Gauss: {A: ["Gauss_01_A / 2"], x0: ["Gauss_01_x0 + 3.67"], SD: ["Gauss_01_SD"]}
beside:
  Offset: {y0: [3, True]}
  Gauss: {A: [18, True], x0: [84, True, 82, 86], SD: [0.5, True, 0.2, 2]}
  Gauss: {A: [1, True], x0: ["Gauss_01_x0 + 3.67"], SD: ["Gauss_01_SD"]}
single:
  Offset: {y0: [3, True]}
  Gauss: {A: [0.01, True], x0: [84, True, 82, 86], SD: [0.5, True, 0.2, 2]}
rise:
  stepFun: {A: [10, True], t0: [0, False]}
"""


def gauss(height: float, place: float) -> np.ndarray:
    """A line of the width 0.5."""
    return height * np.exp(-0.5 * ((ENERGY - place) / 0.5) ** 2)


def fit(name: str, data: np.ndarray, sigma: float = 1.0, **held: float):
    """The fit of a model of LINES; `held` are parameters that are fixed."""
    model = load_model(LINES, name)
    for one, value in held.items():
        model.set(one, value, vary=False)
    model.set_axes(energy=ENERGY)
    return fit_model(model, Measurement(data, weight=1 / sigma), scale_covar=False)


faint = of_kind(Kind.FAINT_LINE)


def count(height: float) -> tuple[int, int]:
    """Of 50 spectra whose third line is so high: how many fits say that it is compatible with 0,
    and how many are a success without any caution."""
    random = np.random.default_rng(3)
    clean = 3 + gauss(18, 84) + gauss(9, 87) + gauss(height, 89.5)
    fits = [fit("three", clean + random.normal(size=ENERGY.size)) for _ in range(50)]
    said = [bool(faint(one)) for one in fits]
    assert all(found.places[0] == "Gauss_03_A" for one in fits for found in faint(one))
    return sum(said), sum(one.success and not one.findings for one in fits)


def test_a_line_that_is_not_there_is_told():
    said, silent = count(0.0)
    assert said >= 37
    assert silent <= 5


@pytest.mark.parametrize(
    ("height", "least"),
    [(1.5, 20), pytest.param(3.5, 49, marks=pytest.mark.slow)],
    ids=["5.2 standard errors", "12"],
)
def test_a_weak_line_is_there(height: float, least: int):
    """That errors are too small is another matter: see test_skewed.py."""
    said, silent = count(height)
    assert said == 0
    assert silent >= least


def test_lines_that_overlap_need_one_another():
    """Both heights have large errors, though chi² rises by 20 to 90 without either line."""
    random = np.random.default_rng(5)
    clean = 3 + gauss(10, 83.6) + gauss(6, 84.1)
    fits = [fit("pair", clean + 0.1 * random.normal(size=ENERGY.size), 0.1) for _ in range(15)]
    ratios = [one.values["Gauss_02_A"] / one.stderr["Gauss_02_A"] for one in fits if one.success]
    assert np.median(ratios) < 2.5
    assert not any(map(faint, fits))


def test_a_doublet_of_one_height_is_one_line():
    random = np.random.default_rng(2)
    (found,) = faint(fit("doublet", 3 + random.normal(size=ENERGY.size)))
    assert found.places[1:] == ("Gauss_01_x0", "Gauss_01_SD")


def test_another_line_determines_what_both_have():
    random = np.random.default_rng(2)
    result = fit("beside", 3 + gauss(18, 84) + random.normal(size=ENERGY.size))
    assert abs(result.values["Gauss_02_A"]) < 2 * result.stderr["Gauss_02_A"]
    assert not faint(result)


@pytest.mark.parametrize("scope", ["True", "project"])
def test_a_file_of_a_joint_fit(scope: str):
    """A place that the files share is determined where another file has the line."""
    text = LINES.replace("x0: [84, True, 82", f"x0: [84, {scope}, 82")
    text = text.replace("SD: [0.5, True, 0.2", f"SD: [0.5, {scope}, 0.2")
    random, parts = np.random.default_rng(6), []
    for height in (18.0, 0.0):
        model = load_model(text, "single")
        model.set_axes(energy=ENERGY)
        data = 3 + gauss(height, 84) + random.normal(size=ENERGY.size)
        parts.append((model, Measurement(data, weight=1.0)))
    joint = fit_joint(parts, names=["with", "without"], scale_covar=False)
    assert joint.success
    assert not faint(joint["with"])
    assert [len(faint(joint["without"])), len(faint(joint.joint))] == [int(scope == "True")] * 2
    if scope == "True":
        assert faint(joint.joint)[0].places[0] == "file01_Gauss_01_A"
