"""The files of a fit, one or several under the names of a project: what they say together without
an evaluation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pyspec.executor import Problem
from pyspec.fit.followers import FollowersOfFiles, Spanning
from pyspec.fit.part import FitPart
from pyspec.ir import build_graph
from pyspec.model import Measurement, Model, Par
from pyspec.passes.eliminate import choose, joined, slopes_of
from pyspec.plan import CompiledModel
from pyspec.plan.following import Followers
from pyspec.plan.places import Places

Array = npt.NDArray[np.float64]


class Files:
    """One file, or several with parameters in common.

    Attributes
    ----------
    files : each with its model, axes, window, noise and loss
    shared : where several are fitted together the names of all parameters, and where each file
        finds its own; None of one file alone
    names : the free parameters, the order of theta
    is_poisson : whether a residual is a Poisson deviance
    is_weighted : whether the noise is known: weights, or counting statistics
    only : the file that is fitted by itself; None where several are, under names of a project
    """

    def __init__(self, files: Sequence[FitPart], shared: Problem | None = None) -> None:
        self.files, self.shared = tuple(files), shared
        self.is_weighted = files[0].is_weighted
        if shared is None:
            self.only: FitPart | None = files[0]
            self.names, self.is_poisson = files[0].names, files[0].is_poisson
        else:
            self.only, self.names = None, shared.names
            self.is_poisson = any(file.is_poisson for file in files)

    @property
    def gathers(self) -> Sequence[npt.NDArray[np.int64]]:
        """Of each file, the places of its parameters in theta."""
        if self.shared is None:
            return (np.arange(len(self.names)),)
        return self.shared.gather

    @property
    def full(self) -> Sequence[Mapping[str, str]]:
        """Of each file, name of a parameter there → its name in the result."""
        if self.shared is None:
            return ({name: name for name in self.parameters},)
        return self.shared.full

    @property
    def named_files(self) -> Sequence[tuple[FitPart, Mapping[str, str]]]:
        """The files, each with the names that its parameters have in the result."""
        return list(zip(self.files, self.full, strict=True))

    @property
    def label(self) -> str:
        """How errors call it."""
        return ", ".join(dict.fromkeys(file.label for file in self.files))

    @property
    def model(self) -> Model:
        """That of the first file."""
        return self.files[0].model

    @property
    def measurement(self) -> Measurement:
        """That of the first file."""
        return self.files[0].measurement

    @property
    def data_checksum(self) -> int:
        """That of the first file."""
        return self.files[0].data_checksum

    @property
    def compiled(self) -> CompiledModel:
        """That of the first file."""
        return self.files[0].compiled

    @property
    def is_trace(self) -> bool:
        """Whether values against time are fitted: then there is no energy axis."""
        return self.files[0].is_trace

    def axis(self, name: str) -> Array | None:
        """(n,) the "energy" or "time" of the fit window; None where the data have none."""
        return self.files[0].axis(name)

    @property
    def n_residuals(self) -> int:
        """Points of the windows, masked ones included."""
        return sum(file.n_residuals for file in self.files)

    @property
    def n_points(self) -> int:
        """Points of the windows that count."""
        if self.only is not None:  # thousands of fits of one spectrum ask
            return self.only.n_points
        return sum(file.n_points for file in self.files)

    @property
    def data_square(self) -> float:
        """chi² of a model that is 0 everywhere: what rounding of chi² is measured by."""
        return sum(file.data_square for file in self.files)

    @cached_property
    def parameters(self) -> Mapping[str, Par]:
        """All parameters by name, as they are when the fit begins."""
        if self.only is not None:
            return self.only.parameters
        by_name: dict[str, Par] = {}
        for file, full in self.named_files:
            for name, par in file.parameters.items():
                by_name.setdefault(full[name], par)
        for name, formula in self.spanning.formulas.items():
            by_name[name] = Par(name, name, vary=False, formula=formula)
        return by_name

    @property
    def followers(self) -> Followers:
        """The expression parameters, as they are when the fit begins."""
        return self._of_files if self.only is None else self.only.followers

    @cached_property
    def _of_files(self) -> Followers:
        files = [(file.followers, full) for file, full in self.named_files]
        return FollowersOfFiles(files, self.spanning.formulas)

    @cached_property
    def spanning(self) -> Spanning:
        """Quantities that take their values from several files."""
        if self.shared is None:
            return Spanning()
        return Spanning.of(self.shared.models, self.full)

    @cached_property
    def column_kinds(self) -> tuple[str, ...]:
        """The class of each Jacobian column, see :class:`pyspec.passes.Column`: constant where it
        is so in every file that has it."""
        kinds = ["constant"] * len(self.names)
        for file, gather in zip(self.files, self.gathers, strict=True):
            for place, kind in zip(gather.tolist(), file.column_kinds, strict=True):
                kinds[place] = kind if kinds[place] == "constant" else kinds[place]
        return tuple(kinds)

    @cached_property
    def linear_names(self) -> tuple[str, ...]:
        """The free parameters in which all files together are linear."""
        if self.only is not None:
            return self.only.compiled.linear
        files = [slopes_of(build_graph(file.model)) for file in self.files]
        return choose(self.names, joined(list(zip(files, self.full, strict=True)))).names

    def jumps(self) -> Mapping[str, Places]:
        """Free parameters that move a jump over the samples → the values where they do."""
        if self.only is not None:
            return self.only.jumps()
        places_by_name: dict[str, Places] = {}
        for (file, full), gather in zip(self.named_files, self.gathers, strict=True):
            for name, own in file.jumps().items():
                places = own.of_file(gather.tolist())
                before = places_by_name.get(full[name])
                places_by_name[full[name]] = places if before is None else before.joined(places)
        return places_by_name

    def jump_parameters(self) -> Collection[str]:
        """All free parameters that move a jump, directly or through expressions."""
        files = self.named_files
        return {full[name] for file, full in files for name in file.jump_parameters()}
