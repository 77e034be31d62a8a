"""Copies of a model, and the checksum that notices a change of data."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import pyspec.executor  # noqa: F401  (it evaluates models)
from pyspec.model import Model, load_dynamics, load_model, load_profile
from pyspec.model.data.checksum import LINE, LINES, checksum, checksums

_MODEL = """
parameters:
  width: [1.0, True, 0.1, 5]
  double: ["2 * width"]
peak:
  Offset:
    y0: [0.5, True]
  GLP:
    A: [10, True, 0, 50]
    x0: [3, True]
    F: ["width"]
    m: [0.3, False]
"""
_LAW = """
law:
  gaussIRF:
    SD: [0.3, False]
  expFun:
    A: [2, True]
    tau: ["3 * width"]
    t0: [0, False]
"""
_PROFILE = """
depth:
  pLinear:
    m: [0.1, True]
    b: [0.0, False]
"""


def _model() -> Model:
    model = load_model(_MODEL, "peak")
    model.set_axes(energy=np.linspace(0, 6, 30), time=np.linspace(-1, 4, 20), aux=[0.0, 1.0])
    model.add_dynamics("GLP_01_x0", load_dynamics(_LAW, "law", target="GLP_01_x0"))
    model.add_profile("GLP_01_A", load_profile(_PROFILE, "depth", target="GLP_01_A"))
    return model


def _parts(model: Model) -> list[object]:
    """Every part of a model that can be changed."""
    found: list[object] = []

    def add(components: object) -> None:
        for component in components:  # type: ignore[attr-defined]
            found.append(component)
            for par in component.parameters:
                found.append(par)
                for moved in (par.dynamics, par.profile):
                    if moved is not None:
                        found.append(moved)
                        found.append(moved.components)
                        add(moved.components)

    add(model.components)
    return [*found, model.components, *model.quantities]


def _pickled(model: Model) -> Model:
    found: Model = pickle.loads(pickle.dumps(model))
    return found


@pytest.mark.parametrize("copied_by", [Model.copy, copy.copy, copy.deepcopy, _pickled])
def test_a_copy_shares_no_part_that_can_change(copied_by: Callable[[Model], Model]) -> None:
    """copy.copy used to share the parameters: a value set in the copy was set in the model."""
    model = _model()
    copied = copied_by(model)
    assert copied.describe() == model.describe()
    assert copied.parameters["GLP_01_F"].formula == model.parameters["GLP_01_F"].formula
    assert not copied.energy.flags.writeable
    assert copied.components[0].owner is copied
    assert model.components[0].owner is model
    own = {id(part) for part in _parts(model)}
    assert len(own) == len(_parts(model))
    assert own.isdisjoint(id(part) for part in _parts(copied))
    before = model.values
    copied.set_values({"width": 2.0, "GLP_01_x0_expFun_01_A": 9.0, "GLP_01_A_pLinear_01_m": 1.0})
    copied.set_axes(energy=np.arange(5.0))
    assert model.values == before
    assert model.energy.size == 30
    par, copied = copy.deepcopy((model.parameters["width"], model))
    assert copied.parameters["width"] is par


def test_a_checksum_notices_changes_and_exchanges() -> None:
    for n in [1, 95, LINE - 1, LINE, 3 * LINE + 7, LINE * LINES + LINE + 3]:
        for dtype in [np.float64, np.float32, np.uint16]:
            draw = np.random.default_rng(n)
            data = draw.integers(1, 60000, n).astype(dtype)
            before = checksum(data)
            assert checksum(data.copy()) == before
            assert checksum(np.repeat(data, 2)[::2]) == before  # whatever the strides
            for k in {0, n // 2, n - 1}:
                changed = data.copy()
                changed[k] = np.nextafter(changed[k], np.float32(0)) if dtype != np.uint16 else 0
                assert checksum(changed) != before
            for second in {1, LINE % n, (2 * LINE + 1) % n} if n > 1 else ():
                if data[0] != data[second]:
                    changed = data.copy()
                    changed[[0, second]] = data[[second, 0]]
                    assert checksum(changed) != before


def test_checksums_of_rows_are_those_of_each() -> None:
    for shape in [(7, 100), (0, 4), (3, 0), (4, 5000)]:
        rows = np.random.default_rng(2).integers(0, 99, shape).astype("<u2")
        for given in (rows, rows[:, ::2]):
            assert checksums(given) == [checksum(one) for one in given]
