"""The eight kinds of call that the campaign of signals interrupts, and what each must leave."""

from __future__ import annotations

import gc
import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

import pyspec.simulate.sweep_file as sweep_file
from pyspec import Measurement, fit_model, fit_slices, fit_trace, load_dynamics, load_model
from pyspec.cli import main
from pyspec.cli.commands.new import example_texts, write_folder
from pyspec.fit import fit_joint
from pyspec.plot import report
from pyspec.simulate import ParameterSweep, Simulator

#: Places of the bytes of `STATE`.
EVALUATED, RELEASED, RETURNED, PARTS = range(4)

#: What has come of a call: whether an evaluation was made, whether the call has its result and
#: gives the handlers back, whether it returned, and how many parts of a sweep are done.
STATE: Any = bytearray(4)

PEAK = """
peak:
  Offset:
    y0: [1.0, True, -10, 10]
  GLP:
    A: [8.0, {scope}, 0, 100]
    x0: [4.5, True, 0, 10]
    F: [1.6, {scope}, 0.1, 5]
    m: [0.4, True, 0, 1]
"""
DECAY = """
decay:
  expFun:
    A: [1.0, True, -10, 10]
    tau: [8.0, True, 0.1, 100]
    t0: [0, False]
    y0: [0, False]
"""
ENERGY, TIME = np.linspace(0.0, 10.0, 300), np.linspace(-5.0, 30.0, 60)
N_SLICES, N_SWEEP = 12, 20


def peak(scope: str = "True") -> Any:
    """A peak on an offset; `scope` of its height and width."""
    model = load_model(PEAK.format(scope=scope), "peak")
    model.set_axes(energy=ENERGY)
    return model


def moving() -> Any:
    """The peak, whose place decays."""
    model = peak()
    model.add_dynamics("GLP_01_x0", load_dynamics(DECAY, "decay", model.parameters["GLP_01_x0"]))
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def data_of(model: Any, seed: int, **values: float) -> Any:
    """Data of a model at other values, with noise; the model is as before."""
    before = {name: model.parameters[name].value for name in values}
    model.set_values(values)
    clean = model.evaluate()
    model.set_values(before)
    return clean + np.random.default_rng(seed).normal(0, 0.05, clean.shape)


TRUTH = {"GLP_01_A": 10.0, "GLP_01_x0": 5.0, "GLP_01_F": 1.2, "GLP_01_m": 0.3}


class Kind(ABC):
    """One kind of call, or several in turns. `lost` says what is wrong with what it left, "" where
    all is well."""

    turns = 1

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self, turn: int) -> None:  # noqa: B027 - most kinds have nothing to do
        """Before every call."""

    @abstractmethod
    def call(self) -> Any:
        """Makes the call; its result."""

    def is_marked(self, result: Any) -> bool:
        return bool(result.interrupted)

    def lost(self, result: Any, is_evaluated: bool) -> str:
        if result is None:
            return "no result" if is_evaluated else ""
        return self.wrong(result)

    def wrong(self, result: Any) -> str:
        return wrong_with(result)


def wrong_with(result: Any) -> str:
    """Why a result of a fit is not whole."""
    if not np.isfinite(list(result.values.values())).all():
        return "values that are not finite"
    own = float(np.sum((result.residual) ** 2))
    if not np.isclose(own, result.chisqr, rtol=1e-9):
        return f"chi² {result.chisqr} of other values than its own ({own})"
    if not result.success and not result.interrupted:
        return f"not successful, not marked: {result.message}"
    if result.success and None in [result.stderr[name] for name in result.free_names]:
        return "success without standard errors"
    str(result), result.table, result.to_dict()
    return ""


class Native(Kind):
    method = "native"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.model = moving()
        self.measurement = Measurement(data=data_of(self.model, 1, **TRUTH))

    def call(self) -> Any:
        return fit_model(self.model, self.measurement, method=self.method)


class Leastsq(Native):
    method = "leastsq"


class Slices(Kind):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.model = peak()
        rows = [data_of(self.model, seed, **TRUTH) for seed in range(N_SLICES)]
        self.measurement = Measurement(data=np.stack(rows))

    def call(self) -> Any:
        return fit_slices(self.model, self.measurement)

    def wrong(self, result: Any) -> str:
        if len(result) != N_SLICES or "failed" in result.status:
            return f"slices {result.status}"
        if not result.interrupted and set(result.status) != {"converged"}:
            return f"not marked, slices {result.status}"
        wrong = [wrong_with(fit.result) for fit in result if fit.result is not None]
        return next(filter(None, wrong), "")


class Joint(Kind):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        models = [peak('"project"'), peak('"project"')]
        self.parts = [
            (model, Measurement(data=data_of(model, seed, **TRUTH)))
            for seed, model in enumerate(models)
        ]

    def call(self) -> Any:
        return fit_joint(self.parts)

    def wrong(self, result: Any) -> str:
        if any(one.interrupted != result.interrupted for one in result):
            return "a file is marked otherwise than the whole"
        return next(filter(None, map(wrong_with, result)), "")


class Trace(Kind):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        clean = np.where(TIME >= 0, 3.0 * np.exp(-TIME.clip(0) / 6.0), 0.0)
        self.values = clean + np.random.default_rng(1).normal(0, 0.05, TIME.size)

    def call(self) -> Any:
        return fit_trace(DECAY, "decay", TIME, self.values)


class Sweep(Kind):
    """What is written of a sweep is continued."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "sweep.h5"
        self.part = folder / ".sweep.h5.part"
        self.simulator = Simulator(moving(), seed=2)
        self.sweep = ParameterSweep(seed=0).add_uniform("GLP_01_A", 5, 20, N_SWEEP)
        self.key = sweep_file._key(self.simulator, self.sweep, 2, 2)

    def prepare(self, turn: int) -> None:
        self.path.unlink(missing_ok=True)
        self.part.unlink(missing_ok=True)

    def call(self) -> Any:
        return self.simulator.simulate_parameter_sweep(
            self.sweep, 2, dim=2, filepath=self.path, show_progress=False
        )

    def is_marked(self, result: Any) -> bool:
        return False

    def lost(self, result: Any, is_evaluated: bool) -> str:
        if self.path.exists():
            return ""
        kept = sweep_file._finished(sweep_file.need("h5py", ""), self.part, self.key)
        return "" if kept == STATE[PARTS] else f"{STATE[PARTS]} parts were done, {kept} are kept"


class Command(Kind):
    """pyspec fit: exit code and files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.job = folder / "job" / "job.yaml"
        if not self.job.exists():
            write_folder(folder / "job", example_texts(), False)
        self.results = folder / "job" / "results"

    def prepare(self, turn: int) -> None:
        """A command has a process of its own, which begins without what figures of others left:
        while that is collected Python is in functions of weak references, which ignore Ctrl-C."""
        for path in self.results.glob("*"):
            path.unlink()
        gc.collect()

    def call(self) -> Any:
        return main(["fit", str(self.job), "--quiet"])

    def is_marked(self, result: Any) -> bool:
        return bool(result in (130, 143) and STATE[EVALUATED])

    def lost(self, result: Any, is_evaluated: bool) -> str:
        if not is_evaluated:
            return ""
        names = ("report.html", "parameters.csv", "parameters.json", "fit.png", "fits.h5")
        missing = [name for name in names if not (self.results / name).exists()]
        if missing:
            return f"exit code {result}, but without {', '.join(missing)}"
        json.loads((self.results / "parameters.json").read_text(encoding="utf-8"))
        return ""


class Afterwards(Kind):
    """conf_interval and report of a fit leave it as it was; a report is whole or not there."""

    turns = 2

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        model = peak()
        self.result = fit_model(model, Measurement(data=data_of(model, 1, **TRUTH)))
        self.before = self._shown()
        self.path = folder / "report.html"
        self.turn = 0

    def _shown(self) -> str:
        facts = [self.result.values, self.result.stderr, self.result.correl, self.result.chisqr]
        return repr([*facts, self.result.success, self.result.interrupted, np.geterr()])

    def prepare(self, turn: int) -> None:
        self.turn = turn
        self.path.unlink(missing_ok=True)

    def call(self) -> Any:
        if self.turn == 0:
            return self.result.conf_interval(sigmas=[1])
        return report(self.result, self.path)

    def is_marked(self, result: Any) -> bool:
        return False

    def lost(self, result: Any, is_evaluated: bool) -> str:
        if self._shown() != self.before:
            return "the fit has changed"
        whole = not self.path.exists() or self.path.read_text("utf-8").rstrip().endswith("</html>")
        return "" if whole else "half a report"


KINDS: dict[str, type[Kind]] = {
    "native": Native,
    "leastsq": Leastsq,
    "slices": Slices,
    "joint": Joint,
    "trace": Trace,
    "sweep": Sweep,
    "command": Command,
    "afterwards": Afterwards,
}
