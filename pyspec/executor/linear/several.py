"""A basis function behind an instrument of several Gaussians: the sum of the responses to each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec._library import KernelCall
from pyspec.executor.linear.columns import Entry
from pyspec.executor.linear.values import Known, ParameterValues
from pyspec.functions import outside
from pyspec.functions.response_rows import WIDTH, response, response_order
from pyspec.model import Component
from pyspec.model.instruments import SHARE, SHIFT, argument

Array = npt.NDArray[np.float64]


class Several:
    """One law behind several Gaussians: its kernel in C runs for each of them."""

    def __init__(
        self,
        values: ParameterValues,
        x: Array,
        component: Component,
        instrument: Sequence[Component],
        numbers: Mapping[str, float],
        n_groups: int,
    ) -> None:
        op = response(component.op, instrument[0].op)
        assert op is not None
        order = response_order(component.op, op)
        self.op, self.x = op, np.ascontiguousarray(x, np.float64)
        self.n_gaussians = len(instrument)
        self._width, self._onset = order.index(WIDTH), op.params.index("t0")
        pars = [None if source == WIDTH else component.pars[source] for source in order]
        #: Numbers stand for amplitudes, as in Direct; that of the width is not used.
        self._sources: list[str | float] = [
            0.0 if par is None else numbers.get(par.name, par.name) for par in pars
        ]
        self._widths = [par.name for one in instrument if (par := one.pars[0]) is not None]
        self._shares = [par.name for one in instrument if (par := argument(one, SHARE)) is not None]
        shifts = {k: argument(one, SHIFT) for k, one in enumerate(instrument)}
        self._shifts = {k: par.name for k, par in shifts.items() if par is not None}
        of_law = [source for source in self._sources if isinstance(source, str)]
        names = [*of_law, *self._widths, *self._shares, *self._shifts.values()]
        self.followers = values.needed(names)
        self.n_rows = n_groups if any(values.disperses(name) for name in names) else 1
        #: What the derivatives are by: a parameter of the law by its place, one of a Gaussian by
        #: the number of this.
        law = [(k, s) for k, s in enumerate(self._sources) if isinstance(s, str)]
        kinds = [law, list(enumerate(self._widths)), list(self._shifts.items())]
        kinds.append(list(enumerate(self._shares, 1)))
        moving = [[(k, name) for k, name in kind if values.places(name)] for kind in kinds]
        self._by_law, self._by_width, self._by_shift, self._by_share = moving
        self._names = [name for kind in moving for _, name in kind]
        self.n_slopes = len(self._names)

    def take_room(self, value: Array, slopes: Array) -> None:
        self._value, self._slopes = value, slopes
        n_params, shape = len(self.op.params), (self.n_gaussians, self.n_rows, self.x.size)
        wanted = {k for k, _ in self._by_law}
        wanted |= {self._width} if self._by_width else set()
        wanted |= {self._onset} if self._by_shift else set()
        self._each, self._term = np.empty(shape), np.empty(shape[1:])
        self._partials = {k: np.empty(shape) for k in wanted}
        self._params = np.empty((self.n_gaussians, n_params, self.n_rows))
        self._share = np.empty((self.n_gaussians, self.n_rows, 1))
        self._calls = []
        for g, (each, params) in enumerate(zip(self._each, self._params, strict=True)):
            own = {k: partial[g] for k, partial in self._partials.items()}
            partials = [own.get(k) for k in range(n_params)]
            self._calls.append(KernelCall(self.op, self.x, params, each, partials))

    def fill(self, theta: Array, fixed: Mapping[str, float], known: Known) -> list[Entry]:
        self._set_parameters(known)
        for call in self._calls:
            call.run()
        self._mix(self._each, self._value)
        bad = [np.asarray(outside(self.op, list(params))) for params in self._params]
        self._value[np.broadcast_to(np.any(bad, axis=0), self.n_rows)] = np.nan
        self._fill_slopes()
        return [
            (index, place, slope)
            for index, name in enumerate(self._names)
            for place, slope in known[name][1].items()
        ]

    def _set_parameters(self, known: Known) -> None:
        for k, source in enumerate(self._sources):
            self._params[:, k] = source if isinstance(source, float) else known[source][0]
        for g, name in enumerate(self._widths):
            self._params[g, self._width] = known[name][0]
        for g, name in self._shifts.items():
            self._params[g, self._onset] += known[name][0]
        for g, name in enumerate(self._shares, 1):
            self._share[g, :, 0] = known[name][0]
        self._share[0] = 1.0 - self._share[1:].sum(axis=0)

    def _mix(self, parts: Array, out: Array) -> None:
        """The sum of what each Gaussian makes, times the shares."""
        np.multiply(self._share[0], parts[0], out=out)
        for share, part in zip(self._share[1:], parts[1:], strict=True):
            np.multiply(share, part, out=self._term)
            out += self._term

    def _fill_slopes(self) -> None:
        """In the order of the names. More share for one Gaussian is less for the first."""
        slopes = iter(self._slopes)
        for k, _ in self._by_law:
            self._mix(self._partials[k], next(slopes))
        for g, _ in self._by_width:
            np.multiply(self._share[g], self._partials[self._width][g], out=next(slopes))
        for g, _ in self._by_shift:
            np.multiply(self._share[g], self._partials[self._onset][g], out=next(slopes))
        for g, _ in self._by_share:
            np.subtract(self._each[g], self._each[0], out=next(slopes))
