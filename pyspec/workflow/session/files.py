"""What a session leaves in files: models, job and script with its numbers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.errors import DataError, ModelError
from pyspec.io.atomic import write_text
from pyspec.model.yaml.reader import walk
from pyspec.model.yaml.rewrite import with_fields
from pyspec.model.yaml.scalars import quoted
from pyspec.model.yaml.sections import Change, changed, listed, positions
from pyspec.workflow.fitting.several import seen_from
from pyspec.workflow.session.document import Document
from pyspec.workflow.session.ground import Ground
from pyspec.workflow.session.state import ONE, STATE, plain

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
{file}{fit}
print(result)
'''

FILE = """\
dataset = pyspec.read({read})
{steps}file = pyspec.File.from_dataset(dataset{inputs})
{noise}{limits}"""

JOINT = '''\
"""Fits {model} to {names} together, as the builder does."""

from pathlib import Path

import numpy as np

import pyspec
from pyspec.workflow.session.session import Session

ROOT = Path(__file__).parent
files, models = [], []
{blocks}
session = Session(files, models, {model!r})
result = session.fit("joint")
print(result)
'''

BLOCK = """
HERE = ROOT / {folder!r}
{file}files.append(file)
models.append(HERE / "models.yaml")
"""


def save(ground: Ground, document: Document, folder: str | Path) -> Path:
    """Writes models.yaml, job.yaml and fit.py into a folder, which is created, and data that are in
    no file. Several files have a folder each in it, and fit.py fits them together. Returns the
    folder. Raises :class:`DataError` where that cannot be."""
    folder = Path(folder)
    if document.model is None:
        raise ModelError("there is no model to save; add a component first")
    try:
        for name, text in _texts(ground, document, folder).items():
            write_text(folder / name, text)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror})") from error
    return folder


def _texts(ground: Ground, document: Document, folder: Path) -> dict[str, str]:
    """The files by their names: of one file of data in the folder itself, of several in a folder
    for each, beside a script of all."""
    texts, blocks, script = dict[str, str](), "", ""
    several = len(ground.files) > 1
    names = [
        folder_name(there.file.name, k) if several else "." for k, there in enumerate(ground.files)
    ]
    for k, (name, there) in enumerate(zip(names, ground.files, strict=True)):
        seen, own = seen_from(ground, document, k), folder / name
        own.mkdir(parents=True, exist_ok=True)
        # The fields below ``data:`` of a job in this folder, and its other fields.
        data = _data(there, own) if there.origin is None else _seen_from(own, there.origin)
        more = {"limits": _limits(there, seen), "noise": _noise(there, own)}
        more |= {"auxiliary": _auxiliary(there), "inputs": _inputs(there, own)}
        texts[f"{name}/job.yaml"] = _job(there, seen, data, more)
        texts[f"{name}/models.yaml"] = text_of_job(there, seen, own)
        if several:
            file = _reading(data, more, f", name={there.file.name!r}")
            blocks += BLOCK.format(folder=name, file=file)
        else:
            script = _script(there, seen, data, more)
    shown = seen_from(ground, document, 0)
    begun = texts[f"{names[0]}/models.yaml"] if is_fit_of_job(shown) else None
    state: dict[str, object] = {"document": plain(shown), "begun": begun}
    if several:
        state["files"] = names
        titles = ", ".join(_title(file) for file in ground.files)
        script = JOINT.format(model=document.name, names=titles, blocks=blocks)
    return {**texts, "fit.py": script, STATE: json.dumps(state)}


def folder_name(name: str, number: int) -> str:
    """What the folder of a file of several is called."""
    plain = re.sub(r"[^\w.-]+", "_", Path(name).stem).strip("._")[:40]
    return f"{number + 1}_{plain}" if plain else f"{number + 1}"


def _job(
    ground: Ground, document: Document, data: Mapping[str, object], more: Mapping[str, object]
) -> str:
    lines = [f"{key}: {_flow(value)}\n" for key, value in more.items() if value]
    return JOB.format(
        name=_flow(_plain_name(ground.file.name)),
        data="\n".join(f"  {key}: {_flow(value)}" for key, value in data.items()),
        model=_flow(document.name),
        more="".join(["\n", *lines, "\n"]) if lines else "",
        kind="2d" if ground.kind == "series" else ground.kind,
    )


def is_fit_of_job(document: Document) -> bool:
    """Whether the model stands where a fit of the whole window has ended."""
    result = document.result
    return result is not None and document.name in document.begun and result.fit_type != ONE


def text_of_job(ground: Ground, document: Document, folder: Path) -> str:
    """The models for a job whose fit gives the numbers shown. They have the start values of the fit
    that is shown; without a fit they are unchanged. Files are named as from `folder`."""
    text, home = document.text, ground.folder.resolve()
    if home != folder.resolve():
        changes = []
        for key, value in walk(positions(text)):
            for spot in listed(value) if key.text in ("include", "file") else ():
                if not Path(spot.text).is_absolute():
                    path = os.path.relpath((home / spot.text).resolve(), folder.resolve())
                    changes.append(Change(spot.begin, spot.end, quoted(Path(path).as_posix())))
        text = changed(text, changes)
    if is_fit_of_job(document) and document.model is not None:
        start = {name: {"value": value} for name, value in document.begun[document.name].items()}
        text = with_fields(text, document.model, start)
    return text if text.endswith("\n") else f"{text}\n"


def _plain_name(name: str) -> str:
    return re.sub(r"\s+", " ", name).strip() or "data"


def _flow(value: object) -> str:
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


def _data(ground: Ground, folder: Path) -> dict[str, object]:
    """The data as a file beside the job."""
    data, keep = ground.data, ground.whole.keep
    fields: dict[str, object] = {"path": "data.npz"}
    if keep is not None:
        own_keep = ground.file._keep  # excluded ranges are limits
        hidden = None if own_keep is None else ~np.broadcast_to(own_keep, data.shape)
        if hidden is not None and hidden.any():
            data = np.where(hidden, np.nan, data)
            fields["mask"] = "nan"
    axes = {"energy": ground.energy, "time": ground.time}
    arrays: dict[str, Any] = {name: axis for name, axis in axes.items() if axis is not None}
    np.savez(folder / "data.npz", data=data, **arrays)
    units = {name: unit for name, unit in ground.whole.units.items() if unit and name in axes}
    return {**fields, **({"units": units} if units else {})}


def _seen_from(folder: Path, origin: Mapping[str, object]) -> dict[str, object]:
    """The fields of the data with paths as a job in this folder sees them."""
    fields = dict(origin)
    for key in ("path", "energy", "time"):
        value = fields.get(key)
        if isinstance(value, Path):
            relative = os.path.relpath(value.resolve(), folder.resolve())
            fields[key] = Path(relative).as_posix()
    return fields


def _limits(ground: Ground, document: Document) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, limits in (("energy", document.energy_limits), ("time", document.time_limits)):
        if limits is not None:
            fields[key] = list(limits)
    for name, low, high in document.excluded:
        key = "exclude" if name == ground.last else "exclude_times"
        fields.setdefault(key, []).append([low, high])
    return fields


def _noise(ground: Ground, folder: Path) -> dict[str, object]:
    noise = ground.file.noise
    if noise.kind == "poisson":
        return {"type": "poisson", "scale": float(noise.scale)}
    if noise.kind != "gaussian":
        return {}
    sigma = np.asarray(noise.declared_sigma)
    if sigma.ndim == 0:
        return {"type": "gaussian", "sigma": float(sigma)}
    np.save(folder / "sigma.npy", sigma)
    return {"type": "gaussian", "sigma": "sigma.npy"}


def _auxiliary(ground: Ground) -> dict[str, list[float]]:
    data = ground.file
    if data.aux_axis is None or data.aux_weights is None:
        return {}
    return {"values": data.aux_axis.tolist(), "weights": data.aux_weights.tolist()}


def _inputs(ground: Ground, folder: Path) -> dict[str, str]:
    paths = {}
    for name, values in ground.file.inputs.items():
        np.save(folder / f"{name}.npy", values)
        paths[name] = f"{name}.npy"
    return paths


def _title(ground: Ground) -> str:
    return _plain_name(ground.file.name).replace("\\", "/").replace('"', "'")


def _script(
    ground: Ground, document: Document, data: Mapping[str, object], more: Mapping[str, object]
) -> str:
    source, name = repr(_Here("models.yaml")), repr(document.name)
    call = "fit_2d" if ground.kind == "series" else "fit_spectrum"
    fit = f"file.load_model({source}, {name})\nresult = file.{call}({name})"
    if ground.kind == "trace":
        fit = f"result = file.fit_trace({source}, {name})"
    file = _reading(data, more)
    return SCRIPT.format(model=document.name, name=_title(ground), file=file, fit=fit)


def _reading(data: Mapping[str, Any], more: Mapping[str, Any], options: str = "") -> str:
    """The lines of a script that read a file, with its noise and its limits."""
    own = {k: v for k, v in data.items() if k not in (*_STEPS, "path", "mask")}
    for key in ("energy", "time"):
        if isinstance(own.get(key), str) and own[key].endswith((".csv", ".txt", ".npy", ".dat")):
            own[key] = _Here(own[key])
    read = [repr(_Here(data["path"])), *(f"{key}={value!r}" for key, value in own.items())]
    steps = []
    for step in _STEPS:
        value = data.get(step)
        if value:
            arguments = ", ".join(map(repr, value)) if step == "mean" else f"**{value!r}"
            steps.append(f"dataset = dataset.{step}({arguments})\n")
    limits, noise = more["limits"], ""
    window = [
        f"energy_limits={limits.get('energy')!r}",
        f"time_limits={limits.get('time')!r}",
        f"exclude={limits.get('exclude', [])!r}",
    ]
    if "exclude_times" in limits:
        window.append(f"exclude_times={limits['exclude_times']!r}")
    if more["noise"]:
        sigma = more["noise"].get("sigma")
        shown = f"np.load({_Here(sigma)!r})" if isinstance(sigma, str) else repr(sigma)
        scale = more["noise"].get("scale")
        noise = f"file.set_noise({more['noise']['type']!r}, sigma={shown}, scale={scale!r})\n"
    if more["auxiliary"]:
        auxiliary = more["auxiliary"]
        options += f", aux_axis={auxiliary['values']!r}, aux_weights={auxiliary['weights']!r}"
    if more["inputs"]:
        loads = (f"{n!r}: np.load({_Here(p)!r})" for n, p in more["inputs"].items())
        options += f", inputs={{{', '.join(loads)}}}"
    return FILE.format(
        read=", ".join(read),
        steps="".join(steps),
        inputs=options,
        noise=noise,
        limits=f"file.set_fit_limits({', '.join(window)})\n" if limits else "",
    )


class _Here(str):
    """A path beside the script."""

    def __repr__(self) -> str:
        return f"HERE / {str.__repr__(self)}"
