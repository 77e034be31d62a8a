"""Groups with the same basis functions, in some of which amplitudes are held at 0: one
factorization serves all in which the same amplitudes take part. Every group used to have one of its
own as soon as any amplitude had a bound or a range, which took ten times as long."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import lsq_linear

from pyspec.executor.amplitudes.design import Design
from pyspec.executor.amplitudes.projection import Projection, Solved

Array = npt.NDArray[np.float64]


class Case:
    """Bells over a line, some close to one another, with noise; with heights of both signs."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n_basis, self.n_theta = int(rng.integers(2, 9)), int(rng.integers(1, 5))
        n_groups, n_x, n_slopes = 45, 70, 7
        place, width = rng.uniform(0, 1, (n_basis, 1, 1)), rng.uniform(0.03, 0.3, (n_basis, 1, 1))
        self.basis = np.exp(-(((np.linspace(0, 1, n_x) - place) / width) ** 2) / 2)
        if seed % 4 == 3:  # one is a combination of two others
            self.basis[-1] = self.basis[0] - 2 * self.basis[1]
        offset = rng.normal(size=(1, n_x)) if seed % 2 else None
        self.design = Design(
            self.basis,
            rng.normal(size=(n_slopes, 1, n_x)),
            rng.integers(-1 if seed % 2 else 0, n_basis, n_slopes),
            np.sort(rng.integers(0, n_slopes, n_slopes + 2)),
            rng.integers(0, self.n_theta, n_slopes + 2),
            rng.normal(size=(1, n_slopes + 2)),
            np.zeros((0, 1, n_x)) if offset is None else offset[None],
        )
        heights = rng.normal(0.5, 1, (n_groups, n_basis))
        self.heights, self.offset = heights, 0.0 if offset is None else offset[0]
        self.noise = 0.01 * rng.normal(size=(n_groups, n_x))
        self.positive = rng.random(n_basis) < 0.8
        self.allowed = rng.random((n_groups, n_basis)) < 0.8

    def data(self, heights: Array) -> Array:
        return np.asarray(heights @ self.basis[:, 0] + self.noise + self.offset)

    def project(self, data: Array, *kept: npt.NDArray[np.bool_] | None, what: str) -> Solved:
        return Projection(data, None, *kept).at(np.zeros(self.n_theta), self.design, what)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kinds", ["bounds", "ranges", "both"])
def test_sums_are_those_of_each_group_by_itself(seed: int, kinds: str) -> None:
    case = Case(seed)
    allowed = None if kinds == "bounds" else case.allowed
    positive = None if kinds == "ranges" else case.positive
    data = case.data(case.heights)
    together = case.project(data, allowed, positive, what="gram")
    apart = case.project(data, allowed, positive, what="rows")
    assert np.array_equal(together.determined, apart.determined)
    assert together.amplitudes == pytest.approx(apart.amplitudes, abs=1e-11)
    size = np.abs(apart.triangle).max()
    assert np.abs(together.triangle - apart.triangle).max() <= 1e-12 * size
    assert len({tuple(row) for row in together.determined.tolist()}) > 1


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_amplitudes_are_those_of_bounded_least_squares(seed: int) -> None:
    case = Case(seed)
    data = case.data(case.heights)
    found = case.project(data, case.allowed, case.positive, what="gram").amplitudes
    assert not found[~case.allowed].any()
    assert (found[:, case.positive] >= 0).all()
    least = np.where(case.positive, 0.0, -np.inf)
    for own, kept, given in zip(found, case.allowed, data, strict=True):
        basis, rest = case.basis[kept, 0].T, given - case.offset
        best = lsq_linear(basis, rest, (least[kept], np.inf), method="bvls", tol=1e-14)
        assert np.sum((rest - basis @ own[kept]) ** 2) <= 2 * best.cost * (1 + 1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_bounds_that_hold_nothing_change_no_bit(seed: int) -> None:
    case = Case(seed)
    data = case.data(np.abs(case.heights) + 1)
    bounded = case.project(data, None, case.positive, what="gram")
    free = case.project(data, None, None, what="gram")
    assert np.all(free.amplitudes > 0)
    assert np.array_equal(bounded.amplitudes, free.amplitudes)
    assert np.array_equal(bounded.triangle, free.triangle)


@pytest.mark.parametrize("what", ["gram", "rows"])
@pytest.mark.parametrize("bounded", [[True] * 4, [True, True, True, False]])
def test_a_combination_takes_part_where_a_bound_takes_another_away(
    what: str, bounded: list[bool]
) -> None:
    """Populations of three states, whose sum is the constant that stands before the last of them:
    the last one used to have no height in any group, and chi^2 was up to thousands of times that
    of the best heights."""
    time, rng = np.linspace(0, 3, 50), np.random.default_rng(0)
    first, second = np.exp(-time), np.exp(-time / 2) - np.exp(-time)
    basis = np.array([first, second, np.ones(50), 1 - first - second])[:, None]
    heights = rng.uniform(0, 1, (37, 4)) * (rng.random((37, 4)) < 0.5)
    heights[:, 3] *= -1 if not bounded[3] else 1
    data = heights @ basis[:, 0] + 0.01 * rng.normal(size=(37, 50))
    nothing = np.zeros(0, np.int64)
    slopes = np.zeros((0, 1, 50))
    design = Design(basis, slopes, nothing, nothing, nothing, np.zeros((1, 0)), np.zeros((0, 1, 1)))
    positive = np.array(bounded)
    found = Projection(data, None, None, positive).at(np.zeros(1), design, what).amplitudes
    least = np.where(positive, 0.0, -np.inf)
    assert (found >= least).all()
    for own, given in zip(found, data, strict=True):
        best = lsq_linear(basis[:, 0].T, given, (least, np.inf), method="bvls", tol=1e-14)
        assert np.sum((given - own @ basis[:, 0]) ** 2) <= 2 * best.cost * (1 + 1e-9)
