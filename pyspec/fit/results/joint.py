"""What a joint fit returns: one result of all files, and one of each file."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, overload

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, no_item
from pyspec.errors import DataError, FitError, several, suggest
from pyspec.executor.protocol import Scalar, Stored
from pyspec.fit.amplitudes.part import FreePart
from pyspec.fit.ending import Determined
from pyspec.fit.findings.finding import Finding
from pyspec.fit.followers import local
from pyspec.fit.problem import FitProblem, OnDemand
from pyspec.fit.results.result import FitResult
from pyspec.fit.results.same_data import is_at_hand, need_same
from pyspec.fit.uncertainty.samples import MCMCResult
from pyspec.model import Measurement, Model
from pyspec.model.data.source import source_of
from pyspec.plan.start import StartParameters

if TYPE_CHECKING:
    from typing_extensions import Self

Array = npt.NDArray[np.float64]


#: What the fit of one file has in common with that of all.
OF_ALL = ("method", "backend", "settings", "seconds", "nfev", "success", "interrupted")

#: So many files are named above the table of a joint fit.
MOST_NAMES = 20


class Member(NamedTuple):
    """One file of a joint fit, at the best values.

    Attributes
    ----------
    name : of the file, "" for one without
    fit_type : what the fit of this file alone is called
    full : name of a parameter there → its name in the joint fit
    places : those of its free parameters in theta
    chisqr, n_points, n_amplitudes : of this file
    left : what all files together leave undetermined, where free amplitudes need it
    """

    name: str
    fit_type: str
    full: Mapping[str, str]
    places: tuple[int, ...]
    chisqr: float
    n_points: int
    n_amplitudes: int
    left: Determined | None = None


def _of_one_file(name: str) -> Any:
    """Refuses what each file has of its own."""

    def refuse(joint: JointResult, *_given: object, **_options: object) -> NoReturn:
        """Each file has its own. Raises :class:`FitError`."""
        raise FitError(f"each file has its own {name}; ask one of them: joint[0].{name}")

    return refuse


class JointResult(FitResult, Sequence[FitResult]):
    """A joint fit, under the names of the project: ``joint[0]`` is the FitResult of the first file,
    under its own. Arrays are those of the files, flat, one after the other.

    Attributes
    ----------
    files : one FitResult a file; their chisqr is that of the file, their standard errors are
        those of the joint fit; ``joint["scan"]`` is that of the file of this name. The redchi of a
        file subtracts all of its parameters, also the shared ones, like that of a single fit. For k
        files of n points that share p parameters, its mean is (n - p / k) / (n - p) times the
        variance, which is a little too large. The `redchi` of all files has no such bias
    names : what the files are called
    """

    _members: tuple[Member, ...] = ()

    def _end(self, measurements: Sequence[Measurement], called: Sequence[str]) -> None:
        """Ends a fit of files with the names `called`. Keeps what each file has of its own at the
        best values, and refers to the original data again."""
        problem, ending = self.problem, self.ending
        members = []
        named = zip(called, problem.full, problem.gathers, strict=True)
        files = problem.files_at(self.theta)
        for (file, own), (name, full, gather) in zip(files, named, strict=True):
            places, left = tuple(gather.tolist()), None
            if file.n_amplitudes and (file.shares is not None or ending.lost):
                left = ending.determined()
                left = left if file.shares is not None else left.part(places)
            counted = file.chisqr_at(own), file.n_points, file.n_amplitudes_at(own), left
            kind = "trace" if file.is_trace else "2d" if file.data.ndim == 2 else "spectrum"
            members.append(Member(name, kind, full, places, *counted))
        self._members = tuple(members)
        kinds = {member.fit_type for member in members}
        self.fit_type = kinds.pop() if len(kinds) == 1 else ""
        self.file_name = ", ".join(filter(None, called))
        self._problem = problem.ended(measurements, self.theta)
        self._problem.rest()

    @cached_property
    def files(self) -> tuple[FitResult, ...]:
        alone = copy.copy(self)  # which does not refer to these again
        return tuple(alone._file(k, self.problem.alone(k)) for k in range(len(self)))

    def _file(self, index: int, problem: FitProblem | OnDemand) -> FitResult:
        """What the fit says of one file, of which this is the problem."""
        member, start = self._members[index], self._start
        full, places = member.full, member.places
        counted = member.chisqr, member.n_points, member.n_amplitudes, member.left
        back = {project: own for own, project in full.items()}
        names = [back[self.free_names[place]] for place in places]
        began, limits = local(start.values, full), local(start.limits, full)
        file = FitResult(
            _problem=problem,
            ending=self.ending.part(places, *counted),
            _start=StartParameters.of(names, began, limits),
            _values=local(self._values, full),
            _message=self.message,
            start=Named({back[k]: value for k, value in self.start.items() if k in back}),
            fit_type=member.fit_type,
            file_name=member.name,
            _findings=self._of_file(self._findings, index),
            _is_joint_member=len(self) > 1,
            **{name: getattr(self, name) for name in OF_ALL},
        )
        file._errors = local(self._errors, full)
        return self._with_findings(file, index)

    def _with_findings(self, file: FitResult, index: int) -> FitResult:
        """A file with its part of what was found out, and sampled, about all."""
        file.level, file.diagnosed, file._of = self.level, self.diagnosed, (self, index)
        file._of_levels = self._of_file(self._of_levels, index)
        file.mcmc = None if self.mcmc is None else self.mcmc.renamed(self._members[index].full)
        return file

    def _of_file(self, findings: Iterable[Finding], index: int) -> tuple[Finding, ...]:
        """The findings about all files that are of one, or of all, with the names of its
        parameters there."""
        fulls, names = self._fulls, [member.name for member in self._members]
        back = {project: name for name, project in fulls[index].items()}
        every = {project for full in fulls for project in full.values()}
        own = []
        for finding in findings:
            mine = any(place in back for place in finding.places)
            is_of_some_file = any(place in every for place in finding.places)
            if finding.part != index if finding.part is not None else is_of_some_file and not mine:
                continue
            numbers = dict(finding.numbers)
            if numbers.get("axis") == "file":
                numbers |= {end: names[numbers[end]] or numbers[end] for end in ("at", "from")}
            own.append(replace(finding.renamed(back, None), numbers=numbers))
        return tuple(own)

    @property
    def joint(self) -> Self:
        """This result, which is that of all files."""
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(member.name or f"file{k:02d}" for k, member in enumerate(self._members))

    @property
    def _fulls(self) -> list[Mapping[str, str]]:
        """Of each file, name of a parameter there → its name here."""
        return [member.full for member in self._members]

    @overload
    def __getitem__(self, key: int | str) -> FitResult: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[FitResult, ...]: ...
    def __getitem__(self, key: int | slice | str) -> Any:
        if isinstance(key, str):
            if key not in self.names:
                listed = ", ".join(self.names)
                raise FitError(f"no file {key!r}{suggest(key, list(self.names))}; it has {listed}")
            return self.files[self.names.index(key)]
        try:
            return self.files[key]
        except (IndexError, TypeError):
            raise no_item(key, len(self.files), "file") from None

    def __len__(self) -> int:
        return len(self._members)

    def sample(self, **options: Any) -> MCMCResult:
        """Samples the posterior of all files together, as of :meth:`pyspec.FitResult.sample`;
        ``joint[0].mcmc`` are the samples of the parameters of one of them, under its names."""
        samples = super().sample(**options)
        for file, full in zip(self.files, self._fulls, strict=True):
            file.mcmc = samples.renamed(full)
        return samples

    def _of_files(self, arrays: Iterable[npt.NDArray[Scalar]]) -> npt.NDArray[Scalar]:
        return np.concatenate([np.ravel(array) for array in arrays])

    def _squares(self) -> tuple[float, float]:
        if is_at_hand(self.problem):
            return super()._squares()
        raw, scatter = np.sum([file._squares() for file in self.files], axis=0).tolist()
        counts = np.array([file.n_data for file in self.files], np.float64)
        means = np.array([_mean_of(file) for file in self.files])
        return raw, scatter + float(counts @ (means - np.average(means, weights=counts)) ** 2)

    @property
    def data(self) -> Stored:
        """(n,) the data of the fit windows of all files."""
        need_same(self.problem)
        return self._of_files(file.data for file in self.problem.files)

    @property
    def keep(self) -> npt.NDArray[np.bool_]:
        """(n,) False where a point is masked."""
        return self._of_files(file.keep for file in self.files)

    @property
    def sigma(self) -> Array | None:
        """(n,) the declared standard deviations, None where no noise was declared."""
        sigmas = [sigma for file in self.files if (sigma := file.sigma) is not None]
        return self._of_files(sigmas) if sigmas else None

    @cached_property
    def model(self) -> Model:
        """That of the first file at the best values, a copy; ``joint[1].model`` is the next."""
        return self.files[0].model

    energy, time = property(_of_one_file("energy")), property(_of_one_file("time"))
    components, eval_components = _of_one_file("components()"), _of_one_file("eval_components()")
    predict, moving = _of_one_file("predict()"), _of_one_file("moving()")

    @property
    def amplitudes(self) -> None:
        """None where no file has free amplitudes. Raises :class:`FitError` where one has."""
        if any(isinstance(problem, FreePart) for problem in self.problem.files):
            _of_one_file("amplitudes")(self)

    def diagnose(self, deep: bool = False) -> Self:
        """A copy with what its residuals say, as of :meth:`pyspec.FitResult.diagnose`."""
        diagnosed = super().diagnose(deep)
        diagnosed.files = tuple(
            diagnosed._with_findings(copy.copy(file), k) for k, file in enumerate(self.files)
        )
        return diagnosed

    def _lines(self) -> list[str]:
        head, *rest = super()._lines()
        files = [
            f"file{k:02d}_ is {file.file_name}" for k, file in enumerate(self) if file.file_name
        ]
        return [head, *([several(files, MOST_NAMES)] if files else []), *rest]

    def _repr_html_(self) -> str:
        return f"<b>{len(self)} files together</b><br>{super()._repr_html_()}"

    def __repr__(self) -> str:
        return f"<JointResult of {several(self.names, MOST_NAMES)}: {super().__repr__()}>"


def _mean_of(file: FitResult) -> float:
    """The mean of the data that count."""
    if source_of(file.measurement.data) is not None:
        return file.measurement.survey.mean
    return float(np.mean(np.asarray(file.data, np.float64)[file.keep]))


def data_of_each(data: object, n_files: int) -> Sequence[object]:
    """The data of each of several files; None for each where there are none.

    Raises :class:`DataError` for anything but one for each."""
    given = [None] * n_files if data is None else data
    if not isinstance(given, Sequence) or len(given) != n_files:
        raise DataError(f"a joint fit of {n_files} files takes a list with the data of each")
    return given
