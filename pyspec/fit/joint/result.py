"""What a joint fit returns: one result of all files, and one of each file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from pyspec.calls import no_item
from pyspec.errors import FitError, several, suggest
from pyspec.fit.findings.counted import together
from pyspec.fit.findings.kinds import Severity
from pyspec.fit.joint.file import FileFit
from pyspec.fit.linear.part import FreePart
from pyspec.fit.result import FitResult
from pyspec.fit.same_data import need_same
from pyspec.fit.samples import MC, MCMCResult
from pyspec.model import Model

if TYPE_CHECKING:
    from typing_extensions import Self

Array = npt.NDArray[np.float64]


#: So many files are named above the table of a joint fit.
MOST_NAMES = 20


class JointResult(FitResult, Sequence[FitResult]):
    """A joint fit, under the names of the project: ``joint[0]`` is the FitResult of the first file,
    under its own. Arrays are those of the files, flat, one after the other.

    Attributes
    ----------
    files : one FitResult a file; their chisqr is that of the file, their standard errors are
        those of the joint fit; ``joint["scan"]`` is that of the file of this name. The redchi of a
        file takes off all of its parameters, shared ones too, as if it were alone: of k files of n
        points that share p parameters it is (n - p / k) / (n - p) of the variance on average, a
        little too large; `redchi` of all files has no such bias
    names : what the files are called
    """

    files: tuple[FitResult, ...] = ()

    def of_files(self, files: Sequence[FitResult]) -> Self:
        """Takes the results of the files."""
        self.files = tuple(files)
        self.share_samples()
        return self

    @property
    def joint(self) -> Self:
        """This result, which is that of all files."""
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(file.file_name or f"file{k:02d}" for k, file in enumerate(self.files))

    @overload
    def __getitem__(self, key: int | str) -> FitResult: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[FitResult, ...]: ...
    def __getitem__(self, key: int | slice | str) -> Any:
        if isinstance(key, str):
            if key not in self.names:
                known = ", ".join(self.names)
                raise FitError(f"no file {key!r}{suggest(key, list(self.names))}; it has {known}")
            return self.files[self.names.index(key)]
        try:
            return self.files[key]
        except (IndexError, TypeError):
            raise no_item(key, len(self.files), "file") from None

    def __len__(self) -> int:
        return len(self.files)

    def sample(self, settings: MC | None = None, **options: Any) -> MCMCResult:
        """Samples the posterior of all files together, as of :meth:`pyspec.FitResult.sample`;
        ``joint[0].mcmc`` are the samples of the parameters of one of them, under its names."""
        samples = super().sample(settings, **options)
        self.share_samples()
        return samples

    def _said(self) -> list[tuple[Severity, str]]:
        said = together(self.findings, self.problem.full)
        return [(one.severity, text) for one, text in said]

    def share_samples(self) -> None:
        """Gives each file its part of the samples, where there are some."""
        if self.mcmc is not None:
            for file, full in zip(self.files, self.problem.full, strict=False):
                file.mcmc = self.mcmc.renamed(full)

    def _of_files(self, arrays: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return np.concatenate([np.ravel(array) for array in arrays])

    @property
    def data(self) -> npt.NDArray[Any]:
        """(n,) the data of the fit windows of all files."""
        need_same(self.problem)
        return self._of_files(file.data for file in self.problem.files)

    @property
    def keep(self) -> npt.NDArray[np.bool_]:
        """(n,) False where a point is masked."""
        return self._of_files(
            np.ones(problem.n_residuals, dtype=bool)
            if problem.measurement.keep is None
            else problem.measurement.window(problem.measurement.keep)
            for problem in self.problem.files
        )

    @property
    def sigma(self) -> Array | None:
        """(n,) the declared standard deviations, None where no noise was declared."""
        found, begin = [], 0
        for file in self.problem.files:
            end = begin + file.n_residuals
            fit = np.asarray(self.fit[begin:end]).reshape(file.data.shape)
            found.append(file.measurement.sigma(fit))
            begin = end
        known = [sigma for sigma in found if sigma is not None]
        return self._of_files(known) if known else None

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

    def components(self, *, whole: bool = False) -> Any:
        """Each file has its own. Raises :class:`FitError`."""
        raise _asked_of_all("components", "components()")

    def eval_components(self) -> Any:
        """Each file has its own. Raises :class:`FitError`."""
        raise _asked_of_all("components", "eval_components()")

    def predict(self, energy: Any = None, time: Any = None) -> Any:
        """Each file has its own. Raises :class:`FitError`."""
        raise _asked_of_all("predictions", "predict()")

    def moving(self) -> Any:
        """Each file has its own. Raises :class:`FitError`."""
        raise _asked_of_all("parameters that move", "moving()")

    @property
    def linear(self) -> None:
        """None where no file has free amplitudes. Raises :class:`FitError` where one has."""
        if any(isinstance(problem, FreePart) for problem in self.problem.files):
            raise _asked_of_all("free amplitudes", "linear")

    def diagnose(self, deep: bool = False) -> Self:
        """A copy with what its residuals say, as of :meth:`pyspec.FitResult.diagnose`."""
        found = super().diagnose(deep)
        files = [one.diagnosed_with(found) for one in self.files if isinstance(one, FileFit)]
        return found.of_files(files)

    def _lines(self) -> list[str]:
        head, *rest = super()._lines()
        found = [f"file{k:02d}_ is {one.file_name}" for k, one in enumerate(self) if one.file_name]
        more = ["…"] if len(found) > MOST_NAMES else []
        return [head, *filter(None, [", ".join([*found[:MOST_NAMES], *more])]), *rest]

    def _repr_html_(self) -> str:
        return f"<b>{len(self)} files together</b><br>{super()._repr_html_()}"

    def __repr__(self) -> str:
        return f"<JointResult of {several(self.names, MOST_NAMES)}: {super().__repr__()}>"


def _asked_of_all(what: str, call: str) -> FitError:
    return FitError(f"{what} belong to one file; ask it: joint[0].{call}")
