"""Names of other programs: each says what is meant here."""

from __future__ import annotations

from typing import Any

import pytest

from pyspec import Model, load_model
from pyspec.components import DS, GLP, GLS, Gauss, Lorentz, Offset, Voigt, fixed
from pyspec.errors import ModelError, NoSuchKeyError


def model() -> Model:
    return Model("au", [Offset(10), GLP(A=20, x0=(84, 82, 86), F=1.2, m=fixed(0.3))])


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
        Model("a", [kind(**{word: 1})])
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
