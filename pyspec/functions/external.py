"""Functions of one's own: a Python callable that a model file may name.

A registered function stands beside the rows of the op table. It is evaluated by Python once for
each evaluation of the model; everything else stays compiled.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, OpDef, parse_params
from pyspec.calls import answered
from pyspec.errors import ModelError

Array = npt.NDArray[np.float64]

#: The callables, by name.
CALLABLES: dict[str, Callable[..., Array]] = {}

#: A parameter that may be left out.
_LEFT_OUT = re.compile(r"\w+ *= *0(\.0*)?")

_KINDS = {"energy": ("PEAK", "ENERGY"), "time": ("DYNAMICS", "TIME")}


@answered
def register_function(
    name: str,
    function: Callable[..., npt.ArrayLike],
    params: str,
    *,
    domain: str = "energy",
    formula: str = "",
) -> None:
    """Lets models name a Python function, for what no formula says, such as a loop or a table.

    It runs in Python, with finite differences by its parameters. A fit takes twenty to hundreds of
    times as long as with a formula (:func:`pyspec.function`).

    Parameters
    ----------
    name : what a model file writes; components are numbered like peaks, ``name_01``
    function : ``f(x, *params)`` on the axis x (n,). Parameters of an energy function are numbers,
        or columns (n_time, 1) where they move in time; it returns (n_energy,) or
        (n_time, n_energy). A time law gets numbers and returns (n_time,). What it returns are
        real numbers of any type, which are copied.
    params : names in the order of the arguments, with the bounds of the function's domain:
        ``"A, x0, w>0, y0=0"``. Outside of them the value is NaN; those with "=0" stand last and
        may be left out, which is 0.
    domain : "energy" for a component, "time" for a law of motion
    formula : one line for documentation

    Registering a name again replaces the function. Raises :class:`ModelError` for a name that is
    not an identifier or belongs to pyspec, or parameters that cannot be read.

    Processes started by "spawn" must register the function themselves.
    """
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name) or "_" in name:
        raise ModelError(f"{name!r} cannot name a function; use letters and digits")
    if name in OPS and not OPS[name].external:
        raise ModelError(f"{name!r} is a function of pyspec; choose another name")
    if not callable(function):
        raise ModelError(f"{name}: {function!r} cannot be called; give a function")
    if domain not in _KINDS:
        raise ModelError(f"{name}: unknown domain {domain!r}; there are {', '.join(_KINDS)}")
    try:
        names, n_required, guards = parse_params(params)
        parts = [part.strip() for part in params.split(",") if part.strip()]
        if not all(_LEFT_OUT.fullmatch(part) for part in parts[n_required:]):
            raise ValueError
    except ValueError:
        raise ModelError(
            f"{name}: cannot read the parameters {params!r}; write them as 'A, x0, w>0, y0=0': "
            "what may be left out stands last, and is 0 then"
        ) from None
    if len(set(names)) != len(names):
        raise ModelError(f"{name}: a parameter occurs twice in {params!r}")
    _check_arity(name, function, names)
    kind, axis = _KINDS[domain]
    OPS[name] = OpDef(
        index=-1,
        name=name,
        kind=kind,
        domain=axis,
        params=names,
        n_required=n_required,
        guards=guards,
        linear=(),
        formula=formula or "a registered Python function",
    )

    # Copied to a new float64 array, as C reads it: the function may return the same one each time.
    @functools.wraps(function)
    def called(x: npt.ArrayLike, /, *values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        return _numbers(name, function(x, *values))

    CALLABLES[name] = called


def _numbers(name: str, returned: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """A float64 copy of real numbers of any type. Raises :class:`ModelError` for anything else."""
    values = np.asarray(returned)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "c":
        raise ModelError(
            f"the registered function {name} returns complex numbers; return np.real(...) or "
            "np.abs(...) of them"
        )
    try:  # numbers of other libraries, such as those of mpmath
        return np.array([float(number) for number in values.flat]).reshape(values.shape)
    except (TypeError, ValueError):
        raise ModelError(
            f"the registered function {name} returns {type(returned).__name__} in place of "
            "numbers; return one for each point of the axis"
        ) from None


def _check_arity(name: str, function: Callable[..., npt.ArrayLike], names: tuple[str, ...]) -> None:
    """The function takes the axis and every parameter. Raises :class:`ModelError`."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a ufunc has none
        return
    try:
        signature.bind(None, *names)
    except TypeError as error:
        raise ModelError(
            f"{name}: the function cannot be called with the axis and {len(names)} parameter(s): "
            f"{error}; write def {name}(x, {', '.join(names)})"
        ) from None


def forget_function(name: str) -> None:
    """Takes back what :func:`register_function` did. Raises ModelError for an unknown name."""
    if name not in CALLABLES:
        raise ModelError(f"no function {name!r} is registered")
    del CALLABLES[name], OPS[name]
