"""A fixed share of what tests/fuzz/definitions.py does, and that it finds what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz import definitions
from fuzz.guided import DefectError

from pyspec.errors import ModelError
from pyspec.formula.definitions.function import Definition


def test_texts_are_refused_or_make_a_program_that_numpy_agrees_with() -> None:
    taken = list[Definition]()
    counts = definitions.attack(200, 3, taken.append)
    assert counts["accepted"] == len(taken) > 100
    assert counts["refused"] > 20
    for own in taken:
        assert own.words[0] == own.words.size
        program = own.program(own.value)
        assert (program[0], program[1]) == (program.size, len(own.params))
        given = {name: np.linspace(0.0, 1.0, 5) for name in own.inputs}
        assert np.shape(own(np.linspace(-1.0, 2.0, 5), *([0.7] * len(own.params)), **given)) == (5,)
    assert any(own.inputs for own in taken)


def test_defects_are_shown() -> None:
    def crash(own: Definition) -> None:
        raise KeyError(own.name)

    def refuse(own: Definition) -> None:
        raise ModelError("no")

    with pytest.raises(DefectError, match="KeyError"):
        definitions.attack(5, 1, crash)
    assert definitions.attack(5, 1, refuse)["refused"] == 5
