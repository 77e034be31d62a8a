"""PlotConfig: fields, aliases, JSON, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.plot import PlotConfig, PlotError


def test_aliases_are_the_same_fields() -> None:
    config = PlotConfig().update(e_label="E (eV)", t_label="t (ps)", dpi_plt=80)
    assert (config.x_label, config.y_label, config.dpi_plot) == ("E (eV)", "t (ps)", 80)
    config.e_label, config.t_label, config.dpi_plt = "a", "b", 90
    assert (config.x_label, config.y_label, config.dpi_plot) == ("a", "b", 90)
    assert (config.e_label, config.t_label, config.dpi_plt) == ("a", "b", 90)


def test_update_changes_copy_does_not_and_adopt_takes_all() -> None:
    config = PlotConfig(vlines=[1.0])
    other = config.copy(x_dir="rev")
    assert (config.x_dir, other.x_dir) == ("def", "rev")
    other.vlines.append(2.0)
    assert config.vlines == [1.0]
    assert config.update(title="scan") is config
    config.adopt(other)
    assert config.x_dir == "rev"
    assert config.title == ""
    with pytest.raises(PlotError, match="adopt takes a PlotConfig"):
        config.adopt("x")  # type: ignore[arg-type]


def test_arrays_are_lists() -> None:
    """vlines=np.array([83, 85]) was NumPy's "truth value of an array is ambiguous"."""
    names = np.array(["red", "blue"])
    config = PlotConfig(vlines=np.array([83, 85]), colors=names, legend=names)  # type: ignore[arg-type]
    assert (config.vlines, config.colors, config.legend) == ([83, 85], [*names], [*names])
    assert PlotConfig.from_json(config.to_json()) == config


def test_json_and_back() -> None:
    config = PlotConfig(
        x_lim=(1, 2), colors=["red"], waterfall=2.5, x_dir="rev", data_slice=[[0, 2]]
    )
    assert PlotConfig.from_json(config.to_json()) == config
    assert PlotConfig.from_json('{"e_label": "eV"}').x_label == "eV"
    for text in ("[]", "{", "3"):
        with pytest.raises(PlotError):
            PlotConfig.from_json(text)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"res_mult": 0}, "res_mult is 0; give a number above 0"),
        ({"x_lable": "a"}, "no field 'x_lable'; did you mean 'x_label'"),
        ({"x_dir": "reverse"}, "x_dir must be one of def, rev, asc"),
        ({"z_type": "symlog"}, "z_type must be one of lin, log"),
        ({"x_lim": (1, 2, 3)}, "x_lim is .* give two numbers"),
        ({"x_lim": (1, float("nan"))}, "two numbers"),
        ({"dpi_save": 0}, "must be positive"),
        ({"dpi_plot": 1.5}, "whole number"),
        ({"title": 3}, "give a text"),
        ({"z_lim": (5, 5)}, r"z_lim is \(5.0, 5.0\); give two ends that differ"),
        ({"data_slice": [[284.2, 286.0]]}, "numbers of points; x_lim and y_lim are energies"),
        ({"ticksize": 0}, "ticksize is 0; give a size above 0"),
        ({"colors": "red"}, "a list of texts"),
        ({"e_label": "a", "x_label": "b"}, "are the same field"),
    ],
)
def test_mistakes_are_named_and_change_nothing(fields: dict[str, object], message: str) -> None:
    config = PlotConfig()
    for take in (config.update, PlotConfig):
        with pytest.raises(PlotError, match=message):
            take(**fields)
    assert config == PlotConfig()
