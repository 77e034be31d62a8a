"""Parameters and data at which a random model is examined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.executor import TreeExecutor, worst_difference
from pyspec.model import Measurement
from support.random_models.case import Case
from support.random_models.rounding import rounded

Array = npt.NDArray[np.float64]

#: An executor may be this many times less exact than a change of all last bits.
SLACK = 30.0


def perturbed(seed: int, values: Array) -> Array:
    """Near the start, as a fit tries them."""
    rng = np.random.default_rng(seed)
    return np.asarray(values * (1.0 + 0.2 * rng.normal(size=values.size)))


#: Parameters of shapes that cancel, and of what moves them.
_FRAGILE = re.compile(r"DS_\d+_|GLS_\d+_m")


def hostile(case: Case, round_: int, names: Sequence[str], values: Array) -> Array:
    """Outside of domains, huge, tiny, NaN: what a fit tries once it has gone astray.

    Infinite values are left out: what a formula is there (inf - inf, 0 inf) depends on how it
    is written. Under gaussCONV values stay below 1e6 of a usual one: the compiled kernel ends
    at 9 SD, where it is 3e-18 of its peak, which shows where a signal is 1e8 times larger there
    than here, and everything there is NaN. A parameter that moves is not 0: the far tail of an
    instrument's response, the one thing left, is a denormal in NumPy and 0 in C. Shapes that
    cancel when they leave their meaning stay near it: cos(pi / 2) in the far tail of a DS, and
    (1 - m) + m of a GLS for m = 1e7.
    """
    rng = np.random.default_rng((case.seed, round_))
    huge = [1e-6, 1e3] if "gaussCONV" in case.text else [1e8, 1e30]
    moved = {step.target for step in case.steps}
    wild = np.array(values)
    share = rng.choice([0.1, 0.4])
    for index in range(values.size):
        if rng.random() > share:
            continue
        value = float(values[index])
        if _FRAGILE.match(names[index]):
            wild[index] = rng.choice([-value, 3.0 * value, -3.0 * value, np.nan])
            continue
        wild[index] = rng.choice(
            [
                value / 2.0 if names[index] in moved else 0.0,
                -value,
                1e3 * value,
                -1e3 * value,
                1e-6 * value,
                huge[0] * rng.normal(),
                1e-30,
                huge[1] * rng.normal(),
                np.nan,
            ]
        )
    return wild


def conditioned(
    tree: TreeExecutor, theta: Array, fixed: Array | None, expected: Array, difference: float
) -> bool:
    """Whether the model itself says what its value is: False where the last bits of the
    parameters and of each step change it about as much as the difference found, or turn numbers
    into NaN."""
    rng = np.random.default_rng(0)
    parameters = tree.model.parameters
    if fixed is None:
        fixed = np.array([parameters[name].value for name in tree.fixed_names])
    spread = 0.0
    for size in (1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4):
        near = theta * (1.0 + 2.0**-52 * size * rng.choice([-1.0, 1.0], theta.size))
        beside = fixed * (1.0 + 2.0**-52 * size * rng.choice([-1.0, 1.0], fixed.size))
        with rounded(rng):
            other = tree.run(near, beside)
        spread = max(spread, worst_difference(expected, other))
    return not SLACK * spread >= difference


def make_measurement(case: Case, clean: Array) -> Measurement:
    """Data near the clean model, of the type, layout, mask and weights that were drawn."""
    plan = case.measurement
    rng = np.random.default_rng(case.seed + 1)
    finite = np.where(np.isfinite(clean), clean, 0.0)
    scale = float(np.abs(finite).max()) or 1.0
    noisy = finite + 0.05 * scale * rng.normal(size=clean.shape)
    counts = plan["type"] in ("u2", "i4")
    if plan["loss"] == "poisson" or plan["type"] == "u2":
        noisy = np.abs(noisy)
    data: npt.NDArray[Any] = np.clip(noisy, -1e30, 1e30)
    if counts:
        data = np.round(1000.0 * noisy / scale)
    data = data.astype(plan["type"])
    if plan["layout"] == "F":
        data = np.asfortranarray(data)
    elif plan["layout"] == "strided":
        data = np.repeat(data, 2, axis=-1)[..., ::2]
    keep = None
    if plan["mask"]:
        keep = rng.random(clean.shape) > 0.2
        if not counts:
            data = data.copy()
            data[~keep] = rng.choice([np.nan, np.inf, 0.0])
    loss_scale = 1.0 if counts else float(rng.choice([1.0, 1000.0])) / scale
    return Measurement(
        data=data,
        rows=plan["rows"],
        columns=plan["columns"],
        weight=_weight(plan["weight"], clean.shape, rng, 1.0 if counts else scale),
        keep=keep,
        loss=plan["loss"],
        loss_scale=loss_scale if plan["loss"] == "poisson" else 1.0,
    )


def _weight(
    kind: str, shape: tuple[int, ...], rng: np.random.Generator, scale: float
) -> Array | None:
    sizes: dict[str, tuple[int, ...]] = {
        "scalar": (),
        "line": shape[-1:],
        "spectrum": (*shape[:-1], 1),
        "points": shape,
    }
    if kind == "none":
        return None
    return np.asarray(rng.uniform(0.5, 2.0, sizes[kind]) / (0.05 * scale))
