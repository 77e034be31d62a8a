"""Which optimizers there are: pyspec's own, and those of lmfit and SciPy by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pyspec.calls import is_whole
from pyspec.errors import FitError, shortened, suggest
from pyspec.fit.evaluations import check_limits
from pyspec.fit.options import check_options
from pyspec.model import Measurement

#: Levenberg-Marquardt in C, with exact derivatives and bounds as an active set.
NATIVE = "native"

#: Methods with their own entry in lmfit.
OWN = (
    "leastsq",
    "least_squares",
    "differential_evolution",
    "brute",
    "basinhopping",
    "ampgo",
    "shgo",
    "dual_annealing",
)

#: Those that draw random numbers, and take the seed of these.
RANDOM = frozenset({"differential_evolution", "basinhopping", "dual_annealing", "ampgo"})

#: Of these the one that takes no seed, but draws from the generator of all of NumPy.
GLOBAL = "ampgo"

#: Those that compare values: a point where the model is not finite is a bad one to them. The others
#: make slopes of their values. Local searches within a global one do so, too; they go on from a
#: slope that leads nowhere, and what they end at is compared.
COMPARE = RANDOM | {"brute", "ampgo", "shgo", "nelder", "powell"}

#: Methods of SciPy that want a gradient, which lmfit does not hand over from a residual.
WANT_GRADIENT = ("newton", "dogleg", "trust-ncg", "trust-exact", "trust-krylov")


def known_methods() -> tuple[str, ...]:
    """The names of all methods that run here, as lmfit spells them, the own one first."""
    from lmfit.minimizer import SCALAR_METHODS

    scalar = [name for name in SCALAR_METHODS if name not in WANT_GRADIENT]
    return tuple(dict.fromkeys([NATIVE, *OWN, *scalar]))


def canonical_method(method: object) -> str:
    """The lmfit name of a method given by its lmfit or SciPy name, in any case.

    Raises :class:`FitError` for an unknown name (lmfit would quietly use another method).
    """
    if method == NATIVE:
        return NATIVE
    if not isinstance(method, str):
        raise FitError(
            "method must be a name such as 'native' or 'leastsq', or several in turn, such as "
            f"('nelder', 'native'), not {method!r}"
        )
    from lmfit.minimizer import SCALAR_METHODS

    wanted = method.lower()
    for name in known_methods():
        if wanted in (name, SCALAR_METHODS.get(name, name).lower()):
            return name
    if wanted in (*WANT_GRADIENT, "newton-cg"):
        raise FitError(
            f"method {method!r} wants a gradient, which lmfit does not hand to it; take 'native', "
            "which has exact derivatives, or 'trust-constr'"
        )
    hint = suggest(wanted, list(known_methods()))
    if wanted == "emcee":
        hint = "; samples are taken after a fit, result.sample(steps=5000)"
    raise FitError(f"unknown fit method {method!r}{hint}; known: {', '.join(known_methods())}")


def checked_methods(method: str | Sequence[str] | None) -> tuple[str, ...]:
    """The methods to run one after the other. Raises :class:`FitError` for unknown ones."""
    if method is None:
        return (NATIVE,)
    if isinstance(method, str) or not isinstance(method, Sequence) or not len(method):
        return (canonical_method(method),)
    return tuple(map(canonical_method, method))


#: What `linear` may be, besides None.
ELIMINATE = "eliminate"


def checked_linear(linear: object) -> str:
    """Raises :class:`FitError` unless it is "eliminate"."""
    if not isinstance(linear, str) or linear != ELIMINATE:
        hint = suggest(str(linear), [ELIMINATE]) or f"; it may be {ELIMINATE!r}, or left out"
        raise FitError(f"linear={linear!r} is unknown{hint}")
    return linear


def check_linear(label: str, methods: Sequence[str], options: Mapping[str, object]) -> None:
    """Raises :class:`FitError` unless `linear` is "eliminate", or not given, and the last method
    knows it."""
    linear = options.get("linear")
    if linear is None:
        return
    try:
        checked_linear(linear)
    except FitError as error:
        raise FitError(f"{label}: {error}") from None
    if methods[-1] != NATIVE:
        raise FitError(
            f"{label}: linear={ELIMINATE!r} is an option of method {NATIVE!r}, and {methods[-1]} "
            f"searches all parameters; leave it out, or let {NATIVE} follow: "
            f"method=({methods[-1]!r}, {NATIVE!r})"
        )


class How(NamedTuple):
    """How a fit runs: its methods in order, the options of the last one, the limits, and
    `scale_covar`, as of :func:`pyspec.fit.fit_model`."""

    methods: tuple[str, ...]
    options: dict[str, object]
    max_nfev: int | None = None
    max_seconds: float | None = None
    scale_covar: bool | None = None


def checked_how(
    label: str,
    method: str | Sequence[str] | None,
    options: Mapping[str, object],
    max_nfev: int | None,
    max_seconds: float | None,
    scale_covar: bool | None,
    measurements: Iterable[Measurement],
    seed: int | None = None,
) -> How:
    """How a fit runs, by its arguments. Raises :class:`FitError` for what they cannot be, and where
    they do not suit the measurements."""
    own: dict[str, object] = {}
    if options:
        check_options(label, options)
        own = {**options}
        if own.get("linear", ELIMINATE) is None:
            del own["linear"]
    if max_nfev is not None or max_seconds is not None:
        check_limits(max_nfev, max_seconds)
    methods = checked_methods(method)
    if scale_covar is not None:
        check_scale(label, methods, scale_covar, measurements)
    if seed is not None and not RANDOM.isdisjoint(methods):
        own = {"seed": seed, **own}
    return How(methods, own, max_nfev, max_seconds, scale_covar)


def check_scale(
    label: str, methods: Sequence[str], scale_covar: object, measurements: Iterable[Measurement]
) -> None:
    """Raises :class:`FitError` for a `scale_covar` that is no flag. It also raises it for False
    without declared noise, because standard errors would then assume a noise of 1."""
    if not isinstance(scale_covar, (bool, np.bool_)) and not (
        is_whole(scale_covar, 0) and scale_covar in (0, 1)
    ):
        shown = shortened(scale_covar)
        raise FitError(f"scale_covar must be True, False, or None, not {shown}")
    if scale_covar:
        return
    if any(
        measurement.weight is None and measurement.loss != "poisson" for measurement in measurements
    ):
        raise FitError(
            f"{label}: scale_covar=False takes standard errors from the declared noise, and none "
            "is declared; declare it, file.set_noise('gaussian', sigma=...), or "
            "Measurement(weight=1 / sigma), or leave scale_covar=False out: errors then follow "
            "from the scatter of the data"
        )
