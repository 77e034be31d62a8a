"""Units of parameters: those of the data, through the op table."""

from __future__ import annotations

import inspect
import re

from pyspec._library import OPS
from pyspec.functions import reference
from pyspec.model import load_model
from pyspec.model.units import parameter_units, unit_text

UNITS = {"energy": "eV", "time": "ps", "data": "counts"}
#: How the docstrings of the references say a unit, as a beginning or an end of the sentence.
SAID = {
    "y": r"in units of the (data|parameter( that)? \w+)(,|$)",
    "x": r"(, eV(, |$|;))|as x|in units of [xtd](, |$)|in units of the time axis",
    "y/x": r"units of the (data|parameter( that)? \w+) per (eV(?!\^)|unit)",
    "y x": r"in units of the data times eV",
    "1/x": r"1/eV|reciprocal units of t",
    "x^2": r"eV\^2$|, eV\^2[,;]",
    "y/x^2": r"per eV\^2",
    "y/x^3": r"per eV\^3",
    "y/x^0.5": r"rise after one unit of t",
    "rad": r"rad$",
    "K": r", K,",
}


def test_the_table_has_the_units_that_the_docstrings_say() -> None:
    for op in [op for op in OPS.values() if not op.derived]:
        text = inspect.getdoc(reference(op.name)) or ""
        for name, unit in zip(op.params, op.units, strict=True):
            found = re.search(rf"^[\w, ]*\b{name}\b[\w, ]* : (.*(?:\n    .*)*)", text, flags=re.M)
            sentence = re.sub(r"\s+", " ", found[1]) if found else ""
            said = [one for one, how in SAID.items() if re.search(how, sentence)]
            if said or (found and unit not in ("1", "?")):
                assert unit in said, f"{op.name}.{name}: {sentence}"


def test_units_are_written_as_people_do() -> None:
    for word, written in [
        ("y", "counts/s"),
        ("x", "eV"),
        ("x^2", "eV²"),
        ("1/x", "1/eV"),
        ("y/x", "(counts/s)/eV"),
        ("y x", "(counts/s) eV"),
        ("y/x^3", "(counts/s)/eV³"),
        ("y/x^0.5", "(counts/s)/√eV"),
        ("K", "K"),
        ("1", ""),
        ("?", ""),
        ("[nm]", "nm"),
    ]:
        assert unit_text(word, "eV", "counts/s") == written
    assert unit_text("y/x", "", "counts") == unit_text("1/x", "", "counts") == ""


def test_what_moves_a_parameter_is_in_its_unit_and_that_of_the_times() -> None:
    text = """
m:
  LinBack: {m: [1, true], b: [1, true], xStart: [0, false], xStop: [9, false]}
  Gauss: {A: [1, true], x0: [5, true], SD: [width]}
parameters:
  width: [1, true]
  both: [1, true]
attached:
  m: {Gauss_01_x0: {dynamics: [law]}, Gauss_01_A: {profile: depth}}
law:
  gaussCONV: {SD: [0.1, true]}
  sinFun: {A: [1, true], f: [2, true], phi: [0, true], t0: [both]}
depth:
  pLinear: {m: [1, true], b: [both]}
"""
    found = parameter_units(load_model(text, "m"), UNITS)
    assert found == {
        "LinBack_m": "counts/eV",
        "LinBack_b": "counts",
        "LinBack_xStart": "eV",
        "LinBack_xStop": "eV",
        "Gauss_01_A": "counts",
        "Gauss_01_A_pLinear_01_m": "",
        "Gauss_01_A_pLinear_01_b": "counts",
        "Gauss_01_x0": "eV",
        "Gauss_01_x0_gaussCONV_SD": "ps",
        "Gauss_01_x0_sinFun_01_A": "eV",
        "Gauss_01_x0_sinFun_01_f": "1/ps",
        "Gauss_01_x0_sinFun_01_phi": "rad",
        "Gauss_01_x0_sinFun_01_t0": "ps",
        "Gauss_01_SD": "eV",
        "width": "eV",
        "both": "",
    }


def test_a_scheme_has_rates() -> None:
    text = """
kinetics:
  cascade: {A -> B: k1, B: k2}
trace:
  cascade:
    k1: [5, true, 0.1, 100]
    k2: [1, true, 0.1, 100]
    t0: [0, true]
    spectra: {free: energy}
"""
    found = parameter_units(load_model(text, "trace"), UNITS)
    rates = {name.rpartition("_")[2]: unit for name, unit in found.items()}
    assert (rates["k1"], rates["k2"], rates["t0"]) == ("1/ps", "1/ps", "ps")
