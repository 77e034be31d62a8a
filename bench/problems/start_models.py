"""Ten models for fits from random starts, each with a reference of its own.

The reference of a model is a plain NumPy function of its free parameters. It shares no code with
pyspec and takes complex numbers, so that ``imag(f(p + ih)) / h`` is a derivative without
cancellation (J. N. Lyness, C. B. Moler, SIAM J. Numer. Anal. 4 (1967) 202). It tells what a fit
that says `success` has really reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import wofz

from pyspec.model import Measurement, Model, load_dynamics, load_model

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]

X = np.linspace(80.0, 90.0, 121)
T = np.concatenate([np.linspace(-2.0, 2.0, 21), np.geomspace(2.3, 60.0, 19)])
LN2 = float(np.log(2.0))

OFFSET = "m:\n  Offset: {y0: [10, True]}\n"
GAUSS = "  Gauss: {A: [1, True], x0: [84, True], SD: [1, True]}\n"
GLP = "  GLP: {A: [1, True], x0: [84, True], F: [1, True], m: [0.3, True]}\n"


@dataclass(frozen=True)
class StartModel:
    """One model, its data and where its fits begin.

    Parameters
    ----------
    name : what is fitted
    text : the model file, without bounds; the model is "m"
    truth : value of each free parameter, in the order of the reference
    ranges : (low, high) of random starts, in the same order; with bounds, these are the bounds
    reference : the model, from the free parameters in that order
    noise : standard deviation of the data; 0: counts
    moved : parameter → dynamics model of `text`
    """

    name: str
    text: str
    truth: Mapping[str, float]
    ranges: Mapping[str, tuple[float, float]]
    reference: Callable[..., Complex]
    noise: float
    moved: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters in the order of the reference."""
        return tuple(self.truth)

    def model(self, start: Mapping[str, float], bounded: bool) -> Model:
        """The model at a start; `bounded` makes the ranges of the starts its bounds."""
        model = load_model(self.text, "m")
        for target, law in self.moved.items():
            model.add_dynamics(target, load_dynamics(self.text, law, target))
        model.set_axes(energy=X, time=T if self.moved else None)
        for name, value in start.items():
            par = model.parameters[name]
            par.value = value
            if bounded:
                par.min, par.max = self.ranges[name]
        return model

    def measurement(self, seed: int) -> Measurement:
        """Data of the truth."""
        rng = np.random.default_rng([seed, len(self.name)])
        clean = np.real(self.at(self.truth))
        if self.noise == 0.0:
            return Measurement(data=rng.poisson(clean).astype(np.float64), loss="poisson")
        return Measurement(data=clean + self.noise * rng.standard_normal(clean.shape))

    def at(self, values: Mapping[str, float]) -> Complex:
        """The reference at these values."""
        return self.reference(*(np.complex128(values[name]) for name in self.names))

    def slopes(self, values: Mapping[str, float]) -> Array:
        """(n_points, n_free) derivatives of the model, by complex steps."""
        columns = []
        for name in self.names:
            at = {k: np.complex128(v) for k, v in values.items()}
            at[name] += 1e-30j
            model = self.reference(*(at[k] for k in self.names))
            columns.append(np.imag(model).ravel() / 1e-30)
        return np.stack(columns, axis=1)


# ---- shapes, of complex parameters ----------------------------------------------------------


def gauss(A: Complex, x0: Complex, SD: Complex) -> Complex:
    return A * np.exp(-(((X - x0) / SD) ** 2) / 2)


def lorentz(A: Complex, x0: Complex, W: Complex) -> Complex:
    return A / (1 + 4 * ((X - x0) / W) ** 2)


def glp(A: Complex, x0: Complex, F: Complex, m: Complex) -> Complex:
    u2 = ((X - x0) / F) ** 2
    return A * np.exp(-4 * LN2 * (1 - m) * u2) / (1 + 4 * m * u2)


def faddeeva(x: Complex, y: Complex) -> Complex:
    """Re w(x + iy) at the real parts; the imaginary part has the derivatives, w' = 2i/√π - 2zw."""
    z = np.real(x) + 1j * np.real(y)
    w = wofz(z)
    slope = 2j / np.sqrt(np.pi) - 2 * z * w
    return w.real + 1j * (slope.real * np.imag(x) - slope.imag * np.imag(y))


def voigt(A: Complex, x0: Complex, SD: Complex, W: Complex) -> Complex:
    root = SD * np.sqrt(2.0)
    return A * faddeeva((X - x0) / root, W / 2 / root) / faddeeva(0 * root, W / 2 / root)


def doniach(A: Complex, x0: Complex, F: Complex, alpha: Complex) -> Complex:
    d = X - x0
    phase = np.pi * alpha / 2 + (1 - alpha) * np.arctan(d / F)
    return A * np.cos(phase) / (F**2 + d**2) ** ((1 - alpha) / 2)


def shirley(p: Complex, below: Complex) -> Complex:
    return p * np.cumsum(below[..., ::-1], axis=-1)[..., ::-1]


def decay(A: Complex, tau: Complex, t0: float) -> Complex:
    return np.where(t0 <= T, A * np.exp(-np.where(t0 <= T, T - t0, 0.0) / tau), 0)


def response(A: Complex, tau: Complex, t0: Complex, SD: Complex) -> Complex:
    """An exponential decay seen through a Gaussian of that width."""
    u = T - t0
    z = (SD / tau - u / SD) / np.sqrt(2.0)
    # erfc(z) = exp(-z^2) w(iz), and the exponents add up to that of a Gaussian where z > 0.
    right = np.exp(-((u / SD) ** 2) / 2) * wofz(1j * np.where(z.real > 0, z, 1.0))
    left = 2 * np.exp(SD**2 / (2 * tau**2) - np.where(z.real > 0, 0.0, u) / tau)
    left = left - np.exp(-((u / SD) ** 2) / 2) * wofz(-1j * np.where(z.real > 0, -1.0, z))
    return A / 2 * np.where(z.real > 0, right, left)


# ---- the models ---------------------------------------------------------------------------------


def _one(
    name: str,
    text: str,
    parameters: Mapping[str, tuple[float, float, float]],
    reference: Callable[..., Complex],
    noise: float = 2.0,
    moved: Mapping[str, str] | None = None,
) -> StartModel:
    """`parameters`: truth, low, high of each free parameter."""
    return StartModel(
        name,
        text,
        {key: value[0] for key, value in parameters.items()},
        {key: value[1:] for key, value in parameters.items()},
        reference,
        noise,
        moved or {},
    )


def start_models() -> list[StartModel]:
    """The ten models."""
    return [
        _one(
            "one Gauss on an offset",
            OFFSET + GAUSS,
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                "Gauss_01_A": (200.0, 0.0, 1000.0),
                "Gauss_01_x0": (84.0, 80.0, 90.0),
                "Gauss_01_SD": (0.5, 0.05, 5.0),
            },
            lambda y0, A, x0, SD: y0 + gauss(A, x0, SD),
        ),
        _one(
            "two Gauss, one narrow",
            OFFSET + GAUSS + GAUSS,
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                "Gauss_01_A": (200.0, 0.0, 1000.0),
                "Gauss_01_x0": (84.0, 80.0, 90.0),
                "Gauss_01_SD": (0.4, 0.05, 5.0),
                "Gauss_02_A": (100.0, 0.0, 1000.0),
                "Gauss_02_x0": (86.5, 80.0, 90.0),
                "Gauss_02_SD": (1.2, 0.05, 5.0),
            },
            lambda y0, A, x0, SD, B, x1, SE: y0 + gauss(A, x0, SD) + gauss(B, x1, SE),
        ),
        _one(
            "three GLP, two without Lorentzian part",
            OFFSET + 3 * GLP,
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                **{
                    f"GLP_0{k}_{key}": value
                    for k, (A, x0, F, m) in enumerate(
                        [(200.0, 83.5, 1.2, 0.5), (150.0, 85.2, 0.9, 0.0), (90.0, 87.0, 1.5, 0.0)],
                        1,
                    )
                    for key, value in {
                        "A": (A, 0.0, 1000.0),
                        "x0": (x0, 81.0, 89.0),
                        "F": (F, 0.1, 5.0),
                        "m": (m, 0.0, 1.0),
                    }.items()
                },
            },
            lambda y0, *p: y0 + glp(*p[:4]) + glp(*p[4:8]) + glp(*p[8:]),
        ),
        _one(
            "GLP on a Shirley background",
            "m:\n  Offset: {y0: [10, True]}\n  Shirley: {pShirley: [0.001, True]}\n"
            "  GLP: {A: [1, True], x0: [84, True], F: [1, True], m: [0.3, True]}\n",
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                "Shirley_pShirley": (0.005, 0.0, 0.1),
                "GLP_01_A": (200.0, 0.0, 1000.0),
                "GLP_01_x0": (85.0, 80.0, 90.0),
                "GLP_01_F": (1.2, 0.1, 5.0),
                "GLP_01_m": (0.3, 0.0, 1.0),
            },
            lambda y0, p, *q: y0 + shirley(p, glp(*q)) + glp(*q),
        ),
        _one(
            "tied doublet of Lorentzians",
            "m:\n  LinBack:\n"
            "    {m: [0, True], b: [10, True], xStart: [80, False], xStop: [90, False]}\n"
            "  Lorentz: {A: [1, True], x0: [84, True], W: [1, True]}\n"
            '  Lorentz: {A: ["0.75 * Lorentz_01_A"], x0: ["Lorentz_01_x0 + 3.67"],'
            ' W: ["Lorentz_01_W"]}\n',
            {
                "LinBack_m": (1.0, -10.0, 10.0),
                "LinBack_b": (20.0, 0.0, 100.0),
                "Lorentz_01_A": (200.0, 0.0, 1000.0),
                "Lorentz_01_x0": (83.7, 80.0, 90.0),
                "Lorentz_01_W": (0.7, 0.05, 5.0),
            },
            lambda m, b, A, x0, W: (
                b + m * (X - 80.0) + lorentz(A, x0, W) + lorentz(0.75 * A, x0 + 3.67, W)
            ),
        ),
        _one(
            "Voigt",
            "m:\n  Offset: {y0: [10, True]}\n"
            "  Voigt: {A: [1, True], x0: [84, True], SD: [1, True], W: [1, True]}\n",
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                "Voigt_01_A": (200.0, 0.0, 1000.0),
                "Voigt_01_x0": (85.0, 80.0, 90.0),
                "Voigt_01_SD": (0.4, 0.02, 5.0),
                "Voigt_01_W": (0.6, 0.0, 5.0),
            },
            lambda y0, *p: y0 + voigt(*p),
        ),
        _one(
            "Doniach-Sunjic",
            "m:\n  Offset: {y0: [10, True]}\n"
            "  DS: {A: [1, True], x0: [84, True], F: [1, True], alpha: [0.1, True]}\n",
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                "DS_01_A": (100.0, 0.0, 1000.0),
                "DS_01_x0": (85.0, 80.0, 90.0),
                "DS_01_F": (0.5, 0.05, 5.0),
                "DS_01_alpha": (0.12, 0.0, 0.6),
            },
            lambda y0, *p: y0 + doniach(*p),
        ),
        _one(
            "two Gauss, counts",
            OFFSET + GAUSS + GAUSS,
            {
                "Offset_y0": (5.0, 0.1, 50.0),
                "Gauss_01_A": (60.0, 0.0, 500.0),
                "Gauss_01_x0": (83.5, 81.0, 89.0),
                "Gauss_01_SD": (0.5, 0.1, 4.0),
                "Gauss_02_A": (30.0, 0.0, 500.0),
                "Gauss_02_x0": (86.5, 81.0, 89.0),
                "Gauss_02_SD": (0.8, 0.1, 4.0),
            },
            lambda y0, A, x0, SD, B, x1, SE: y0 + gauss(A, x0, SD) + gauss(B, x1, SE),
            noise=0.0,
        ),
        _one(
            "height that decays",
            OFFSET + GAUSS + "move:\n  expFun: {A: [1, True], tau: [1, True], t0: [-0.1, False]}\n",
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                "Gauss_01_A": (50.0, 0.0, 500.0),
                "Gauss_01_x0": (84.0, 81.0, 89.0),
                "Gauss_01_SD": (0.5, 0.1, 4.0),
                "Gauss_01_A_expFun_01_A": (40.0, -200.0, 200.0),
                "Gauss_01_A_expFun_01_tau": (5.0, 0.2, 200.0),
            },
            lambda y0, A, x0, SD, B, tau: y0 + gauss((A + decay(B, tau, -0.1))[:, None], x0, SD),
            noise=8.0,
            moved={"Gauss_01_A": "move"},
        ),
        _one(
            "position that relaxes, seen through an instrument",
            OFFSET + GAUSS + "move:\n  gaussIRF: {SD: [0.5, True]}\n"
            "  expFun: {A: [1, True], tau: [1, True], t0: [0, True]}\n",
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                "Gauss_01_A": (100.0, 0.0, 500.0),
                "Gauss_01_x0": (84.0, 82.0, 88.0),
                "Gauss_01_SD": (0.5, 0.1, 4.0),
                "Gauss_01_x0_gaussIRF_SD": (0.4, 0.05, 2.0),
                "Gauss_01_x0_expFun_01_A": (0.8, -3.0, 3.0),
                "Gauss_01_x0_expFun_01_tau": (6.0, 0.2, 100.0),
                "Gauss_01_x0_expFun_01_t0": (0.1, -1.5, 1.5),
            },
            lambda y0, A, x0, SD, irf, B, tau, t0: (
                y0 + gauss(A, (x0 + response(B, tau, t0, irf))[:, None], SD)
            ),
            noise=8.0,
            moved={"Gauss_01_x0": "move"},
        ),
    ]


def well_posed() -> list[StartModel]:
    """Models whose data determine every free parameter, each in a way that a rule may misjudge."""
    line = {
        "Offset_y0": (20.0, 0.0, 100.0),
        "GLP_01_A": (200.0, 0.0, 1000.0),
        "GLP_01_x0": (85.0, 80.0, 90.0),
        "GLP_01_F": (1.2, 0.1, 5.0),
    }
    seen = {model.name: model for model in start_models()}
    return [
        _one(
            "m held at 0",
            OFFSET + GLP,
            {**line, "GLP_01_m": (0.0, 0.0, 1.0)},
            lambda y0, *p: y0 + glp(*p),
        ),
        _one(
            "m = 0.5 +- 0.6",
            OFFSET + GLP,
            {**line, "GLP_01_m": (0.5, 0.0, 1.0)},
            lambda y0, *p: y0 + glp(*p),
            noise=40.0,
        ),
        _one(
            "zero height at a fixed place",
            OFFSET + GAUSS + "  Gauss: {A: [1, True], x0: [87, False], SD: [0.5, False]}\n",
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                "Gauss_01_A": (200.0, 0.0, 1000.0),
                "Gauss_01_x0": (84.0, 80.0, 90.0),
                "Gauss_01_SD": (0.5, 0.05, 5.0),
                "Gauss_02_A": (0.0, 0.0, 1000.0),
            },
            lambda y0, A, x0, SD, B: (
                y0 + gauss(A, x0, SD) + gauss(B, np.complex128(87.0), np.complex128(0.5))
            ),
        ),
        seen["tied doublet of Lorentzians"],
        seen["two Gauss, counts"],
        seen["Voigt"],
        seen["height that decays"],
        _one(
            "onset between samples",
            OFFSET + GAUSS + "move:\n  expFun: {A: [1, True], tau: [1, True], t0: [0, True]}\n",
            {
                "Offset_y0": (20.0, 0.0, 100.0),
                "Gauss_01_A": (50.0, 0.0, 500.0),
                "Gauss_01_x0": (84.0, 81.0, 89.0),
                "Gauss_01_SD": (0.5, 0.1, 4.0),
                "Gauss_01_A_expFun_01_A": (40.0, -200.0, 200.0),
                "Gauss_01_A_expFun_01_tau": (5.0, 0.2, 200.0),
                "Gauss_01_A_expFun_01_t0": (-0.1, -1.0, 1.0),
            },
            lambda y0, A, x0, SD, B, tau, t0: (
                y0 + gauss((A + decay(B, tau, t0.real))[:, None], x0, SD)
            ),
            noise=8.0,
            moved={"Gauss_01_A": "move"},
        ),
        seen["position that relaxes, seen through an instrument"],
        seen["GLP on a Shirley background"],
    ]
