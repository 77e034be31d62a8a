"""What must hold for a random model: three executors, one meaning."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, ModelError, PlanError
from pyspec.executor import (
    AGREEMENT,
    CompiledExecutor,
    InterpretedExecutor,
    TreeExecutor,
    make_plan,
    worst_difference,
)
from pyspec.ir import build_graph, parse_graph, print_graph
from pyspec.model import Measurement, Model
from pyspec.plan import ScheduledPlan, pack, schedule_1d, schedule_2d
from support.random_models.case import Case
from support.random_models.generate import generate
from support.random_models.values import conditioned, hostile, make_measurement, perturbed

Array = npt.NDArray[np.float64]

#: A window differs from the full spectrum, cropped, by at most this.
WINDOW = 1e-12

#: How the loader and the planner refuse a model.
REFUSALS = (ModelError, PlanError, DataError)


def accepted(seeds: Iterable[int]) -> Iterator[tuple[int, Model]]:
    """The random models of these seeds that can be lowered."""
    for seed in seeds:
        try:
            model = generate(seed).model()
            make_plan(model)
        except REFUSALS:
            continue
        yield seed, model


@dataclass
class Outcome:
    """What became of one model. `worst` is the largest difference by kind of comparison."""

    seed: int
    status: str = "accepted"  # or "refused", "failed"
    reason: str = ""
    features: frozenset[str] = frozenset()
    worst: dict[str, float] = field(default_factory=dict)
    fragile: list[str] = field(default_factory=list)
    finite: float = 1.0
    replay: dict[str, Any] = field(default_factory=dict)


class DisagreementError(Exception):
    """Two executors differ, and not because the numbers are ill-conditioned."""


def examine(case: Case) -> Outcome:
    """Builds the model in three executors and compares them. Never raises."""
    outcome = Outcome(case.seed, features=frozenset(case.features))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _Examination(case, outcome).run()
    except REFUSALS as error:
        outcome.status, outcome.reason = "refused", f"{type(error).__name__}: {error}"
    except DisagreementError as error:
        outcome.status, outcome.reason = "failed", str(error)
    except Exception:
        outcome.status, outcome.reason = "failed", traceback.format_exc()
    if outcome.status == "failed":
        outcome.replay = case.replay()
    return outcome


def _in_range(spectrum: Array) -> Array:
    """Values at the ends of the range as infinite or 0: which step of a formula overflows first
    is a matter of its order, and C has no denormal exponentials."""
    size = np.abs(spectrum)
    finite = np.where(size > 1e290, np.copysign(np.inf, spectrum), spectrum)
    return np.where(size < 1e-290, 0.0, finite)


def _both_in_range(one: Array, other: Array) -> tuple[Array, Array]:
    """Both in range. Where one is at the end of the range, a step of the other may have
    overflowed first, and infinity times a weight of 0 is NaN: there both are NaN."""
    one, other = _in_range(one), _in_range(other)
    lost = (np.isinf(one) & np.isnan(other)) | (np.isinf(other) & np.isnan(one))
    return np.where(lost, np.nan, one), np.where(lost, np.nan, other)


class _Examination:
    def __init__(self, case: Case, outcome: Outcome) -> None:
        self.case, self.outcome = case, outcome

    def run(self) -> None:
        model = self.case.model()
        self.tree, self.plan, clean = self._build(model)
        self.full = self._executors(self.plan, Measurement())
        theta = model.theta()
        fixed = np.array([model.parameters[name].value for name in model.fixed_names])
        self.outcome.finite = float(np.isfinite(clean).mean())
        measurement = make_measurement(self.case, clean)
        part = [TreeExecutor(model, measurement), *self._executors(self.plan, measurement)]
        self._agree("start", theta, None, clean)
        self._window(part, model, measurement, theta)
        self._residuals(part, measurement, theta, None, clean)
        moved = perturbed(self.case.seed, theta), perturbed(self.case.seed + 1, fixed)
        self._residuals(part, measurement, *moved, self._agree("perturbed", *moved))
        for round_ in range(2):
            wild = hostile(self.case, round_, model.opt_param_names, theta)
            held = hostile(self.case, 2, model.fixed_names, fixed)
            self._agree("hostile", wild, held if round_ else None)

    def _build(self, model: Model) -> tuple[TreeExecutor, ScheduledPlan, Array]:
        """Tree, plan and the spectrum at the start; both are built or both refuse."""
        refused: list[Exception] = []
        tree = plan = clean = None
        try:
            tree = TreeExecutor(model)
            clean = tree.run(model.theta())
        except REFUSALS as error:
            refused.append(error)
        try:
            plan = self._plan(model)
            CompiledExecutor(plan).run(model.theta())
        except REFUSALS as error:
            refused.append(error)
        if tree is not None and plan is not None and clean is not None and not refused:
            return tree, plan, clean
        if len(refused) == 1:
            raise DisagreementError(f"only one refuses: {type(refused[0]).__name__}: {refused[0]}")
        raise refused[0]

    def _plan(self, model: Model) -> ScheduledPlan:
        """The plan; the graph's text form must lead to the same."""
        graph = build_graph(model)
        text = print_graph(graph)
        again = parse_graph(text)
        if again != graph or print_graph(again) != text:
            raise DisagreementError("the text form of the graph does not read back")
        plan = make_plan(model)
        schedule = schedule_1d if plan.dimension == 1 else schedule_2d
        if schedule(again) != plan:
            raise DisagreementError("the text form of the graph leads to another plan")
        pack(plan)
        return plan

    def _executors(
        self, plan: ScheduledPlan, measurement: Measurement
    ) -> list[InterpretedExecutor | CompiledExecutor]:
        return [InterpretedExecutor(plan, measurement), CompiledExecutor(plan, measurement)]

    def _note(self, what: str, difference: float) -> None:
        worst = self.outcome.worst
        worst[what] = max(worst.get(what, 0.0), difference)

    def _agree(
        self, what: str, theta: Array, fixed: Array | None, expected: Array | None = None
    ) -> Array:
        """The full spectrum in three executors; that of the tree is returned."""
        if expected is None:
            expected = self.tree.run(theta, fixed)
        for executor in self.full:
            value = executor.run(theta, fixed)
            if value.shape != expected.shape:
                raise DisagreementError(f"{what}: {executor.name} has shape {value.shape}")
            difference = worst_difference(*_both_in_range(expected, value))
            if difference <= AGREEMENT:
                self._note(what, difference)
                continue
            name = f"{what}, tree and {executor.name}: {difference:.3g}"
            if self._has_an_answer(theta, fixed, expected, difference):
                inputs = dict(zip(self.tree.opt_param_names, theta.tolist(), strict=True))
                if fixed is not None:
                    inputs |= dict(zip(self.tree.fixed_names, fixed.tolist(), strict=True))
                raise DisagreementError(f"{name}\n{inputs}\n{expected}\n{value}")
            self.outcome.fragile.append(name)
        return expected

    def _has_an_answer(
        self, theta: Array, fixed: Array | None, expected: Array, difference: float
    ) -> bool:
        """Whether executors must agree: not where a parameter moves to infinity, and not where
        the last bits decide."""
        infinite = np.isinf(self.full[0].traces(theta, fixed)).any()
        return not infinite and conditioned(self.tree, theta, fixed, expected, difference)

    def _window(
        self, part: list[Any], model: Model, measurement: Measurement, theta: Array
    ) -> None:
        # Without a window, but between the same ends: a StaticShirley stands between these.
        unwindowed = measurement.without_data()
        whole = [TreeExecutor(model, unwindowed), *self._executors(self.plan, unwindowed)]
        for executor, wide in zip(part, whole, strict=True):
            full = wide.run(theta)
            value, cropped = executor.run(theta), measurement.window(full)
            same = np.array_equal(np.isfinite(value), np.isfinite(cropped))
            known = np.isfinite(full)
            scale = np.abs(full[known]).max(initial=0.0)
            known = np.isfinite(cropped)
            worst = np.abs(value[known] - cropped[known]).max(initial=0.0) if same else np.inf
            if worst > WINDOW * scale:
                raise DisagreementError(f"window, {executor.name}: {worst:.3g} of {scale:.3g}")
            self._note("window", worst / scale if scale else 0.0)

    def _residuals(
        self,
        part: list[Any],
        measurement: Measurement,
        theta: Array,
        fixed: Array | None,
        full: Array,
    ) -> None:
        model = measurement.window(full)
        # Where the model is at the end of the range, so is the residual: see _in_range.
        far = np.isinf(_in_range(model)).ravel()
        expected, *others = [
            np.where(far & ~np.isnan(r), np.copysign(np.inf, r), r)
            for r in (executor.residual(theta, fixed) for executor in part)
        ]
        scale = np.abs(model[np.isfinite(model)]).max(initial=0.0)
        if measurement.data is not None:
            data = measurement.window(measurement.data).astype(np.float64)
            scale += np.abs(data[np.isfinite(data)]).max(initial=0.0)
        if measurement.weight is not None:
            scale *= np.abs(measurement.weight).max()
        if measurement.loss == "poisson":
            # A root magnifies the last bit where data and model meet: compare the squares.
            scale *= measurement.loss_scale
            if measurement.weight is not None:
                scale *= np.abs(measurement.weight).max()
            with np.errstate(over="ignore"):
                expected, *others = [r * np.abs(r) for r in (expected, *others)]
        for executor, value in zip(part[1:], others, strict=True):
            expected, value = _both_in_range(expected, value)
            known = np.isfinite(expected)
            same = np.array_equal(known, np.isfinite(value)) and np.array_equal(
                np.isnan(expected), np.isnan(value)
            )
            worst = np.abs(expected[known] - value[known]).max(initial=0.0) if same else np.inf
            largest = max(scale, np.abs(expected[known]).max(initial=0.0))
            difference = worst / largest if largest else worst
            if difference > AGREEMENT:
                if self._has_an_answer(theta, fixed, full, difference):
                    raise DisagreementError(f"residual, {executor.name}: {difference:.3g}")
                self.outcome.fragile.append(f"residual, {executor.name}: {difference:.3g}")
            else:
                self._note("residual", difference)
