"""What a joint fit returns: one result of all files, and one of each file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from html import escape
from typing import Any, overload

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

Array = npt.NDArray[np.float64]


#: So many files are named above the table of a joint fit.
MOST_NAMES = 20


class JointFit(FitResult):
    """The fit of all files as one: arrays are those of the files, flat, one after the other."""

    #: Those of the files, which have their part of the samples.
    files: tuple[FitResult, ...] = ()

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


def _asked_of_all(what: str, call: str) -> FitError:
    return FitError(f"{what} belong to one file; ask it: joint[0].{call}")


#: What a JointResult does not have from its fit of all files, though that has it.
OWN = ("joint", "files", "data", "fit", "residual", "energy")


def _is_shared(name: str) -> bool:
    return not name.startswith("_") and name not in OWN


class JointResult(Sequence[FitResult]):
    """A joint fit: ``joint[0]`` is the FitResult of the first file, under its own names.

    Attributes
    ----------
    joint : the FitResult of all, under the project's names; its `values`, `stderr`, `table`,
        `correlations`, `redchi`, `success`, … are those of this object
    files : one FitResult a file; their chisqr is that of the file, their standard errors are
        those of the joint fit; ``joint["scan"]`` is that of the file of this name. The redchi of a
        file takes off all of its parameters, shared ones too, as if it were alone: of k files of n
        points that share p parameters it is (n - p / k) / (n - p) of the variance on average, a
        little too large; `redchi` of all files has no such bias
    names : what the files are called
    """

    def __init__(self, joint: FitResult, files: Sequence[FitResult]) -> None:
        self.joint = joint
        self.files = tuple(files)
        if isinstance(joint, JointFit):
            joint.files = self.files
            joint.share_samples()

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

    def __getattr__(self, name: str) -> Any:
        if not _is_shared(name):
            raise AttributeError(f"a JointResult has no {name!r}; its files may: joint[0].{name}")
        return getattr(self.joint, name)

    def __dir__(self) -> list[str]:
        """Its own names and those that it takes from `joint`, so that editors complete them."""
        own = list(super().__dir__())
        return sorted({*own, *(name for name in dir(self.joint) if _is_shared(name))})

    def diagnose(self, deep: bool = False) -> JointResult:
        """A copy with what its residuals say, as of :meth:`pyspec.FitResult.diagnose`."""
        joint = self.joint.diagnose(deep)
        files = [one.diagnosed_with(joint) for one in self.files if isinstance(one, FileFit)]
        return JointResult(joint, files)

    def __str__(self) -> str:
        head, _, rest = str(self.joint).partition("\n")
        return "\n".join(filter(None, (head, self._names(), rest)))

    def _names(self) -> str:
        """Which file a name of a parameter begins with."""
        found = [f"file{k:02d}_ is {one.file_name}" for k, one in enumerate(self) if one.file_name]
        more = ["…"] if len(found) > MOST_NAMES else []
        return ", ".join([*found[:MOST_NAMES], *more])

    def __repr__(self) -> str:
        return f"<JointResult of {several(self.names, MOST_NAMES)}: {self.joint!r}>"

    def _repr_html_(self) -> str:
        names = f"{len(self)} files together: {self._names()}".rstrip(": ")
        return f"<b>{escape(names)}</b><br>{self.joint._repr_html_()}"
