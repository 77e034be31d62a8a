"""Plain fits, which are judged at one glance: they say what the judgement of any fit says."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from support.line_model import line_text, measured

from pyspec.fit import FitResult, fit_model, fit_slices, plain
from pyspec.fit.following import Following
from pyspec.fit.plain import plain_result
from pyspec.fit.solve.stages import Run
from pyspec.formula import parse
from pyspec.model import Measurement, Model, load_model

ENERGY, TIME = np.linspace(80.0, 90.0, 40), np.linspace(-3.0, 9.0, 21)
FOLLOWED = """
pair:
  Offset:
    y0: [2.0, True]
  Gauss:
    A: [20.0, True, 0, 1000]
    x0: [84.2, True, 80, 90]
    SD: [0.7, True, 0.1, 5]
  Gauss:
    A: ["3/4*Gauss_01_A"]
    x0: ["Gauss_01_x0 + 2.5"]
    SD: ["Gauss_01_SD"]
"""
OUTSIDE = FOLLOWED.replace("+ 2.5", "+ 25")


def model_of(text: str, name: str) -> Model:
    model = load_model(text, name)
    model.set_axes(energy=ENERGY)
    return model


def line() -> Model:
    return model_of(line_text(), "line")


def pair() -> Model:
    return model_of(FOLLOWED, "pair")


def noisy(model: Model, seed: int = 1) -> Measurement:
    data = np.asarray(model.evaluate()).ravel()
    return Measurement(data * 1.1 + np.random.default_rng(seed).normal(size=data.size) * 0.1)


def counted(model: Model) -> Measurement:
    data = np.asarray(model.evaluate()).ravel()
    return Measurement(np.random.default_rng(2).poisson(2.0 * data).astype(float))


PLAIN: dict[str, tuple[Model, Measurement]] = {
    "a line": (line(), measured(line())),
    "followers": (pair(), noisy(pair())),
    "a line outside": (model_of(OUTSIDE, "pair"), noisy(pair())),
    "counts": (line(), counted(line())),
    "weights": (pair(), Measurement(noisy(pair()).data, weight=10.0)),
    "a mask": (pair(), Measurement(noisy(pair()).data, mask=ENERGY > 88.0)),
}


def bounded(model: Model) -> Model:
    found = model.copy()
    found.parameters["Gauss_01_A"].max = 1.05 * found.values["Gauss_01_A"]
    return found


OTHERS: dict[str, tuple[Model, Measurement, dict[str, Any]]] = {
    "at a bound": (bounded(pair()), noisy(pair()), {}),
    "stopped": (pair(), noisy(pair()), {"max_nfev": 3}),
    "counting statistics": (pair(), Measurement(counted(pair()).data, loss="poisson"), {}),
    "too much noise": (pair(), Measurement(noisy(pair()).data, weight=100.0), {}),
    "exact": (line(), Measurement(np.asarray(line().evaluate()).ravel()), {}),
    "as many as points": (line(), Measurement(measured(line()).data, columns=(18, 22)), {}),
    "another method": (pair(), noisy(pair()), {"method": "leastsq"}),
}


def told(result: FitResult) -> list[Any]:
    """All that a result says."""
    outcome = result._outcome
    numbers = [
        {name: getattr(outcome, name) for name in ("chisqr", "redchi", "nfree", "ndata", "nvarys")},
        (outcome.aic, outcome.bic, outcome.success, outcome.errorbars, outcome.var_names),
        None if outcome.covar is None else np.asarray(outcome.covar).tobytes(),
        {name: dict(row) for name, row in result.correl.items()},
        (result.values, result.stderr, result.start, result.theta.tobytes(), result.nfev),
    ]
    facts = {name: one for name, one in vars(result).items() if not name.startswith("_")}
    left_out = ("problem", "seconds", "theta", "message")
    said = {name: one for name, one in facts.items() if name not in left_out}
    return [list(vars(result)), said, result.message, result._warned, str(result.table), *numbers]


def in_general(monkeypatch: pytest.MonkeyPatch, *given: Any, **options: Any) -> FitResult:
    with monkeypatch.context() as patch:
        patch.setattr(plain, "plain_result", lambda run, settings: None)
        return fit_model(*given, **options)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each fit was plain."""
    found: list[bool] = []

    def noted(run: Run, settings: dict[str, Any]) -> FitResult | None:
        result = plain_result(run, settings)
        found.append(result is not None)
        return result

    monkeypatch.setattr(plain, "plain_result", noted)
    return found


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("scale_covar", [None, False])
def test_a_plain_fit_says_what_any_fit_says(
    name: str, scale_covar: bool | None, monkeypatch: pytest.MonkeyPatch, taken: list[bool]
) -> None:
    model, measurement = PLAIN[name]
    expected = told(in_general(monkeypatch, model, measurement, scale_covar=scale_covar))
    for _ in range(2):
        result = fit_model(model, measurement, scale_covar=scale_covar)
        assert told(pickle.loads(pickle.dumps(result))) == expected
        assert told(result) == expected
    assert taken == [True, True]


@pytest.mark.parametrize("name", OTHERS)
def test_other_fits_are_judged_in_general(
    name: str, monkeypatch: pytest.MonkeyPatch, taken: list[bool]
) -> None:
    model, measurement, options = OTHERS[name]
    expected = told(in_general(monkeypatch, model, measurement, **options))
    assert told(fit_model(model, measurement, **options)) == expected
    assert True not in taken


def test_slices_are_plain_fits_too(monkeypatch: pytest.MonkeyPatch, taken: list[bool]) -> None:
    model = pair()
    data = np.array([np.asarray(noisy(model, seed).data) for seed in range(3)])
    found = fit_slices(model, Measurement(data))
    assert taken == [True] * 3
    for one in found:
        expected = in_general(monkeypatch, model, Measurement(data[one.index]))
        assert one.result is not None
        assert one.result.values == expected.values
        assert one.result.stderr == expected.stderr
        assert one.result.message == expected.message


@pytest.mark.parametrize(
    "text",
    ["a", "-a", "3/4*a", "a - b/3 + 2", "(a - b)*(a + b)", "1/(a - a)", "0*a/(b - b)", "a*1e300*b"],
)
@pytest.mark.parametrize("values", [(1.7, -2.3), (-0.0, 1e300), (np.float64(1e-3), 3.0)])
def test_followers_by_arithmetic_have_the_bits_of_numpy(
    text: str, values: tuple[float, float]
) -> None:
    known = dict(zip("ab", values, strict=True))
    followers = Following({"c": parse(text), "d": parse("exp(-c*c)")}, ("d", "c"))
    found = followers.values(known)
    assert list(found) == ["d", "c"]
    assert {type(one) for one in found.values()} == {float}
    c = float(parse(text).evaluate(known))
    expected = {"d": float(parse("exp(-c*c)").evaluate({"c": c})), "c": c}
    assert {n: np.float64(one).tobytes() for n, one in found.items()} == {
        n: np.float64(one).tobytes() for n, one in expected.items()
    }
