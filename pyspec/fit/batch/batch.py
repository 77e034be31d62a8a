"""Many fits that have a model in common, and differ in their data, starts, or fixed values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pyspec.errors import PyspecError
from pyspec.fit.batch.cases import Cases
from pyspec.fit.batch.fits import Fit, Table
from pyspec.fit.batch.in_c import InC
from pyspec.fit.batch.solved import Solved
from pyspec.fit.ending import bounds_said, end_said
from pyspec.fit.problem import FitProblem, problem_of
from pyspec.fit.progress import Silent
from pyspec.fit.results.ended import state_of
from pyspec.fit.results.result import FitResult
from pyspec.fit.solve.conclude import result_of
from pyspec.fit.solve.methods import How
from pyspec.fit.solve.stages import EndedInC, run_fit
from pyspec.model import Measurement
from pyspec.plan import CompiledModel

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: Fits whose numbers are read at a time: what is in between stays small beside the numbers.
AT_A_TIME = 1 << 12


@dataclass(kw_only=True, eq=False, repr=False)
class Batch(Table[Fit]):
    """Fits of one model, which are known by their numbers. Those that C made are kept in arrays,
    the others as objects.

    Attributes
    ----------
    cases, how : what they are of, and how each runs
    compiled : the model
    like : a measurement from which those of the fits differ
    kind : what is kept of a fit
    n_first : how many, from the first on, C does not fit
    row : of the data of fit 0 in a series
    rivals : the other optima of the original fit, when data are drawn again; None if they are not
        known
    others : number → a fit that Python made
    solved : those that C made; None where it made none
    """

    cases: Cases
    how: How
    compiled: CompiledModel
    like: Measurement
    backend: str
    kind: type[Fit]
    n_first: int = 0
    row: int = 0
    rivals: list[Array] | None = None
    others: dict[int, Fit] = field(default_factory=dict, init=False)
    solved: Solved | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        super().__init__(len(self.cases), self.compiled.model, self.backend)

    @property
    def label(self) -> str:
        """What messages call the model."""
        return self.compiled.model.name

    def in_c(self) -> InC | None:
        """Those that C can make; None where Python takes part in each of them."""
        return InC.of(self.cases, self.how, self.compiled, self.like, self.backend)

    @property
    def is_empty(self) -> bool:
        """Whether none of the fits is worth to be kept."""
        return not self.others and not self.made.any()

    # one fit

    def case(
        self, number: int, checksum: int | None = None
    ) -> tuple[FitProblem, Mapping[str, float]]:
        """The problem of one fit, whose data have that checksum if it is known, and its start."""
        measurement, values = self.cases.measurement(number), self.cases.values_of(number)
        names = self.compiled.model.fixed_names if values else ()
        fixed = {name: value for name, value in values.items() if name in names}
        free = {name: value for name, value in values.items() if name not in fixed}
        problem = problem_of(
            self.compiled, measurement, self.backend, fixed or None, checksum=checksum
        )
        return (problem if self.rivals is None else problem.beside(self.rivals)), free

    def again(self, number: int) -> FitResult:
        """The result of one fit, which is made for it."""
        return self._fit(*self.case(number))

    def fit(self, number: int) -> Fit:
        """Makes one fit; a failure becomes its status."""
        try:
            result = self.again(number)
        except (PyspecError, ArithmeticError, np.linalg.LinAlgError) as error:
            return self.kept(number, "failed", str(error))
        state = state_of(result.success, result.without_effect)
        status = {"converged": "converged", "NOT determined": "undetermined"}.get(state, "stopped")
        if result.interrupted:
            status = "interrupted"
        return self.kept(number, status, result.message, result)

    def kept(self, number: int, status: str, message: str, result: FitResult | None = None) -> Fit:
        """What is kept of a fit."""
        return self.kind.of(number, self.row + number, status, message, result)

    def _fit(
        self, problem: FitProblem, start: Mapping[str, float], ended: EndedInC | None = None
    ) -> FitResult:
        """The result as one of this kind, without what evaluates its model."""
        result = result_of(run_fit(problem, self.how, Silent(), start, ended))
        result.fit_type = self.kind.fit_type
        result.problem.files[0].forget()
        return result

    # one that C made

    def result_of(self, number: int, solved: Solved) -> FitResult:
        """The result of a fit that C made. What asks for its data refuses them where they were
        changed since then."""
        checksum = int(solved.checksums[number])
        problem, start = self.case(number, checksum or None)
        result = self._fit(problem, start, solved.ending(number))
        result.seconds = solved.seconds / len(solved)
        return result

    def made_in_c(self, number: int, solved: Solved) -> Fit:
        """What is kept of a fit that C made."""
        result = self.result_of(number, solved)
        status = "undetermined" if solved.is_lost[number] else "converged"
        return self.kept(number, status, result.message, result)

    def message_of(self, number: int, solved: Solved) -> str:
        """The message of a fit that C made."""
        if solved.is_lost[number]:  # which of them
            return self.result_of(number, solved).message
        ending = end_said("converged", float(solved.fitted["reached"][number]))
        return f"{ending}. {bounds_said(solved.sides(number))}".strip(". ") + "."

    # all of them

    @property
    def made(self) -> Bools:
        """(n,) which of them C made."""
        return np.zeros(self.n, dtype=bool) if self.solved is None else self.solved.made

    @property
    def n_alone(self) -> int:  # type: ignore[override]
        """How many of a batch that C made C left to the single fit."""
        return 0 if self.solved is None else len(self.others)

    def _made_at(self, k: int) -> Solved | None:
        """What has the k-th fit, if C made it."""
        solved = self.solved
        return solved if solved is not None and solved.made_of(slice(k, k + 1))[0] else None

    def fit_at(self, k: int) -> Fit:
        if k in self.others:
            return self.others[k]
        if (solved := self._made_at(k)) is not None:
            return self.made_in_c(k, solved)
        return self.kept(k, "not run", "interrupted before it ended")

    def result(self, k: int) -> FitResult:
        """The result of a fit: of what C found, or of the fit made again."""
        solved = self._made_at(k)
        return self.again(k) if solved is None else self.result_of(k, solved)

    def _objects_of(self, made: Bools) -> Iterator[tuple[int, Fit]]:
        """The fits that are no rows of arrays."""
        return ((k, self.fit_at(k)) for k in np.flatnonzero(~made).tolist())

    def texts(self, field: str) -> list[str]:
        """As of :meth:`Table.texts`."""
        made, entries, solved = self.made, ["converged"] * self.n, self.solved
        if solved is not None:
            told = made & solved.is_lost if field == "status" else made
            for k in np.flatnonzero(told).tolist():
                entries[k] = "undetermined" if field == "status" else self.message_of(k, solved)
        for k, fit in self._objects_of(made):
            entries[k] = getattr(fit, field)
        return entries

    def numbers(self, field: str) -> Array:
        """As of :meth:`Table.numbers`."""
        column, made = np.full(self.n, np.nan), self.made
        if self.solved is not None:
            own = self.solved.fitted["chisqr" if field == "redchi" else field][made]
            column[made] = own / self.solved.n_free[made] if field == "redchi" else own
        for k, fit in self._objects_of(made):
            if fit.facts is not None:
                column[k] = getattr(fit.facts, field)
        return column

    def columns(self, field: str, names: Sequence[str]) -> Array:
        """As of :meth:`Table.columns`."""
        table, made = np.full((len(names), self.n), np.nan), self.made
        places = np.flatnonzero(made)
        for begin in range(0, len(places), AT_A_TIME):
            assert self.solved is not None
            own = places[begin : begin + AT_A_TIME]
            in_c = self.solved.columns(field, own, self.compiled.followers)
            for name, row in zip(names, table, strict=True):
                if name in in_c:
                    row[own] = in_c[name]
        for k, fit in self._objects_of(made):
            if fit.facts is not None:
                by_name: Mapping[str, float | None] = getattr(fit.facts, field)
                table[:, k] = np.array([*map(by_name.get, names)], np.float64)  # None is NaN
        return table
