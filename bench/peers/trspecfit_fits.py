"""Whole fits by trspecfit, for :mod:`bench.whole_fits`: its best way to fit, without intervals."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.problems.cases import Task

#: trspecfit's own names of how it evaluates.
ENGINES = {"jax": "fit_model_jax", "numpy": "fit_model_gir"}

Fit = Callable[[], dict[str, Any]]


def load(task: Task, engine: str) -> Any:
    """trspecfit's file with model, data and window, at the start values."""
    from trspecfit import File, Project

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "models.yaml").write_text(task.text, encoding="utf-8")
        Path(folder, "models_time.yaml").write_text(task.time_text, encoding="utf-8")
        project = Project(folder, config_file=None)
        project.show_output = 0
        project.spec_fun_str = ENGINES[engine]
        file = File(
            parent_project=project,
            path=task.name,
            data=task.data,
            energy=task.energy,
            time=task.time,
        )
        model = file.load_model("models.yaml", [task.model_name])
        for target in task.targets:
            file.add_time_dependence(
                task.model_name,
                target,
                "models_time.yaml",
                list(task.laws),
                frequency=task.frequency,
            )
    model._update_value(list(task.values.values()), list(task.values))
    energy, times = task.energy[slice(*task.columns or (None,))], task.time
    times = times[slice(*task.rows or (None,))]
    file.set_fit_limits([energy[0], energy[-1]], time_limits=[times[0], times[-1]], show_plot=False)
    return file


def runs_on(task: Task, engine: str) -> str:
    """What a fit really runs on: "jax", "numpy" or "interpreter"."""
    from trspecfit.graph_ir import build_graph, can_lower_2d, can_lower_jax_2d

    file = load(task, engine)
    graph = build_graph(file.select_model(task.model_name))
    if not can_lower_2d(graph):
        return "interpreter"
    return "jax" if engine == "jax" and can_lower_jax_2d(graph) else "numpy"


class PeerFit:
    """Fits of one problem, again and again from its start values.

    trspecfit compiles for JAX in every fit. Here it does so once: later fits get the functions
    of the first one, so that their time is without the compilation.
    """

    def __init__(self, task: Task, engine: str) -> None:
        self.task = task
        self.engine = engine
        self._kept: dict[str, Any] = {}
        self._jacobians = 0

    def prepare(self) -> Fit:
        """A model just loaded, and the call that fits it."""
        file = load(self.task, self.engine)
        return lambda: self._fit(file)

    def outcome(self, file: Any) -> dict[str, Any]:
        """What a fit found."""
        found = file.model_2d.result.par_fin
        return {
            "values": {name: float(found.params[name].value) for name in found.var_names},
            "chisqr": float(found.chisqr),
            "nfev": int(found.nfev),
            "jacobians": self._jacobians,
            "success": bool(found.success) and bool(found.errorbars),
        }

    def _fit(self, file: Any) -> dict[str, Any]:
        options = {"stages": 1, "fit_alg_1": "leastsq", "try_ci": 0, "seed_source": "model"}
        self._jacobians = 0
        if self.engine != "jax":
            file.fit_2d(self.task.model_name, **options)
            return self.outcome(file)
        from trspecfit import eval_jax

        names = ("make_evaluator_2d_jax", "make_jacobian_2d_jax")
        kept: dict[str, Any] = {name: self._keep(name, getattr(eval_jax, name)) for name in names}
        with patch.multiple(eval_jax, **kept):
            file.fit_2d(self.task.model_name, **options)
        return self.outcome(file)

    def _keep(self, name: str, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """`make`, but the function that it made the first time."""

        def made(plan: Any) -> Any:
            if name not in self._kept:
                self._kept[name] = make(plan)
            function = self._kept[name]
            if name == "make_evaluator_2d_jax":
                return function

            def counted(theta: Any) -> Any:
                self._jacobians += 1
                return function(theta)

            return counted

        return made


def versions() -> dict[str, str]:
    """Versions of trspecfit and JAX; empty without trspecfit."""
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, str] = {}
    for name in ("trspecfit", "jax"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found if "trspecfit" in found else {}
