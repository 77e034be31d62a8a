"""Interpreted executor and trspecfit's NumPy plan: ``python -m bench.peers.trspecfit_plan``.

Needs trspecfit (Python 3.12 or later) beside pyspec in one environment; says so and stops
where it is missing. Both get the same YAML, the same axes and the same free values, which
change a little from call to call; the two are interleaved in one run.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import arguments_of, finish, interleaved, jitter, print_rows
from pyspec.executor import make_executor
from pyspec.simulate import Problem, problem


def peer_plan(task: Problem) -> Any:
    """trspecfit's plan of a problem, made by its own loader and scheduler."""
    from trspecfit import File, Project
    from trspecfit.graph_ir import build_graph, schedule_2d

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "models.yaml").write_text(task.yaml(), encoding="utf-8")
        laws = "\n".join(decay.yaml(start=True) for decay in task.moves.values())
        Path(folder, "models_time.yaml").write_text(laws, encoding="utf-8")
        project = Project(folder, config_file=None)
        project.show_output = 0
        shape = (task.time.size, task.energy.size)
        file = File(
            parent_project=project,
            path=task.name,
            data=np.zeros(shape),
            energy=task.energy,
            time=task.time,
        )
        model = file.load_model("models.yaml", ["doublet"])
        for name, decay in task.moves.items():
            file.add_time_dependence("doublet", name, "models_time.yaml", [decay.name])
        return schedule_2d(build_graph(model))


def compare(task: Problem, rounds: int) -> dict[str, float]:
    """Milliseconds of one evaluation of the model by both, their ratio and difference."""
    from trspecfit.eval_2d import evaluate_2d

    plan = peer_plan(task)
    ours = make_executor(task.model(), None, "interpreted")
    compiled = make_executor(task.model(), None, "compiled")
    values = dict(zip(ours.opt_param_names, task.model().theta(), strict=True))
    order = [list(ours.opt_param_names).index(name) for name in plan.opt_param_names]
    draw = jitter(np.array([values[name] for name in ours.opt_param_names]))
    theta = draw()
    peer = evaluate_2d(plan, theta[order])
    difference = np.abs(ours.run(theta) - peer).max() / np.abs(peer).max()
    times = interleaved(
        {
            "trspecfit": lambda: evaluate_2d(plan, draw()[order]),
            "interpreted": lambda: ours.run(draw()),
            "compiled": lambda: compiled.run(draw()),
        },
        rounds,
        {"compiled": 5},
    )
    return {
        "trspecfit_ms": times["trspecfit"],
        "interpreted_ms": times["interpreted"],
        "compiled_ms": times["compiled"],
        "interpreted_over_trspecfit": times["interpreted"] / times["trspecfit"],
        "difference": float(difference),
    }


def main(arguments: list[str] | None = None) -> int:
    """Runs the comparison, prints a table, writes JSON if asked to."""
    parser = arguments_of("peers.trspecfit_plan", __doc__)
    parser.add_argument("--rounds", type=int, default=101, help="interleaved rounds (101)")
    given = parser.parse_args(arguments)
    try:
        import trspecfit
    except ImportError:
        print(
            "skipped: trspecfit is not installed here. It needs Python 3.12 or later: "
            "pip install trspecfit"
        )
        return 0
    names = ("seed_amplitude", "seed_position", "demo")
    found = {name: compare(problem(name), given.rounds) for name in names}
    print_rows(
        ["problem", "trspecfit ms", "interpreted ms", "compiled ms", "ratio", "difference"],
        [
            [
                name,
                f"{row['trspecfit_ms']:.3f}",
                f"{row['interpreted_ms']:.3f}",
                f"{row['compiled_ms']:.3f}",
                f"{row['interpreted_over_trspecfit']:.3f}",
                f"{row['difference']:.1e}",
            ]
            for name, row in found.items()
        ],
    )
    version = getattr(trspecfit, "__version__", "unknown")
    finish(given.json, {"problems": found}, trspecfit=version)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
