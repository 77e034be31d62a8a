"""Spectra of a kinetic scheme: of its states, of its decays, and of its evolution.

The populations of the states are c_i(t) = sum_j V_ij w_j exp(x_j t). Here x are the eigenvalues of
the rate matrix, V its eigenvectors and V w the populations at the onset. With the spectra S_i of
the states,

    D_j = sum_i V_ij w_j S_i                    decay-associated spectra (DAS)
    D_j = sum_k B_kj E_k                        evolution-associated spectra (EAS)

where B_kj is the share of exp(x_j t) in the k-th state of a sequence with the same decays, the
fastest first (I. H. M. van Stokkum et al., Biochim. Biophys. Acta 1657, 82 (2004)). Errors include
those of the rates: with W the matrix from S to the spectra, d(W S) = W dS + dW S.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import Suggesting
from pyspec.errors import FitError
from pyspec.fit.results.table import dataset
from pyspec.formula import Scheme

if TYPE_CHECKING:
    import xarray

Array = npt.NDArray[np.float64]

#: Decays whose rates differ by less than this share of themselves have no spectra of their own.
APART = 1e-6

#: What makes the matrix from the spectra of states to others, from rates and populations.
Weights = Callable[[Mapping[str, float]], Array]

#: Relative step of differences by a rate.
STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Associated(Suggesting):
    """Spectra of one kind, (n,) each.

    Attributes
    ----------
    kind : "SAS", "DAS" or "EAS"
    names : states, or decays "k = 0.5"
    rates : (n_spectra,) of each decay, in reciprocal units of time; of SAS NaN
    along : (n,) the energies within the window of the fit
    values : (n_spectra, n)
    stderr : (n_spectra, n) one standard error, the errors of the rates included
    unknown : (n,) True where the spectra of the states are not known: 0 there, and NaN in Datasets
    """

    kind: str
    names: tuple[str, ...]
    rates: Array
    along: Array
    values: Array
    stderr: Array
    unknown: npt.NDArray[np.bool_]

    @property
    def known(self) -> Array:
        """(n_spectra, n) the values, NaN where they are not known."""
        return np.where(self.unknown, np.nan, self.values)

    def __getitem__(self, name: str) -> Array:
        if name not in self.names:
            raise FitError(f"there is no {name!r}; there are {', '.join(self.names)}")
        return np.asarray(self.values[self.names.index(name)])

    def to_xarray(self) -> xarray.Dataset:
        """An ``xarray.Dataset``: value and stderr along (spectrum, energy), and the rate of each
        decay. Raises :class:`FitError` without xarray."""
        dims = ("spectrum", "energy")
        variables = {"value": (dims, self.known), "stderr": (dims, self.stderr)}
        coords: dict[str, object] = {"spectrum": list(self.names), "energy": self.along}
        if np.all(np.isfinite(self.rates)):
            coords |= {"rate": ("spectrum", self.rates)}
        return dataset(variables, coords, kind=self.kind)

    def __repr__(self) -> str:
        return f"<{self.kind} {', '.join(self.names)}: {self.along.size} values each>"


@dataclass(frozen=True, eq=False)
class Kinetics:
    """A scheme at the end of a fit.

    Attributes
    ----------
    scheme : states and steps
    amplitudes : state → its amplitude, for those whose spectrum is free
    values : rates and populations by name
    slopes : the same → (n_theta,) derivatives by theta
    spectra : (n, n_states) of these states; `covariance` (n, n_states, n_states), and `mixed` (n,
        n_states, n_theta) with theta
    theta : (n_theta, n_theta) covariance of theta
    hidden : (n_states,) whether the spectrum of a state changes with what is not determined
    unknown : (n,) where the spectrum of a state is not known
    """

    scheme: Scheme
    amplitudes: Mapping[str, str]
    values: Mapping[str, float]
    slopes: Mapping[str, Array]
    along: Array
    spectra: Array
    covariance: Array
    mixed: Array
    theta: Array
    hidden: npt.NDArray[np.bool_]
    unknown: npt.NDArray[np.bool_]

    def sas(self) -> Associated:
        """The spectra of the states. One that changes with rates which the data do not determine
        has no error."""
        names = tuple(self.amplitudes)
        error = np.sqrt(np.einsum("gkk->kg", self.covariance))
        error[self.hidden] = np.nan
        rates = np.full(len(names), np.nan)
        return Associated("SAS", names, rates, self.along, self.spectra.T, error, self.unknown)

    def das(self) -> Associated:
        """The spectra of the decays, the fastest first. Raises :class:`FitError` where two
        coincide, or populations oscillate."""
        return self._associated("DAS", self._decays)

    def eas(self) -> Associated:
        """The spectra of a sequence with the same decays, the fastest first. Raises
        :class:`FitError` as :meth:`das` does."""
        return self._associated("EAS", self._evolution)

    def _associated(self, kind: str, weights: Weights) -> Associated:
        if self.scheme.has_pairs:
            raise FitError(
                f"{kind}: a scheme with steps of two states has no decays: its populations are no "
                "sum of exponentials; the spectra of the states are there: sas()"
            )
        roots = np.linalg.eigvals(self.scheme.matrix(self.values))
        # Of a circle two eigenvalues may be a complex pair: a damped oscillation.
        turning = np.abs(roots.imag) > APART * np.abs(roots.real)
        if np.any(turning):
            root = roots[np.argmax(turning)]
            raise FitError(
                f"{kind}: the populations of this scheme oscillate, with the angular frequency "
                f"{abs(root.imag):.6g} and the damping {-root.real:.6g}, and are no sum of decays; "
                "the spectra of the states are there: sas()"
            )
        rates = self._rates(self.values)
        equal = -np.diff(rates) <= APART * rates[:-1]
        if np.any(equal):  # weights divide by their difference
            raise FitError(
                f"{kind}: two decays have the same rate {rates[np.argmax(equal)]:g}, and no "
                "spectra of their own; the spectra of the states are there: sas()"
            )
        now = weights(self.values)
        turned = np.zeros((self.along.size, len(now), self.theta.shape[0]))
        for name, value in self.values.items():
            step = STEP * max(abs(value), 1e-3 * float(np.max(rates)))
            high = weights({**self.values, name: value + step})
            low = weights({**self.values, name: value - step})
            change = (high - low) / (2 * step)
            turned += (self.spectra @ change.T)[:, :, None] * self.slopes[name]
        cross = np.einsum("ki,gip,glp->gkl", now, self.mixed, turned)
        spread = np.einsum("ki,gij,lj->gkl", now, self.covariance, now)
        spread += cross + cross.transpose(0, 2, 1)
        spread += np.einsum("gkp,pq,glq->gkl", turned, self.theta, turned)
        error = np.sqrt(np.maximum(np.einsum("gkk->kg", spread), 0.0))
        names = tuple(f"k = {rate:.6g}" for rate in rates)
        values = now @ self.spectra.T
        return Associated(kind, names, rates, self.along, values, error, self.unknown)

    def _rates(self, values: Mapping[str, float]) -> Array:
        return -np.sort(-np.abs(np.linalg.eigvals(self.scheme.matrix(values)).real))

    def _decays(self, values: Mapping[str, float]) -> Array:
        """(n_decays, n_states) what each spectrum of a state adds to that of each decay."""
        roots, vectors = np.linalg.eig(self.scheme.matrix(values))
        own = vectors.real[:, np.argsort(roots.real, kind="stable")]  # the fastest first
        weights = np.linalg.solve(own, self.scheme.populations(values))
        rows = [self.scheme.states.index(state) for state in self.amplitudes]
        return np.asarray((own[rows] * weights).T)

    def _evolution(self, values: Mapping[str, float]) -> Array:
        rates = self._rates(values)
        return np.asarray(np.linalg.solve(sequence(rates).T, self._decays(values)))


def sequence(rates: Array) -> Array:
    """(n, n) the share of each exponential in each state of a sequence, 1 at first."""
    n = rates.size
    shares = np.zeros((n, n))
    for k in range(n):
        for j in range(k + 1):
            others = np.delete(rates[: k + 1], j)
            shares[k, j] = np.prod(rates[:k]) / np.prod(others - rates[j])
    return shares
