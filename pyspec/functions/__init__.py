"""NumPy references: the living definition of every function that a model may name.

A reference lies in the module that its row of the op table names, under the row's own name.
There is no other registry. Nothing here is shared with the C kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, OpDef
from pyspec.errors import LibraryError, suggest
from pyspec.functions.domain import holds, outside
from pyspec.functions.external import CALLABLES

__all__ = ["holds", "outside", "reference"]


def reference(function: str | OpDef) -> Callable[..., npt.NDArray[np.float64]]:
    """The NumPy reference of a row of the op table, by name or as it is: ``f(x, *params)``, or
    ``f(x, *params, spectrum)`` for a function that reads the spectrum; of a registered function
    the function itself, of a function by formula the formula.

    Raises :class:`LibraryError` if there is no such row, or the row has no reference.
    """
    if isinstance(function, OpDef) and function.own is not None:
        return function.own
    op_name = function.name if isinstance(function, OpDef) else function
    registered = CALLABLES.get(op_name)
    return registered if registered is not None else _own_reference(op_name)


@cache
def _own_reference(op_name: str) -> Callable[..., npt.NDArray[np.float64]]:
    op = OPS.get(op_name)
    if op is None:
        raise LibraryError(f"there is no function {op_name!r}{suggest(op_name, list(OPS))}")
    function: Callable[..., npt.NDArray[np.float64]] | None = getattr(
        import_module(f"pyspec.functions.{op.package}"), op_name, None
    )
    if function is None:
        raise LibraryError(
            f"the op table has {op_name!r}, but pyspec/functions/{op.package}.py has no "
            "reference of that name; write one"
        )
    return function
