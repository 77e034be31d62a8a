"""The options of fits by name and type, and what is said of a name that is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

import numpy as np

from pyspec.errors import CallError, FitError, suggest
from pyspec.ir import GraphIR
from pyspec.model import Measurement, Model


class MethodOptions(TypedDict, total=False):
    """What methods take: `tolerance` and `linear` the native one, the others those of lmfit that
    know them."""

    tolerance: float
    linear: str | None
    # leastsq and least_squares
    ftol: float
    xtol: float
    gtol: float
    epsfcn: float
    maxfev: int
    factor: float
    diag: object
    loss: str
    f_scale: float
    x_scale: object
    tr_solver: str
    diff_step: object
    # scipy.optimize.minimize, and what searches without derivatives
    tol: float
    options: dict[str, object]
    strategy: str
    maxiter: int
    popsize: int
    mutation: object
    recombination: float
    init: object
    polish: bool
    updating: str
    niter: int
    T: float
    stepsize: float
    Ns: int
    keep: object
    totaliter: int
    maxfun: int


class FitOptions(MethodOptions, total=False):
    """The arguments of :func:`pyspec.fit_model` beside model and measurement."""

    backend: str | None
    method: str | Sequence[str] | None
    progress: bool | Callable[..., object] | None
    max_nfev: int | None
    scale_covar: bool | None
    seeds: Mapping[str, float] | None
    max_seconds: float | None
    n_starts: int
    seed: int


class SharedOptions(FitOptions, total=False):
    """Those, and who shares the work."""

    client: object
    chunks: int | None


#: Both, by name.
METHOD_OPTIONS = tuple(MethodOptions.__annotations__)
FIT_OPTIONS = tuple(name for name in SharedOptions.__annotations__ if name not in METHOD_OPTIONS)


_IN_TURN = "; give both methods in turn: method=('nelder', 'native')"
_INTERVALS = "; intervals are taken after a fit: result.conf_interval()"

#: What other programs call an argument of fits, or where else it belongs.
MEANT = {
    "max_evaluations": "; did you mean 'max_nfev'?",
    "max_iter": "; did you mean 'max_nfev'?",
    "timeout": "; did you mean 'max_seconds'?",
    "starts": "; did you mean 'n_starts'?",
    "weights": "; noise belongs to the data: file.set_noise, or Measurement(weight=1 / sigma)",
    "sigma": "; noise belongs to the data: file.set_noise, or Measurement(weight=1 / sigma)",
    "params": "; start values are seeds={'GLP_01_A': 20}, or model.set(name, value)",
    "energy": "; axes belong to the data: File(energy=...), or model.set_axes(energy=...)",
    "energies": "; axes belong to the data: File(energy=...), or model.set_axes(energy=...)",
    "limits": "; the window is file.set_fit_limits([82, 90])",
    **dict.fromkeys(
        ("workers", "n_workers"), "; C uses the threads that PYSPEC_NUM_THREADS allows"
    ),
    "verbose": "; did you mean 'progress'?",
    "stages": _IN_TURN,
    "fit_alg_1": "; did you mean 'method'?",
    "fit_alg_2": _IN_TURN,
    "mc_settings": "; samples are taken after a fit: result.sample(steps=5000)",
    "try_ci": _INTERVALS,
    "ci_sigmas": _INTERVALS,
}


def check_options(label: str, options: Mapping[str, object]) -> None:
    """Raises :class:`FitError` for a misspelt name of an argument, or for an argument of other
    fits. Otherwise it would be passed to the method as an option."""
    for name in options:
        if name in FIT_OPTIONS:
            other = "their start values are those of the models: model.set('GLP_01_A', 20)"
            hint = other if name == "seeds" else "fit_model has it"
            raise FitError(f"{label}: these fits take no {name!r}; {hint}")
        hint = MEANT.get(name) or suggest(name, [*FIT_OPTIONS, "tolerance", "linear"])
        if name not in METHOD_OPTIONS and hint:
            raise FitError(f"{label}: fits have no argument {name!r}{hint}")


def need_model(call: str, model: object) -> None:
    """Raises :class:`CallError` where this is no Model."""
    if not isinstance(model, Model):
        raise CallError(
            f"{call}: the first argument is a Model, not {_shown(model)}; load one with "
            "load_model('models.yaml', 'name')"
        )


def need_pair(
    call: str, model: object, measurement: object, kinds: tuple[type, ...] = (Model,)
) -> None:
    """Raises :class:`CallError` where these are no Model, or one of `kinds`, and Measurement."""
    if isinstance(model, kinds) and isinstance(measurement, Measurement):
        return
    if isinstance(model, Measurement) and isinstance(measurement, Model):
        raise CallError(
            f"{call}: model and measurement are swapped; write {call}(model, measurement)"
        )
    need_model(call, model)
    raise CallError(
        f"{call}: the second argument is a Measurement, not {_shown(measurement)}; give "
        "Measurement(data=...), and the axes to the model: "
        "model.set_axes(energy=..., time=...)"
    )


def need_pairs(parts: object) -> None:
    """Raises :class:`CallError` where these are no pairs of a Model and a Measurement."""
    wanted = "fit_joint takes a list with a pair for each file, [(model, measurement), ...]"
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise CallError(f"{wanted}, not {_shown(parts)}; put the pairs into a list")
    if not parts:
        raise CallError(f"{wanted}, but the list is empty; give at least one pair")
    for part in parts:
        if not isinstance(part, Sequence) or isinstance(part, str) or len(part) != 2:
            raise CallError(f"{wanted}, not {_shown(part)}; put each model beside its measurement")
        model, measurement = part
        need_pair("fit_joint", model, measurement, (Model, GraphIR))


def _shown(value: object) -> str:
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, np.ndarray):
        return "an array"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"
