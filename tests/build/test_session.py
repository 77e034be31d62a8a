"""Sessions: edits keep comments and order, every state loads, undo leads back to the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from support.build.cases import TEXT, bits, random_edit, session, small_file

from pyspec import load_models
from pyspec.model.state import state_of
from pyspec.workflow.session.document import Refusal, Step
from pyspec.workflow.session.edits import Add, DropLaw, Law, Remove, RemoveModel, Set, Yaml
from pyspec.workflow.session.session import Session


def comments(text: str) -> list[str]:
    return [line.partition("#")[2].strip() for line in text.splitlines() if "#" in line]


def is_loaded(found: Session) -> None:
    """The text of a session loads as the model that it shows."""
    document = found.document
    if document.model is None:
        assert document.name not in found.ground.models(document.text)
        return
    text = document.text if document.text.endswith("\n") else f"{document.text}\n"  # as it is saved
    loaded = found.ground.placed(load_models(text, document.name)[document.name])
    assert state_of(loaded) == state_of(document.model)


@pytest.mark.sweep(167)
@pytest.mark.parametrize("seed", range(1000))
def test_random_sequences_load_and_lead_back(seed: int) -> None:
    """All thousand: pytest tests/build/test_session.py -k random -m "slow or not slow"."""
    rng = np.random.default_rng(seed)
    files = 2 if seed % 3 == 1 else 1
    found = session(TEXT if seed % 4 else None, files=files)
    seen, made = [bits(found)], 0
    for _ in range(50):
        if files > 1 and rng.random() < 0.2:  # no step: it changes the one that is shown
            assert found.choose(1 - found.document.file)
            seen[-1] = bits(found)
        before = bits(found)
        answer = found.edit(random_edit(found, rng))
        if isinstance(answer, Refusal):
            assert answer.message
            assert bits(found) == before
        else:
            made += 1
            is_loaded(found)
            seen.append(bits(found))
    assert made >= 10
    assert found.at == made
    for wanted in reversed(seen[:-1]):
        assert found.undo()
        assert bits(found) == wanted
    assert not found.undo()
    for wanted in seen[1:]:
        assert found.redo()
        assert bits(found) == wanted
    assert not found.redo()


def test_a_value_changes_its_word_alone() -> None:
    found = session()
    assert found.edit(Set("GLP_01_x0_expFun_01_tau", "value", 2.5))
    assert found.text == TEXT.replace("tau: [3, True", "tau: [2.5, True")
    assert found.edit(Set("GLP_01_m", "vary", True), Set("GLP_01_m", "max", 1.0))
    assert "m: [0.3, True, -.inf, 1.0]" in found.text
    assert comments(found.text) == comments(TEXT)


def test_structure_keeps_comments_and_names() -> None:
    found = session()
    added = found.edit(Add("Gauss", {"energy": 7.0, "height": 3.0, "width": 1.0}))
    assert isinstance(added, Step)
    assert added.name == "Gauss_01"
    assert found.edit(Law("Gauss_01_A", "stepFun"))
    assert found.edit(Set("Gauss_01_x0", "expr", "GLP_01_x0 + 2"))
    refused = found.edit(Remove("GLP_01"))
    assert isinstance(refused, Refusal)
    assert (refused.node, refused.field) == ("Gauss_01", "x0")
    assert "give it a value" in refused.remedy
    assert found.edit(DropLaw("Gauss_01_A"), Remove("Gauss_01"))
    assert found.text.rstrip() == TEXT.rstrip()


def test_names_move_up_where_a_component_goes_and_a_law_of_two_is_taken_apart() -> None:
    found = session(TEXT.replace("  # the place", "\n    GLP_01_A: {dynamics: [shift]}"))
    assert found.edit(Set("GLP_01_A_expFun_01_tau", "value", 7.0))
    taus = [found.model.parameters[f"GLP_01_{name}_expFun_01_tau"].value for name in ("A", "x0")]
    assert taus == [7.0, 3.0]
    assert found.edit(Add("GLP"), Add("GLP"), Set("GLP_03_x0", "expr", "GLP_02_x0 + 1"))
    assert found.edit(Law("GLP_03_A", "expFun"))
    assert found.edit(DropLaw("GLP_01_x0"), DropLaw("GLP_01_A"), Remove("GLP_01"))
    assert found.model.parameters["GLP_02_x0"].expr == "GLP_01_x0 + 1"
    assert found.model.parameters["GLP_02_A"].dynamics is not None


def test_a_shirley_brings_a_line_to_an_empty_model() -> None:
    found = session(None)
    assert found.edit(Add("Shirley")).name == "Shirley"
    assert [one.name for one in found.model.components] == ["Shirley", "GLP_01"]


def test_laws_alone_are_left_where_the_last_model_goes() -> None:
    text = TEXT.partition("attached:")[0]
    found = session(text)
    assert found.edit(RemoveModel("line"))
    assert found.models == ("model",)
    assert found.model is None
    assert "expFun" in found.text
    refused = found.edit(Yaml(found.text + "\n"))
    assert isinstance(refused, Refusal)
    assert "time laws only" in refused.message
    assert found.edit(Add("GLP"))
    assert found.models == ("model",)


def test_wrong_text_keeps_the_last_good_model() -> None:
    found = session()
    before = bits(found)
    refused = found.edit(Yaml(TEXT.replace("x0: [5, True, 0, 10]", "x0: [50, True, 0, 10]")))
    assert isinstance(refused, Refusal)
    assert (refused.line, refused.node, refused.field) == (7, "GLP_01", "x0")
    assert "move the value" in refused.remedy
    assert bits(found) == before


def test_a_fit_of_all_is_that_of_the_saved_text() -> None:
    found = session()
    result = found.fit()
    assert not isinstance(result, Refusal)
    assert result.success
    file = small_file()
    for model in load_models(found.text).values():
        file.add_model(model)
    again = file.fit_2d("line")
    assert again.values == result.values
    assert again.stderr == result.stderr
    assert result.level == 1  # the page said "No findings" without a look at the residual
    assert [one.kind for one in result.findings] == [one.kind for one in again.findings]
    assert {n: p.value for n, p in found.model.parameters.items()} == result.values
    assert found.undo()
    assert found.text == TEXT


def test_a_drag_is_one_step_and_compiles_nothing() -> None:
    found = session()
    structure = state_of(found.model)[0]
    for value in np.linspace(5.0, 6.0, 20):
        made = found.edit(Set("GLP_01_x0", "value", float(value)), drag=True)
        assert isinstance(made, Step)
        assert state_of(made.document.model)[0] == structure
        assert not isinstance(found.refit(held=["GLP_01_x0"], drag=True), Refusal)
        assert found.model.parameters["GLP_01_x0"].value == value
    assert found.edit(Set("GLP_01_A", "value", 11.0))
    assert [one.label for one in found.steps] == ["begin", "set GLP_01_x0", "set GLP_01_A"]
    made = found.edit(Set("GLP_01_x0_expFun_01_tau", "value", 2.0))  # the text of a law is no plan
    assert isinstance(made, Step)
    assert state_of(made.document.model)[0] == structure
