"""A file of a fit whose amplitudes are free at each energy or each time, and which files are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError, PlanError
from pyspec.executor import AmplitudesExecutor, Part
from pyspec.fit.amplitudes.time_zero import beside
from pyspec.fit.part import FitPart
from pyspec.fit.results.same_data import need_same
from pyspec.model import Par
from pyspec.model.build.free import allowed, dispersed, single_valued
from pyspec.model.data.windows import slice_of
from pyspec.plan.following import Followers, Following
from pyspec.plan.places import Places

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class FreePart(FitPart):
    """A file whose amplitudes are free at each energy or each time; they are no parameters. The
    optimizer sees the residual that remains once they are solved for (variable projection)."""

    @property
    def executor(self) -> AmplitudesExecutor:
        """The executor, which solves for the amplitudes."""
        executor = super().executor
        assert isinstance(executor, AmplitudesExecutor)
        return executor

    @property
    def is_trace(self) -> bool:
        return False

    @property
    def n_amplitudes(self) -> int:
        return self.executor.n_amplitudes

    def n_amplitudes_at(self, theta: Array) -> int:
        if self.shares is not None:
            return self.n_amplitudes
        with np.errstate(all="ignore"):
            return self.n_amplitudes - sum(self.executor.undetermined(theta, self.fixed).values())

    @property
    def without_data(self) -> Flags:
        """(n,) where no point counts, along the axis of the free amplitudes. Such an amplitude
        cannot be solved for, and a fit holds it at 0. That 0 is not a result."""
        return ~self.executor.has_data[:, 0]

    def unknown(self, determined: Flags) -> Flags:
        """(n, n_amplitudes) where an amplitude is not known: there are no data, or they do not
        determine it. One that a range or a bound holds at 0 is known where there are data."""
        designer, empty = self.executor.designer, self.without_data
        flags = np.empty_like(determined)
        for k, name in enumerate(designer.free):
            free = self.model.parameters[name].free
            assert free is not None
            held = ~allowed(free, designer.along) | free.positive
            flags[:, k] = ~determined[:, k] & (empty | ~held)
        return flags

    @cached_property
    def parameters(self) -> Mapping[str, Par]:
        """All parameters but the amplitudes that are free, and what depends on the energy."""
        return single_valued(self.model.parameters)

    @cached_property
    def followers(self) -> Followers:
        return Following.of(self.parameters, self.outline.followers)

    @cached_property
    def dispersed(self) -> frozenset[str]:
        """Parameters that differ from energy to energy: they have no single value."""
        return dispersed(self.model.parameters)

    def jumps(self) -> Mapping[str, Places]:
        if self.dispersed:
            return {}
        try:
            return super().jumps()
        except PlanError:
            return {}

    def jump_parameters(self) -> Collection[str]:
        if self.dispersed:  # no plan says at which energies they are
            return ()
        try:
            return super().jump_parameters()
        except PlanError:
            return ()

    def beside(self, theta: Array, *, alone: bool = False) -> list[Array]:
        with np.errstate(all="ignore"):
            return beside(self.executor.designer, theta, self.fixed, alone=alone)

    def run(self, theta: Array, *, whole: bool = False) -> Array:
        """The model over the window. Over the whole axes it is NaN where there are no data to
        solve for amplitudes: outside of the window, along the axis of these."""
        need_same(self)  # which the amplitudes are solved from
        fit = np.asarray(self.executor.run(theta, self.fixed))
        if not whole:
            return fit
        measured, model = self.measurement, self.model
        assert model.time is not None
        assert model.energy is not None
        everywhere = np.full((model.time.size, model.energy.size), np.nan)
        rows = slice_of(measured.rows)
        everywhere[rows, slice_of(measured.columns)] = fit
        return everywhere

    def explain(self, theta: Array) -> str:
        if self.dispersed:
            return "a parameter that depends on the energy leaves the domain of its function"
        return super().explain(theta)


def part_of(
    part: Part,
    backend: str,
    checksum: int | None = None,
    *,
    lays_out: bool = False,
) -> FitPart:
    """The part of a fit, with or without free amplitudes."""
    compiled, measurement, _ = part
    if compiled.outline is None or not compiled.outline.has_free:
        return FitPart(part, backend, checksum, lays_out=lays_out)
    if measurement.data is not None and np.ndim(measurement.data) != 2:
        raise FitError(
            f"{compiled.model.name}: amplitudes that are free need data of times and energies, not "
            f"{np.ndim(measurement.data)}D data"
        )
    return FreePart(part, backend, checksum)
