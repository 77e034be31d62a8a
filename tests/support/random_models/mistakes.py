"""Models that are wrong on purpose: they must be refused with an error that is meant."""

from __future__ import annotations

import random

import numpy as np

from support.random_models.case import Case


def _unknown_name(rng: random.Random, case: Case) -> None:
    case.text = case.text.replace("[", "['nothing_01_x + 1'] # [", 1)


def _no_axis(rng: random.Random, case: Case) -> None:
    axis = rng.choice(["energy", "time", "aux"])
    setattr(case, axis, None)


def _unsorted(rng: random.Random, case: Case) -> None:
    name = "time" if case.kind == "TIME_1D" else "energy"
    axis = np.array(getattr(case, name))
    axis[-1] = axis[0]
    setattr(case, name, axis)


def _not_finite(rng: random.Random, case: Case) -> None:
    name = "time" if case.kind == "TIME_1D" else "energy"
    axis = np.array(getattr(case, name))
    axis[rng.randrange(axis.size)] = rng.choice([np.nan, np.inf])
    setattr(case, name, axis)


def _cut_text(rng: random.Random, case: Case) -> None:
    case.text = case.text[: rng.randint(1, len(case.text))]


def _cut_line(rng: random.Random, case: Case) -> None:
    lines = case.text.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    case.text = "".join(lines)


def _swap_lines(rng: random.Random, case: Case) -> None:
    lines = case.text.splitlines(keepends=True)
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    case.text = "".join(lines)


def _change_character(rng: random.Random, case: Case) -> None:
    at = rng.randrange(len(case.text))
    case.text = case.text[:at] + rng.choice("#:[]{}&*!'\"-0eE. \n\t") + case.text[at + 1 :]


def _negative(rng: random.Random, case: Case) -> None:
    lines = case.text.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    lines[at] = lines[at].replace("[", "[-", 1)
    case.text = "".join(lines)


def _circle(rng: random.Random, case: Case) -> None:
    case.text += "parameters:\n  c1: ['c2 + 1']\n  c2: ['2 * c1']\n"


def _unused(rng: random.Random, case: Case) -> None:
    case.text += "parameters:\n  unused: [1.0, True]\n"


def _frequency(rng: random.Random, case: Case) -> None:
    value = rng.choice([0.0, -2.0, 1.0, np.nan, np.inf])
    case.steps = [step._replace(frequency=value) for step in case.steps]


def _twice(rng: random.Random, case: Case) -> None:
    case.steps += case.steps[:1]


def _any_target(rng: random.Random, case: Case) -> None:
    """Dynamics meant for one parameter on another."""
    if case.steps:
        targets = [*(step.target for step in case.steps), "Offset_y0", "no_such"]
        case.steps[0] = case.steps[0]._replace(target=rng.choice(targets))


MISTAKES = (
    _unknown_name,
    _no_axis,
    _unsorted,
    _not_finite,
    _cut_text,
    _cut_line,
    _swap_lines,
    _change_character,
    _negative,
    _circle,
    _unused,
    _frequency,
    _twice,
    _any_target,
)


def make_mistake(rng: random.Random, case: Case) -> None:
    """Spoils the case in one way; it may stay a valid model."""
    mistake = rng.choice(MISTAKES)
    case.files = {}
    case.features.clear()  # no longer what was drawn
    case.features.add("mistake")
    case.features.add(f"mistake:{mistake.__name__.strip('_')}")
    mistake(rng, case)
