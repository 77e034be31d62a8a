"""What a session leaves in files: models, job and script with its numbers, and its own state."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.errors import DataError, ModelError
from pyspec.io.atomic import write_text
from pyspec.model.rewrite import with_fields
from pyspec.workflow.document import Document
from pyspec.workflow.ground import Ground

#: What the fit of one spectrum of a series is called, which no job of the series repeats.
ONE = "one spectrum"

#: The file of a saved session that says what was shown.
STATE = "session.json"

#: Arguments of :func:`pyspec.read`; the other fields of a job's data are steps after it.
_STEPS = ("shift", "select", "at", "mean", "rename")

JOB = """\
# What was fitted in the builder. Run it with:  pyspec fit job.yaml
# Build on it with:                             pyspec build job.yaml

name: {name}

data:
{data}

models: models.yaml
model: {model}
{more}
fit:
  type: {kind}
output: results
"""

SCRIPT = '''\
"""Fits {model} of models.yaml to {name}: the numbers are those of ``pyspec fit job.yaml``."""

from pathlib import Path

import numpy as np

import pyspec

HERE = Path(__file__).parent
dataset = pyspec.read({read})
{steps}file = pyspec.File.from_dataset(dataset{inputs})
{noise}{limits}{fit}
print(result)
'''


def save(
    ground: Ground, document: Document, origin: Mapping[str, Any] | None, folder: str | Path
) -> Path:
    """Writes models.yaml, job.yaml and fit.py, and data that are in no file, into a folder, which
    is made. `origin` are the fields below ``data:`` where the data are in a file. Returns the
    folder. Raises :class:`DataError` where that cannot be."""
    folder = Path(folder)
    if document.model is None:
        raise ModelError("there is no model to save; add a component first")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in _texts(ground, document, origin, folder).items():
            write_text(folder / name, text)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror})") from error
    return folder


def _texts(
    ground: Ground, document: Document, origin: Mapping[str, Any] | None, folder: Path
) -> dict[str, str]:
    data = _data(ground, folder) if origin is None else _seen_from(folder, origin)
    kind = "2d" if ground.kind == "series" else ground.kind
    limits, noise = _limits(ground, document), _noise(ground, folder)
    auxiliary, inputs = _auxiliary(ground), _inputs(ground, folder)
    more = {"limits": limits, "noise": noise, "auxiliary": auxiliary, "inputs": inputs}
    lines = [f"{key}: {_flow(value)}\n" for key, value in more.items() if value]
    job = JOB.format(
        name=_flow(_plain_name(ground.file.name)),
        data="\n".join(f"  {key}: {_flow(value)}" for key, value in data.items()),
        model=_flow(document.name),
        more="".join(["\n", *lines, "\n"]) if lines else "",
        kind=kind,
    )
    text = text_of_job(document)
    script = _script(ground, document, data, more)
    known = {"document": plain(document), "begun": text if is_fit_of_job(document) else None}
    files = {"models.yaml": text, "job.yaml": job, "fit.py": script}
    return {**files, STATE: json.dumps(known)}


def is_fit_of_job(document: Document) -> bool:
    """Whether the model stands where a fit of the whole window has ended."""
    result = document.result
    return result is not None and document.name in document.begun and result.fit_type != ONE


def text_of_job(document: Document) -> str:
    """The models from which a job gives the numbers that are shown: where the fit that is shown
    began, else as they stand."""
    text = document.text
    if is_fit_of_job(document) and document.model is not None:
        start = {name: {"value": one} for name, one in document.begun[document.name].items()}
        text = with_fields(text, document.model, start)
    return text if text.endswith("\n") else f"{text}\n"


def opened(folder: Path, ground: Ground, text: str) -> tuple[Document, bool] | None:
    """(document, whether it stands at the end of a fit) of a saved session, where its models are
    still those of the job; None where there is none."""
    found = _read(folder / STATE)
    begun = found.get("begun") if isinstance(found, dict) else None
    document = None if found is None else _document(found.get("document"), ground)
    if document is None or text not in (begun, document.text):
        return None
    return document, begun is not None


def _plain_name(name: str) -> str:
    return re.sub(r"\s+", " ", name).strip() or "data"


def _flow(value: Any) -> str:
    """A value in one line of YAML: JSON is some, with infinities as a job writes them."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flow(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z_][\w./-]*", value)
        words = ("true", "false", "null", "yes", "no", "on", "off")
        return value if plain and value.lower() not in words else json.dumps(value)
    return json.dumps(value)


def _data(ground: Ground, folder: Path) -> dict[str, Any]:
    """The data as a file beside the job."""
    data, keep = ground.data, ground.whole.keep
    found: dict[str, Any] = {"path": "data.npz"}
    if keep is not None:
        given = ground.file._data._keep  # excluded ranges are limits
        hidden = None if given is None else ~np.broadcast_to(given, data.shape)
        if hidden is not None and hidden.any():
            data = np.where(hidden, np.nan, data)
            found["mask"] = "nan"
    axes = {"energy": ground.energy, "time": ground.time}
    arrays: dict[str, Any] = {name: one for name, one in axes.items() if one is not None}
    np.savez(folder / "data.npz", data=data, **arrays)
    units = {name: unit for name, unit in ground.whole.units.items() if unit and name in axes}
    return {**found, **({"units": units} if units else {})}


def _seen_from(folder: Path, origin: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the data with paths as a job in this folder sees them."""
    found = dict(origin)
    for key in ("path", "energy", "time"):
        value = found.get(key)
        if isinstance(value, Path):
            relative = os.path.relpath(value.resolve(), folder.resolve())
            found[key] = Path(relative).as_posix()
    return found


def _limits(ground: Ground, document: Document) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, limits in (("energy", document.energy_limits), ("time", document.time_limits)):
        if limits is not None:
            found[key] = list(limits)
    if document.excluded:
        found["exclude"] = [list(one) for one in document.excluded]
    return found


def _noise(ground: Ground, folder: Path) -> dict[str, Any]:
    noise = ground.file.noise
    if noise.kind == "poisson":
        return {"type": "poisson", "scale": float(noise.scale)}
    if noise.kind != "gaussian":
        return {}
    sigma = np.asarray(noise.given)
    if sigma.ndim == 0:
        return {"type": "gaussian", "sigma": float(sigma)}
    np.save(folder / "sigma.npy", sigma)
    return {"type": "gaussian", "sigma": "sigma.npy"}


def _auxiliary(ground: Ground) -> dict[str, Any]:
    data = ground.file._data
    if data.aux_axis is None or data.aux_weights is None:
        return {}
    return {"values": data.aux_axis.tolist(), "weights": data.aux_weights.tolist()}


def _inputs(ground: Ground, folder: Path) -> dict[str, Any]:
    found = {}
    for name, values in ground.file._data.inputs.items():
        np.save(folder / f"{name}.npy", values)
        found[name] = f"{name}.npy"
    return found


def _script(
    ground: Ground, document: Document, data: Mapping[str, Any], more: Mapping[str, Any]
) -> str:
    own = {k: v for k, v in data.items() if k not in (*_STEPS, "path", "mask")}
    for key in ("energy", "time"):
        if isinstance(own.get(key), str) and own[key].endswith((".csv", ".txt", ".npy", ".dat")):
            own[key] = _Here(own[key])
    read = [repr(_Here(data["path"])), *(f"{key}={value!r}" for key, value in own.items())]
    steps = []
    for step in _STEPS:
        value = data.get(step)
        if value:
            given = ", ".join(map(repr, value)) if step == "mean" else f"**{value!r}"
            steps.append(f"dataset = dataset.{step}({given})\n")
    limits, noise = more["limits"], ""
    window = [
        f"energy_limits={limits.get('energy')!r}",
        f"time_limits={limits.get('time')!r}",
        f"exclude={limits.get('exclude', [])!r}",
    ]
    if more["noise"]:
        sigma = more["noise"].get("sigma")
        shown = f"np.load({_Here(sigma)!r})" if isinstance(sigma, str) else repr(sigma)
        scale = more["noise"].get("scale")
        noise = f"file.set_noise({more['noise']['type']!r}, sigma={shown}, scale={scale!r})\n"
    extra = ""
    if more["auxiliary"]:
        auxiliary = more["auxiliary"]
        extra += f", aux_axis={auxiliary['values']!r}, aux_weights={auxiliary['weights']!r}"
    if more["inputs"]:
        loads = (f"{n!r}: np.load({_Here(p)!r})" for n, p in more["inputs"].items())
        extra += f", inputs={{{', '.join(loads)}}}"
    source, name = repr(_Here("models.yaml")), repr(document.name)
    fit = f"file.load_model({source}, {name})\nresult = file.fit_2d({name})"
    if ground.kind == "spectrum":
        fit = f"file.load_model({source}, {name})\nresult = file.fit_spectrum({name})"
    elif ground.kind == "trace":
        fit = f"result = file.fit_trace({source}, {name})"
    return SCRIPT.format(
        model=document.name,
        name=_plain_name(ground.file.name).replace("\\", "/").replace('"', "'"),
        read=", ".join(read),
        steps="".join(steps),
        inputs=extra,
        noise=noise,
        limits=f"file.set_fit_limits({', '.join(window)})\n" if limits else "",
        fit=fit,
    )


class _Here(str):
    """A path beside the script."""

    def __repr__(self) -> str:
        return f"HERE / {str.__repr__(self)}"


# the state itself


def plain(document: Document) -> dict[str, Any]:
    """A document as JSON holds it, without its fits."""
    return {
        "text": document.text,
        "name": document.name,
        "energy": document.energy_limits,
        "time": document.time_limits,
        "excluded": document.excluded,
        "cursor": document.cursor,
    }


def write_state(document: Document, label: str, path: Path) -> None:
    """Writes where a session stands, so that it can be offered after a crash."""
    known = {"when": datetime.now().isoformat(" ", "seconds"), "label": label}
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_text(path, json.dumps({**known, "document": plain(document)}))


def read_state(path: Path, ground: Ground) -> tuple[str, str, Document] | None:
    """(when, label, document) of a session that was not saved; None without one that fits these
    data."""
    found = _read(path)
    document = None if found is None else _document(found.get("document"), ground)
    if found is None or document is None:
        return None
    return str(found.get("when")), str(found.get("label")), document


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _document(given: Any, ground: Ground) -> Document | None:
    """The document of which :func:`plain` made plain values; None for what is none."""
    try:
        row, column = map(int, given["cursor"])
        document = Document(
            str(given["text"]),
            str(given["name"]),
            energy_limits=_pair(given["energy"]),
            time_limits=_pair(given["time"]),
            excluded=tuple((float(low), float(high)) for low, high in given["excluded"]),
            cursor=(row, column),
        )
        ground.check_paths(document.text)
        document = replace(document, model=ground.model(document.text, document.name))
        ground.measurement(document)
        ground.check_cursor(document.cursor)
    except (ValueError, KeyError, TypeError, IndexError):
        return None
    return document


def _pair(limits: Any) -> tuple[float, float] | None:
    if limits is None:
        return None
    low, high = limits
    return float(low), float(high)


def state_path(ground: Ground) -> Path:
    """Where the state of a session of these data is kept: in the cache of the user."""
    from hashlib import sha256

    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    known = [str(Path(ground.file.path).resolve()), str(ground.data.shape)]
    known += [
        repr(one[[0, -1]].tolist()) for one in (ground.energy, ground.time) if one is not None
    ]
    name = sha256("\n".join(known).encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return Path(base) / "pyspec" / "build" / f"{name}.json"
