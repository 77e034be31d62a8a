"""What a joint fit returns: one result of all files, and one of each file."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, no_item
from pyspec.errors import FitError, several, suggest
from pyspec.executor.protocol import Scalar, Stored
from pyspec.fit.amplitudes.part import FreePart
from pyspec.fit.ending import Determined
from pyspec.fit.findings.counted import together
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Severity
from pyspec.fit.followers import local
from pyspec.fit.part import FitPart
from pyspec.fit.results.result import FitResult
from pyspec.fit.results.same_data import need_same
from pyspec.fit.uncertainty.samples import MCMCResult
from pyspec.model import Measurement, Model
from pyspec.plan.start import StartParameters

if TYPE_CHECKING:
    from typing_extensions import Self

Array = npt.NDArray[np.float64]


#: What the fit of one file has in common with that of all.
OF_ALL = ("method", "backend", "settings", "seconds", "nfev", "success", "interrupted")

#: So many files are named above the table of a joint fit.
MOST_NAMES = 20


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

    #: The names of the files, "" for a file without a name. Then chi², points and amplitudes of
    #: each file, and what all files together leave undetermined.
    _file_names: tuple[str, ...] = ()
    _counted: tuple[tuple[float, int, int, Determined | None], ...] = ()

    def _end(self, measurements: Sequence[Measurement], called: Sequence[str]) -> None:
        """Ends a fit of files with the names `called`. Keeps chi², points and amplitudes of each
        file at the best values, and refers to the original data again."""
        problem, ending = self.problem, self.ending
        counted = []
        for (file, own), gather in zip(problem.files_at(self.theta), problem.gathers, strict=True):
            left = None
            if file.n_amplitudes and (file.shares is not None or ending.lost):
                every = ending.determined()
                left = every if file.shares is not None else every.part(gather.tolist())
            counted.append((file.chisqr_at(own), file.n_points, file.n_amplitudes_at(own), left))
        self._counted, self._file_names = tuple(counted), tuple(called)
        kinds = {_fit_type(file) for file in problem.files}
        self.fit_type = kinds.pop() if len(kinds) == 1 else ""
        self.file_name = ", ".join(filter(None, called))
        self._problem = problem.ended(measurements, self.theta)
        self._problem.rest()

    @cached_property
    def files(self) -> tuple[FitResult, ...]:
        alone = copy.copy(self)  # which does not refer to these again
        return tuple(alone._file(k) for k in range(len(self._counted)))

    def _file(self, index: int) -> FitResult:
        """What the fit says of one file."""
        problem, start = self.problem, self._start
        own, full = problem.files[index], problem.full[index]
        back = {project: name for name, project in full.items()}
        began, limits = local(start.values, full), local(start.limits, full)
        file = FitResult(
            _problem=problem.alone(index),
            ending=self.ending.part(problem.gathers[index].tolist(), *self._counted[index]),
            _start=StartParameters.of(own.names, began, limits),
            _values=local(self._values, full),
            _message=self.message,
            start=Named({back[k]: value for k, value in self.start.items() if k in back}),
            fit_type=_fit_type(own),
            file_name=self._file_names[index],
            _findings=self._of_file(self._findings, index),
            _is_joint_member=len(problem.files) > 1,
            **{name: getattr(self, name) for name in OF_ALL},
        )
        file._errors = local(self._errors, full)
        return self._with_findings(file, index)

    def _with_findings(self, file: FitResult, index: int) -> FitResult:
        """A file with its part of what was found out, and sampled, about all."""
        file.level, file.diagnosed, file._of = self.level, self.diagnosed, (self, index)
        file._of_levels = self._of_file(self._of_levels, index)
        file.mcmc = None if self.mcmc is None else self.mcmc.renamed(self.problem.full[index])
        return file

    def _of_file(self, findings: Iterable[Finding], index: int) -> tuple[Finding, ...]:
        """The findings about all files that are of one, or of all, with the names of its
        parameters there."""
        fulls, names = self.problem.full, self._file_names
        back = {project: name for name, project in fulls[index].items()}
        every = {project for full in fulls for project in full.values()}
        own = []
        for finding in findings:
            mine, is_of_some_file = (
                any(p in back for p in finding.places),
                any(p in every for p in finding.places),
            )
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
        return tuple(name or f"file{k:02d}" for k, name in enumerate(self._file_names))

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
        return len(self._counted)

    def sample(self, **options: Any) -> MCMCResult:
        """Samples the posterior of all files together, as of :meth:`pyspec.FitResult.sample`;
        ``joint[0].mcmc`` are the samples of the parameters of one of them, under its names."""
        samples = super().sample(**options)
        for file, full in zip(self.files, self.problem.full, strict=True):
            file.mcmc = samples.renamed(full)
        return samples

    def _sentences(self) -> list[tuple[Severity, str]]:
        worded = together(self.findings, self.problem.full)
        return [(finding.severity, text) for finding, text in worded]

    def _of_files(self, arrays: Iterable[npt.NDArray[Scalar]]) -> npt.NDArray[Scalar]:
        return np.concatenate([np.ravel(array) for array in arrays])

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

    @property
    def energy(self) -> Array:
        """Each file has its own. Raises :class:`FitError`."""
        raise FitError("several files have no energies in common; ask one of them: joint[0].energy")

    @property
    def time(self) -> Array:
        """Each file has its own. Raises :class:`FitError`."""
        raise FitError("several files have no times in common; ask one of them: joint[0].time")

    @cached_property
    def model(self) -> Model:
        """That of the first file at the best values, a copy; ``joint[1].model`` is the next."""
        model, full = self.problem.model.copy(), self.problem.full[0]
        model.set_values({name: self.values[full[name]] for name in model.opt_param_names})
        return model

    def components(self, *, whole: bool = False) -> NoReturn:
        """Each file has its own. Raises :class:`FitError`."""
        raise _asked_of_all("components", "components()")

    def eval_components(self) -> NoReturn:
        """Each file has its own. Raises :class:`FitError`."""
        raise _asked_of_all("components", "eval_components()")

    def predict(self, energy: object = None, time: object = None) -> NoReturn:
        """Each file has its own. Raises :class:`FitError`."""
        raise _asked_of_all("predictions", "predict()")

    def moving(self) -> NoReturn:
        """Each file has its own. Raises :class:`FitError`."""
        raise _asked_of_all("parameters that move", "moving()")

    @property
    def amplitudes(self) -> None:
        """None where no file has free amplitudes. Raises :class:`FitError` where one has."""
        if any(isinstance(problem, FreePart) for problem in self.problem.files):
            raise _asked_of_all("free amplitudes", "amplitudes")

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
        more = ["…"] if len(files) > MOST_NAMES else []
        return [head, *filter(None, [", ".join([*files[:MOST_NAMES], *more])]), *rest]

    def _repr_html_(self) -> str:
        return f"<b>{len(self)} files together</b><br>{super()._repr_html_()}"

    def __repr__(self) -> str:
        return f"<JointResult of {several(self.names, MOST_NAMES)}: {super().__repr__()}>"


def _fit_type(file: FitPart) -> str:
    """What the fit of one file is called."""
    if file.is_trace:
        return "trace"
    data = file.measurement.data
    return "2d" if data is not None and data.ndim == 2 else "spectrum"


def _asked_of_all(subject: str, call: str) -> FitError:
    return FitError(f"{subject} belong to one file; ask it: joint[0].{call}")
