"""Amplitudes of least squares, and the residual that they leave, in C.

Data lie in tiles of :data:`LANES` groups, (n_tiles, n_x, lanes), as ``pyspec_project`` takes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, ISA, LIBRARY, raise_status
from pyspec._library.memory import address, aligned, record
from pyspec.executor.amplitudes.design import Design
from pyspec.executor.normal import FORMS, triangle_size

Array = npt.NDArray[np.float64]

LANES = int(CONSTANTS["LANES"])


@dataclass(frozen=True, eq=False)
class Solved:
    """The amplitudes at one theta, and what remains once they are solved for.

    Attributes
    ----------
    design : the basis functions at `theta`
    amplitudes : (n_groups, n_basis)
    determined : (n_groups, n_basis) False where an amplitude is held at 0, by its range, by its
        bound, or because the data do not determine it
    triangle : of [J r], see :mod:`pyspec.executor.normal`
    residual : (n_groups, n_x) weighted, or None
    jacobian : (n_theta, n_groups, n_x) derivatives of the residual, or None
    """

    theta: Array
    design: Design
    amplitudes: Array
    determined: npt.NDArray[np.bool_]
    triangle: Array
    residual: Array | None = None
    jacobian: Array | None = None

    @property
    def model(self) -> Array:
        """(n_groups, n_x) the model in units of the data."""
        return self.design.model(self.amplitudes)


def tiled(values: Array) -> Array:
    """(n_tiles, n_x, lanes) of (n_groups, n_x), zeros behind the last group."""
    n_groups, n_x = values.shape
    full = n_groups // LANES
    tiles = np.empty((-(-n_groups // LANES), n_x, LANES))
    turned = values.T
    tiles[:full] = turned[:, : full * LANES].reshape(n_x, full, LANES).transpose(1, 0, 2)
    if n_groups % LANES:
        tiles[full] = 0.0
        tiles[full, :, : n_groups % LANES] = turned[:, full * LANES :]
    return tiles


def flat(tiles: Array, n_groups: int) -> Array:
    """(..., n_groups, n_x) of (..., n_tiles, n_x, lanes)."""
    turned = np.moveaxis(tiles, -1, -2)
    return turned.reshape(*tiles.shape[:-3], -1, tiles.shape[-2])[..., :n_groups, :]


class Projection:
    """The data of one window, projected again and again.

    Parameters
    ----------
    data : (n_groups, n_x) times the weights, 0 where masked; of counts in their unit
    weight : (n_groups, n_x), 0 where masked; None where all are 1
    allowed : (n_groups, n_basis), or None
    positive : (n_basis,), or None
    scale : counts for each unit of the data, whose deviance becomes least; 0: least squares
    """

    def __init__(
        self,
        data: Array,
        weight: Array | None,
        allowed: npt.NDArray[np.bool_] | None,
        positive: npt.NDArray[np.bool_] | None,
        scale: float = 0.0,
    ) -> None:
        self.n_groups, self.n_x = data.shape
        self._data = tiled(data)
        self._weight = None if weight is None else tiled(weight)
        self._allowed = None if allowed is None else np.ascontiguousarray(allowed, np.uint8)
        self._positive = None if positive is None else np.ascontiguousarray(positive, np.uint8)
        self.work: Array = aligned(0)
        #: What every call says alike.
        self._fields = {
            "n_groups": self.n_groups,
            "n_x": self.n_x,
            "isa": CONSTANTS[f"ISA_{ISA}"],
            "scale": scale,
            "data": address(self._data),
            "weight": _address(self._weight),
            "allowed": _address(self._allowed),
            "bounded": _address(self._positive),
        }

    def rest(self) -> None:
        """Frees work memory; the next call makes it again."""
        self.work = aligned(0)

    def at(self, theta: Array, design: Design, form: str = "gram", full: bool = False) -> Solved:
        """The projection for these basis functions. `form` is that of the triangle, or "rows",
        for residuals and derivatives too, of counts those of the deviance. `full` takes J of
        Golub and Pereyra in place of that of Kaufman."""
        n_theta, residual, jacobian = theta.size, None, None
        if form == "rows":
            residual = np.empty_like(self._data)
            jacobian = np.empty((n_theta, *self._data.shape))
        triangle = np.zeros(triangle_size(n_theta + 1))
        fields = {
            "full": int(full),
            "form": FORMS.get(form, 0),
            "residual": _address(residual),
            "jacobian": _address(jacobian),
            "triangle": address(triangle),
        }
        struct, amplitudes, determined = self.describe(design, n_theta, fields)
        raise_status(LIBRARY.pyspec_project(address(struct)), "free amplitudes")
        return Solved(
            theta,
            design,
            amplitudes,
            determined.astype(bool),
            triangle,
            None if residual is None else flat(residual, self.n_groups),
            None if jacobian is None else flat(jacobian, self.n_groups),
        )

    def follow(self, design: Design, n_theta: int) -> tuple[npt.NDArray[np.bool_], Array, Array]:
        """What the amplitudes of each group follow at the optimum.

        Returns
        -------
        determined : (n_groups, n_basis), which amplitudes the data determine
        inverse : (n_groups, n_basis, n_basis), the inverse of BᵀB; for counts, of their expected
            curvature
        slopes : (n_groups, n_basis, n_theta), Z: by how much amplitudes fall as theta rises

        The last two are 0 for amplitudes that are not determined."""
        n_basis, triangle = len(design.basis), np.zeros(triangle_size(n_theta + 1))
        inverse = np.zeros((self.n_groups, n_basis, n_basis))
        slopes = np.zeros((self.n_groups, n_basis, n_theta))
        fields = {"inverse": address(inverse), "follow": address(slopes), "form": FORMS["fisher"]}
        struct, _, on = self.describe(design, n_theta, fields | {"triangle": address(triangle)})
        raise_status(LIBRARY.pyspec_project(address(struct)), "free amplitudes")
        return on.astype(bool), inverse, slopes

    def describe(
        self, design: Design, n_theta: int, fields: Mapping[str, int]
    ) -> tuple[npt.NDArray[np.void], Array, npt.NDArray[np.uint8]]:
        """A ``pyspec_linear`` with these fields, (1,), and what it writes amplitudes, and which are
        determined, to."""
        n_basis, basis, slopes, rest = len(design.basis), design.basis, design.slopes, design.rest
        amplitudes = np.zeros((self.n_groups, n_basis))
        determined = np.zeros((self.n_groups, n_basis), np.uint8)
        struct = record(
            "pyspec_linear",
            {
                **self._fields,
                "n_basis": n_basis,
                "n_slopes": len(slopes),
                "n_theta": n_theta,
                "basis": address(basis),
                "basis_column": basis.shape[1] * self.n_x,
                "basis_group": _stride(basis),
                "slopes": address(slopes),
                "slopes_column": slopes.shape[1] * self.n_x,
                "slopes_group": _stride(slopes),
                "slope_basis": address(design.slope_basis),
                "n_entries": design.entry_slope.size,
                "entry_slope": address(design.entry_slope),
                "entry_theta": address(design.entry_theta),
                "factors": address(design.factors),
                "factors_group": _stride(design.factors),
                "offset": address(rest) if len(rest) else 0,
                "offset_column": rest.shape[1] * self.n_x,
                "offset_group": _stride(rest),
                "n_offsets": len(rest),
                "amplitudes": address(amplitudes),
                "determined": address(determined),
                **fields,
            },
        )
        size = int(LIBRARY.pyspec_project_size(address(struct)))
        if self.work.nbytes < size:
            self.work = aligned(size)
        struct["work"], struct["work_size"] = address(self.work), size
        return struct, amplitudes, determined


def _stride(values: Array) -> int:
    """Doubles from one group to the next; 0 where all share one."""
    return values.shape[-1] if values.shape[-2] > 1 else 0


def _address(values: npt.NDArray[Any] | None) -> int:
    return 0 if values is None else address(values)
