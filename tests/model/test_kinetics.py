"""The section ``kinetics``: what it says, what it refuses, and that its text loads again."""

import pytest

from pyspec import load_model
from pyspec.errors import ModelError
from pyspec.formula import Scheme, State, op_of
from pyspec.model.build.load import load_time_model

SECTION = """
kinetics:
  cascade:
    S2 -> S1: k1
    S1 -> S0: k2
    S0: k3
"""
FREE = (
    SECTION
    + """
decays:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  cascade:
    k1: [2, True, 0.01, 100]
    k2: ["cascade_k1 / 5"]
    k3: [0.02, True, 0, 10]
    t0: [0.1, True]
    spectra: {free: energy}
    S1: {free: energy, min: 0}
"""
)


def test_every_state_is_a_law_and_they_share_rates() -> None:
    model = load_model(FREE)
    names = [component.name for component in model.components]
    assert names == ["gaussIRF", "cascade_S2", "cascade_S1", "cascade_S0"]
    assert model.opt_param_names == ("gaussIRF_SD", "cascade_k1", "cascade_t0", "cascade_k3")
    first, last = model.components[1], model.components[3]
    assert first.op.params == ("A", "k1", "t0")
    assert last.op.params == ("A", "k1", "k2", "k3", "t0")
    assert first.pars[1] is last.pars[1]
    positive = model.parameters["cascade_S1_A"].free
    assert positive.positive


def test_states_without_an_amplitude_are_dark() -> None:
    text = FREE.replace("spectra: {free: energy}", "S0: {free: energy}")
    assert [c.name for c in load_model(text).components[1:]] == ["cascade_S1", "cascade_S0"]


def test_a_scheme_used_twice_is_numbered() -> None:
    use = (
        "  cascade: {k1: [2, True], k2: [1, True], k3: [0, False], t0: [0, True], S0: [1, True]}\n"
    )
    model = load_time_model(SECTION + "two:\n" + use + use, "two")
    assert [c.name for c in model.components] == ["cascade_S0", "cascade_02_S0"]


def test_steps_of_two_states_load_and_their_text_loads_again() -> None:
    steps = "S0 + S0 -> S0: k3\n    S1+S0 -> S2 + S3: k4\n    S3: k5"
    more = "k4: [1, True]\n    k5: [2, True]\n    t0: [0.1, True]"
    model = load_model(FREE.replace("S0: k3", steps).replace("t0: [0.1, True]", more))
    names = [component.name for component in model.components[1:]]
    assert names == [f"cascade_S{k}" for k in (2, 1, 0, 3)]
    assert model.components[1].op.params == ("A", "k1", "k2", "k3", "k4", "t0")
    assert model.components[4].op.params == ("A", "k1", "k2", "k3", "k4", "k5", "t0")
    text = model.to_yaml()
    assert "    S1 + S0 -> S2 + S3: k4\n" in text
    assert load_model(text).to_yaml() == text
    own = model.components[1].op.own
    assert isinstance(own, State)
    assert op_of(own.text) is model.components[1].op


def test_what_is_populated_only_together_with_another() -> None:
    """D where both A and C are there; the population of A, and so of B, depends on C."""
    scheme = Scheme("x", (("A", "B", "k1"), ("A + C", "D", "k2")), (("A", "1"),))
    assert scheme.populated() == {"A", "B"}
    assert scheme.before("B") == ("A", "C", "B")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("S0: k3", "S0: 0.1", "the rate of 'S0' is 0.1; name it"),
        ("S0: k3", "S0 -> S3 -> S4: k3", "'S3 -> S4' cannot be a name; .* a step is 'A -> B: k1'"),
        ("S0: k3", "S0 + S1 + S2: k3", "has three states on a side; write it as steps of two"),
        ("S0: k3", "S0 + -> S1: k3", "a state is missing beside"),
        ("S0: k3", "S0 + S1 -> S1 + S0: k3", "S0 \\+ S1 -> S1 \\+ S0 leads nowhere; remove it"),
        ("S0: k3", "S0 -> S0 + S1: k3", "keeps S0 and adds to it without end; name what S0"),
        ("cascade:\n    S2", "bad_name:\n    S2", "cannot name a scheme"),
        ("kinetics:\n  cascade:", "kinetics: 3\nx:\n  cascade:", "holds schemes by name"),
        ("k1: [2, True, 0.01, 100]", "k4: [2, True]", "has no 'k4'"),
        ("    t0: [0.1, True]\n", "", "'t0' is missing"),
        ("k1: [2, True, 0.01, 100]", "k1: [2, True, -1, 100]", "lies outside of the function"),
        ("k1: [2, True, 0.01, 100]", "k1: {free: energy}", "only an amplitude can be free"),
        (
            "spectra: {free: energy}\n    S1: {free: energy, min: 0}",
            "S2: {free: energy}",
            "no state that has an amplitude depends on k2",
        ),
        (SECTION, SECTION + SECTION.split("\n", 2)[2], "cascade: given twice, first at"),
        ("  cascade:\n    S2 -> S1: k1", "  cascade:\n  x:\n    S2 -> S1: k1", "holds steps and"),
        ("S0: k3\n", "S0: k3\n    start: 1\n", "start holds populations by state, such as"),
        ("S0: k3\n", "S0: k3\n    start: {S2: 1, S2: 0}\n", "start.S2: given twice, first at"),
        ("S0: k3\n", "S0: k3\n    start: {S2: 0, S1: 0.0}\n", "start populates no state; give one"),
        ("S0: k3\n", "S0: k3\n    start: {S2: -1}\n", "is not below 0, and finite; this is -1"),
        ("S0: k3", "S0: [k3]", "a rate or population is a name, such as k1"),
        ("S0: k3", "S1 -> S0: k3", "the step S1 -> S0 is given twice; remove one"),
        ("S0: k3", "S0: k3\n    S3: k4", "S3 is never populated; let a step lead there"),
        ("S0: k3\n", "S0: k3\n    start: {S9: 1}\n", "start names 'S9', which no step does"),
        ("S0: k3", "S0: S1", "'S1' names a state and a parameter; rename one of the two"),
        ("S0: k3", "S0: sin", "'sin' has a meaning in formulas"),
        ("S0: k3", "S0: A", "'A' is the height of a law; choose another name for the rate"),
    ],
)
def test_mistakes_are_named(old: str, new: str, words: str) -> None:
    assert old in FREE
    with pytest.raises(ModelError, match=words):
        load_model(FREE.replace(old, new))


def test_a_scheme_has_steps_and_the_model_its_parameters() -> None:
    with pytest.raises(ModelError, match="x: has no step; write one"):
        load_model("kinetics: {x: {start: {A: 1}}}\nm: {x: {}}\n", "m")
    with pytest.raises(ModelError, match="cascade: has no parameters; it needs k1, k2, k3, t0"):
        load_time_model(SECTION + "m:\n  cascade:\n", "m")


def chain(n: int, body: str = "") -> str:
    """A scheme of n states that become one another, as a text defines its last state."""
    steps = [f"S{k} -> S{k + 1} = k{k}; S{k + 1} -> S{k} = b{k}" for k in range(n - 1)]
    return f"kinetics c(S{n - 1}): {'; '.join([*steps, *body.split('; ')])}; start S0 = 1"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "kinetics c(A): "
            + "; ".join(f"S{a} + S{b} -> A = k" for a in range(7) for b in range(7))
            + "; "
            + "; ".join(f"S{a} + S{b} -> S{a} = k" for a in range(7) for b in range(7) if a != b)
            + "".join(f"; start S{a} = 1" for a in range(7)),
            "c: has 91 steps; 64 is the most",
        ),
        (chain(9, "S0 = d"), "c: has 9 states; 8 is the most"),
        (
            chain(8, "; ".join([*(f"S{k} = d{k}" for k in range(8)), "start S7 = p"])),
            "c: S7 depends on 23 rates and populations; 22 is the most",
        ),
    ],
)
def test_texts_that_define_no_state(text: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        op_of(text)
    assert words in str(caught.value)


def test_a_state_has_one_exact_response() -> None:
    own = op_of("kinetics c(A): A = k1; start A = 1").own
    seen = own.response("gaussIRF")
    assert seen.params == ("A", "k1", "t0", "SD")
    assert own.response("boxIRF") is None
    assert seen.own.response("gaussIRF") is None
