"""What fits find out about themselves: kinds, order, what hides what, and what a print shows."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from support.fit_cases import loaded

from bench.problems.findings_cases import WRONG, clean, good
from docs.pages.findings_page import WHEN
from pyspec import Finding, Measurement, fit_model
from pyspec._library import LIBRARY
from pyspec.fit import Kind, Severity
from pyspec.fit.findings.finding import ordered
from pyspec.fit.findings.text import TEMPLATES
from tests.support.findings import kinds, looked

#: Trouble → the kind that a fit with it leads with.
LEADS = {
    "spike": Kind.OUTLIERS,
    "dead": Kind.DEAD_POINTS,
    "noise_varies": Kind.NOISE_VARIES,
    "noise_of_files": Kind.NOISE_VARIES,
    "missing_line": Kind.RESIDUAL_STRUCTURED,
    "missing_line_weighted": Kind.MISFIT,
    "sigma_too_large": Kind.NOISE_OVERSTATED,
    "counts_undeclared": Kind.COUNTS_UNDECLARED,
    "sigma_from_data": Kind.SIGMA_FROM_DATA,
    "faint_line": Kind.FAINT_LINE,
    "unit_of_the_axis": Kind.WRONG_UNIT,
    "backwards": Kind.BACKWARD_AXIS,
    "at_bound": Kind.AT_BOUND,
    "undetermined": Kind.UNDETERMINED,
    "saturated": Kind.NO_SCATTER,
    "onset_before": Kind.OUTSIDE_AXIS,
    "no_constant": Kind.NO_CONSTANT,
}

LINE = """
m:
  Offset: {y0: [20, True]}
  Gauss: {A: [200, True], x0: [85, True], SD: [0.6, True, 0.1, 3]}
"""
ENERGY = np.linspace(80, 92, 121)


def test_every_kind_has_a_template_and_a_row_on_the_page() -> None:
    assert set(TEMPLATES) == set(WHEN) == set(Kind)


@pytest.mark.parametrize("trouble", LEADS)
@pytest.mark.filterwarnings("ignore::pyspec.ModelWarning")
def test_a_fit_with_one_trouble_leads_with_its_kind(trouble: str) -> None:
    assert looked(WRONG[trouble](0))[0].kind is LEADS[trouble]


@pytest.mark.parametrize("name", ["doublet", "doublet_mixed", "counts", "series", "joint"])
def test_good_fits_find_nothing(name: str) -> None:
    assert looked(good(name, 0)) == ()


def test_a_finding_comes_back_from_json() -> None:
    found = Finding(Kind.EQUIVALENT_OPTIMA, ("a",), {"there": (1.0,), "here": (2.0,)}, 1)
    numbers = {**found.numbers, "above": 0.5, "joint": False}
    found = Finding(found.kind, found.places, numbers, found.part)
    plain = json.loads(json.dumps(found.to_dict()))
    assert Finding.from_dict(plain) == found
    assert plain["text"] == str(found)


def test_a_large_misfit_hides_what_follows_from_it() -> None:
    numbers = {"expected": 1.0, "scaled": False, "counts": False}
    structured = Finding(Kind.RESIDUAL_STRUCTURED, (), {"axis": "energy", "share": 0.9})
    for redchi, hides in ((2.0, False), (9.0, True)):
        misfit = Finding(Kind.MISFIT, (), {"redchi": redchi, **numbers})
        found = ordered([structured, misfit, misfit])
        assert found[0] is misfit
        assert found[1:] == (() if hides else (structured,))
        assert (misfit.severity is Severity.WRONG) == hides


def line(start: float = 85.0, spike: float = 0.0, noise: float = 1.0) -> Any:
    made = loaded(LINE, "m", energy=ENERGY)
    data = np.asarray(made.evaluate()) + noise * np.random.default_rng(1).normal(size=121)
    data[40] += spike
    made.set("Gauss_01_x0", start)
    return fit_model(made, Measurement(data, weight=1 / noise), scale_covar=False)


def test_diagnose_returns_a_new_result() -> None:
    result = line(spike=60.0)
    assert Kind.OUTLIERS not in kinds(result)
    assert "diagnose()" in str(result)
    found = result.diagnose()
    assert (result.level, found.level) == (0, 1)
    assert Kind.OUTLIERS in kinds(found)
    assert Kind.OUTLIERS not in kinds(result)
    assert found.values == result.values
    deep = result.diagnose(deep=True)
    assert deep.level == 2
    assert deep.diagnosed[0] > 0
    assert found.to_dict()["findings"][0]["kind"] == found.findings[0].kind.name


def test_a_line_beside_its_peak_is_told_where_the_peak_is() -> None:
    made = loaded(LINE.replace("0.1, 3]", "0.1, 0.8]"), "m", energy=ENERGY)
    data = np.asarray(made.evaluate()) + np.random.default_rng(1).normal(size=121)
    data += 30 * np.exp(-(((ENERGY - 90) / 0.6) ** 2) / 2)
    made.set("Gauss_01_x0", 90.0)
    result = fit_model(made, Measurement(data, weight=1.0), scale_covar=False).diagnose()
    assert result.findings[0].kind is Kind.MISFIT
    (found,) = [one for one in result.findings if one.kind is Kind.LINE_BESIDE_PEAK]
    assert found.places == ("Gauss_01_x0",)
    assert found.numbers["peak"] == pytest.approx(85.0, abs=0.3)


def test_two_lines_that_became_one_are_told() -> None:
    text = LINE + "  Gauss: {A: [100, True], x0: [86.5, True], SD: [0.6, True, 0.1, 3]}\n"
    made = loaded(text, "m", energy=ENERGY)
    data = clean("line") + np.random.default_rng(1).normal(size=121)
    made.set("Gauss_02_SD", 0.6, vary=False)
    made.set("Gauss_01_SD", 0.6, vary=False)
    result = fit_model(made, Measurement(data))
    apart = abs(result.values["Gauss_01_x0"] - result.values["Gauss_02_x0"])
    assert (Kind.LINES_MERGED in kinds(result)) == (apart < 0.025)


def test_a_finished_result_works_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """print(result) made hidden fits: 37 times the time of a fit."""
    fits = [line(spike=60.0).diagnose(), line(), good("joint", 0), good("slices", 0)]
    fits += [good("free spectra", 0), WRONG["faint_line"](0)]

    def gone(*_: Any) -> Any:
        raise AssertionError("the compiled library was called")

    for name in dir(LIBRARY):
        if name.startswith("pyspec_"):
            monkeypatch.setattr(LIBRARY, name, gone)
    for result in fits:
        assert str(result)
        assert repr(result)
        assert result._repr_html_()
        assert result.stderr
        assert result.findings is not None
        assert pickle.dumps(result)
    for result in fits[:2]:
        assert result.correl["Gauss_01_A"]["Gauss_01_SD"]
        assert result.fit_report()
