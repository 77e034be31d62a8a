"""Which part of the data a picture shows: what `data_slice` names."""

from __future__ import annotations

from pyspec.plot.config import PlotConfig
from pyspec.plot.style import PlotError

#: A half-open range of indices, or None.
Range = tuple[int, int] | None


def cut_of(config: PlotConfig, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """The part of data of this shape that `data_slice` names; all of them without.

    Raises :class:`PlotError` where it names none, or does not have one range for each axis.
    """
    ranges = config.data_slice
    if ranges is None:
        return tuple(slice(0, n) for n in shape)
    if len(ranges) != len(shape):
        forms = {1: "[[first, end]]", 2: "[[row, end], [column, end]]"}
        wanted = forms.get(len(shape), "it to pictures of a spectrum or a series alone")
        raise PlotError(f"data_slice is {ranges!r}; give {wanted}")
    limits = [slice(int(r[0]), int(r[1])).indices(n) for r, n in zip(ranges, shape, strict=True)]
    if any(end <= begin for begin, end, _ in limits):
        raise PlotError(f"data_slice {ranges!r} is empty; the data have {shape}")
    return tuple(slice(begin, end) for begin, end, _ in limits)


def clipped(ends: tuple[int, int], cut: slice) -> tuple[int, int]:
    """The part of a range that lies in `cut`, counted from its begin; empty where none does."""
    begin, end = (min(max(at, cut.start), cut.stop) - cut.start for at in ends)
    return begin, end


def within(ends: Range, cut: slice) -> Range:
    """The same; None of None, and where none lies in `cut`."""
    begin, end = (0, 0) if ends is None else clipped(ends, cut)
    return (begin, end) if end > begin else None
