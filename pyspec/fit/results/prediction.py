"""What a fit says of other axes than those of its data, with its uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.executor import Executor, make_executor
from pyspec.fit.ending import Ending
from pyspec.fit.problem import FitProblem
from pyspec.fit.solve.covariance import jacobian
from pyspec.model import Model, Par
from pyspec.model.sampling import Term, terms
from pyspec.model.sizes import Sizes

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prediction:
    """A fitted model on axes of one's choice.

    Attributes
    ----------
    energy, time : the axes; None where the model has none
    value : (n_time, n_energy), (n_energy,) or, of a trace, (n_time,)
    stderr : one standard error of each value by the covariance of the fit, sqrt(diag(J C Jᵀ));
        None where the fit has no standard errors
    """

    energy: Array | None
    time: Array | None
    value: Array
    stderr: Array | None

    @property
    def band(self) -> tuple[Array, Array]:
        """value - stderr and value + stderr. Raises :class:`FitError` without standard errors."""
        if self.stderr is None:
            raise FitError(
                "the fit has no standard errors, so its prediction has no band; see the message "
                "and the findings of the result"
            )
        return self.value - self.stderr, self.value + self.stderr

    def __repr__(self) -> str:
        axes = [
            f"{name} {axis.size} ({axis.min():g} to {axis.max():g})"
            for name, axis in (("time", self.time), ("energy", self.energy))
            if axis is not None and axis.size
        ]
        errors = "without" if self.stderr is None else "with"
        return f"<Prediction: {' × '.join(axes) or 'no points'}, {errors} standard errors>"


def predict(
    problem: FitProblem,
    ending: Ending,
    energy: npt.ArrayLike | None,
    time: npt.ArrayLike | None,
) -> Prediction:
    """The prediction of a fit; axes that are None are those of the data.

    Parameters without a standard error are taken to be known. Raises :class:`DataError` as
    :func:`pyspec.model.sampling.terms` does.
    """
    names = problem.names
    with_error = [names[k] for k in ending.places.tolist()]
    value: Array | None = None
    slopes: dict[str, Array] = {}
    parts = terms(problem.model, energy, time)
    for term in parts:
        own, columns = _term(term, problem, dict(zip(names, ending.theta, strict=True)), with_error)
        value = own if value is None else value + own
        for name, column in columns.items():
            slopes[name] = slopes[name] + column if name in slopes else column
    assert value is not None
    on = parts[0]
    return Prediction(
        None if on.model.is_time_model else on.model.energy if on.energy is None else on.energy[1],
        on.model.time if on.time is None else on.time[1],
        value,
        ending.propagated({names.index(name): slope for name, slope in slopes.items()})
        if with_error
        else None,
    )


def _term(
    term: Term[Model], problem: FitProblem, values: Mapping[str, float], with_error: Collection[str]
) -> tuple[Array, dict[str, Array]]:
    """The value of one part of the prediction and, by parameter, its slopes."""
    is_fed = any(component.op.spectrum_fed for component in term.model.components)
    window = problem.measurement.without_data() if is_fed else None  # on the axis of the data
    executor = make_executor(term.model, window, problem.backend)
    names = executor.opt_param_names
    theta = np.array([values[name] for name in names])
    fixed = None
    if problem.fixed is not None:
        own = set(executor.fixed_names)
        fixed = {name: value for name, value in problem.fixed.items() if name in own}
    value = np.asarray(executor.run(theta, fixed))
    wanted = [k for k, name in enumerate(names) if name in with_error]
    slopes: dict[str, Array] = {}
    if wanted:
        columns = model_slopes(term.model, executor, theta, fixed, wanted)
        for k, column in zip(wanted, columns, strict=True):
            slopes[names[k]] = term.taken(column.reshape(value.shape))
    return term.taken(value), slopes


def model_slopes(
    model: Model,
    executor: Executor,
    theta: Array,
    fixed: Mapping[str, float] | None,
    wanted: list[int],
) -> Array:
    """(n_wanted, n) derivatives of the model: exact where the executor knows them, by central
    differences elsewhere."""
    can = executor.capabilities
    unknown = [k for k in wanted if not can.jacobian or k in can.unknown_columns]
    slopes: dict[int, Array] = {}
    if can.jacobian:
        exact = -executor.jacobian(theta, fixed, known_only=True)
        slopes = {k: exact[k] for k in wanted}
    if unknown:
        own = [model.parameters[n] for n in executor.opt_param_names]
        columns = differences(
            lambda at: np.ravel(executor.run(at, fixed)), model, own, theta, unknown
        )
        slopes.update(zip(unknown, columns.T, strict=True))
    return np.array([slopes[k] for k in wanted])


def differences(
    function: Callable[[Array], Array],
    model: Model,
    own: Sequence[Par],
    theta: Array,
    wanted: Sequence[int],
) -> Array:
    """(…, n_wanted) derivatives of a function of theta, whose parameters are these of the model,
    by some of them: central differences within their bounds."""
    sizes = Sizes(model)
    bounds, units = [(par.min, par.max) for par in own], [sizes.of(par) for par in own]
    return jacobian(function, theta, bounds, wanted, units)
