"""Which optimizers there are, by the names lmfit and SciPy give them."""

from __future__ import annotations

from pyspec.errors import FitError, suggest

#: Methods with their own entry in lmfit.
OWN = (
    "leastsq",
    "least_squares",
    "differential_evolution",
    "brute",
    "basinhopping",
    "ampgo",
    "emcee",
    "shgo",
    "dual_annealing",
)


def known_methods() -> tuple[str, ...]:
    """All method names, as lmfit spells them."""
    from lmfit.minimizer import SCALAR_METHODS

    return tuple(dict.fromkeys([*OWN, *SCALAR_METHODS]))


def canonical_method(method: str) -> str:
    """The lmfit name of a method given by its lmfit or SciPy name, in any case.

    Raises :class:`FitError` for an unknown name (lmfit would quietly use another method).
    """
    from lmfit.minimizer import SCALAR_METHODS

    if not isinstance(method, str):
        raise FitError(f"method must be a name such as 'leastsq', not {method!r}")
    wanted = method.lower()
    for name in known_methods():
        if wanted in (name, SCALAR_METHODS.get(name, name).lower()):
            return name
    hint = suggest(wanted, list(known_methods()))
    raise FitError(f"unknown fit method {method!r}{hint}; known: {', '.join(known_methods())}")
