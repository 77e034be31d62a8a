"""Calls of the C kernel of one function, without a model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, ISA, LIBRARY, OPS, OpDef, raise_status
from pyspec.errors import LibraryError


def call_function(
    name: str,
    x: npt.ArrayLike,
    params: npt.ArrayLike,
    spectrum: npt.ArrayLike | None = None,
    partials: bool = False,
    isa: str | None = None,
    shares: npt.ArrayLike | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
    """Runs the C kernel of one function, without applying its bounds.

    Parameters
    ----------
    name : row of the op table
    x : (n_x,) abscissae
    params : (n_params, n_rows) parameters, in the order of the table
    spectrum : (n_rows, n_x) what a spectrum-fed function reads
    partials : whether to return the derivatives too
    isa : build of the kernel, one of :func:`supported_isas`; None for :data:`ISA`
    shares : (n_x, 2) what a Shirley weighs each point by; None for 1

    Returns
    -------
    value (n_rows, n_x), and partials (n_params, n_rows, n_x) or None
    """
    op = OPS[name]
    x = np.ascontiguousarray(x, dtype=np.float64)
    arguments = np.ascontiguousarray(params, dtype=np.float64)
    if arguments.ndim != 2 or arguments.shape[0] != len(op.params):
        raise LibraryError(f"{name}: params must have shape ({len(op.params)}, n_rows)")
    n_rows = arguments.shape[1]
    shape = (n_rows, x.size)
    fed = None if spectrum is None else np.ascontiguousarray(spectrum, dtype=np.float64)
    if fed is not None and fed.shape != shape:
        raise LibraryError(f"{name}: spectrum must have shape {shape}, not {fed.shape}")
    value = np.empty(shape)
    derivative = np.empty((len(op.params), *shape)) if partials else None
    weights = None if shares is None else np.ascontiguousarray(shares, dtype=np.float64)
    call = KernelCall(op, x, arguments, value, derivative, fed, isa, shares=weights)
    call.run()
    return value, derivative


class KernelCall:
    """A call of the C kernel of a function, a formula, a state of a kinetic scheme, or a law under
    a measured instrument, that may be made again: what `params` holds then is read, and the value
    and derivatives are written where they were before.

    Parameters
    ----------
    op : row of the op table, or what stands in its place
    x : (n_x,) abscissae
    params : (n_params, n_rows) parameters, in the order of the table
    value : (n_rows, n_x) what is computed
    partials : for each parameter (n_rows, n_x), None for one that is not wanted; None for none
    spectrum : (n_rows, n_x) what a spectrum-fed function reads
    isa : build of the kernel; None for :data:`ISA`
    inputs : (n_inputs, n_x) what a formula reads besides the abscissae
    shares : (n_x, 2) what a Shirley weighs each point by

    All arrays are contiguous float64.
    """

    def __init__(
        self,
        op: OpDef,
        x: npt.NDArray[np.float64],
        params: npt.NDArray[np.float64],
        value: npt.NDArray[np.float64],
        partials: Iterable[npt.NDArray[np.float64] | None] | None,
        spectrum: npt.NDArray[np.float64] | None = None,
        isa: str | None = None,
        inputs: npt.NDArray[np.float64] | None = None,
        shares: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.name = op.name
        targets = None if partials is None else list(partials)
        pointers = None
        if targets is not None and any(target is not None for target in targets):
            pointers = np.array([0 if d is None else d.ctypes.data for d in targets], np.uintp)
        words = None if op.own is None else op.own.words
        sizes = (params.shape[1], x.size)
        ends = (value.ctypes.data, None if pointers is None else pointers.ctypes.data)
        reads = (x.ctypes.data, params.ctypes.data)
        build = CONSTANTS[f"ISA_{isa or ISA}"]
        registers = None
        self._arguments: tuple[object, ...]
        if words is None:
            fed = None if spectrum is None else spectrum.ctypes.data
            weights = None if shares is None else shares.ctypes.data
            self._entry = LIBRARY.pyspec_function
            self._arguments = (op.index, build, *sizes, *reads, fed, weights, *ends)
        elif op.index == CONSTANTS["OP_FORMULA"]:
            program = (words.ctypes.data, words.size)
            registers = np.empty(max(LIBRARY.pyspec_formula_size(*program), 8), np.uint8)
            self._entry = LIBRARY.pyspec_formula
            more = None if inputs is None else inputs.ctypes.data
            self._arguments = (*program, build, *sizes, *reads, more, registers.ctypes.data, *ends)
        elif op.index == CONSTANTS["OP_SCHEME"]:
            self._entry = LIBRARY.pyspec_scheme
            self._arguments = (words.ctypes.data, words.size, build, *sizes, *reads, *ends)
        else:
            self._entry = LIBRARY.pyspec_measured
            self._arguments = (words.ctypes.data, words.size, *sizes, *reads, *ends)
        self._kept: tuple[object, ...] = (x, params, value, targets, pointers, spectrum, words)
        self._kept += (registers, inputs, shares)

    def run(self) -> None:
        """Raises :class:`LibraryError` where the library refuses it."""
        raise_status(self._entry(*self._arguments), self.name)
