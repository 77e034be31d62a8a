"""Names and signs of other programs: each says what does it here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, Model, fit_model, load_model
from pyspec.components import DS, GLP, GLS, Gauss, Lorentz, Offset, Voigt, fixed
from pyspec.errors import CallError, ModelError, NoSuchKeyError


def model() -> Model:
    return Model("au", [Offset(10), GLP(A=20, x0=(84, 82, 86), F=1.2, m=fixed(0.3))])


@pytest.mark.parametrize(
    "add",
    [
        lambda: GLP(1, 2, 3, 0.4) + Offset(1),
        lambda: model() + Offset(1),
        lambda: sum([Gauss(1, 2, 3), Offset(1)]),  # type: ignore[call-overload]
        lambda: Offset(1) + 2.0,
    ],
)
def test_plus_says_that_components_stand_in_a_list(add: Callable[[], Any]) -> None:
    """It was "unsupported operand type(s) for +"."""
    with pytest.raises(ModelError, match=r"in a list.*Model\('name', \[Offset\(1\), GLP"):
        add()


def test_setting_an_item_says_what_does_it() -> None:
    """It was "object does not support item assignment"."""
    own = model()
    with pytest.raises(CallError) as caught:
        own["GLP_01_A"] = 3  # type: ignore[index]
    command = str(caught.value).partition("write ")[2]
    assert command == "model.set('GLP_01_A', 3)"
    exec(command, {"model": own})
    assert own.values["GLP_01_A"] == 3
    with pytest.raises(CallError, match="holds no items"):
        del own["GLP_01_A"]  # type: ignore[attr-defined]
    own.set_axes(energy=np.linspace(80, 90, 41))
    result = fit_model(own, Measurement(np.asarray(own.evaluate())))
    with pytest.raises(CallError, match=r"model.set\('GLP_01_A', 3\)"):
        result["GLP_01_A"] = 3  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "word", "here"),
    [
        (GLP, "fwhm", "did you mean 'F'?"),
        (GLS, "FWHM", "did you mean 'F'?"),
        (DS, "fwhm", "did you mean 'F'?"),
        (Gauss, "fwhm", "did you mean 'SD', which is FWHM / 2.3548?"),
        (Gauss, "sigma", "did you mean 'SD'"),
        (Lorentz, "fwhm", "did you mean 'W'"),
        (Lorentz, "gamma", "did you mean 'W', which is 2 gamma?"),
        (Voigt, "center", "did you mean 'x0'?"),
        (GLP, "amplitude", "did you mean 'A', the height?"),
        (GLP, "fraction", "did you mean 'm'"),
    ],
)
def test_parameters_by_the_names_of_other_programs(kind: Any, word: str, here: str) -> None:
    """`fwhm` was told "it has A, x0, F, m", or the nearest letters: m."""
    with pytest.raises(ModelError) as caught:
        kind(**{word: 1})
    assert here in str(caught.value)
    name = kind.__name__
    with pytest.raises(ModelError) as caught:
        load_model(f"a:\n  {name}: {{{word}: [1, True]}}\n")
    assert here in str(caught.value)


def test_the_same_in_full_names() -> None:
    own = model()
    with pytest.raises(ModelError, match="did you mean 'GLP_01_F'"):
        own.set("GLP_01_fwhm", 3)
    with pytest.raises(NoSuchKeyError, match="did you mean 'GLP_01_F'"):
        own.values["GLP_01_fwhm"]
    with pytest.raises(ModelError, match="did you mean 'GLP_01_m'"):
        own.set("GLP_01_n", 3)
