"""The section ``parameters``: quantities that belong to no component."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.errors import ModelError
from pyspec.executor import make_executor
from pyspec.fit import fit_model
from pyspec.model import Measurement, load_dynamics, load_model, load_models, load_time_model

MODEL = """
m:
  GLP:
    A: [10.0, true]
    x0: [5.0, true]
    F: ["width"]
    m: [0.3, false]
other:
  Gauss:
    A: [1.0, true]
    x0: [5.0, true]
    SD: ["width / 2"]
"""
TEXT = (
    """
parameters:
  width: [1.5, true, 0.1, 9]
  area: ["GLP_01_A * width * sqrt(pi)"]
  twice: ["2 * area"]
"""
    + MODEL
)
X = np.linspace(0.0, 10.0, 41)


def test_they_are_parameters_of_every_model_that_can_have_them() -> None:
    models = load_models(TEXT)
    assert list(models["m"].parameters)[-3:] == ["width", "area", "twice"]
    assert list(models["other"].parameters)[-1:] == ["width"]
    assert "area" not in models["other"].parameters
    assert models["m"].opt_param_names == ("GLP_01_A", "GLP_01_x0", "width")
    values = models["m"].values
    assert values["twice"] == pytest.approx(2 * 10.0 * 1.5 * np.sqrt(np.pi), rel=1e-15)


GAUSS = "Gauss: {A: [1, true], x0: [2, true], SD: [s]"


@pytest.mark.parametrize(
    "text",
    [
        f"m:\n  {GAUSS}}}\nparameters:\n  s: [1, true]",
        f"m: {{{GAUSS}\n  }}\n}}\nparameters: {{s: [1, true],\n}}\n",
        '{"m":{"Gauss":{"A":[1,true],"x0":["1\n + 1"],"SD":["s"]}},\n"parameters":{"s":[1,true]}}',
    ],
    ids=["no line break at the end", "closed in a line of its own", "in one bracket"],
)
def test_the_text_of_a_model_is_whole_however_the_file_is_laid_out(text: str) -> None:
    """Lines were cut out of the file: such a model could not be made again from an archive."""
    assert load_model(load_model(text, "m").text).to_yaml() == load_model(text, "m").to_yaml()


FREE = """
parameters:
  onset: [0.1, true]
  zero: ["onset * (1 - (5 / energy) ** 2)"]
  late: ["2 * zero"]
chirped:
  gaussIRF: {SD: [0.1, true]}
  expFun: {A: {free: energy}, tau: [3, true], t0: ["zero"]}
static:
  Offset: {y0: [1, true]}
"""


def test_one_of_the_energy_belongs_to_models_with_free_spectra() -> None:
    """It used to keep every other model of the file from being loaded."""
    models = load_models(FREE)
    assert list(models["chirped"].parameters)[-3:] == ["onset", "zero", "late"]
    assert list(models["static"].parameters) == ["Offset_y0"]
    for name, model in models.items():
        assert list(load_model(model.text, name).parameters) == list(model.parameters)
    with pytest.raises(ModelError, match=r"zero: expression .* names an unknown .* 'energy'"):
        load_model(FREE.replace("[1, true]", '["late"]'), "static")
    with pytest.raises(ModelError, match=r"zero: expression .* names an unknown .* 'energy'"):
        load_model(FREE.replace("{free: energy}", "[1, true]"), "static")


def test_a_trace_of_the_same_file_needs_no_energy() -> None:
    """The time zero of the free spectra kept a model of one trace from being loaded."""
    file = f"{FREE}trace:\n  expFun: {{A: [1, true], tau: [3, true], t0: [onset]}}\n"
    trace = load_time_model(file.replace("[onset]", '["onset"]'), "trace")
    assert list(trace.parameters)[-1] == "onset"
    assert not {"zero", "late"} & set(trace.parameters)
    assert list(load_time_model(trace.text, "trace").parameters) == list(trace.parameters)
    with pytest.raises(ModelError, match=r"zero: expression .* names an unknown .* 'energy'"):
        load_time_model(file.replace("[onset]", '["zero"]'), "trace")


def test_one_that_nothing_uses_takes_no_part() -> None:
    """It used to stop the fit, though it belonged to dynamics that were added later."""
    model = load_model(TEXT.replace('"width"', '"GLP_01_A / 7"').replace("A * width", "A"), "m")
    model.set_axes(energy=X)
    assert "width" not in make_executor(model).opt_param_names
    assert "not used by what is there: width" in model.describe()


@pytest.mark.parametrize(
    "name", ["total", "before_Shirley", "Offset", "GLP_01", "GLP_01_A_resolved"]
)
def test_a_quantity_may_have_any_name_that_no_parameter_has(name: str) -> None:
    """The sum of a spectrum is a node called "total": a quantity of this name, such as a total
    area, used to be refused with "2 nodes of this name"."""
    text = f"""
parameters: {{{name}: ["2 * GLP_01_A"]}}
m:
  Offset: {{y0: [3, true]}}
  Shirley: {{pShirley: [0.001, true]}}
  GLP: {{A: [10, true], x0: [5, true], F: [1, true], m: [0.3, false]}}
law:
  expFun: {{A: [-2, true], tau: [3, true], t0: [0, false]}}
"""
    model = load_model(text, "m")
    model.add_dynamics("GLP_01_A", load_dynamics(text, "law", "GLP_01_A"))
    model.set_axes(energy=X, time=np.arange(3.0))
    known = load_model(text.replace(f"{{{name}:", "{twice:"), "m")
    known.add_dynamics("GLP_01_A", load_dynamics(text, "law", "GLP_01_A"))
    known.set_axes(energy=X, time=np.arange(3.0))
    assert model.values[name] == 20.0
    np.testing.assert_array_equal(model.evaluate(), known.evaluate())
    result = fit_model(model, Measurement(known.evaluate() + np.sin(7 * X)), max_nfev=3)
    assert result.values[name] == pytest.approx(2 * result.values["GLP_01_A"], rel=1e-15)
    assert set(result.eval_components()) == {"Offset", "Shirley", "GLP_01"}
