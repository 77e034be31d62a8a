"""Other ways to run the text of a formula, where they are installed: numexpr, Numba and JAX."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

try:
    import numexpr
except ImportError:
    numexpr = None
try:
    import numba
except ImportError:
    numba = None
try:
    import jax
except ImportError:
    jax = None

Env = dict[str, Any]
Build = Callable[[str, Env], Callable[[], object] | None]


class Differences:
    """By numexpr the value of a text, and for each parameter its forward difference."""

    def __init__(self, text: str, env: Env) -> None:
        plain = text.replace("min(", "minimum(").replace("max(", "maximum(")
        self.known = {"pi": np.pi, **env}
        shape = np.broadcast_shapes(*(np.shape(one) for one in env.values()))
        names = set(re.findall(r"[A-Za-z_]\w*", plain)) & set(self.known)
        #: Whether it has a value for each point, not one for a whole row alone.
        self.fills = np.broadcast_shapes(*(np.shape(self.known[one]) for one in names)) == shape
        self.value, self.slope = plain, f"(({plain}) - value_) * (1 / step_)"
        self.params = list(env)[1:]
        self.columns = np.empty((1 + len(self.params), *shape))
        numexpr.set_num_threads(1)

    def run(self) -> None:
        """Fills the columns: the value, then the slopes."""
        value, *slopes = self.columns
        numexpr.evaluate(self.value, self.known, out=value)
        for name, slope in zip(self.params, slopes, strict=True):
            step = 1e-7 * (1.0 + float(np.abs(self.known[name]).max()))
            changed = {name: self.known[name] + step, "value_": value, "step_": step}
            numexpr.evaluate(self.slope, {**self.known, **changed}, out=slope)


def by_numexpr(text: str, env: Env) -> Callable[[], object] | None:
    """The value and its forward differences."""
    found = differences(text, env)
    return found and found.run


def differences(text: str, env: Env) -> Differences | None:
    """None where numexpr lacks a function, or has nothing to evaluate."""
    if numexpr is None or re.search("erf|wofz", text):
        return None
    found = Differences(text, env)
    return found if found.fills else None


def sums_by_numexpr(text: str, env: Env) -> Callable[[], object] | None:
    """The sums of the normal equations of a least-squares fit, from forward differences."""
    found = differences(text, env)
    if found is None:
        return None
    found.run()
    data = found.columns[0] + 0.01

    def sums() -> object:
        found.run()
        found.columns[0] -= data
        rows = found.columns.reshape(len(found.columns), -1)
        return rows @ rows.T

    return sums


def by_numba(text: str, env: Env) -> Callable[[], object] | None:
    """The same, compiled by Numba."""
    if numba is None or "wofz" in text:
        return None
    (axis, points), *params = env.items()
    keys = [key for key, _ in params]
    called = ", ".join(f"{key}[i, 0]" for key in keys)
    code = (
        f"def run({axis}, out, {', '.join(keys)}):\n  for i in range(out.shape[0]):\n"
        f"    for j in range(out.shape[1]):\n      out[i, j] = one({axis}[j], {called})\n"
    )
    space: dict[str, Any] = {
        one: getattr(np, one) for one in ("exp", "log", "sqrt", "sin", "cos", "arctan", "pi")
    }
    space |= {"erf": math.erf, "erfc": math.erfc}
    exec(f"def one({axis}, {', '.join(keys)}):\n  return {text}\n", space)
    space["where"] = numba.njit(lambda c, a, b: a if c else b)
    space["one"] = numba.njit(space["one"])
    exec(code, space)
    run = numba.njit(space["run"])
    given = [one for _, one in params]
    out = np.empty((given[0].shape[0], points.size))
    return lambda: [run(points, out, *given) for _ in range(len(env))]


def by_jax(text: str, env: Env) -> Callable[[], object] | None:
    """Value and exact derivatives by all parameters, one function compiled by JAX."""
    if jax is None or "wofz" in text:
        return None
    jax.config.update("jax_enable_x64", True)
    numpy, special = jax.numpy, jax.scipy.special
    names = ("exp", "log", "sqrt", "sin", "cos", "arctan", "where", "pi")
    space: dict[str, Any] = {one: getattr(numpy, one) for one in names}
    space |= {"min": numpy.minimum, "max": numpy.maximum}
    space |= {"erf": special.erf, "erfc": special.erfc}
    (axis, points), *params = env.items()
    exec(f"def value({axis}, {', '.join(key for key, _ in params)}):\n  return {text}\n", space)
    shape = (params[0][1].shape[0], points.size)

    def along(k: int, given: list[Any]) -> Any:
        tangents = [
            numpy.ones_like(one) if m == k else numpy.zeros_like(one) for m, one in enumerate(given)
        ]
        return jax.jvp(lambda *all_: space["value"](points, *all_), given, tangents)

    @jax.jit
    def everything(*given: Any) -> list[Any]:
        both = [along(k, list(given)) for k in range(len(given))]
        return [numpy.broadcast_to(one, shape) for one in (both[0][0], *(d for _, d in both))]

    arrays = [numpy.asarray(one) for _, one in params]
    return lambda: [one.block_until_ready() for one in everything(*arrays)]


#: What the table calls each of them.
PEERS: dict[str, Build] = {"numexpr": by_numexpr, "Numba": by_numba, "JAX": by_jax}
