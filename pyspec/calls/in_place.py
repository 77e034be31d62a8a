"""Arrays that answer a change in place by what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError

#: What changes an array: ``axis -= 0.3``, ``axis[0] = 1``.
_CHANGES = (
    "__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__",
    "__imod__", "__ipow__",
)  # fmt: skip


class Unchanging(np.ndarray):
    """A read-only view of an array, for people; NumPy's own error says what is wrong, but not what
    to do. What is computed from it is a plain array, a copy can be changed.

    Raises :class:`DataError` with its remedy where it is changed in place.
    """

    _remedy = ""

    def __array_finalize__(self, obj: Any) -> None:
        self._remedy = getattr(obj, "_remedy", "")

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(array)[()]  # NumPy before 2.0 does not tell of a scalar

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


def _change(name: str) -> Any:
    plain = getattr(np.ndarray, name)

    def change(self: Unchanging, *given: Any) -> Any:
        if self.flags.writeable:
            return plain(self, *given)
        raise DataError(self._remedy)

    change.__name__ = name
    return change


for _name in _CHANGES:
    setattr(Unchanging, _name, _change(_name))


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view: the owner's array stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def unchanging(array: Any, remedy: str) -> Any:
    """A read-only view of an array that raises with `remedy` where it is changed; None and data
    that are no plain array come back as they are."""
    if type(array) is not np.ndarray:
        return array
    view: npt.NDArray[Any] = array.view(Unchanging)
    view.flags.writeable = False
    view._remedy = remedy  # type: ignore[attr-defined]
    return view
