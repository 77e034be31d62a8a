"""Sessions of other data than a series: one spectrum, a trace, measurements, masks and noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Measurement, load_model
from pyspec.build.desk import Desk
from pyspec.cli.arguments import build_parser
from pyspec.cli.commands.build import session_of
from pyspec.functions.response import expFun_gaussIRF
from pyspec.workflow.session.document import Refusal
from pyspec.workflow.session.edits import Add, Exclude, Law, NewModel, Set, Window, Yaml
from pyspec.workflow.session.session import Session

ENERGY, TIME = np.linspace(0.0, 10.0, 81), np.linspace(-2.0, 8.0, 61)
LINE = 3.0 + 8.0 * np.exp(-(((ENERGY - 4.0) / 0.9) ** 2))
NOISE = np.random.default_rng(2).standard_normal(81)


def spectrum(**options: object) -> File:
    return File(data=LINE + 0.1 * NOISE, energy=ENERGY, name="one", **options)  # type: ignore[arg-type]


def series(data: np.ndarray, text: str | None = None) -> Session:
    noisy = data + 0.01 * NOISE
    return Session(File(data=noisy, energy=ENERGY, time=TIME, name="tr"), text)


DECAY = np.where(TIME >= 0, np.exp(-TIME / 3.0), 0.0)[:, None] * LINE


def built(file: File) -> Session:
    """An offset and a Gaussian, fitted."""
    session = Session(file)
    assert session.edit(Add("Offset"), Add("Gauss", {"energy": 4.2, "height": 7, "width": 2}))
    assert session.fit()
    return session


def same_when_opened(session: Session, folder: Path) -> None:
    """A saved session opens as it was, with its fit."""
    saved = session.save(folder / "out")
    given = build_parser().parse_args(["build", str(saved / "job.yaml")])
    again = session_of(given)
    assert again.text == session.text
    before, after = session.document, again.document
    assert (after.energy_limits, after.time_limits) == (before.energy_limits, before.time_limits)
    assert after.excluded == before.excluded
    assert after.result.values == before.result.values
    assert after.result.stderr == before.result.stderr


def test_one_spectrum(tmp_path: Path) -> None:
    session = built(spectrum())
    assert session.ground.kind == "spectrum"
    assert session.edit(Window(energy=(0.5, 9.0)), Exclude("energy", 2.0, 2.3))
    assert session.document.result is None  # a fit is not of other points
    assert session.fit()
    refused = session.edit(Law("Gauss_01_x0", "expFun"))
    assert isinstance(refused, Refusal)
    assert "nothing moves in time" in refused.message
    frame = session.frame()
    np.testing.assert_allclose(sum(frame.spectrum.values()), frame.model, rtol=1e-6)
    same_when_opened(session, tmp_path)


@pytest.mark.parametrize("noise", ["gaussian", "points", "poisson"])
def test_noise_and_masks_are_kept(tmp_path: Path, noise: str) -> None:
    file = spectrum(mask=np.arange(81) // 4 == 3 if noise == "points" else None)
    if noise == "poisson":
        file.set_noise("poisson", scale=40.0)
    else:
        file.set_noise("gaussian", sigma=0.1 if noise == "gaussian" else 0.1 + 0.0 * ENERGY)
    same_when_opened(built(file), tmp_path)


def test_a_trace(tmp_path: Path) -> None:
    data = np.where(TIME >= 0, 4.0 * np.exp(-TIME / 2.0), 0.0) + 0.05 * NOISE[:61]
    session = Session(File(data=data, time=TIME, name="trace"))
    assert session.ground.kind == "trace"
    assert session.edit(Add("expFun"), Set("expFun_01_t0", "vary", False))
    result = session.fit()
    assert result
    assert result.values["expFun_01_tau"] == pytest.approx(2.0, abs=0.3)  # type: ignore[union-attr]
    refused = session.edit(Add("GLP"))
    assert isinstance(refused, Refusal)
    desk = Desk(session, tmp_path)
    handles = desk.state()["components"][0]["handles"]
    assert [one["type"] for one in handles] == ["t0", "tau"]
    desk.close()
    same_when_opened(session, tmp_path)


def test_a_measurement_with_a_model() -> None:
    model = load_model(
        "m:\n  Offset: {y0: [2, True]}\n  Gauss: {A: [7, True], x0: [4.1, True], SD: [0.7, True]}\n"
    )
    model.set_axes(energy=ENERGY)
    weight = np.full(81, 10.0)
    session = Session(Measurement(LINE + 0.1 * NOISE, columns=(5, 70), weight=weight), model)
    assert session.ground.measurement(session.document).columns == (5, 70)
    assert session.fit().n_data == 65


def test_errors_are_shown_where_an_onset_follows_the_energy(tmp_path: Path) -> None:
    """The onset has no single value, and such a fit counted as that of another model."""
    text = """parameters: {z: [0.1, True, -1, 1], c: [0, True]}
m:
  gaussIRF: {SD: [0.2, False]}
  expFun: {A: {free: energy}, tau: [2, True, 0.1, 20], t0: ["z + c * (energy - 4)"]}
"""
    onsets = 0.2 + 0.1 * (ENERGY - 4)
    decay = [expFun_gaussIRF(TIME, 1, 3.0, onset, 0.2) for onset in onsets]
    session = series(np.transpose(decay) * LINE, text)
    result = session.fit()
    assert result
    assert session.document.result is result
    same_when_opened(session, tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [("[Gauss_01_x0]", "[Gauss_01_x0 + 1]"), ("** 2", "** 4")],
    ids=["an expression", "a formula"],
)
def test_a_fit_is_not_of_a_model_that_means_something_else(old: str, new: str) -> None:
    """Errors of the fit stood beside a curve that it had never seen."""
    text = """functions:
  Bell: {formula: A * exp(-((x - x0) / w) ** 2)}
m:
  Bell: {A: [9, True], x0: [Gauss_01_x0], w: [1, False]}
  Gauss: {A: [9, True], x0: [4, True], SD: [0.7, True]}
"""
    session = Session(spectrum(), text)
    assert session.fit() is session.document.result
    assert session.edit(Yaml(session.text.replace(old, new, 1)))
    assert session.document.result is None


def test_free_spectra_are_shown(tmp_path: Path) -> None:
    text = "m:\n  expFun: {A: {free: energy}, tau: [2, True, 0.1, 20], t0: [0, False]}\n"
    session = series(DECAY, text)
    frame = session.frame()
    assert np.isfinite(frame.model).all()
    assert frame.axis == "energy"
    row, column = session.document.cursor
    np.testing.assert_allclose(frame.spectrum["expFun_01"], frame.model[row], rtol=1e-5)
    np.testing.assert_allclose(frame.trace["expFun_01"], frame.model[:, column], rtol=1e-5)
    assert session.edit(Yaml(text.replace("[2, True", "[4, True")))
    result = session.fit()
    assert result
    assert result.values["expFun_01_tau"] == pytest.approx(3.0, abs=0.1)  # type: ignore[union-attr]
    assert session.document.result is result
    np.testing.assert_allclose(session.frame().free["expFun_01_A"], LINE, atol=0.05)
    same_when_opened(session, tmp_path)
    assert session.edit(Window(energy=(2.0, 6.0)))
    inside = (ENERGY >= 2.0) & (ENERGY <= 6.0)
    assert (np.isfinite(session.frame().free["expFun_01_A"]) == inside).all()
    desk = Desk(session, tmp_path)
    handles = desk.state()["components"][0]["handles"]
    assert [one["type"] for one in handles] == ["t0", "tau"]
    desk.close()
    assert session.edit(Set("expFun_01_tau", "value", 2.5))
    refused = session.edit(Set("expFun_01_A", "value", 2.5))
    assert isinstance(refused, Refusal)
    assert "text of the model" in refused.message


def test_an_amplitude_is_freed_and_gets_one_value_again(tmp_path: Path) -> None:
    heights = 1.0 + 0.5 * np.cos(TIME)
    session = series(heights[:, None] * LINE)
    assert session.edit(Add("Gauss", {"energy": 4.0, "height": 8.0, "width": 2.0}), Add("Offset"))
    desk = Desk(session, tmp_path)
    rows = {row["name"]: row["frees"] for row in desk.state()["parameters"]}
    assert rows == {"Offset_y0": "time", "Gauss_01_A": "time", "Gauss_01_x0": "", "Gauss_01_SD": ""}
    assert session.edit(Set("Gauss_01_A", "free", "time"), Set("Offset_y0", "free", "time"))
    assert "A: {free: time}" in session.text
    assert session.fit()
    np.testing.assert_allclose(session.frame().free["Gauss_01_A"], 8 * heights, atol=0.05)
    desk.close()
    assert session.edit(Set("Gauss_01_A", "free", ""))
    assert session.model.parameters["Gauss_01_A"].free is None
    refused = session.edit(Set("Gauss_01_x0", "free", "time"))
    assert isinstance(refused, Refusal)
    assert session.undo()
    assert "A: {free: time}" in session.text


def test_laws_with_free_spectra_are_added() -> None:
    session = series(DECAY)
    assert session.edit(Add("expFun"), Add("expFun"), Add("gaussIRF"))
    assert "A: {free: energy}" in session.text
    assert [one.name for one in session.model.components] == ["gaussIRF", "expFun_01", "expFun_02"]
    assert session.model.parameters["expFun_02_t0"].expr == "expFun_01_t0"
    assert isinstance(session.edit(Add("GLP")), Refusal)


def test_onsets_and_other_components_beside_free_spectra() -> None:
    text = (
        "parameters: {c0: [0.1, True], c1: [0.02, True]}\n"
        "m:\n  stepFun: {A: [2, True], t0: [0, False]}\n"
        '  expFun: {A: {free: energy}, tau: [3, True], t0: ["c0 + c1 * energy"]}\n'
    )
    session = series(np.zeros((61, 81)), text)
    frame, row = session.frame(), session.document.cursor[0]
    np.testing.assert_allclose(frame.dispersed["expFun_01_t0"], 0.1 + 0.02 * ENERGY)
    total = frame.spectrum["stepFun_01"] + frame.spectrum["expFun_01"]
    np.testing.assert_allclose(total, frame.model[row], atol=1e-5)


def test_a_kinetic_scheme_is_told_as_states_and_steps(tmp_path: Path) -> None:
    text = (
        "kinetics:\n  chain: {A -> B: k1, B: k2, A + B -> C: k3}\n"
        "m:\n  chain: {k1: [2, True], k2: [0.5, True], k3: [0.1, True], t0: [0, False],"
        " spectra: {free: energy}}\n"
    )
    session = series(DECAY, text)
    desk = Desk(session, tmp_path)
    (scheme,) = desk.state()["schemes"]
    assert [one["name"] for one in scheme["states"]] == ["A", "B", "C"]
    assert [one["start"] for one in scheme["states"]] == ["1", None, None]
    assert scheme["steps"] == [
        {"from": ["A"], "to": ["B"], "rate": "chain_k1"},
        {"from": ["B"], "to": [], "rate": "chain_k2"},
        {"from": ["A", "B"], "to": ["C"], "rate": "chain_k3"},
    ]
    desk.close()
    assert session.edit(Set("chain_k1", "value", 3.0))
    assert session.model.parameters["chain_k1"].value == 3.0


def test_several_models_have_their_own_fits(tmp_path: Path) -> None:
    session = built(spectrum())
    assert session.edit(NewModel("two", copy_of="model"))
    assert session.edit(Add("Gauss", {"energy": 7.0, "height": 1.0, "width": 1.0}))
    assert session.fit()
    desk = Desk(session, tmp_path)
    rows = {row["name"]: row for row in desk.state()["models"]["all"]}
    desk.close()
    assert (rows["model"]["n_free"], rows["two"]["n_free"]) == (4, 7)
    assert rows["model"]["bic"] < rows["two"]["bic"]
    assert session.edit(NewModel("empty"))
    assert isinstance(session.fit(), Refusal)
    assert not session.frame().model.any()


def test_files_that_a_model_names_are_found_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They used to be looked for in the working folder."""
    home = tmp_path / "models"
    home.mkdir()
    (home / "ours.yaml").write_text(
        "functions:\n  Line: {formula: A / (1 + ((x - x0) / w) ** 2)}\n"
    )
    (home / "models.yaml").write_text(
        "include: ours.yaml  # our shapes\n"
        "m:\n  Line: {A: [8, True], x0: [4, True, 2, 6], w: [0.8, True, 0.1, 3]}\n"
    )
    monkeypatch.chdir(tmp_path)
    session = Session(spectrum(), home / "models.yaml")
    session.ground.folders = (home.resolve(),)
    assert session.edit(Set("Line_01_A", "value", 7.5))
    assert session.edit(Yaml(session.text + "# seen\n"))
    refused = session.edit(Yaml(session.text.replace("ours.yaml", "../ours.yaml")))
    assert isinstance(refused, Refusal)
    assert "outside of the folder" in refused.message
    assert session.fit()
    saved = session.save(tmp_path / "out")
    assert 'include: "../models/ours.yaml"  # our shapes' in (saved / "models.yaml").read_text()
    monkeypatch.chdir(home)
    again = session_of(build_parser().parse_args(["build", str(saved / "job.yaml")]))
    assert again.model.values == pytest.approx(session.model.values)
    assert again.edit(Yaml(again.text + "# again\n"))
    refused = again.edit(Yaml(again.text.replace("../models/ours.yaml", "/etc/passwd")))
    assert isinstance(refused, Refusal)
