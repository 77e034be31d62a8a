"""The components of a model as they stand in its spectrum: blurred where a resolution is above."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from pyspec._library import OPS
from pyspec.errors import ModelError
from pyspec.functions.response_rows import response, response_arguments
from pyspec.model.tree import Component


def resolution_of(components: Sequence[Component], component: Component) -> Component | None:
    """The resolution above a component, or None."""
    above = takewhile(lambda other: other is not component, components)
    return next((other for other in above if other.op.kind == "RESOLUTION"), None)


def as_seen(components: Sequence[Component]) -> list[Component]:
    """The components of a spectrum, in file order and without the resolution. Components below a
    resolution are replaced by the row of the table that holds their convolution. Backgrounds read
    the convolved spectrum, which equals the convolution of what they make."""
    seen = []
    instrument: Component | None = None
    for component in components:
        if component.op.kind == "RESOLUTION":
            instrument = component
        elif instrument is None or component.op.spectrum_fed:
            seen.append(component)
        else:
            row = response(component.op, instrument.op)
            assert row is not None
            pars = response_arguments(component.op, row, component.pars, instrument.pars)
            seen.append(Component(component.name, row.name, tuple(pars), component.where))
    return seen


def check_resolution(components: Sequence[Component]) -> None:
    """A spectrum has one resolution, above functions of which the convolution is known."""
    resolutions = [component for component in components if component.op.kind == "RESOLUTION"]
    if len(resolutions) > 1:
        raise ModelError(
            f"{resolutions[1].where}: {resolutions[1].name}: the model has {resolutions[0].name} "
            "already; one Gaussian of the SD sqrt(SD1^2 + SD2^2) does the same"
        )
    for instrument in resolutions:
        for component in components[components.index(instrument) + 1 :]:
            if component.op.spectrum_fed or response(component.op, instrument.op) is not None:
                continue
            able = [row.name for row in OPS.values() if response(row, instrument.op) is not None]
            raise ModelError(
                f"{component.where}: {component.name}: {component.op.name} has no known "
                f"convolution with a Gaussian; move it above {instrument.name} "
                f"({instrument.where}), or use one of {', '.join(able)}"
            )
