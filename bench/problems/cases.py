"""The problems that the benchmarks run: model, measurement, start values."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.science import decay, glp
from pyspec.executor import make_executor, make_joint_executor
from pyspec.fit import fit_joint, fit_model
from pyspec.model import Measurement, Model, load_dynamics, load_model
from pyspec.simulate import problem

Array = npt.NDArray[np.float64]

#: The folder of the reference data: ../shared beside the source tree, or what PYSPEC_SHARED names.
SHARED = Path(os.environ.get("PYSPEC_SHARED", Path(__file__).resolve().parents[3] / "shared"))

#: The scripts that fit the data sets, with their YAML files.
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

_DOUBLET = """\
{name}:
  Offset:
    y0: [49.8687, {free}]
  Shirley:
    pShirley: [8.27433e-4, {free}, 0, 1]
  GLP:
    A: [303.359, {free}, 0, 1000]
    x0: [84.2079, True, 80, 90]
    F: [0.903315, {free}, 0.1, 5]
    m: [0.625957, {free}, 0, 1]
  GLP:
    A: ["3/4*GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
"""

_OSCILLATION = """\
oscillation:
  sinFun:
    A: [-0.7, True, -5, 5]
    f: [0.2525, True, 0.05, 1]
    phi: [0.3, True, -3.2, 3.2]
    t0: [0, False]
"""


@dataclass(frozen=True)
class Case:
    """One problem: a model at its start values, and what it is fitted to."""

    name: str
    model: Model
    measurement: Measurement

    @property
    def n_points(self) -> int:
        """Points of the fit window."""
        data = self.measurement.data
        assert data is not None
        return int(self.measurement.window(data).size)

    def theta(self) -> np.ndarray:
        """The start values."""
        return self.model.theta()

    def executor(self, backend: str) -> Any:
        """An executor of the whole problem."""
        return make_executor(self.model, self.measurement, backend)

    def fit(self, backend: str, method: str | None = None, **options: Any) -> Any:
        """A whole fit; `options` go to the method."""
        return fit_model(self.model, self.measurement, backend=backend, method=method, **options)


@dataclass(frozen=True)
class FilesCase:
    """Several files that share parameters, fitted together. `truth` holds the values that the
    data were made with, by their names in the joint fit."""

    name: str
    parts: tuple[tuple[Model, Measurement], ...]
    truth: dict[str, float]

    @property
    def n_points(self) -> int:
        """Points of the fit windows of all files."""
        return sum(Case(self.name, *part).n_points for part in self.parts)

    def theta(self) -> np.ndarray:
        """The start values."""
        return np.array(make_joint_executor(self.parts).problem.start)

    def executor(self, backend: str) -> Any:
        """An executor of the whole problem."""
        return make_joint_executor(self.parts, backend)

    def fit(self, backend: str) -> Any:
        """A whole fit."""
        return fit_joint(self.parts, backend=backend)


_FILE = """\
doublet:
  Offset:
    y0: [4.0, True]
  Shirley:
    pShirley: [2.0e-3, True, 0, 1]
  GLP:
    A: [20.0, True, 0, 100]
    x0: [84.2, True, 80, 90]
    F: [1.5, True, 0.1, 5]
    m: [0.3, False]
  GLP:
    A: ["3/4*GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
"""

_DECAY = """\
decay:
  gaussIRF:
    SD: [0.5, project, 0.1, 5]
  expFun:
    A: [0.5, True, -5, 5]
    tau: [4.0, project, 0.5, 50]
    t0: [0.0, False]
"""

#: Noise, and what all files share.
_NOISE, _TAU, _SD = 0.3, 6.0, 0.8


def six_files(n_time: int = 98, n_energy: int = 200) -> FilesCase:
    """Six simulated files of one doublet, each with its own axes, intensity, background, place and
    shift, that share the decay time and the width of the instrument. The data are made without
    pyspec."""
    position = "GLP_01_x0"
    truth = {f"{position}_gaussIRF_SD": _SD, f"{position}_expFun_01_tau": _TAU}
    parts = []
    for index in range(6):
        rng = np.random.default_rng(index)
        energy = np.linspace(78.0 + 0.2 * index, 94.0, n_energy)
        time = np.linspace(-5.0, 25.0 + index, n_time)
        own = {
            "Offset_y0": 3.0 + index,
            "Shirley_pShirley": 3e-3,
            "GLP_01_A": 18.0 + 2.0 * index,
            position: 84.0 + 0.05 * index,
            "GLP_01_F": 1.3 + 0.1 * index,
            f"{position}_expFun_01_A": 0.4 + 0.1 * index,
        }
        y0, fraction, height, place, width, shift = own.values()
        place = place + decay(time, shift, _TAU, 0.0, _SD)
        lines = glp(energy, height, place, width, 0.3)
        lines += glp(energy, 0.75 * height, place + 3.67, width, 0.3)
        spectrum = y0 + lines
        spectrum += fraction * np.cumsum(lines[:, ::-1], axis=1)[:, ::-1]
        model = load_model(_FILE, "doublet")
        law = load_dynamics(_DECAY, "decay", model.parameters[position])
        model.add_dynamics(position, law)
        model.set_axes(energy=energy, time=time)
        parts.append((model, Measurement(data=rng.normal(spectrum, _NOISE))))
        truth |= {f"file{index:02d}_{name}": value for name, value in own.items()}
    return FilesCase("six_files", tuple(parts), truth)


def seed_case(name: str) -> Case:
    """A seed problem of :mod:`pyspec.simulate`, 440 x 400, 13 free parameters."""
    task = problem(name)
    return Case(name, task.model(start=True), Measurement(data=task.data()))


def examples_folder(given: Path | None) -> Path | None:
    """The folder of data sets 01, 02, 03, or None where the reference data are not at hand."""
    root = given or SHARED
    for folder in (root, root / "data"):
        if (folder / "trspecfit_examples").is_dir():
            return folder / "trspecfit_examples"
    return None


def data_folder(given: Path | None) -> Path | None:
    """The folder of data set 02, or None where the reference data are not at hand."""
    folder = examples_folder(given)
    found = None if folder is None else folder / "02_dependent_parameters"
    return found if found is not None and found.is_dir() else None


def read_set(folder: Path) -> tuple[Array, Array, Array]:
    """Data, energies, times of a data set."""
    data, energy, time = (
        np.loadtxt(folder / f"{name}.csv", delimiter=",") for name in ("data", "energy", "time")
    )
    return data, energy, time


def doublet_case(folder: Path) -> Case:
    """Data set 02: a tied doublet on Shirley and Offset whose position oscillates."""
    data, energy, time = read_set(folder)
    model = load_model(_DOUBLET.format(name="doublet", free="False"), "doublet")
    position = "GLP_01_x0"
    model.add_dynamics(
        position, load_dynamics(_OSCILLATION, "oscillation", model.parameters[position])
    )
    model.set_axes(energy=energy, time=time)
    return Case("data_02", model, Measurement(data=data, rows=(1, 206), columns=(245, 870)))


def all_cases(data: Path | None) -> list[Case | FilesCase]:
    """Every problem that can run here."""
    seeds = [seed_case("seed_amplitude"), seed_case("seed_position")]
    cases: list[Case | FilesCase] = [*seeds, six_files()]
    folder = data_folder(data)
    return [*cases, doublet_case(folder)] if folder is not None else cases


# whole fits that other programs can run too


@dataclass(frozen=True)
class Task:
    """A fit that any program with these YAML models can run: texts, one parameter that moves in
    time, values to start at, data and window."""

    name: str
    text: str
    model_name: str
    target: str
    time_text: str
    laws: tuple[str, ...]
    data: Array
    energy: Array
    time: Array
    #: Start values of free, values of fixed parameters, where they are not those of the text.
    values: dict[str, float]
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None
    frequency: float = -1.0
    #: Parameters that move beside the first, each by laws of its own of the same kinds.
    also: tuple[str, ...] = ()
    #: 1 / sigma of each row, and whether each column counts; other programs know neither.
    weight: Array | None = None
    keep: npt.NDArray[np.bool_] | None = None
    #: The problem of which this one is a variant.
    plain: str = ""

    @property
    def targets(self) -> tuple[str, ...]:
        """All parameters that move in time."""
        return (self.target, *self.also)

    @property
    def is_common(self) -> bool:
        """Whether other programs can fit it."""
        return self.weight is None and self.keep is None

    def model(self) -> Model:
        """The model at its start values, on its axes."""
        model = load_model(self.text, self.model_name)
        for target in self.targets:
            law = load_dynamics(self.time_text, self.laws, model.parameters[target], self.frequency)
            model.add_dynamics(target, law)
        model.set_values(self.values)
        model.set_axes(energy=self.energy, time=self.time)
        return model

    def case(self) -> Case:
        """The problem for pyspec."""
        weight = None if self.weight is None else self.weight[:, None]
        keep = None if self.keep is None else np.broadcast_to(self.keep, self.data.shape)
        measurement = Measurement(
            data=self.data, rows=self.rows, columns=self.columns, weight=weight, keep=keep
        )
        return Case(self.name, self.model(), measurement)


#: Added to the decay of the seed problems: the level that it ends at.
_PLATEAU = """\
  stepFun:
    A: [0, True, -50, 50]
    t0: [0, False]
"""
_LEVEL = {"seed_amplitude": -3.0, "seed_position": 0.4}


def only_free(text: str, names: set[str]) -> str:
    """The YAML text with every parameter fixed but `names` (of numbered components)."""
    count: dict[str, int] = {}
    component, lines = "", []
    for line in text.splitlines(keepends=True):
        if found := re.match(r"  (\w+):", line):
            kind = found[1]
            count[kind] = count.get(kind, 0) + 1
            component = f"{kind}_{count[kind]:02d}"
        elif (found := re.match(r"    (\w+):", line)) and f"{component}_{found[1]}" not in names:
            line = line.replace(", True,", ", False,")
        lines.append(line)
    return "".join(lines)


def seed_task(
    name: str, n_free: int, shape: tuple[int, int] = (440, 400), also: tuple[str, ...] = ()
) -> Task:
    """A seed problem with 14 free parameters, or with 4: height and position of the peak that
    moves, amplitude and time of its decay; the others are fixed at the truth. What moves `also`
    does so by the laws of the first, with parameters of its own that are as free."""
    base = problem(name)
    n_time, n_energy = shape
    energy = np.linspace(base.energy[0], base.energy[-1], n_energy)
    time = np.linspace(base.time[0], base.time[-1], n_time)
    ((target, decay),) = base.moves.items()
    text, time_text = base.yaml(), decay.yaml(start=True)
    truth = {par.name: float(par.value) for par in base.model(start=False).parameters.values()}
    if n_free == 14:
        time_text += _PLATEAU
        truth[f"{target}_stepFun_01_A"] = _LEVEL[name]
    elif n_free == 4:
        peak = target.rpartition("_")[0]
        text = only_free(text, {f"{peak}_A", f"{peak}_x0"})
    else:
        raise ValueError(f"a seed problem has 4 or 14 free parameters, not {n_free}")
    for other in also:
        law = {key: value for key, value in truth.items() if key.startswith(f"{target}_")}
        truth |= {other + key.removeprefix(target): value for key, value in law.items()}
    task = Task(
        name=f"{name}_{n_free}",
        text=text,
        model_name="doublet",
        target=target,
        also=also,
        time_text=time_text,
        laws=(decay.name,),
        data=np.zeros(shape),
        energy=energy,
        time=time,
        values=truth,
    )
    clean = task.model().evaluate()
    start = replace(task, values={}).model().parameters
    free = {par.name: float(par.value) for par in start.values() if par.vary}
    noise = np.random.default_rng(base.seed).normal(0.0, base.noise_sd, clean.shape)
    return replace(task, data=clean + noise, values=truth | free)


def variants(task: Task) -> list[Task]:
    """A separable problem with a second trace, without one column in ten, and with a sigma by row
    that doubles from the first to the last."""
    n_time, n_energy = task.data.shape
    name, _, n_free = task.name.rpartition("_")
    two = seed_task(name, int(n_free), task.data.shape, also=("GLP_02_A",))
    changes: dict[str, Any] = {
        "columns_left_out": {"keep": np.arange(n_energy) % 10 != 5},
        "sigma_by_row": {"weight": 1.0 / np.linspace(1.0, 2.0, n_time)},
    }
    found = [replace(two, name=f"{task.name}_two_traces", plain=task.name)]
    return found + [
        replace(task, name=f"{task.name}_{what}", plain=task.name, **change)
        for what, change in changes.items()
    ]


@dataclass(frozen=True)
class _Set:
    """A data set: its folder, the example that fits it, laws, fit window and baseline rows."""

    folder: str
    example: str
    laws: tuple[str, ...]
    rows: tuple[int, int]
    columns: tuple[int, int]
    baseline: tuple[int, int]
    frequency: float = -1.0


_SETS = {
    "data_01": _Set(
        "01_basic_fitting", "position_decay", ("decay",), (0, 481), (100, 361), (0, 41)
    ),
    "data_02": _Set(
        "02_dependent_parameters",
        "oscillating_doublet",
        ("oscillation",),
        (1, 206),
        (245, 870),
        (0, 4),
    ),
    "data_03": _Set(
        "03_multi_cycle_dynamics",
        "two_cycles",
        ("resolution", "there", "back"),
        (0, 396),
        (80, 281),
        (0, 71),
        0.25,
    ),
}


def set_task(name: str, folder: Path) -> Task:
    """The 2D fit of data set 01, 02 or 03, as its example does it: what a fit of the mean
    baseline spectrum found is where the 2D fit starts, and fixed but for the position."""
    one = _SETS[name]
    data, energy, time = read_set(folder / one.folder)
    text, time_text = (
        (EXAMPLES / one.example / file).read_text(encoding="utf-8")
        for file in ("models.yaml", "models_time.yaml")
    )
    base = load_model(text, "base")
    base.set_axes(energy=energy)
    mean = data[slice(*one.baseline)].mean(axis=0)
    found = fit_model(base, Measurement(data=mean, columns=one.columns), method="leastsq")
    own = {par.name for par in base.parameters.values() if par.formula is None}
    return Task(
        name=name,
        text=text,
        model_name="moving",
        target="GLP_01_x0",
        time_text=time_text,
        laws=one.laws,
        data=data,
        energy=energy,
        time=time,
        values={key: value for key, value in found.values.items() if key in own},
        rows=one.rows,
        columns=one.columns,
        frequency=one.frequency,
    )


SEED_TASKS = tuple((name, n) for name in ("seed_amplitude", "seed_position") for n in (4, 14))


def all_tasks(data: Path | None) -> list[Task]:
    """Every whole fit that can run here."""
    tasks = [seed_task(name, n_free) for name, n_free in SEED_TASKS]
    folder = examples_folder(data)
    if folder is not None:
        tasks += [
            set_task(name, folder) for name in _SETS if (folder / _SETS[name].folder).is_dir()
        ]
    return tasks
