"""Model files: what is read, and what is refused with which words."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pyspec.errors import ModelError
from pyspec.model import load_dynamics, load_model, load_models

GOOD = """\
# a doublet on a background
doublet:
  Offset:
    y0: [2, True]
  Shirley:
    pShirley: [4.0E-4, False, 0, 1]
  GLP:
    A: [20.0, True, 5, 60]
    x0: [84.0, "project", 82, 88]
    F: [0.9, file]
    m: [0.3, static, 0, .inf]
  GLP:
    m: ["GLP_01_m"]
    F: [GLP_01_F * 2]
    x0: ["GLP_01_x0 + 3.67"]
    A: ["3/4*GLP_01_A"]
  Offset:
    y0: [-1e-3, true, -.inf, +.inf]
"""

LAWS = """\
decay:
  expFun:
    A: [1.5, True, -5, 5]
    tau: [8.0, True, 0.5, 100]
    t0: [0.0, False]
  expFun:
    A: ["-expFun_01_A"]
    tau: [2.0, True]
    t0: [0, False]
    y0: [0.1, False]
"""


def bad(text: str, **options: object) -> str:
    with pytest.raises(ModelError) as caught:
        load_models(text, **options)
    return str(caught.value)


def one(line: str) -> str:
    """The complaint about one line inside a GLP."""
    return bad(f"m:\n  GLP:\n    {line}\n    A: [1, True]\n    F: [1, True]\n    m: [0, True]\n")


def test_a_model_as_written() -> None:
    model = load_model(GOOD)
    assert model.name == "doublet"
    names = ["Offset", "Shirley", "GLP_01", "GLP_02", "Offset_02"]
    assert [component.name for component in model.components] == names
    par = model.parameters
    assert list(par)[:6] == [
        "Offset_y0", "Shirley_pShirley", "GLP_01_A", "GLP_01_x0", "GLP_01_F", "GLP_01_m",
    ]  # fmt: skip
    assert (par["GLP_01_A"].value, par["GLP_01_A"].min, par["GLP_01_A"].max) == (20.0, 5.0, 60.0)
    assert (par["GLP_01_A"].vary, par["GLP_01_A"].scope) == (True, "file")
    assert (par["GLP_01_x0"].vary, par["GLP_01_x0"].scope) == (True, "project")
    assert (par["GLP_01_F"].vary, par["GLP_01_F"].scope) == (True, "file")
    assert (par["GLP_01_m"].vary, par["GLP_01_m"].scope) == (False, "static")
    assert par["Shirley_pShirley"].value == 4e-4
    assert not par["Shirley_pShirley"].vary
    assert par["Offset_02_y0"].value == -1e-3
    assert (par["Offset_02_y0"].min, par["Offset_02_y0"].max) == (-math.inf, math.inf)
    assert par["GLP_01_A"].where == "<text>:8"
    assert par["GLP_02_F"].expr == "GLP_01_F * 2"
    assert math.isnan(par["GLP_02_F"].value)
    assert not par["GLP_02_F"].vary


def test_bounds_end_at_the_domain() -> None:
    par = load_model(GOOD).parameters
    assert (par["GLP_01_F"].min, par["GLP_01_F"].max) == (0.0, math.inf)
    text = "m:\n  Gauss: {A: [1, True], x0: [0, True], SD: [1, True, -.inf, .inf]}\n"
    par = load_model(text).parameters
    assert (par["Gauss_01_SD"].min, par["Gauss_01_SD"].max) == (0.0, math.inf)


def test_numbers_as_yaml_1_2_writes_them() -> None:
    for word, value in [
        ("1e-3", 1e-3),
        ("4.0E-4", 4e-4),
        ("010", 10.0),
        ("-.5", -0.5),
        ("+5.", 5.0),
        ("1E+2", 100.0),
        ("0x1F", 31.0),
        ("0o17", 15.0),
        ("6.02e23", 6.02e23),
        ("12345678901234567890", 12345678901234567890.0),
    ]:
        model = load_model(f"m:\n  Offset:\n    y0: [{word}, True]\n")
        assert model.parameters["Offset_y0"].value == value


#: Here and below: what the table of mistakes has not.
def test_values_that_are_no_numbers() -> None:
    for word, message in [
        ("nan", "not a number"),
        ("-.inf", "infinite"),
        ("9" * 400, "infinite"),
        ("3/4", "must be a number"),
        ("0x", "must be a number"),
        ("\u0663", "must be a number"),
    ]:
        complaint = one(f"x0: [{word}, True]")
        assert complaint.startswith("<text>:3: GLP_01.x0: ")
        assert message in complaint


def test_vary_flags_that_are_none() -> None:
    for flag in ["1", "0", "yes", "on", "no", '"True"', "TRUE", "~", "1.5", "[True]"]:
        complaint = one(f"x0: [1, {flag}]")
        assert complaint.startswith("<text>:3: GLP_01.x0: ")
        assert "write True, False, project, file or static" in complaint


def test_lines_that_are_refused() -> None:
    for line, message in [
        ("x0: [1, True, 0, 1e999]", "max 1e999 is too large; write .inf"),
        ("x0: [1, True, .inf, .inf]", "not below"),
        ("x0: [~]", "a parameter is a list"),
        ("x0: {free: time, zero: [[2, 1]]}", "zero is a list of ranges, such as [[300, 350]]"),
        ("x0: {free: time, zero: 3}", "zero is a list of ranges, such as [[300, 350]]"),
        ("x_0: [1, True]", "did you mean 'x0'?"),
    ]:
        complaint = one(line)
        assert complaint.startswith("<text>:3: GLP_01.")
        assert message in complaint


@pytest.mark.parametrize(
    ("text", "start", "message"),
    [
        ("", None, ""),
        ("{}\n", "<text>:1: ", "there is no model"),
        ("m:\n  Offset: {y0: [!!float 1, True]}\n", "<text>:2: ", "the tag"),
        ("m\udcff:\n  Offset: {y0: [1, True]}\n", "<text>:1: ", "is not allowed in YAML"),
        (
            "functions: {F: {parameters: 'A <= 1', formula: A * x}}\n"
            "m: {F: {A: [1, True, 0, 2]}}\n",
            "<text>:2: F_01.A: ",
            "max 2 lies outside of the function's domain, which ends at 1; lower it",
        ),
    ],
)
def test_files_that_are_refused(text: str, start: str | None, message: str) -> None:
    complaint = bad(text)
    if start is not None:
        assert complaint.startswith(start)
    assert message in complaint


def test_references_may_fan_out_and_in() -> None:
    """Forty pairs, each over the pair before: 2^40 paths, one visit for each parameter."""
    lines = ["m:", "  Gauss: {A: [1, True], x0: [1, True], SD: [1, True]}"]
    for k in range(1, 41):
        pair = f"Gauss_{k:02d}_A + Gauss_{k:02d}_x0"
        lines.append(f'  Gauss: {{A: ["({pair}) / 2"], x0: ["({pair}) / 2"], SD: [1, True]}}')
    assert load_model("\n".join(lines)).values["Gauss_41_A"] == 1.0


def test_long_chains() -> None:
    lines = ["m:", *(f'  Offset: {{y0: ["Offset_{k:02d}_y0"]}}' for k in range(2, 1500))]
    lines[1] = lines[1].replace('"Offset_02_y0"', '"Offset_02_y0 + 1"')
    lines.append("  Offset: {y0: [7, True]}")
    assert load_model("\n".join(lines)).values["Offset_y0"] == 8.0


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + LAWS.encode())
    models = load_models(path)
    assert list(models) == ["doublet"]  # laws are for load_dynamics
    assert models["doublet"].parameters["GLP_01_A"].where == f"{path}:8"
    assert models["doublet"].text == GOOD.split("\n", 1)[1]
    assert load_model(str(path), "doublet").where == f"{path}:2"
    with pytest.raises(ModelError, match="there is no model 'doublets'") as caught:
        load_model(path, "doublets")
    assert "did you mean 'doublet'?" in str(caught.value)
    with pytest.raises(
        ModelError, match=r"decay: has laws of time alone; .*\{free: energy\}.*fit_trace"
    ):
        load_model(path, "decay")


def test_dynamics_as_written() -> None:
    target = load_model(GOOD).parameters["GLP_01_x0"]
    dynamics = load_dynamics(LAWS, "decay", target)
    assert (dynamics.target, dynamics.name, dynamics.frequency) == ("GLP_01_x0", "decay", -1.0)
    assert [law.name for law in dynamics.components] == [
        "GLP_01_x0_expFun_01",
        "GLP_01_x0_expFun_02",
    ]
    first, second = dynamics.components
    assert [par.name for par in first.parameters][1] == "GLP_01_x0_expFun_01_tau"
    assert first.pars[3] is None  # y0 was left out and makes no parameter
    assert second.pars[3] is not None
    assert second.parameters[0].expr == "-GLP_01_x0_expFun_01_A"
    assert (first.parameters[1].min, first.parameters[1].max) == (0.5, 100.0)
    assert dynamics.text == LAWS


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (LAWS, "decays", "there is no model 'decays'.*did you mean 'decay'"),
        (LAWS, ["decay", "decay"], "the sub-cycles decay need a frequency"),
        (LAWS, [], "no dynamics model is named"),
        (
            "functions: {Grow: {domain: time, formula: A * t}}\n"
            "d:\n  gaussIRF: {SD: [1, True]}\n  Grow: {A: [1, True]}\n",
            "d",
            "gaussIRF: Grow has no exact response; use gaussCONV instead, which convolves the "
            "samples of any signal, or write GLP_01_x0_Grow_01 above it, where it stays as it is",
        ),
        (GOOD, "doublet", r"^<text>:3: Offset: Offset is a function of energy"),
        ("d:\n  expFn: {}\n", "d", "did you mean 'expFun'"),
        ("d:\n  expFun_01: {}\n", "d", "unknown component 'expFun_01'; did you mean 'expFun'?"),
        (
            "d:\n  expFun: {A: [1, True], tau: [0, True], t0: [0, True]}\n",
            "d",
            r"^<text>:2: GLP_01_x0_expFun_01\.tau: .*needs tau > 0",
        ),
    ],
)
def test_dynamics_that_are_refused(text: str, name: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load_dynamics(text, name, "GLP_01_x0")


def test_files_are_read_alike_without_the_parser_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_model(GOOD, "doublet").describe()
    monkeypatch.delattr("yaml.CSafeLoader", raising=False)
    assert load_model(GOOD, "doublet").describe() == before
    assert "a key must be a word" in bad("m:\n  ? [a, b]\n  : 1\n")
