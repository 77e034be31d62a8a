"""Several files with one model in a session: the values of each file, and the model of each.

A parameter whose entry says "project" is the same in all files. Any other value belongs to the file
that is shown when it is set; bounds, expressions and structure are those of all files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from pyspec.errors import DataError
from pyspec.model import Model
from pyspec.model.yaml.rewrite import with_fields, with_own_law
from pyspec.workflow.fitting.fits import refuse_twins
from pyspec.workflow.session.document import Document, Other, Seen
from pyspec.workflow.session.ground import Ground

_OWN = tuple(field.name for field in fields(Seen))


def own_values(model: Model) -> dict[str, float]:
    """The values of a model that are not shared with other files."""
    return {
        name: par.value
        for name, par in model.parameters.items()
        if par.formula is None and par.free is None and par.scope != "project"
    }


def seen_from(ground: Ground, document: Document, file: int) -> Document:
    """The document with another file shown, and its values in the text. Raises
    :class:`ModelError` where a model cannot stand on the axes of that file."""
    if file == document.file:
        return document
    here, there = ground.files[document.file], ground.files[file]
    left = {name: own_values(model) for name, model in here.models(document.text).items()}
    shown = document.others[file]
    own = {name: getattr(document, name) for name in _OWN}
    others = {**document.others, document.file: Other(**own, values=left)}
    del others[file]
    text = document.text
    for name, values in shown.values.items():
        model = there.model(text, name)
        pars = {} if model is None else {key: model.parameters[key] for key in own_values(model)}
        # As far as the model has these values, and as its bounds allow.
        wanted = {
            key: {"value": min(max(values[key], par.min), par.max)}
            for key, par in pars.items()
            if key in values and values[key] != par.value
        }
        if model is not None and wanted:
            text = set_fields(there, text, model, wanted)
    own = {name: getattr(shown, name) for name in _OWN}
    switched = replace(document, **own, text=text, file=file, others=others)
    return replace(switched, model=there.model(text, document.name))


def set_fields(
    ground: Ground, text: str, model: Model, fields: Mapping[str, Mapping[str, object]]
) -> str:
    """The text with other fields of parameters. A law that several parameters share is copied
    first: it then changes for one of them alone."""
    for target, par in model.parameters.items():
        if par.dynamics is not None and any(
            parameter.name in fields for parameter in par.dynamics.parameters
        ):
            own_text = with_own_law(text, model, target)
            if own_text != text:
                text = own_text
                separate = ground.model(text, model.name)
                assert separate is not None
                model = separate
    return with_fields(text, model, fields)


def refuse_unlike(grounds: Sequence[Ground]) -> None:
    """Raises :class:`DataError` for files of which one is called like another, or is a spectrum
    where others are series."""
    refuse_twins([ground.file.name for ground in grounds])
    for ground in grounds[1:]:
        if ground.kind != grounds[0].kind:
            raise DataError(
                f"{ground.file.name} is one {ground.kind}, {grounds[0].file.name} one "
                f"{grounds[0].kind}; build a model on files of one kind"
            )
