"""The model tree: values, axes, dynamics, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import components
from pyspec.errors import BackendError, DataError, ModelError
from pyspec.model import (
    Model,
    load_dynamics,
    load_model,
    load_profile,
)

TEXT = """\
m:
  Offset:
    y0: [2.0, True]
  GLP:
    A: [20.0, True, 5, 60]
    x0: [84.0, True, 82, 88]
    F: [0.9, False]
    m: [0.3, True, 0, 1]
  GLP:
    A: ["GLP_01_A / 2"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_02_A / 10"]
    m: [0.5, True, 0, 1]
"""

LAWS = """\
d:
  expFun:
    A: [1.0, True]
    tau: [8.0, True]
    t0: [0.0, False]
follow:
  expFun:
    A: ["{source}"]
    tau: [2.0, True]
    t0: [0.0, False]
"""


def model() -> Model:
    return load_model(TEXT)


def move(target: Model, name: str, laws: str = "d", source: str = "1") -> None:
    text = LAWS.format(source=source)
    target.add_dynamics(name, load_dynamics(text, laws, target.parameters[name]))


def test_order_of_theta_and_of_fixed_values() -> None:
    free = ("Offset_y0", "GLP_01_A", "GLP_01_x0", "GLP_01_m", "GLP_02_m")
    assert model().opt_param_names == free
    assert model().fixed_names == ("GLP_01_F",)
    np.testing.assert_array_equal(model().theta(), [2.0, 20.0, 84.0, 0.3, 0.5])


def test_set_values_is_all_or_nothing() -> None:
    target = model()
    target.set_values({"GLP_01_A": 30, "GLP_01_F": np.float64(1.5)})
    assert target.values["GLP_02_A"] == 15.0
    for values, message in (
        ({"GLP_01_A": 1.0, "GLP_1_x0": 2.0}, "no parameter 'GLP_1_x0'; did you mean 'GLP_01_x0'"),
        ({"GLP_01_A": 1.0, "GLP_02_A": 2.0}, "follows the expression 'GLP_01_A / 2'; set GLP_01_A"),
        ({"GLP_01_A": 1.0, "GLP_01_F": float("nan")}, "nan is not a finite number"),
        ({"GLP_01_A": 1.0, "GLP_01_F": "2"}, "'2' is not a finite number"),
        ({"GLP_01_A": 1.0, "GLP_01_F": None}, "None is not a finite number"),
        ({"GLP_01_A": 1.0, "GLP_01_F": True}, "True is not a finite number"),
    ):
        with pytest.raises(ModelError, match=message):
            target.set_values(values)  # type: ignore[arg-type]
    assert target.values["GLP_01_A"] == 30.0


@pytest.mark.parametrize("first", ["cause", "law"])
def test_law_that_would_move_itself(first: str) -> None:
    """In whichever order the two are added, the error names both and changes nothing."""
    target = model()
    if first == "cause":
        move(target, "GLP_01_A")
        late, arguments = "GLP_01_x0", ("follow", "GLP_02_A")
    else:
        move(target, "GLP_01_x0", "follow", "GLP_02_A")
        late, arguments = "GLP_01_A", ("d", "1")
    before = list(target.parameters)
    with pytest.raises(ModelError, match=r"GLP_01_x0_expFun_01_A = .* depends on GLP_01_A"):
        move(target, late, *arguments)
    assert list(target.parameters) == before
    assert target.parameters[late].dynamics is None


def test_energy_expression_may_wait_for_dynamics() -> None:
    """GLP_02 follows the amplitude of a law that is added after loading."""
    text = TEXT.replace('"GLP_01_x0 + 3.67"', '"GLP_01_x0_expFun_01_A * 2"')
    target = load_model(text)
    with pytest.raises(ModelError, match="comes with dynamics of GLP_01_x0: add those first"):
        target.check()
    with pytest.raises(ModelError, match="add those first"):
        target.values  # noqa: B018
    move(target, "GLP_01_x0")
    target.check()
    assert target.values["GLP_02_x0"] == 2.0


VARIES, LAW_OF_X0 = "[1, True]", "GLP_01_x0_expFun_01_A"
PROFILE = """\
p: {{pExpDecay: {{A: {0}, tau: [2.0, True]}}}}
"""


@pytest.mark.parametrize(
    ("name", "target", "height", "message"),
    [
        ("GLP_01_x0", "GLP_01_A", VARIES, "was loaded for GLP_01_A, not for GLP_01_x0; load"),
        ("GLP_02_x0", "GLP_02_x0", VARIES, r"follows the expr.* refers to \(GLP_01_x0\), or give"),
        ("GLP_01_A", "GLP_01_A", VARIES, "already has the profile 'p'; put all of it into one"),
        (LAW_OF_X0, LAW_OF_X0, VARIES, "belongs to a time law or a profile and cannot have a prof"),
        ("GLP_01_m", "GLP_01_m", "[GLP_01_A]", "a profile and must not differ along aux, but it"),
    ],
)
def test_profiles_where_there_can_be_none(
    name: str, target: str, height: str, message: str
) -> None:
    own = model()
    move(own, "GLP_01_x0")
    own.add_profile("GLP_01_A", load_profile(PROFILE.format(VARIES), "p", "GLP_01_A"))
    before = own.describe()
    with pytest.raises(ModelError, match=message):
        own.add_profile(name, load_profile(PROFILE.format(height), "p", target))
    assert own.describe() == before


def test_a_law_depends_on_nothing_that_has_a_profile() -> None:
    own = model()
    own.add_profile("GLP_01_A", load_profile(PROFILE.format(VARIES), "p", "GLP_01_A"))
    with pytest.raises(ModelError, match="along aux, but it depends on GLP_01_A, which has a prof"):
        move(own, "GLP_01_x0", "follow", "GLP_01_A")


def test_axes_are_checked_copies() -> None:
    target = model()
    energy = np.linspace(90.0, 80.0, 11)
    target.set_axes(energy=energy)
    assert target.dimension == 1
    target.set_axes(time=[0, 1, 3])
    assert target.dimension == 2
    assert target.time.dtype == np.float64
    energy[0] = 0.0
    assert target.energy[0] == 90.0
    with pytest.raises(ValueError, match="read-only"):
        target.energy[0] = 1.0
    target.set_axes(time=None)
    assert (target.dimension, target.energy.size) == (1, 11)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"energy": [3.0, 1.0, 2.0, 0.0]}, "from 1 to 2 at index 1"),
        ({"energy": [0.0, np.inf]}, "inf at index 1"),
        ({"energy": [1.0, 2.0], "time": [np.nan]}, "time axis has nan"),
        ({"energy": np.ma.masked_less([1.0, 2.0], 2.0)}, "is a masked array and hides points"),
    ],
)
def test_axes_that_are_refused(axes: dict[str, object], message: str) -> None:
    target = model()
    with pytest.raises(DataError, match=message):
        target.set_axes(**axes)  # type: ignore[arg-type]
    assert target.energy is None
    assert target.time is None


def test_description() -> None:
    target = model()
    move(target, "GLP_01_x0")
    target.set_axes(energy=np.arange(5.0))
    head, _, *rows = target.describe().splitlines()
    assert head == repr(target)
    assert "Offset, GLP_01, GLP_02; 7 of 12 parameters free, 1 moving; axes: energy 5" in head
    assert len(rows) == 12
    shown = {row.split()[0]: row for row in rows}
    assert shown["GLP_01_x0"].endswith("d: expFun")
    assert shown["GLP_01_A"].split()[1:] == ["20", "free", "5", "60"]
    table = target._repr_html_()
    assert table.count("<tr>") == 13


def test_an_instrument_sees_so_many_cycles_exactly() -> None:
    text = "see: {gaussIRF: {SD: [1, True]}}\n" + LAWS.format(source="1")
    own = model()
    own.add_dynamics("GLP_01_A", load_dynamics(text, ["see", "d"], "GLP_01_A", 1e3))
    own.set_axes(energy=[84.0, 85.0], time=[0.0, 1.0])
    with pytest.raises(DataError, match=r"2e\+03 cycles of 0\.001 are too many .* takes 500; use"):
        own.evaluate()


def test_a_model_evaluates_on_a_backend_by_its_name() -> None:
    with pytest.raises(BackendError, match=r"unknown backend 'compield'.*did you mean 'compiled'"):
        model().evaluate("compield")


def test_a_model_of_50_000_components_is_refused_while_it_is_loaded() -> None:
    part = "  Gauss:\n    A: [1, True]\n    x0: [5, True]\n    SD: [1, True]\n"
    with pytest.raises(ModelError, match="has 5,000 components, at most 2,000 are possible"):
        load_model("m:\n" + 5_000 * part, "m")
    with pytest.raises(ModelError, match="has 50,000 components, at most 2,000 are possible"):
        Model("m", [components.Gauss(A=1.0, x0=5.0, SD=1.0)] * 50_000)
