"""What fits take in trspecfit beside what they take in pyspec: the stages of a fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pyspec.errors import FitError

Fitted = TypeVar("Fitted")


def fitted(fit: Callable[..., Fitted], name: str, options: Mapping[str, Any]) -> Fitted:
    """A fit of the model of that name. Its options are those of pyspec, and these:

    stages : 1, or 2 for `fit_alg_1` followed by `fit_alg_2`
    fit_alg_1, fit_alg_2 : methods; by default "native", with two stages "nelder" and "native"

    Raises :class:`FitError` where they contradict one another.
    """
    own = dict(options)
    stages, first, second = (own.pop(key, None) for key in ("stages", "fit_alg_1", "fit_alg_2"))
    if stages not in (None, 1, 2):
        raise FitError(f"stages must be 1, or 2 for fit_alg_1 then fit_alg_2; not {stages!r}")
    if stages == 2:
        method = first or "nelder", second or "native"
    elif second is not None:
        raise FitError(f"fit_alg_2={second!r} is the method of a second stage; give stages=2 too")
    else:
        method = first
    if method is not None and own.setdefault("method", method) != method:
        raise FitError(
            f"method {own['method']!r} and the stages {method!r} contradict; give one of them"
        )
    return fit(model_name=name, **own)
