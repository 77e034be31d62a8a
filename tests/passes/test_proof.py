"""What the classes claim, measured: zoo and random models at changing parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from support.random_models import accepted
from support.random_models.values import perturbed
from support.zoo import ZOO, make_model

from pyspec.executor import CompiledExecutor, make_plan
from pyspec.formula import op_of
from pyspec.functions.slopes import interacting
from pyspec.ir import DomainKind, NodeKind, build_graph
from pyspec.model import Model
from pyspec.passes import Column, classify_columns, jump_parameters

Array = npt.NDArray[np.float64]

#: What two evaluations of the same column may differ by, of its largest value.
ROUNDING = 1e-9


@dataclass
class Subject:
    """A model with its columns, and derivatives (n_free, n) at several points."""

    name: str
    columns: tuple[Column, ...]
    jumps: tuple[str, ...]
    domain: DomainKind
    bends: bool  # something is not linear in the spectrum that it reads
    run: Callable[[Array], Array]
    points: list[Array] = field(default_factory=list)
    jacobians: list[Array] = field(default_factory=list)


def models(seeds: int) -> Iterator[tuple[str, Model]]:
    for name in ZOO:
        yield name, make_model(name)
    for seed, model in accepted(range(seeds)):
        yield f"seed {seed}", model


def moved(seed: int, theta: Array) -> Array:
    """Near the start, as a fit tries them; what is 0 too."""
    rng = np.random.default_rng((seed, 1))
    return np.where(theta == 0.0, rng.uniform(0.0, 0.1, theta.size), perturbed(seed, theta))


def subject(name: str, model: Model) -> Subject | None:
    """None where the model is defined nowhere near."""
    graph, executor = build_graph(model), CompiledExecutor(make_plan(model))
    fed = [op_of(node.function_name) for node in graph.of_kind(NodeKind.SPECTRUM_FED_OP)]
    bends = any(len(op.params) in interacting(op)[-1] for op in fed)
    columns, jumps = classify_columns(graph), jump_parameters(graph)
    found = Subject(name, columns, jumps, graph.domain, bends, executor.run)
    for turn in range(12):
        theta = moved(turn, model.theta()) if turn else model.theta()
        if np.isfinite(executor.run(theta)).all():
            jacobian = executor.jacobian(theta)
            if np.isfinite(jacobian).all():
                found.points.append(theta)
                found.jacobians.append(jacobian)
        if len(found.points) == 4:
            return found
    return None


MANY = pytest.param(280, marks=pytest.mark.slow)

#: Tests of something that few columns show.
of_many = pytest.mark.parametrize("subjects", [MANY], indirect=True)


@pytest.fixture(scope="module", params=[50, MANY])
def subjects(request: pytest.FixtureRequest) -> list[Subject]:
    found = [subject(name, model) for name, model in models(request.param)]
    kept = [entry for entry in found if entry is not None]
    assert len(kept) > 0.6 * len(found)
    return kept


def each(subjects: list[Subject]) -> Iterator[tuple[Subject, int, Column]]:
    for entry in subjects:
        for index, column in enumerate(entry.columns):
            yield entry, index, column


def change(entry: Subject, index: int) -> float:
    """By how much a column differs between the points, of its largest value."""
    lines = np.array([jacobian[index] for jacobian in entry.jacobians])
    scale = np.abs(lines).max()
    return float(np.ptp(lines, axis=0).max() / scale) if scale else 0.0


def rank(entry: Subject, index: int) -> int:
    """The largest rank of a column over time and energy at any of the points."""
    found = 0
    for theta, jacobian in zip(entry.points, entry.jacobians, strict=True):
        values = np.linalg.svd(jacobian[index].reshape(entry.run(theta).shape), compute_uv=False)
        found = max(found, int((values > ROUNDING * values[0]).sum()))
    return found


@of_many
def test_constant_columns_do_not_change(subjects: list[Subject]) -> None:
    seen = 0
    for entry, index, column in each(subjects):
        if column.kind == "constant":
            seen += 1
            assert change(entry, index) <= ROUNDING, (entry.name, column)
            assert (np.abs(entry.jacobians[0][index]).max() == 0.0) >= (column.form == "zero")
    assert seen > 50


@of_many
def test_few_columns_that_do_not_change_are_not_called_constant(subjects: list[Subject]) -> None:
    """Those are coincidences of values: a maximum of which one side counts, an onset before all
    samples. Left out is what a share of an area has passed: that of a flat spectrum, or of two
    points, is known without its parameters, and many random models have one."""
    seen: Counter[bool] = Counter()
    for entry, index, column in each(subjects):
        known = column.kind != "fallback" and np.abs(entry.jacobians[0][index]).max() > 0.0
        if column.kind == "structured" and "fed" in column.form and entry.bends:
            continue
        if known and change(entry, index) <= 1e-13:
            seen[column.kind == "constant"] += 1
    assert seen[True] > len(subjects) // 4
    assert seen[False] <= 0.2 * seen[True]


def test_forms(subjects: list[Subject]) -> None:
    seen: Counter[str] = Counter()
    for entry, index, column in each(subjects):
        if entry.domain is not DomainKind.ENERGY_TIME_2D or column.kind == "fallback":
            continue
        form = column.form.split(", ")[0]
        seen[form] += 1
        if form == "static":
            lines = entry.jacobians[0][index].reshape(entry.run(entry.points[0]).shape)
            assert np.ptp(lines, axis=0).max() <= ROUNDING * np.abs(lines).max()
        if form == "outer product":
            assert rank(entry, index) <= 1, (entry.name, column)
    known = ("static", "outer product", "row-scaled", "sum of outer products")
    assert all(seen[form] > 10 for form in known)


def jump(entry: Subject, index: int, low: float, high: float) -> float:
    """The largest change of the model over a few last bits of a parameter, of its values."""
    theta = entry.points[0]

    @cache
    def at(x: float) -> Array:
        return entry.run(np.where(np.arange(theta.size) == index, x, theta)).ravel()

    ends = theta[index] + (abs(theta[index]) or 1.0) * np.linspace(low, high, 10)
    spectra = [at(x) for x in ends]
    changes = [np.abs(b - a).max() for a, b in pairwise(spectra)]
    if not np.isfinite(changes).all():
        return 0.0
    k = int(np.argmax(changes))
    place = int(np.argmax(np.abs(spectra[k + 1] - spectra[k])))
    a, b = ends[k : k + 2]
    while a < (a + b) / 2 < b:
        middle = (a + b) / 2
        value = at(middle)[place]
        left, right = abs(value - at(a)[place]), abs(value - at(b)[place])
        a, b = (a, middle) if left > right else (middle, b)
    size, step = np.abs(spectra).max(), np.abs(at(b) - at(a)).max()
    # A jump to values far beyond all others is a pole, such as that of a tangent.
    return float(step / size) if size > 0.0 and step < 100.0 * size else 0.0


@of_many
def test_only_jump_parameters_jump(subjects: list[Subject]) -> None:
    seen, walked = 0, subjects[::2]
    for entry, index, column in each(walked):
        if column.name in entry.jumps:
            assert column.kind == "fallback"
            seen += jump(entry, index, -1.0, 1.0) > 1e-9
        else:
            assert column.kind != "fallback"
            assert jump(entry, index, -0.2, 0.2) < 1e-6, (entry.name, column)
    assert seen > 0.1 * len(walked)  # where the axis has samples for it
