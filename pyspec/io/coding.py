"""What the numbers of a file stand for: missing values, and integers that pack others.

The names are those of the CF conventions (NetCDF), and of NXdata (NeXus).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Coding:
    """How stored numbers are decoded: ``(value + before) * factor + after``, NaN where the value is
    one of `missing`; `names` are what the file calls this."""

    missing: tuple[float, ...] = ()
    factor: float = 1.0
    before: float = 0.0
    after: float = 0.0
    names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, attributes: Mapping[str, object], nexus: Mapping[str, object] | None = None
    ) -> Coding:
        """That of ``_FillValue``, ``missing_value``, ``scale_factor`` and ``add_offset`` among the
        attributes, and of the ``scaling_factor`` and ``offset`` of NXdata."""
        missing: list[float] = []
        names: list[str] = []
        numbers = {"scale_factor": 1.0, "add_offset": 0.0, "scaling_factor": 1.0, "offset": 0.0}
        for name in ("_FillValue", "missing_value"):
            marks = [number for number in _numbers(attributes.get(name)) if not np.isnan(number)]
            missing += marks
            names += [name] if marks else []
        for name, plain in numbers.items():
            source = (nexus or {}) if name in ("scaling_factor", "offset") else attributes
            values = _numbers(source.get(name))
            if len(values) == 1 and values[0] != plain:
                numbers[name] = float(values[0])
                names.append(name)
        factor = numbers["scale_factor"] * numbers["scaling_factor"]
        return cls(tuple(missing), factor, numbers["offset"], numbers["add_offset"], tuple(names))

    def decode(self, array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """The numbers that an array stands for; the array itself where it stands for itself."""
        if array.dtype.kind not in "fiu" or not self.names:
            return array
        is_missing = np.zeros(array.shape, dtype=bool)
        for mark in self.missing:
            if (own := _as_stored(mark, array.dtype)) is not None:
                is_missing |= array == own
        is_packed = (self.factor, self.before, self.after) != (1.0, 0.0, 0.0)
        if not is_packed and not is_missing.any():
            return array
        values = array.astype(np.float64)
        if is_packed:
            values = (values + self.before) * self.factor + self.after
        return np.where(is_missing, np.nan, values)


def _numbers(attribute: object) -> list[float]:
    """The numbers of an attribute, one or several, also where they were written as text."""
    if attribute is None:
        return []
    values = np.ravel(np.asarray(attribute))
    marks: list[float] = values.tolist()
    try:
        return marks if values.dtype.kind in "fiu" else list(map(float, marks))
    except (TypeError, ValueError):
        return []


def _as_stored(mark: float, dtype: np.dtype[Any]) -> Any:
    """A mark in the type of the array, such as 1e20 in single precision; None if an integer type
    cannot hold it."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return dtype.type(mark)
    whole = int(mark) if np.isfinite(mark) and mark == int(mark) else None
    limits = np.iinfo(dtype)
    return None if whole is None or not limits.min <= whole <= limits.max else dtype.type(whole)
