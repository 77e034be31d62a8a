"""The 27 nonlinear problems of NIST's Statistical Reference Datasets as models of pyspec.

A problem keeps NIST's names: parameters b1, b2 ..., predictor x. It is modelled in one of four
ways, all but the last with exact derivatives:

- "library": functions of the table, tied to b1, b2 ... by expressions, where there are some that
  make up the formula;
- "expression": NIST's formula as an expression. x is a quantity that moves along the rows, so the
  Offset that follows the formula is the curve; repeated measurements at one x are columns;
- "formula": NIST's formula as a function of one's own, in the section ``functions`` of a model
  file; its axis is x, and repeated measurements are rows;
- "external": NIST's formula as a registered Python function.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec.formula import parse
from pyspec.functions.external import register_function
from pyspec.model import Measurement, Model, load_dynamics, load_model, load_time_model

Array = npt.NDArray[np.float64]

ROUTES = ("library", "expression", "formula", "external")


@dataclass(frozen=True)
class StrdFile:
    """What a file of NIST holds. `predictors` is (n_points, n_predictors); `starts` is
    (2, n_parameters)."""

    name: str
    starts: Array
    certified: Array
    errors: Array
    chisqr: float
    y: Array
    predictors: Array


def read_strd(path: Path) -> StrdFile:
    """Reads a file of NIST's nonlinear problems. Raises ValueError where it is not one."""
    text = path.read_text(encoding="ascii")
    rows = re.findall(r"^\s*b\d+ =" + 4 * r"\s+(\S+)" + r"\s*$", text, re.MULTILINE)
    chisqr = re.search(r"Residual Sum of Squares:\s+(\S+)", text)
    place = re.search(r"Data\s+\(lines (\d+) to +(\d+)\)", text)
    number = re.search(r"Number of Observations:\s+(\d+)", text)
    if not rows or chisqr is None or place is None or number is None:
        raise ValueError(f"{path} is no file of NIST's nonlinear problems")
    table = np.array(rows, dtype=np.float64)
    begin, end = int(place[1]) - 1, int(place[2])
    points = np.array([line.split() for line in text.splitlines()[begin:end]], dtype=np.float64)
    if len(points) != int(number[1]):
        raise ValueError(f"{path} announces {number[1]} points, but has {len(points)}")
    return StrdFile(
        path.stem,
        table[:, :2].T.copy(),
        table[:, 2],
        table[:, 3],
        float(chisqr[1]),
        points[:, 0],
        points[:, 1:],
    )


@dataclass(frozen=True)
class Problem:
    """NIST's formula, and the components that make it up if there are some.

    `axis` is what `components` run over: "time", "energy", or "x" for the moving quantity. `alike`
    are the numbers of the parameters of terms that may change places, `mirrored` those of
    parameters that may change their signs together.
    """

    name: str
    formula: str
    components: str = ""
    axis: str = "x"
    alike: tuple[tuple[int, ...], ...] = ()
    mirrored: tuple[int, ...] = ()
    log_response: bool = False

    @property
    def route(self) -> str:
        """The most natural way to model it."""
        return "library" if self.components else "expression"

    @property
    def routes(self) -> tuple[str, ...]:
        """The ways to model it."""
        return ROUTES if self.components else ROUTES[1:]

    def build(
        self, strd: StrdFile, start: Array | None, route: str = ""
    ) -> tuple[Model, Measurement]:
        """The model at a start (the certified values without one), and its data."""
        values = strd.certified if start is None else start
        y = np.log(strd.y) if self.log_response else strd.y
        route = route or self.route
        if route not in self.routes:
            raise ValueError(f"{self.name} has no route {route!r}; it has {self.routes}")
        if route == "external":
            return self._external(strd, values, y)
        if route == "library" and self.axis != "x":
            return self._over_axis(strd, values, y)
        if route == "formula":
            return self._by_formula(strd, values, y)
        components = self.components
        if route == "expression":
            components = f'  Offset: {{y0: ["{self.formula}"]}}\n'
        return self._moving(strd, values, y, components)

    def _external(self, strd: StrdFile, values: Array, y: Array) -> tuple[Model, Measurement]:
        """The axis counts the points; the function knows the predictors."""
        names = [f"b{k}" for k in range(1, values.size + 1)]
        predictors = dict(zip(predictor_names(strd), strd.predictors.T, strict=True))
        formula = parse(self.formula)

        def curve(axis: Array, *params: float) -> Array:
            known = {**predictors, **dict(zip(names, params, strict=True))}
            return np.broadcast_to(formula.evaluate(known), axis.shape)

        register_function(self.name, curve, ", ".join(names), formula=self.formula)
        tied = ", ".join(f'{name}: ["{name}"]' for name in names)
        text = f"parameters:\n{_quantities(values)}curve:\n  {self.name}: {{{tied}}}\n"
        model = load_model(text, "curve")
        model.set_axes(energy=np.arange(y.size))
        return model, Measurement(data=y)

    def _by_formula(self, strd: StrdFile, values: Array, y: Array) -> tuple[Model, Measurement]:
        """The axis is the predictor. Two predictors are fixed parameters that move along rows."""
        names = [f"b{k}" for k in range(1, values.size + 1)]
        predictors = predictor_names(strd)
        moved = predictors if len(predictors) > 1 else []
        head = f"functions: {{Curve: {{formula: '{self.formula}'}}}}\n"
        tied = ", ".join(f'{name}: ["{name}"]' for name in [*names, *moved])
        if moved:
            return self._moving(strd, values, y, f"  Curve: {{{tied}}}\n", head)
        text = f"{head}parameters:\n{_quantities(values)}curve:\n  Curve: {{{tied}}}\n"
        places, data, keep = _in_rows(strd.predictors, y)
        model = load_model(text, "curve")
        if data.shape[1] == 1:
            model.set_axes(energy=places[:, 0])
            return model, Measurement(data=data[:, 0])
        model.set_axes(energy=places[:, 0], time=np.arange(data.shape[1]))
        return model, Measurement(data=data.T, keep=None if keep.all() else keep.T)

    def _over_axis(self, strd: StrdFile, values: Array, y: Array) -> tuple[Model, Measurement]:
        text = f"parameters:\n{_quantities(values)}curve:\n{self.components}"
        order = np.argsort(strd.predictors[:, 0])
        x = strd.predictors[order, 0]
        if self.axis == "time":
            model = load_time_model(text, "curve")
            model.set_axes(time=x)
        else:
            model = load_model(text, "curve")
            model.set_axes(energy=x)
        return model, Measurement(data=y[order])

    def _moving(
        self, strd: StrdFile, values: Array, y: Array, components: str, head: str = ""
    ) -> tuple[Model, Measurement]:
        """Rows are predictors, columns repeated measurements."""
        places, data, keep = _in_rows(strd.predictors, y)
        names = predictor_names(strd)
        fixed = "".join(
            f"  {name}: [{first!r}, False]\n"
            for name, first in zip(names, places[0].tolist(), strict=True)
        )
        text = f"{head}parameters:\n{fixed}{_quantities(values)}curve:\n{components}"
        model = load_model(text, "curve")
        time = places[:, 0] if len(names) == 1 else np.arange(len(places), dtype=np.float64)
        for name, column in zip(names, places.T, strict=True):
            model.add_dynamics(name, load_dynamics(_law(time, column), "motion", name))
        model.set_axes(energy=np.arange(data.shape[1]), time=time)
        return model, Measurement(data=data, keep=None if keep.all() else keep)


def predictor_names(strd: StrdFile) -> list[str]:
    """x, or x1, x2 ... as NIST writes them."""
    count = strd.predictors.shape[1]
    return ["x"] if count == 1 else [f"x{k}" for k in range(1, count + 1)]


def _quantities(values: Array) -> str:
    return "".join(f"  b{k}: [{value!r}, True]\n" for k, value in enumerate(values.tolist(), 1))


def _in_rows(predictors: Array, y: Array) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Points that differ in a predictor, rising; the data at each, in a row; which there are."""
    places, row_of = np.unique(predictors, axis=0, return_inverse=True)
    counts = np.bincount(row_of.ravel())
    data = np.zeros((len(places), counts.max()))
    keep = np.arange(counts.max()) < counts[:, np.newaxis]
    filled: Counter[int] = Counter()
    for row, value in zip(row_of.ravel().tolist(), y.tolist(), strict=True):
        data[row, filled[row]] = value
        filled[row] += 1
    return places, data, keep


def _law(time: Array, values: Array) -> str:
    """A motion that takes a quantity from the first of `values` to each of them."""
    if np.array_equal(time, values):
        first = float(time[0])
        return f"motion:\n  linFun: {{m: [1, False], t0: [{first!r}, False]}}\n"
    laws = (
        f"  stepFun: {{A: [{rise!r}, False], t0: [{at!r}, False]}}\n"
        for at, rise in zip(time[1:].tolist(), np.diff(values).tolist(), strict=True)
        if rise
    )
    return "motion:\n" + "".join(laws)


def _decays(*pairs: tuple[str, str]) -> str:
    """Exponentials exp(-rate x) with their factors, from x = 0 on."""
    return "".join(
        f'  expFun: {{A: ["{factor}"], tau: ["1 / {rate}"], t0: [0, False]}}\n'
        for factor, rate in pairs
    )


_LEVEL = '  stepFun: {A: ["b1"], t0: [0, False]}\n'

#: Seen at energy 0: the centres move past it.
_TWO_LINES = """\
  Offset: {y0: ["b1 * exp(-b2 * x)"]}
  Gauss: {A: ["b3"], x0: ["b4 - x"], SD: ["b5 / sqrt(2)"]}
  Gauss: {A: ["b6"], x0: ["b7 - x"], SD: ["b8 / sqrt(2)"]}
"""

_WAVES = _LEVEL + "".join(
    f'  sinFun: {{A: ["{A}"], f: ["{f}"], phi: [{phi!r}, False], t0: [0, False]}}\n'
    for A, f, phi in [
        ("b2", "1 / 12", np.pi / 2),
        ("b3", "1 / 12", 0.0),
        ("b5", "1 / b4", np.pi / 2),
        ("b6", "1 / b4", 0.0),
        ("b8", "1 / b7", np.pi / 2),
        ("b9", "1 / b7", 0.0),
    ]
)

_PAIRS = ((1, 2), (3, 4), (5, 6))
_TRIPLES = ((3, 4, 5), (6, 7, 8))
_THREE_DECAYS = _decays(("b1", "b2"), ("b3", "b4"), ("b5", "b6"))
_LANCZOS = "b1*exp(-b2*x) + b3*exp(-b4*x) + b5*exp(-b6*x)"
_GAUSS = "b1*exp(-b2*x) + b3*exp(-(x-b4)**2 / b5**2) + b6*exp(-(x-b7)**2 / b8**2)"
_CUBIC = "(b1 + b2*x + b3*x**2 + b4*x**3) / (1 + b5*x + b6*x**2 + b7*x**3)"
_ENSO = "b1 + " + " + ".join(
    f"b{a}*cos(2*pi*x/{period}) + b{b}*sin(2*pi*x/{period})"
    for a, b, period in [(2, 3, "12"), (5, 6, "b4"), (8, 9, "b7")]
)

PROBLEMS: dict[str, Problem] = {
    problem.name: problem
    for problem in (
        Problem("Misra1a", "b1*(1 - exp(-b2*x))", _LEVEL + _decays(("-b1", "b2")), "time"),
        Problem("Chwirut2", "exp(-b1*x) / (b2 + b3*x)"),
        Problem("Chwirut1", "exp(-b1*x) / (b2 + b3*x)"),
        Problem("Lanczos3", _LANCZOS, _THREE_DECAYS, "time", alike=_PAIRS),
        Problem("Gauss1", _GAUSS, _TWO_LINES, alike=_TRIPLES),
        Problem("Gauss2", _GAUSS, _TWO_LINES, alike=_TRIPLES),
        Problem("DanWood", "b1*x**b2"),
        Problem("Misra1b", "b1*(1 - (1 + b2*x/2)**(-2))"),
        Problem("Kirby2", "(b1 + b2*x + b3*x**2) / (1 + b4*x + b5*x**2)"),
        Problem("Hahn1", _CUBIC),
        Problem("Nelson", "b1 - b2*x1*exp(-b3*x2)", log_response=True),
        Problem(
            "MGH17",
            "b1 + b2*exp(-x*b4) + b3*exp(-x*b5)",
            _LEVEL + _decays(("b2", "b4"), ("b3", "b5")),
            "time",
            alike=((2, 4), (3, 5)),
        ),
        Problem("Lanczos1", _LANCZOS, _THREE_DECAYS, "time", alike=_PAIRS),
        Problem("Lanczos2", _LANCZOS, _THREE_DECAYS, "time", alike=_PAIRS),
        Problem("Gauss3", _GAUSS, _TWO_LINES, alike=_TRIPLES),
        Problem("Misra1c", "b1*(1 - (1 + 2*b2*x)**(-0.5))"),
        Problem("Misra1d", "b1*b2*x*(1 + b2*x)**(-1)"),
        Problem("Roszman1", "b1 - b2*x - arctan(b3 / (x - b4)) / pi"),
        Problem("ENSO", _ENSO, _WAVES, "time", alike=((4, 5, 6), (7, 8, 9))),
        Problem("MGH09", "b1*(x**2 + x*b2) / (x**2 + x*b3 + b4)"),
        Problem("Thurber", _CUBIC),
        Problem("BoxBOD", "b1*(1 - exp(-b2*x))", _LEVEL + _decays(("-b1", "b2")), "time"),
        Problem("Rat42", "b1 / (1 + exp(b2 - b3*x))"),
        Problem("MGH10", "b1*exp(b2 / (x + b3))"),
        Problem(
            "Eckerle4",
            "b1/b2*exp(-0.5*((x - b3)/b2)**2)",
            '  Gauss: {A: ["b1 / b2"], x0: ["b3"], SD: ["b2"]}\n',
            "energy",
            mirrored=(1, 2),
        ),
        Problem("Rat43", "b1 / (1 + exp(b2 - b3*x))**(1/b4)"),
        Problem("Bennett5", "b1*(b2 + x)**(-1/b3)"),
    )
}
