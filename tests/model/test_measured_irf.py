"""A measured instrument in model files and in Python: what it reads, what it refuses, and that its
text loads again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import Model, load_dynamics, load_model
from pyspec.components import constFun, expFun, free, measuredIRF
from pyspec.errors import ModelError
from pyspec.formula import Measured
from pyspec.model.build.load import load_time_model

INLINE = """
laws:
  constFun: {A: {free: energy}}
  measuredIRF: {time: [-0.2, 0, 0.1, 0.3], response: [0, 1e-3, 0.1, 0.3333333333333333]}
  expFun: {A: {free: energy}, tau: [3, True, 0.1, 30], t0: [0, True]}
"""
TABLE = """# a comment
time, response
-0.2, 0
 0.0, 1e-3   # its top is later

0.1\t0.1
0.3 ; 0.3333333333333333
"""
PEAK = "peak:\n  Gauss: {A: [3, True], x0: [84, True], SD: [0.8, True]}\n"


def samples(model: Model) -> tuple[tuple[float, ...], tuple[float, ...]]:
    own = next(one.op.own for one in model.components if one.op.kind == "IRF")
    assert isinstance(own, Measured)
    return own.time, own.values


def from_file(folder: Path, table: str | bytes, name: str = "table.csv") -> Model:
    (folder / name).write_bytes(table.encode() if isinstance(table, str) else table)
    (folder / "m.yaml").write_text(
        f"laws:\n  measuredIRF: {{file: {name}}}\n"
        "  expFun: {A: {free: energy}, tau: [3, True, 0.1, 30], t0: [0, True]}\n"
    )
    return load_model(folder / "m.yaml", "laws")


def test_a_table_is_found_beside_the_model_file(tmp_path: Path) -> None:
    model = from_file(tmp_path, TABLE)
    assert samples(model) == ((-0.2, 0.0, 0.1, 0.3), (0.0, 1e-3, 0.1, 0.3333333333333333))
    assert samples(model) == samples(load_model(INLINE))
    assert samples(from_file(tmp_path, "﻿-1 1\r\n2 0\r\n")) == ((-1.0, 2.0), (1.0, 0.0))


def test_the_text_of_a_model_holds_the_samples(tmp_path: Path) -> None:
    """So that an archive needs no other file."""
    model = from_file(tmp_path, TABLE)
    (tmp_path / "table.csv").unlink()
    for text in (model.text, model.to_yaml()):
        again = load_model(text)
        assert samples(again) == samples(model)
        assert again.to_yaml() == model.to_yaml()
    assert load_model(INLINE).text.strip() == INLINE.strip()


def test_the_text_of_dynamics_holds_the_samples(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    path = tmp_path / "laws.yaml"
    path.write_text(
        "moves:\n  measuredIRF: {file: table.csv}\n  expFun: {A: [1, True], tau: [3, True], t0: "
        '[0, True]}\n  stepFun: {A: ["2 * expFun_01_A"], t0: ["expFun_01_t0"]}\n'
    )
    dynamics = load_dynamics(path, "moves", "Gauss_01_A")
    (tmp_path / "table.csv").unlink()
    again = load_dynamics(dynamics.text, "moves", "Gauss_01_A")
    assert [one.function for one in again.components] == [
        one.function for one in dynamics.components
    ]
    assert [par.expr for par in again.parameters] == [par.expr for par in dynamics.parameters]
    model = load_model(PEAK)
    model.add_dynamics("Gauss_01_A", dynamics)
    assert load_model(model.to_yaml(), "peak").to_yaml() == model.to_yaml()


def test_in_python() -> None:
    laws = [
        constFun(A=free("energy")),
        measuredIRF([-0.2, 0, 0.1, 0.3], np.array([0, 1e-3, 0.1, 0.3333333333333333])),
        expFun(A=free("energy"), tau=(3, 0.1, 30), t0=0),
    ]
    model = Model("laws", laws)
    assert samples(model) == samples(load_model(INLINE))
    assert samples(load_model(model.to_yaml())) == samples(model)


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{}", r"<text>:4: measuredIRF: has no samples; write measuredIRF: \{file: instrument"),
        ("{time: [0, 1], time: [0, 1]}", "measuredIRF.time: given twice"),
        (
            "{time: [0], response: [1]}",
            "has 1 sample; 2 to 1000 can be had; a response has a width",
        ),
        ("{time: [0, 1, 2], response: [1, 1]}", "has 3 times and 2 responses"),
        (
            "{time: [0, 1, 1], response: [1, 1, 1]}",
            "sample 3: the time 1 is not behind 1; sort the",
        ),
        ("{time: [0, .inf], response: [1, 1]}", "sample 2: the time is inf; give a number"),
        (
            "{time: [0, one], response: [1, 1]}",
            "measuredIRF.time: sample 2 is 'one'; give a number",
        ),
        ("{time: 3, response: [1, 1]}", "measuredIRF.time: is no list of numbers"),
        (
            "{time: [0, 1], response: [-1, 0.5]}",
            "the area of the response is -0.25; it must be abov",
        ),
        ("{time: [0, 1e-310, 1], response: [0, 1, 0]}", "too close to each other"),
        ("{file: nowhere.csv}", r"<text>:4: measuredIRF: nowhere\.csv: cannot read the table"),
    ],
)
def test_bad_samples_are_named(entry: str, message: str) -> None:
    text = INLINE.split("  measuredIRF", maxsplit=1)[0] + f"  measuredIRF: {entry}\n"
    with pytest.raises(ModelError, match=message):
        load_model(text)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("-1 0\n0 1\n1 0 0\n", r"table\.csv:3: '1 0 0' is no row of a time and a response"),
        (
            "-1 0\n# that was wrong\n-2 1\n",
            r"table\.csv: .*m\.yaml:2: measuredIRF: sample 2: the t",
        ),
        (
            "\n".join(f"{k} 1" for k in range(1001)),
            "has 1001 samples; 2 to 1000 .* leave out sampl",
        ),
        (b"\xff\xfe\x00", "is not UTF-8"),
    ],
)
def test_bad_tables_are_named(tmp_path: Path, table: str | bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        from_file(tmp_path, table)


def test_states_of_schemes_are_seen_but_where_two_meet() -> None:
    text = (
        "kinetics:\n  ring: {A -> B: k1, B -> C: k2, C -> A: k1}\nx:\n"
        "  measuredIRF: {time: [0, 1], response: [1, 1]}\n"
        "  ring: {k1: [1, True], k2: [2, True], t0: [0, True], A: [1, True], C: [1, True]}\n"
    )
    with pytest.raises(
        ModelError, match="ring_A belongs to a scheme with steps of two states, and"
    ):
        load_time_model(text.replace("C -> A: k1", "C + C -> A: k1"), "x")
    for steps in ("C -> A: k1", "C: k1"):  # a circle used to be refused
        model = load_time_model(text.replace("C -> A: k1", steps), "x")
        assert load_time_model(model.to_yaml(), "x").to_yaml() == model.to_yaml()


@pytest.mark.parametrize(
    ("time", "response", "message"),
    [
        ("012", [0, 1], "measuredIRF.time: is '012'; give a list or an array"),
        ([0, 1], [0, "x"], "measuredIRF.response is 'x', not a number"),
    ],
)
def test_bad_samples_in_python(time: object, response: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        measuredIRF(time, response)  # type: ignore[arg-type]


def test_a_text_that_is_none_is_refused() -> None:
    from pyspec.formula import op_of

    for text in (
        "measured expFun(0 1)",
        "measured sqrtFun(0 1; 1 1)",
        "measured instrument(0 x; 1 1)",
        "measured instrument(1 0; 1 1)",
    ):
        with pytest.raises(ModelError, match="measured"):
            op_of(text)
