"""Humps of a spectrum: maxima that noise alone does not make."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: A maximum is a separate hump if it rises above its surroundings by this share of the range.
SHARE = 0.05

#: And by 2 √(2 ln n) + BEYOND standard deviations of the smoothed noise: the first part is how far
#: the highest and lowest of n values lie apart. Fewer than one in a hundred of 1,600 spectra of
#: white noise (50 to 2,000 points) has such a hump.
BEYOND = 0.6

#: Divided by the number of points: from few of them the noise is known badly.
FEW = 20.0

#: Data are few counts where so many of the second differences are 0.
TIES = 0.1

#: Noise is alike where so many more signs agree than differ; so many energies are left at least.
SIGNS_ALIKE, COARSEST = 0.15, 16

#: The widest smoothing, as a share of the points.
WIDEST = 0.05

#: Points times the width of a Gaussian in points, above which Fourier transforms are faster.
MANY = 1e5


class Hump(NamedTuple):
    """A maximum: its point, by how much it stands out, and the spectrum at the smoothing that shows
    it above the noise."""

    top: int
    prominence: float
    smooth: Array


def noise_of(values: Array) -> float:
    """The standard deviation of white noise, from second differences of neighbours. The largest
    fifth may be flanks of lines and does not count; for few counts, many of them equal, all
    count."""
    steps = np.sort(np.abs(np.diff(values, 2)))
    inner = steps[: max(1, math.ceil(0.8 * steps.size))]
    if inner.size == 0:
        return 0.0
    if np.count_nonzero(steps == 0.0) > TIES * steps.size:
        return float(np.sqrt(np.mean(steps**2) / 6.0))
    # 0.5586: the mean of those of a unit normal distribution; √6: the norm of (1, -2, 1).
    return float(inner.mean()) / (0.5586 * math.sqrt(6.0))


def resolved(data: Array) -> int:
    """The number of neighbouring energies of a series, (n_time, n_energy), whose noise is alike; 1
    for white noise. A detector that is read finer than it resolves has such noise. The signs of
    second differences in time tell it, at energies where these are small."""
    steps = np.diff(data, 2, axis=0)
    sizes = np.median(np.abs(steps), axis=0)
    signs = np.sign(steps) * (sizes <= np.median(sizes))
    for lag in range(1, max(2, data.shape[1] // COARSEST)):
        products = signs[:, lag:] * signs[:, :-lag]
        if float(products.sum()) < SIGNS_ALIKE * np.count_nonzero(products):
            return lag
    return 1


def smoothed(values: Array, width: float) -> Array:
    """Values (n,) convolved with a Gaussian of this standard deviation in points, mirrored at both
    ends. Many values with wide Gaussians use a Fourier transform."""
    if values.size * width < MANY:
        from scipy.ndimage import gaussian_filter1d  # heavy: imported by the first guess

        return np.asarray(gaussian_filter1d(values, width))
    from scipy.fft import dct, idct

    place = float(values[0])  # so that equal values stay equal
    waves = dct(values - place) * np.exp(
        -((np.pi * width * np.arange(values.size) / values.size) ** 2) / 2
    )
    return place + np.asarray(idct(waves))


def humps(values: Array) -> list[Hump]:
    """The humps of a spectrum (n,), the most prominent first. Ends of the spectrum, which may be
    background, come last.

    Each hump is found at the least smoothing that shows it: a narrow line keeps its place and
    width, and a broad one rises above more noise.
    """
    from scipy.signal import find_peaks, peak_widths  # heavy: imported by the first guess

    noise, result, last = noise_of(values), list[Hump](), values.size - 1
    share, width = SHARE * float(np.ptp(values)), 1.0
    scale = 2.0 * math.sqrt(2.0 * math.log(max(values.size, 2))) + BEYOND + FEW / values.size
    while width <= max(1.0, WIDEST * values.size):
        smooth = smoothed(values, width)
        spread = noise / math.sqrt(2.0 * math.sqrt(math.pi) * width)
        least = max(min(share, SHARE * float(np.ptp(smooth))), scale * spread)
        least = max(least, np.finfo(float).tiny)
        tops, facts = find_peaks(smooth, prominence=least)
        left, right = peak_widths(smooth, tops, rel_height=0.5)[2:]
        seen = list(zip(tops, facts["prominences"], left, right, strict=True))
        for end, next_to in ((0, 1), (last, last - 1)):
            out = float(smooth[end] - smooth.min())
            if smooth[end] > smooth[next_to] and out >= least:
                seen.append((end, out, end, end))
        for top, out, low, high in seen:
            if not any(low - 1 <= hump.top <= high + 1 for hump in result):
                result.append(Hump(int(top), float(out), smooth))
        width *= 2.0
    return sorted(result, key=lambda hump: (0 < hump.top < last, hump.prominence), reverse=True)
