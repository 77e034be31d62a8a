"""The data of a map and what belongs to them, with the energies last, in blocks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pyspec.errors import DataError, FitError, one_line
from pyspec.io.atomic import plain_path
from pyspec.io.optional import need
from pyspec.model.data.checksum import Data
from pyspec.workflow.maps.store import Place

if TYPE_CHECKING:
    import xarray

    SeedValues: TypeAlias = Mapping[str, float | xarray.DataArray] | xarray.Dataset | None

#: Spectra of a block: a fifth of a second of the quickest fits, beside which reading and writing
#: cost little.
SPECTRA = 5000

#: A block of the map: its number and its range along each leading axis.
Block = tuple[tuple[int, ...], Place]


@dataclass(frozen=True)
class MapData:
    """A map (leading axes, energy) and what differs from spectrum to spectrum.

    `parts` are "data", and where given "sigma", "mask" and "seed NAME": DataArrays that have the
    leading axes first.
    """

    parts: Mapping[str, xarray.DataArray]

    @property
    def data(self) -> xarray.DataArray:
        """The map itself."""
        return self.parts["data"]

    @property
    def dims(self) -> tuple[str, ...]:
        """The leading axes."""
        return tuple(map(str, self.data.dims[:-1]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Their lengths."""
        return tuple(self.data.shape[:-1])

    @property
    def n_spectra(self) -> int:
        """How many there are."""
        return math.prod(self.shape)

    def part(self, place: Place) -> dict[str, Data]:
        """The data of one block, which are read."""
        where = dict(zip(self.dims, place, strict=True))
        return {name: np.asarray(array.isel(where)) for name, array in self.parts.items()}

    def block_shape(self, n_spectra: int) -> tuple[int, ...]:
        """The shape of blocks of about so many spectra, of whole chunks of the data where they
        have some."""
        chunks = self.data.chunks
        first = [min(sizes[0], size) for sizes, size in zip(chunks or (), self.shape, strict=False)]
        shape = first or [1] * len(self.shape)
        for axis in reversed(range(len(shape))):
            room = round(n_spectra / math.prod(shape))
            if room > 1:
                shape[axis] = min(self.shape[axis], shape[axis] * room)
        for axis in range(len(shape)):
            excess = math.prod(shape) // n_spectra
            if excess > 4:  # one large chunk: several blocks read it
                shape[axis] = max(1, shape[axis] // excess)
        return tuple(shape)

    def blocks(self, shape: Sequence[int]) -> list[Block]:
        """All blocks of that shape, shorter ones at the ends."""
        ranges = [
            [slice(begin, min(begin + step, size)) for begin in range(0, size, step)]
            for size, step in zip(self.shape, shape, strict=True)
        ]
        numbers = itertools.product(*(range(len(slices)) for slices in ranges))
        return list(zip(numbers, itertools.product(*ranges), strict=True))

    def named(self, place: Place) -> str:
        """A block as a person finds it in the data."""
        pairs = zip(self.dims, place, strict=True)
        return ", ".join(f"{dim} {extent.start}:{extent.stop}" for dim, extent in pairs)


def map_array(data: xarray.DataArray | str | Path, energy: str | None) -> xarray.DataArray:
    """The map as a DataArray with its energies last, from a DataArray or a path."""
    import xarray

    if isinstance(data, (str, Path)):
        data = _opened(plain_path(data))
    if not isinstance(data, xarray.DataArray):
        raise DataError(
            f"a map is an xarray.DataArray or the path of one, not {type(data).__name__}; write "
            "xarray.DataArray(data, dims=('y', 'x', 'energy'), coords={'energy': energy})"
        )
    axis = energy or ("energy" if "energy" in data.dims else str(data.dims[-1]))
    shown = ", ".join(f"{dim} ({size})" for dim, size in data.sizes.items())
    if energy is None and "energy" in data.coords and "energy" not in data.dims:
        along = data.coords["energy"].dims
        swap = f"; write data = data.swap_dims({along[0]}='energy')" if len(along) == 1 else ""
        raise DataError(
            f"energy is no axis of the map, which has {shown}{swap or '; keep all energies'}, or "
            "name the axis by energy="
        )
    if axis not in data.dims:
        raise DataError(f"the map has no axis {axis!r}; it has {shown}; name one by energy=")
    if data.ndim < 2 or data.size == 0:
        raise DataError(f"a map has leading axes and energies, this one {shown}; see fit_model")
    if axis not in data.coords:
        raise DataError(
            f"the axis {axis!r} of the map has no energies; write data = "
            f"data.assign_coords({axis}=energies), {data.sizes[axis]} numbers; the map has {shown}"
        )
    if data.dtype.kind not in "fiu":
        raise DataError(f"the map holds {data.dtype}; a fit needs real numbers")
    return data.transpose(..., axis)


def _opened(path: Path) -> xarray.DataArray:
    """The one variable of a file or store, read when a block needs it."""
    import xarray

    engine = None
    if path.is_dir():
        need("zarr", "a map in a zarr store", "zarr")
        engine = "zarr"
    try:
        dataset = xarray.open_dataset(path, chunks={}, engine=engine)
    except Exception as error:
        raise DataError(f"{path} cannot be opened as a map: {one_line(error)}") from error
    names = [str(name) for name in dataset.data_vars]
    if len(names) != 1:
        raise DataError(
            f"{path} holds {', '.join(names) or 'no variable'}; hand one over as "
            f"xarray.open_dataset({str(path)!r}, chunks={{}})['NAME']"
        )
    return dataset[names[0]]


def alike(
    array: xarray.DataArray, data: xarray.DataArray, subject: str, along: tuple[Hashable, ...]
) -> xarray.DataArray:
    """A DataArray with the axes `along` of the map, repeated where it lacks one."""
    import xarray

    like = data if data.dims == along else data.isel({data.dims[-1]: 0}, drop=True)
    unknown = [str(dim) for dim in array.dims if dim not in along]
    if unknown:
        raise DataError(
            f"{subject} has the axis {unknown[0]!r}, which the map lacks or {subject} cannot have; "
            f"it may have {', '.join(map(str, along))}"
        )
    try:
        xarray.align(array, like, join="exact", copy=False)
    except ValueError as error:
        raise DataError(
            f"{subject} does not have the axes of the map, {dict(like.sizes)}: {one_line(error)}"
        ) from None
    whole = array.broadcast_like(like).transpose(*along)
    return whole.chunk(dict(zip(along, like.chunks, strict=True))) if like.chunks else whole


def seed_parts(values: SeedValues, data: xarray.DataArray) -> dict[str, xarray.DataArray]:
    """Start values for each spectrum by the name of their part."""
    if values is None:
        return {}
    import xarray

    if not hasattr(values, "keys"):
        raise FitError(
            "seed_values are values by name, numbers or DataArrays along the leading axes: "
            "{'GLP_01_x0': starts}; a Dataset of them will do"
        )
    leading = tuple(data.dims[:-1])
    parts = {}
    for name in map(str, values.keys()):  # a Dataset too
        seed = values[name]
        if not isinstance(seed, xarray.DataArray):
            if np.ndim(seed) != 0:
                raise FitError(
                    f"seed_values of {name} have no axes; give a number, or an xarray.DataArray "
                    f"along {', '.join(map(str, leading))}"
                )
            seed = xarray.DataArray(float(seed))
        parts[f"seed {name}"] = alike(seed, data, f"seed_values of {name}", leading)
    return parts
