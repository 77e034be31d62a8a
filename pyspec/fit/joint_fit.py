"""fit_joint: several files with parameters in common, one residual."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspec.calls import answered
from pyspec.errors import FitError
from pyspec.executor import backend_name
from pyspec.executor.problem import in_steps_of_the_first
from pyspec.fit.batch.from_starts import best_from_starts
from pyspec.fit.findings.finding import warn
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.on_cluster import on_workers, refuse_shared, shared
from pyspec.fit.options import MethodOptions, need_pairs
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Callback, make_progress
from pyspec.fit.results.joint import JointResult
from pyspec.fit.solve.conclude import result_of
from pyspec.fit.solve.methods import checked_how
from pyspec.fit.solve.stages import run_fit
from pyspec.fit.starts import check_starts
from pyspec.ir import GraphIR, model_of
from pyspec.model import Measurement, Model
from pyspec.model.data.row_ranges import in_chunks

if TYPE_CHECKING:
    from typing_extensions import Unpack


@answered
@held
def fit_joint(
    parts: Sequence[tuple[Model | GraphIR, Measurement]],
    backend: str | None = "compiled",
    method: str | Sequence[str] | None = None,
    progress: bool | Callback | None = None,
    max_nfev: int | None = None,
    *,
    scale_covar: bool | None = None,
    names: Sequence[str] | None = None,
    max_seconds: float | None = None,
    n_starts: int = 1,
    seed: int = 0,
    client: object = None,
    chunks: int | None = None,
    **options: Unpack[MethodOptions],
) -> JointResult:
    """Fits the models of several files together; parameters of scope "project" are shared.

    `parts` holds the model (with its axes), or a graph, and the measurement of each file; their
    grids and models may differ. `names` are those of the files. The other arguments are those of
    :func:`pyspec.fit.fit_model`.

    Raises :class:`FitError` where the noise of some files is known and that of others is not.
    """
    need_pairs(parts)
    pairs = [
        (model_of(model) if isinstance(model, GraphIR) else model, data) for model, data in parts
    ]
    label = ", ".join(dict.fromkeys(model.name for model, _ in pairs))
    limits = max_nfev, max_seconds, scale_covar
    noise = [
        measurement for _, measurement in pairs if measurement.weight is not None
    ]  # of some only: refused below
    n_starts, seed = check_starts(n_starts, seed)
    how = checked_how(
        label, method, options, *limits, noise or [measurement for _, measurement in pairs], seed
    )
    chosen = "compiled" if backend is None else backend_name(backend)
    names = () if names is None else names
    if isinstance(names, str) or len(names) not in (0, len(pairs)):
        raise FitError(f"names are {names!r}; give a list with one for each of {len(pairs)} files")
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise FitError(f"two files are called {twice!r}; give each a name of its own")
    pairs = in_steps_of_the_first(pairs)
    given_data = [measured for _, measured in pairs]
    if chunks is not None:
        refuse_shared(label, client)
        pairs = [(model, in_chunks(measured, chunks)) for model, measured in pairs]
    copies = [
        (copy.deepcopy(model), on_workers(client, model, measured)) for model, measured in pairs
    ]
    problem = FitProblem.of(copies, chosen)

    with Hold() as hold, shared(problem, client, how.methods) as spent:
        if n_starts == 1:
            joint = result_of(run_fit(problem, how, make_progress(progress, label)), JointResult)
        else:
            drawn = None, n_starts, seed
            joint = best_from_starts(problem, how, *drawn, progress=progress, kind=JointResult)
        assert isinstance(joint, JointResult)
        warn(joint.problem.label, joint._warned)
        joint._end(given_data, list(names) or [""] * len(pairs))
        joint.spent = spent
        return hold.mark(joint)
