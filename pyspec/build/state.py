"""What the page is told: the state by keys, as JSON holds it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pyspec.build.pictures import picture
from pyspec.fit import FitResult, SliceResults
from pyspec.fit.results.ended import criteria_of
from pyspec.formula import rows
from pyspec.formula.definitions.scheme import sides
from pyspec.model import Model
from pyspec.model.build.free import AXES
from pyspec.model.build.kinetics import schemes_in, state_name
from pyspec.model.tree import walk
from pyspec.model.units import parameter_units
from pyspec.workflow.session.document import Document, Refusal
from pyspec.workflow.session.ground import Ground
from pyspec.workflow.session.session import Session

#: Kinds of functions that can be added, in groups.
GROUPS = (
    ("Lines", ("PEAK",)),
    ("Backgrounds", ("BACKGROUND", "SPECTRUM_FED", "ROW_FED")),
    ("Laws of time", ("DYNAMICS",)),
    ("Instruments", ("IRF", "KERNEL", "RESOLUTION")),
)

#: Functions that need more than numbers.
_NOT_ADDED = ("measuredIRF", "none")


def number(value: float | None) -> float | None:
    """A number for JSON: None where it is none, or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)


def file_state(ground: Ground) -> dict[str, object]:
    """Name, shape, kind, units and labels of the data."""
    words = ("energy", "time", "data")
    units, labels = ground.whole.units, ground.whole.labels
    return {
        "name": ground.file.name,
        "shape": list(ground.data.shape),
        "kind": ground.kind,
        "units": {word: units.get(word, "") for word in words},
        "labels": {word: labels.get(word, word) for word in words},
    }


def parameters_state(ground: Ground, document: Document) -> Sequence[Mapping[str, object]]:
    """One row for each parameter of the model."""
    model = document.model
    if model is None:
        return []
    values, result = model.values, document.result
    units = parameter_units(model, ground.whole.units)
    owners = _owners(model)
    rows = []
    for name, par in model.parameters.items():
        owner, of = owners.get(name, ("", None))
        laws = [] if par.dynamics is None else par.dynamics.components
        rows.append(
            {
                "name": name,
                "component": owner,
                "role": par.argument,
                "value": None if par.free is not None else number(values[name]),
                "min": number(par.min),
                "max": number(par.max),
                "vary": par.vary,
                "scope": par.scope,
                "expr": par.expr,
                "stderr": None if result is None else number(result.stderr.get(name)),
                "unit": units.get(name, ""),
                "law": [law.name.removeprefix(f"{name}_") for law in laws],
                "of": of,
                "start": None if result is None else number(result.start.get(name)),
                "free": par.free is not None,
                "frees": _axis_to_free(ground, model, name),
                "at_bound": "" if result is None else result.at_bound.get(name, ""),
            }
        )
    return rows


def _axis_to_free(ground: Ground, model: Model, name: str) -> str:
    """The axis at each point of which an amplitude may be free; "" for any other parameter."""
    for component in model.components if ground.kind == "series" else ():
        op = component.op
        linear = () if op.spectrum_fed else op.linear
        if any(par.name == name and par.argument in linear for par in component.parameters):
            return AXES.get(op.domain, "")
    return ""


def schemes_state(model: Model | None) -> Sequence[Mapping[str, object]]:
    """The kinetic schemes of the model: states with their populations at the onset, and steps with
    the parameters that are their rates."""
    schemes = []
    for scheme, states in () if model is None else schemes_in(model.components):
        pars = {par.argument: par.name for state in states for par in state.parameters}
        start = dict(scheme.start)
        shown = {state_name(state): state.name for state in states}
        schemes.append(
            {
                "name": scheme.name,
                "states": [
                    {"name": state, "start": start.get(state), "component": shown.get(state)}
                    for state in scheme.states
                ],
                "steps": [
                    {"from": list(sides(begin)), "to": list(sides(end)), "rate": pars.get(rate)}
                    for begin, end, rate in scheme.steps
                ],
            }
        )
    return schemes


def _owners(model: Model) -> dict[str, tuple[str, str | None]]:
    """Parameter → (its component, the parameter that this one moves)."""
    return {
        par.name: (component.name, None if target is None else target.name)
        for component, target, _ in walk(model.components, model.quantities)
        for par in component.parameters
    }


def library_state(ground: Ground) -> Sequence[Mapping[str, object]]:
    """The functions that can be added, in groups."""
    ops = [op for op in rows().values() if not op.derived and op.name not in _NOT_ADDED]
    if ground.energy is None:
        ops = [op for op in ops if op.domain == "TIME"]
    elif ground.time is None:
        ops = [op for op in ops if op.domain == "ENERGY"]
    groups = []
    for group, kinds in GROUPS:
        items = [
            {
                "name": op.name,
                "formula": op.formula,
                "parameters": list(op.params),
                "kind": op.kind,
                "where": op.domain.lower(),
                "picture": picture(op.name),
            }
            for op in ops
            if op.kind in kinds
        ]
        if items:
            groups.append({"group": group, "items": items})
    return groups


def findings_state(result: FitResult | None) -> Sequence[Mapping[str, object]]:
    """What a fit found out about itself at its end."""
    findings = () if result is None else result.findings
    return [
        {
            "kind": finding.kind.name,
            "severity": finding.severity.name,
            "text": str(finding),
            "parameters": list(finding.places),
        }
        for finding in findings
    ]


def models_state(session: Session) -> dict[str, object]:
    """All models beside each other."""
    document, rows = session.document, []
    for name in session.models:
        result = document.fits.get(name)
        if isinstance(result, FitResult) and result.joint is not None:
            result = result.joint  # of all files
        row: dict[str, object] = {"name": name, "redchi": None, "bic": None, "n_free": None}
        row["findings"] = 0
        if result is not None:
            row |= {"redchi": number(result.redchi), "n_free": result.n_free}
            row |= {"findings": len(result.findings), "bic": number(criteria_of(result)[1])}
            row["n_data"] = result.n_data
        rows.append(row)
    return {"all": rows, "chosen": document.name}


def files_state(session: Session) -> dict[str, object]:
    """The files by name, and the number of the one that is shown."""
    names = [ground.file.name for ground in session.grounds]
    return {"all": names, "chosen": session.document.file}


def history_state(session: Session, most: int = 500) -> dict[str, object]:
    """The steps of the history, the last `most` of them, and where it stands."""
    first = max(0, min(len(session.steps) - most, session.at))
    steps = [
        {"step": first + k, "label": step.label} for k, step in enumerate(session.steps[first:])
    ]
    return {"steps": steps, "at": session.at}


def document_state(session: Session) -> dict[str, object]:
    """The parts of the document that are not drawn: window, cursor, excluded ranges."""
    document = session.document
    return {
        "window": {"energy": document.energy_limits, "time": document.time_limits},
        "excluded": [{"axis": name, "low": a, "high": b} for name, a, b in document.excluded],
        "cursor": {"time": document.cursor[0], "energy": document.cursor[1]},
    }


def refused(refusal: Refusal) -> dict[str, object]:
    """A refusal, without what it does not say."""
    words = ("message", "node", "field", "rule", "remedy", "line")
    fields = {word: getattr(refusal, word) for word in words}
    return {word: value for word, value in fields.items() if value not in ("", None)}


def ended(
    scope: str, outcome: FitResult | SliceResults | Refusal, seconds: float
) -> dict[str, object]:
    """How a fit ended, for the page."""
    ended: dict[str, object] = {"running": False, "what": scope, "seconds": seconds}
    if isinstance(outcome, FitResult):
        numbers = {"chisqr": number(outcome.chisqr), "redchi": number(outcome.redchi)}
        return {**ended, **numbers, "nfev": outcome.nfev, "message": outcome.message,
                "success": bool(outcome.success)}  # fmt: skip
    if isinstance(outcome, SliceResults):
        n, good = len(outcome), int(sum(map(bool, outcome.success)))
        return {**ended, "message": f"{good} of {n} spectra converged", "success": good == n,
                "done": n, "total": n}  # fmt: skip
    return {**ended, "message": outcome.message, "success": False}


def slices_of(slices: SliceResults) -> dict[str, object]:
    """The parameters of single spectra over time: {time, parameters: {name: {value, stderr}}}."""
    told = slices.to_dict()
    columns = {
        name: {"value": values, "stderr": told["stderr"].get(name)}
        for name, values in told["values"].items()
    }
    return {"time": [number(float(time)) for time in slices.time], "parameters": columns}
