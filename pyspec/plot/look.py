"""How one picture looks: the config that it shares with others, and what its call names."""

from __future__ import annotations

from collections.abc import Mapping

from pyspec.plot.config import OWN_OPTIONS, PlotConfig
from pyspec.plot.style import PlotError

#: Fields of a time axis, and the fields to use where the vertical axis is intensity.
_OF_TIMES = {
    "y_lim": "a range of times; one of intensities is z_lim",
    "y_label": "the label of the time axis; that of the intensity is z_label",
    "y_type": "the scale of the time axis; that of the intensity is z_type",
    "y_dir": "the direction of the time axis; that of the energies is x_dir",
}


def config_of(
    options: Mapping[str, object], *, over_time: bool = False, over_energy: bool = False
) -> PlotConfig:
    """The look that options give: `config`, or the defaults, with fields that are not None.

    A `config` may be that of many pictures: its x is energy and its y is time, wherever these lie.
    In a picture of curves `over_time` its `hlines` are upright lines at these times therefore, and
    its `vlines`, which are energies, are none. Fields by name are those of this picture: x is its
    horizontal axis, which is time, and lines stand as their names say. One of curves `over_energy`
    has no times: their fields are ignored in a `config`, and refused by name.
    """
    config = options.get("config")
    if config is not None and not isinstance(config, PlotConfig):
        raise PlotError(f"config must be a PlotConfig, not {type(config).__name__}")
    others = {name: value for name, value in options.items() if name not in OWN_OPTIONS}
    fields = {name: value for name, value in others.items() if value is not None}
    for name in _OF_TIMES if over_energy else ():
        if name in fields:
            raise PlotError(f"this picture has no time axis, and {name} is {_OF_TIMES[name]}")
    config = config or PlotConfig()
    if over_time:
        config = config.copy(vlines=config.hlines, hlines=None)
        for x, y in (("x_lim", "y_lim"), ("x_type", "y_type"), ("x_dir", "y_dir")):
            if x in fields and y in fields:
                raise PlotError(
                    f"{x} and {y} are both those of the times here, which lie along x; give {x} "
                    "alone" + ("; intensities are z_lim" if x == "x_lim" else "")
                )
            if x in fields:
                fields[y] = fields.pop(x)
    return config.copy(**fields)
