"""ParameterSweep: many parameter values, and data for each of them in one HDF5 file."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec._version import VERSION
from pyspec.errors import DataError, suggest
from pyspec.fit.progress import Steps
from pyspec.io.optional import need

if TYPE_CHECKING:
    from pyspec.simulate.simulator import Simulator

Array = npt.NDArray[np.float64]

STRATEGIES = ("auto", "grid", "random")


class ParameterSweep:
    """Values of parameters: all combinations, or one draw of each at a time.

    Parameters
    ----------
    strategy : "grid", every value with every other; "random", the k-th value of one parameter
        with the k-th of the others; "auto" is grid if all come from :meth:`add_range`
    seed : of the random numbers; the same seed gives the same values

    Iterating gives dicts name → value; ``len(sweep)`` is their number.
    """

    def __init__(self, strategy: str = "auto", seed: int | None = None) -> None:
        if strategy not in STRATEGIES:
            hint = suggest(str(strategy), list(STRATEGIES))
            raise DataError(
                f"strategy must be one of {', '.join(STRATEGIES)}, not {strategy!r}{hint}"
            )
        self.strategy = strategy
        self.seed = seed
        self._values: dict[str, Array] = {}
        self._drawn: set[str] = set()

    def add_range(self, name: str, values: npt.ArrayLike) -> ParameterSweep:
        """These values, in this order."""
        return self._add(name, np.asarray(values, dtype=np.float64), drawn=False)

    def add_uniform(self, name: str, low: float, high: float, n: int) -> ParameterSweep:
        """`n` values between `low` and `high`, all equally likely."""
        if not low < high:
            raise DataError(f"{name}: low {low!r} must be below high {high!r}")
        return self._add(name, self._generator(name).uniform(low, high, _count(name, n)))

    def add_normal(self, name: str, mean: float, sd: float, n: int) -> ParameterSweep:
        """`n` values of a normal distribution."""
        _spread(name, sd)
        return self._add(name, self._generator(name).normal(mean, sd, _count(name, n)))

    def add_lognormal(self, name: str, mean: float, sigma: float, n: int) -> ParameterSweep:
        """`n` values whose natural logarithm is normal, of `mean` and standard deviation
        `sigma` (both of the logarithm)."""
        _spread(name, sigma)
        return self._add(name, self._generator(name).lognormal(mean, sigma, _count(name, n)))

    def _generator(self, name: str) -> np.random.Generator:
        """Each parameter has its own stream: the order of the calls does not matter."""
        if self.seed is None:
            return np.random.default_rng()
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
        return np.random.default_rng([self.seed, key])

    def _add(self, name: str, values: Array, drawn: bool = True) -> ParameterSweep:
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise DataError(f"{name}: give a list of finite numbers")
        if name in self._values:
            raise DataError(f"{name}: is in the sweep already")
        self._values[name] = values
        if drawn:
            self._drawn.add(name)
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order they were added."""
        return tuple(self._values)

    @property
    def is_grid(self) -> bool:
        """Whether every value meets every other."""
        return self.strategy == "grid" or (self.strategy == "auto" and not self._drawn)

    def get_n_configs(self) -> int:
        """How many combinations there are. Raises :class:`DataError` for an empty sweep, or
        lists of different lengths that are to be taken together."""
        sizes = {name: values.size for name, values in self._values.items()}
        if not sizes:
            raise DataError("the sweep is empty; add parameters with add_range, add_uniform, …")
        if self.is_grid:
            return int(np.prod(list(sizes.values())))
        if len(set(sizes.values())) > 1:
            shown = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise DataError(
                f"strategy 'random' takes one value of each at a time, but there are {shown}; give "
                "equally many, or strategy='grid'"
            )
        return next(iter(sizes.values()))

    __len__ = get_n_configs

    def __iter__(self) -> Iterator[dict[str, float]]:
        self.get_n_configs()
        rows: Any = zip(*self._values.values(), strict=True)
        if self.is_grid:
            rows = itertools.product(*self._values.values())
        for row in rows:
            yield {name: float(value) for name, value in zip(self.names, row, strict=True)}

    @property
    def digest(self) -> str:
        """SHA-256 of names, values and strategy."""
        content = {name: values.tolist() for name, values in self._values.items()}
        return hashlib.sha256(json.dumps([content, self.is_grid]).encode()).hexdigest()


def _count(name: str, n: int) -> int:
    if n != int(n) or n < 1:
        raise DataError(f"{name}: n must be a whole number from 1 on, not {n!r}")
    return int(n)


def _spread(name: str, sd: float) -> None:
    if not (np.isfinite(sd) and sd > 0):
        raise DataError(f"{name}: the standard deviation must be positive, not {sd!r}")


def run_sweep(
    simulator: Simulator,
    sweep: ParameterSweep,
    n_realizations: int,
    *,
    dim: int,
    filepath: str | Path,
    show_progress: bool,
) -> Path:
    """See :meth:`Simulator.simulate_parameter_sweep`."""
    h5py = need("h5py", "a sweep in HDF5")
    path = Path(filepath)
    n = sweep.get_n_configs()
    if n_realizations != int(n_realizations) or n_realizations < 1:
        raise DataError(f"n_realizations must be a whole number from 1 on, not {n_realizations!r}")
    model = simulator.model
    for name in sweep.names:
        par = model._par(name)
        if par.formula is not None:
            raise DataError(f"{name} follows the expression {par.expr!r}; sweep what it refers to")
    before = {name: par.value for name, par in model.parameters.items() if par.formula is None}
    key = _key(simulator, sweep, int(n_realizations), dim)
    part = path.with_name(f".{path.name}.part")
    steps = Steps(show_progress, "sweep")
    try:
        done = _finished(h5py, part, key)
        with _opened(h5py, part, key, done) as file:
            try:
                for index, values in enumerate(sweep):
                    if index >= done:
                        model.set_values({**before, **values})
                        _write_one(file, simulator, values, index, n, int(n_realizations), dim)
                        file.attrs["done"] = index + 1
                    steps.update(index + 1, n)
            finally:
                file.attrs["closed"] = True  # a killed run does not come here, and begins again
            for name in ("energy", "time"):
                axis = getattr(model, name)
                if axis is not None and (name == "energy" or dim == 2) and name not in file:
                    file[name] = axis
        part.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error})") from error
    finally:
        steps.close()
        model.set_values(before)
    return path


def _key(simulator: Simulator, sweep: ParameterSweep, n_realizations: int, dim: int) -> str:
    """What must be equal for a sweep to be continued."""
    from pyspec.simulate.save import settings

    axes = [getattr(simulator.model, name) for name in ("energy", "time")]
    shown: Sequence[Any] = [None if axis is None else axis.tolist() for axis in axes]
    facts = [settings(simulator), sweep.digest, n_realizations, dim, shown, VERSION]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _finished(h5py: Any, part: Path, key: str) -> int:
    """How many combinations an interrupted run of the same sweep has written."""
    if not part.is_file():
        return 0
    try:
        with h5py.File(part, "r") as file:
            whole = file.attrs.get("key") == key and bool(file.attrs.get("closed", False))
            return int(file.attrs["done"]) if whole else 0
    except (OSError, KeyError):
        return 0  # killed while it wrote: begin again


def _opened(h5py: Any, part: Path, key: str, done: int) -> Any:
    file = h5py.File(part, "r+" if done else "w")
    file.attrs["key"], file.attrs["pyspec"], file.attrs["closed"] = key, VERSION, False
    return file


def _write_one(
    file: Any,
    simulator: Simulator,
    values: dict[str, float],
    index: int,
    n: int,
    n_realizations: int,
    dim: int,
) -> None:
    """One combination: its own stream of random numbers, so that a continued run is the same."""
    if simulator.seed is not None:
        simulator._generator = np.random.default_rng([simulator.seed, index])
    clean, noisy, _ = simulator.simulate_n(n_realizations, dim=dim)
    if "clean" not in file:
        file.create_dataset("clean", (n, *clean.shape), "f8", chunks=(1, *clean.shape))
        shape = (n_realizations, *clean.shape)
        file.create_dataset("noisy", (n, *shape), "f8", chunks=(1, *shape))
        for name in values:
            file.create_dataset(f"parameters/{name}", (n,), "f8")
    file["clean"][index] = clean
    file["noisy"][index] = np.stack(noisy)
    for name, value in values.items():
        file[f"parameters/{name}"][index] = value


class SweepDataset:
    """Reads a sweep: ``dataset[k]`` is (values, clean, noisy), ``len(dataset)`` their number."""

    def __init__(self, path: str | Path) -> None:
        h5py = need("h5py", "a sweep in HDF5")
        try:
            self._file = h5py.File(Path(path), "r")
        except OSError as error:
            raise DataError(f"{path}: is no sweep that can be read: {error}") from error
        if "parameters" not in self._file or "noisy" not in self._file:
            self._file.close()
            raise DataError(f"{path}: is no sweep; simulate_parameter_sweep writes one")
        self.names: tuple[str, ...] = tuple(self._file["parameters"])
        self.energy = self._axis("energy")
        self.time = self._axis("time")

    def _axis(self, name: str) -> Array | None:
        return np.asarray(self._file[name]) if name in self._file else None

    def __len__(self) -> int:
        return int(self._file["clean"].shape[0])

    def __getitem__(self, index: int) -> tuple[dict[str, float], Array, Array]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"the sweep has {len(self)} entries, not {index}")
        k = index % len(self)
        values = {name: float(self._file[f"parameters/{name}"][k]) for name in self.names}
        return values, np.asarray(self._file["clean"][k]), np.asarray(self._file["noisy"][k])

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> SweepDataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
