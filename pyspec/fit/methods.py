"""Which optimizers there are: pyspec's own, and those of lmfit and SciPy by their names."""

from __future__ import annotations

from typing import Any

from pyspec.errors import FitError, suggest

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
    "emcee",
    "shgo",
    "dual_annealing",
)


def known_methods() -> tuple[str, ...]:
    """All method names, as lmfit spells them, the own one first."""
    from lmfit.minimizer import SCALAR_METHODS

    return tuple(dict.fromkeys([NATIVE, *OWN, *SCALAR_METHODS]))


def canonical_method(method: str) -> str:
    """The lmfit name of a method given by its lmfit or SciPy name, in any case.

    Raises :class:`FitError` for an unknown name (lmfit would quietly use another method).
    """
    from lmfit.minimizer import SCALAR_METHODS

    if not isinstance(method, str):
        raise FitError(f"method must be a name such as 'native' or 'leastsq', not {method!r}")
    wanted = method.lower()
    for name in known_methods():
        if wanted in (name, SCALAR_METHODS.get(name, name).lower()):
            return name
    hint = suggest(wanted, list(known_methods()))
    raise FitError(f"unknown fit method {method!r}{hint}; known: {', '.join(known_methods())}")


def fit_stages(
    method: str | None, stages: int, first: str | None, second: str | None
) -> tuple[str, ...]:
    """The methods to run one after the other. Raises :class:`FitError` for contradictions."""
    if stages not in (1, 2):
        raise FitError(f"stages must be 1, or 2 for fit_alg_1 then fit_alg_2; not {stages!r}")
    if method is not None and first is not None and method != first:
        raise FitError(f"method {method!r} and fit_alg_1 {first!r} contradict; give one of them")
    chosen = method or first
    if stages == 1:
        return (canonical_method(chosen or NATIVE),)
    return canonical_method(chosen or "nelder"), canonical_method(second or NATIVE)


def refuse_intervals(options: dict[str, Any]) -> None:
    """Intervals are not part of a fit; scripts that switch them off are welcome."""
    if options.pop("try_ci", False):
        raise FitError(
            "try_ci: a fit computes no intervals; take them from its result: "
            "result.conf_interval(), or lmfit.conf_interval(result.minimizer, result.lmfit)"
        )
    for name in ("ci_sigmas", "mc_settings", "jac_fun"):
        options.pop(name, None)
